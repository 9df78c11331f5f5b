package commands

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// standingCommand is "longhaul standing".
type standingCommand struct {
	Make    standingMakeCommand    `cmd:"" help:"Decide about gates like one beforehand. It counts when as many people are behind it as that gate asks for."`
	List    standingListCommand    `cmd:"" help:"List standing decisions, the newest first, and those that your answers propose."`
	Show    standingShowCommand    `cmd:"" help:"Show a standing decision with the gates that it was used for."`
	Approve standingApproveCommand `cmd:"" help:"Be behind a standing decision, too."`
	Revoke  standingRevokeCommand  `cmd:"" help:"Revoke a standing decision at once."`
}

// A standingRemote is an agent with standing decisions.
type standingRemote struct{ remoteSettings }

func (s standingRemote) ProvideRemote(p *process.Process) (*remote, error) {
	r, err := s.remoteSettings.ProvideRemote(p)
	if err == nil {
		r.page = page{"standing decisions", "/v1/standing"}
	}
	return r, err
}

// standingMakeCommand is "longhaul standing make".
type standingMakeCommand struct {
	standingRemote
	Gate   string   `arg:"" help:"Id of a gate, open or closed, whose rules say who may decide."`
	If     string   `required:"" help:"Condition on the object, in CEL, such as 'object.amount < 50'; true for each object." placeholder:"CONDITION"`
	For    string   `required:"" help:"How long it counts, such as 8h; 31d at the most." placeholder:"DURATION"`
	Uses   int      `required:"" help:"How often it may be used." placeholder:"N"`
	Reject bool     `help:"Reject, in place of accept."`
	Why    []string `arg:"" optional:"" help:"Reason, for those who made the object."`
}

func (c *standingMakeCommand) Run(p *process.Process, r *remote) error {
	s := client.NewStanding{GateID: c.Gate, Action: opt.Accept, Holds: c.If, For: c.For, Most: c.Uses, Feedback: strings.Join(c.Why, " ")}
	if c.Reject {
		s.Action = opt.Reject
	}
	made, err := r.client.Standing().Make(p.Ctx, s)
	return printStanding(p, r, made, err)
}

// A oneStanding is the standing decision that a command is about, and its agent.
type oneStanding struct {
	standingRemote
	ID string `arg:"" help:"Id of the standing decision."`
}

type standingShowCommand struct{ oneStanding }

func (c *standingShowCommand) Run(p *process.Process, r *remote) error {
	s, err := r.client.Standing().Get(p.Ctx, c.ID)
	return printStanding(p, r, s, err)
}

type standingApproveCommand struct{ oneStanding }

func (c *standingApproveCommand) Run(p *process.Process, r *remote) error {
	s, err := r.client.Standing().Change(p.Ctx, c.ID, "approve")
	return printStanding(p, r, s, err)
}

type standingRevokeCommand struct{ oneStanding }

func (c *standingRevokeCommand) Run(p *process.Process, r *remote) error {
	s, err := r.client.Standing().Change(p.Ctx, c.ID, "revoke")
	return printStanding(p, r, s, err)
}

// printStanding prints a standing decision with its uses.
func printStanding(p *process.Process, r *remote, s *client.Standing, err error) error {
	if err != nil {
		return err
	}
	for _, line := range [][2]string{
		{"standing", s.ID}, {"state", string(s.State)}, {"gates", s.Gates}, {"decides", string(s.Action)}, {"if", s.Holds}, {"why", s.Feedback},
		{"by", peopleText(s)}, {"used", fmt.Sprintf("%d of %d times", s.Used, s.Most)}, {"until", timeText(s.ExpiresAt, "")}, {"revoked by", s.RevokedBy},
	} {
		if name, value := line[0], line[1]; value != "" {
			fmt.Fprintf(p.Stdout, "%-10s %s\n", name, a2a.VisibleLine(value))
		}
	}
	if s.State == "proposed" {
		fmt.Fprintf(p.Stdout, "\nIt counts when %d people are behind it. To be one of them: %s %s\n", s.Need, r.command("standing approve"), s.ID)
	}
	var table [][]string
	for _, u := range s.Uses {
		table = append(table, []string{fmt.Sprint(u.N), u.GateID, timeText(u.At, "")})
	}
	if table != nil {
		fmt.Fprintln(p.Stdout)
		process.WriteTable(p.Stdout, []string{"USE", "GATE", "TIME"}, table)
	}
	return nil
}

// peopleText lists the people behind a standing decision.
func peopleText(s *client.Standing) string {
	var names []string
	for _, v := range s.By {
		names = append(names, v.DecidedBy)
	}
	return strings.Join(names, ", ")
}

// standingListCommand is "longhaul standing list".
type standingListCommand struct{ standingRemote }

func (c *standingListCommand) Run(p *process.Process, r *remote) error {
	list, err := r.client.Standing().List(p.Ctx)
	if err != nil {
		return err
	}
	var table [][]string
	now := time.Now()
	for _, s := range list.Standing {
		table = append(table, []string{
			s.ID, string(s.State), string(s.Action), s.Gates, s.Holds, fmt.Sprintf("%d of %d", s.Used, s.Most), durationText(max(0, s.ExpiresAt.Time().Sub(now))), peopleText(&s),
		})
	}
	if table == nil {
		fmt.Fprintf(p.Stdout, "No standing decisions. To make one: %s GATE --if CONDITION --for 8h --uses 10\n", r.command("standing make"))
	} else {
		process.WriteTable(p.Stdout, []string{"ID", "STATE", "DECIDES", "GATES", "IF", "USED", "ENDS IN", "BY"}, table)
	}
	propose(p.Ctx, p, r)
	return nil
}

// propose prints the standing decisions that equal answers of the person propose, filled in. A server
// that has none of these, or that does not say, is no error.
func propose(ctx context.Context, p *process.Process, r *remote) {
	list, err := r.noRepeat.Standing().List(ctx)
	if err != nil {
		return
	}
	for _, s := range list.Proposals {
		reject := ""
		if s.Action == opt.Reject {
			reject = " --reject"
		}
		fmt.Fprintf(p.Stdout, "\n%s by you, the last %d times: %s. To decide the next times beforehand:\n\n  %s %s --if %s --for 8h --uses 10%s\n",
			cmp.Or(s.Action.Outcome(), "Decided"), s.Alike, a2a.VisibleLine(s.Gates), r.command("standing make"), process.ShellWord(s.MadeAt), process.ShellWord(s.Holds), reject)
	}
}

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
	return shown.AbsenceText(a.Absence, a.Active, a2a.At(time.Now()))
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
