package commands

import (
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
)

// absenceCommand is "longhaul absence".
type absenceCommand struct {
	Add  absenceAddCommand  `cmd:"" help:"Be absent for a time in which a deputy may decide in your place."`
	List absenceListCommand `cmd:"" help:"List absences, those that end last first."`
	End  absenceEndCommand  `cmd:"" help:"End an absence at once."`
}

// An absenceRemote is an agent with absences.
type absenceRemote struct{ remoteSettings }

func (s absenceRemote) ProvideRemote(p *process.Process) (*remote, error) {
	r, err := s.remoteSettings.ProvideRemote(p)
	if err == nil {
		r.page = page{"absences", "/v1/absences"}
	}
	return r, err
}

// absenceAddCommand is "longhaul absence add".
type absenceAddCommand struct {
	absenceRemote
	Deputy    string   `required:"" help:"Principal that may decide meanwhile." placeholder:"PRINCIPAL"`
	From      string   `help:"Begin: a time, or a day in the time zone of this machine; now by default." placeholder:"TIME"`
	Until     string   `required:"" help:"End: a time, or the last day, such as 2026-12-31." placeholder:"TIME"`
	Principal string   `help:"Who is absent, in place of you: needs the scope absences:manage." placeholder:"PRINCIPAL"`
	Groups    []string `help:"Groups of --principal, in which the deputy may decide." placeholder:"GROUP"`
}

func (c *absenceAddCommand) Run(p *process.Process, r *remote) error {
	a := client.NewAbsence{Principal: c.Principal, Groups: c.Groups, Deputy: c.Deputy}
	from, err := dayOrTime("--from", c.From, 0)
	if err != nil {
		return err
	}
	until, err := dayOrTime("--until", c.Until, 1)
	if err != nil {
		return err
	}
	a.From, a.Until = from, *until
	made, err := r.client.Absences().Add(p.Ctx, a)
	return printAbsence(p, made, err)
}

// dayOrTime is parseTime for a flag that may be a day: it is the midnight so many days later.
func dayOrTime(flag, text string, later int) (*a2a.Time, error) {
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return parseTime(flag, text)
	}
	at := a2a.At(day.AddDate(0, 0, later))
	return &at, nil
}

func printAbsence(p *process.Process, a *client.Absence, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s: %s may decide for %s from %s until %s (%s)\n", a2a.VisibleLine(a.ID), a2a.VisibleLine(a.Deputy), a2a.VisibleLine(a.Principal),
		timeText(a.From, "Local"), timeText(a.Until, "Local"), absenceState(*a))
	return err
}

func absenceState(a client.Absence) string {
	switch {
	case a.Active:
		return "now"
	case !a.EndedAt.IsZero():
		return "ended by " + a.EndedBy
	case time.Now().Before(a.From.Time()):
		return "later"
	}
	return "over"
}

// absenceListCommand is "longhaul absence list".
type absenceListCommand struct{ absenceRemote }

func (c *absenceListCommand) Run(p *process.Process, r *remote) error {
	list, err := r.client.Absences().List(p.Ctx)
	if err != nil {
		return err
	}
	var table [][]string
	for _, a := range list.Absences {
		table = append(table, []string{a.ID, absenceState(a), a.Principal, a.Deputy, timeText(a.From, "Local"), timeText(a.Until, "Local"), a.MadeBy})
	}
	if table == nil {
		fmt.Fprintf(p.Stdout, "No absences. To make one: %s --deputy PRINCIPAL --until 2026-12-31\n", r.command("absence add"))
		return nil
	}
	process.WriteTable(p.Stdout, []string{"ID", "STATE", "ABSENT", "DEPUTY", "FROM", "UNTIL", "MADE BY"}, table)
	return nil
}

// absenceEndCommand is "longhaul absence end".
type absenceEndCommand struct {
	absenceRemote
	ID string `arg:"" help:"Id of the absence."`
}

func (c *absenceEndCommand) Run(p *process.Process, r *remote) error {
	a, err := r.client.Absences().End(p.Ctx, c.ID)
	return printAbsence(p, a, err)
}
