package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// scheduleCommand is "longhaul schedule".
type scheduleCommand struct {
	Create   scheduleCreateCommand   `cmd:"" help:"Have objectives started at times."`
	List     scheduleListCommand     `cmd:"" help:"List the schedules with their next times."`
	Show     scheduleShowCommand     `cmd:"" help:"Show a schedule with its next times and its latest objectives."`
	Change   scheduleChangeCommand   `cmd:"" help:"Change the settings of a schedule that are given as flags."`
	Pause    schedulePauseCommand    `cmd:"" help:"Pause a schedule: it starts nothing by itself."`
	Resume   scheduleResumeCommand   `cmd:"" help:"Resume a paused schedule. Times that passed meanwhile are left out."`
	Trigger  scheduleTriggerCommand  `cmd:"" aliases:"run-now" help:"Start an objective of a schedule now, also of a paused one."`
	Backfill scheduleBackfillCommand `cmd:"" help:"Start the objectives of a schedule for times that have passed."`
	Delete   scheduleDeleteCommand   `cmd:"" help:"Delete a schedule. Objectives that it has started continue."`
}

// A scheduleRemote is an agent with schedules.
type scheduleRemote struct{ remoteSettings }

func (s scheduleRemote) ProvideRemote(p *process.Process) (*remote, error) {
	r, err := s.remoteSettings.ProvideRemote(p)
	if err == nil {
		r.page = page{"schedules", "/v1/schedules"}
	}
	return r, err
}

// A oneSchedule is the schedule that a command is about, and its agent.
type oneSchedule struct {
	scheduleRemote
	ID string `arg:"" help:"Id of the schedule."`
}

// bySchedule calls do with the id of a schedule. If there is none with this id, but one that a
// playbook declares by this name, or one at this place of the last list, it calls do with that id.
func bySchedule[T any](ctx context.Context, r *remote, id *string, do func(id string) (T, error)) (T, error) {
	if number, ok := strings.CutPrefix(*id, "@"); ok {
		whole, err := listedID(r, number)
		if err != nil {
			var none T
			return none, err
		}
		*id = whole
	}
	out, err := do(*id)
	if !client.HasReason(err, "SCHEDULE_NOT_FOUND") {
		return out, err
	}
	var found []string
	page, failed := r.noRepeat.Schedules(ctx)
	for _, s := range pageItems(page, failed) {
		if strings.HasSuffix(s.ID, ":"+*id) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 0:
		return out, err
	case 1:
		*id = found[0]
		return do(*id)
	}
	return out, process.Usagef("%s is the name of %d schedules: %s", *id, len(found), strings.Join(found, ", "))
}

// scheduleSettings are the members of a schedule. Those that are empty stay as they are.
type scheduleSettings struct {
	Cron     []string `help:"When: minute, hour, day of the month, month, day of the week, such as '0 2 * * mon-fri'; or @hourly, @daily, @weekly, @monthly. May be repeated." placeholder:"EXPRESSION" sep:"none"`
	Every    string   `help:"When: an interval such as 90s, 2h or 1d, counted from 1970-01-01T00:00Z." placeholder:"DURATION"`
	TimeZone *string  `help:"Time zone of --cron, such as Europe/Berlin; UTC by default." placeholder:"ZONE"`
	Jitter   string   `help:"Delay each start by a random time up to this." placeholder:"DURATION"`
	From     string   `help:"Start nothing before this time, such as 2026-12-01T00:00:00Z." placeholder:"TIME"`
	Until    string   `aliases:"to" help:"Start nothing after this time." placeholder:"TIME"`
	Overlap  string   `help:"If an objective of the schedule is open when it is time for the next: skip (the default), buffer-one, buffer-all, cancel-other or allow-all." enum:",skip,buffer-one,buffer-all,cancel-other,allow-all" default:"" placeholder:"POLICY"`
	CatchUp  string   `help:"How late an objective may start, after an outage; later ones are left out. 1h by default." placeholder:"DURATION"`
	Playbook *string  `help:"Playbook or skill that the message is for." placeholder:"NAME"`
	Name     *string  `help:"Name of the objectives; without it each is named after the text." placeholder:"TEXT"`
	Context  *string  `help:"Context of the objectives, which then run one after another; without it each has a new one." placeholder:"ID"`
	Note     *string  `help:"What the schedule is for." placeholder:"TEXT"`
}

// change returns the settings as a change of a schedule.
func (s scheduleSettings) change() (client.ScheduleChange, error) {
	out := client.ScheduleChange{
		Cron: s.Cron, Every: s.Every, TimeZone: s.TimeZone, Jitter: s.Jitter, Overlap: timetable.Overlap(s.Overlap), CatchUp: s.CatchUp,
		Skill: s.Playbook, Name: s.Name, ContextID: s.Context, Note: s.Note,
	}
	var errFrom, errUntil error
	out.From, errFrom = parseTime("--from", s.From)
	out.Until, errUntil = parseTime("--until", s.Until)
	return out, errors.Join(errFrom, errUntil)
}

// parseTime reads the time of a flag, nil for an empty one.
func parseTime(flag, text string) (*a2a.Time, error) {
	if text == "" {
		return nil, nil
	}
	var at a2a.Time
	if at.UnmarshalText([]byte(text)) != nil {
		return nil, process.Usagef("%s %q is not a time such as 2026-12-01T02:00:00Z or 2026-12-01T02:00:00+01:00", flag, text)
	}
	return &at, nil
}

// scheduleCreateCommand is "longhaul schedule create".
type scheduleCreateCommand struct {
	scheduleRemote
	scheduleSettings
	ID     string   `arg:"" help:"Id of the new schedule: letters, digits, dots, dashes and underscores."`
	Text   []string `arg:"" help:"Text of the message that each objective starts with."`
	Paused bool     `help:"Make it paused."`
}

func (c *scheduleCreateCommand) Run(p *process.Process, r *remote) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	if len(c.Cron) == 0 && c.Every == "" {
		return process.Usagef("say when: --cron '0 2 * * *' or --every 2h")
	}
	change.Text = strings.Join(c.Text, " ")
	if c.Paused {
		change.Paused = &c.Paused
	}
	s, err := r.client.CreateSchedule(p.Ctx, c.ID, change)
	if err != nil {
		return err
	}
	printNext(p, r, s)
	return nil
}

// printNext prints when a schedule starts its next objective.
func printNext(p *process.Process, r *remote, x *client.Schedule) {
	switch {
	case x.Paused:
		fmt.Fprintf(p.Stdout, "Schedule %s is paused. To resume it: %s %s\n", a2a.VisibleLine(x.ID), r.command("schedule resume"), process.ShellWord(x.ID))
	case len(x.Next) == 0:
		fmt.Fprintf(p.Stdout, "Schedule %s has no next time.\n", a2a.VisibleLine(x.ID))
	default:
		fmt.Fprintf(p.Stdout, "Schedule %s starts its next objective at %s.\n", a2a.VisibleLine(x.ID), timeText(x.Next[0], x.TimeZone))
	}
}

// scheduleListCommand is "longhaul schedule list".
type scheduleListCommand struct {
	scheduleRemote
	JSON bool `help:"Print each schedule as a line of JSON, as /v1/schedules has it."`
}

func (c *scheduleListCommand) Run(p *process.Process, r *remote) error {
	now := time.Now()
	_, err := listing[client.Schedule]{
		json: c.JSON, keep: func(ids []string) { keepList(r, ids) }, head: []string{"ID", "WHEN", "NEXT", "LATEST", "STARTS"},
		none: fmt.Sprintf("No schedules. To make one: %s ID TEXT --cron '0 2 * * *'", r.command("schedule create")),
		read: func(int, string) (*client.Page[client.Schedule], error) { return r.client.Schedules(p.Ctx) },
		row: func(s client.Schedule) []string {
			latest := "-"
			if len(s.Runs) > 0 {
				latest = fmt.Sprintf("%s, %s ago", runText(s.Runs[0]), durationText(now.Sub(s.Runs[0].At.Time())))
			}
			return []string{s.ID, timesText(s), nextText(s, now), latest, cmp.Or(s.Name, s.Text)}
		},
	}.print(p.Stdout)
	return err
}

// timesText returns when a schedule starts objectives, for people.
func timesText(s client.Schedule) string {
	parts := s.Cron
	if s.Every != "" {
		parts = append(parts[:len(parts):len(parts)], "every "+shortDuration(s.Every))
	}
	return strings.TrimSpace(strings.Join(parts, "; ") + " " + s.TimeZone)
}

func nextText(s client.Schedule, now time.Time) string {
	switch {
	case s.Paused:
		return "paused"
	case len(s.Next) == 0:
		return "never"
	}
	return "in " + durationText(max(0, s.Next[0].Time().Sub(now)))
}

// runText returns the result of a run, for people.
func runText(r client.ScheduleRun) string {
	switch {
	case r.Status != "":
		return string(r.Status)
	case r.Failure != "":
		return "not started"
	}
	return "starting"
}

// scheduleShowCommand is "longhaul schedule show".
type scheduleShowCommand struct {
	oneSchedule
	JSON bool `help:"Print the schedule as JSON, as /v1/schedules has it."`
}

func (c *scheduleShowCommand) Run(p *process.Process, r *remote) error {
	if c.JSON {
		raw, err := bySchedule(p.Ctx, r, &c.ID, func(id string) (json.RawMessage, error) {
			return r.client.Read(p.Ctx, "/v1/schedules/"+url.PathEscape(id))
		})
		return printRaw(p, raw, err)
	}
	s, err := bySchedule(p.Ctx, r, &c.ID, func(id string) (*client.Schedule, error) { return r.client.Schedule(p.Ctx, id) })
	if err != nil {
		return err
	}
	for _, line := range [][2]string{
		{"schedule", s.ID}, {"text", s.Text}, {"name", s.Name}, {"playbook", s.Skill}, {"context", s.ContextID},
		{"when", timesText(*s)}, {"jitter", shortDuration(s.Jitter)}, {"from", timeText(s.From, s.TimeZone)}, {"until", timeText(s.Until, s.TimeZone)},
		{"overlap", string(s.Overlap)}, {"catch-up", shortDuration(s.CatchUp)}, {"principal", s.Principal}, {"declared", s.Playbook}, {"note", s.Note},
		{"skipped", countText(s.Skipped)}, {"missed", countText(s.Missed)},
	} {
		if name, value := line[0], line[1]; value != "" {
			fmt.Fprintf(p.Stdout, "%-10s %s\n", name, a2a.Visible(value))
		}
	}
	c.printHistory(p, r, s)
	return nil
}

// countText returns a number for people, "" for zero.
func countText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// shownTimes is how many of the next times are shown.
const shownTimes = 5

// printHistory prints the next times and the latest runs of a schedule.
func (c *scheduleShowCommand) printHistory(p *process.Process, r *remote, s *client.Schedule) {
	switch {
	case s.Paused:
		fmt.Fprintf(p.Stdout, "\nPaused. To resume it: %s %s\n", r.command("schedule resume"), process.ShellWord(s.ID))
	case len(s.Next) == 0:
		fmt.Fprintf(p.Stdout, "\nIt has no next time.\n")
	default:
		fmt.Fprintf(p.Stdout, "\nNext\n")
		for _, at := range s.Next[:min(shownTimes, len(s.Next))] {
			fmt.Fprintf(p.Stdout, "  %s\n", timeText(at, s.TimeZone))
		}
	}
	if len(s.Runs) == 0 {
		return
	}
	fmt.Fprintln(p.Stdout)
	var table [][]string
	for _, run := range s.Runs {
		state := runText(run)
		if run.Failure != "" {
			state += ": " + run.Failure
		}
		table = append(table, []string{timeText(run.At, s.TimeZone), run.ObjectiveID, state})
	}
	process.WriteTable(p.Stdout, []string{"TIME", "OBJECTIVE", "STATUS"}, table)
}

// scheduleChangeCommand is "longhaul schedule change".
type scheduleChangeCommand struct {
	scheduleRemote
	scheduleSettings
	ID   string   `arg:"" help:"Id of the schedule."`
	Text []string `arg:"" optional:"" help:"New text of the message."`
}

func (c *scheduleChangeCommand) Run(p *process.Process, r *remote) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	change.Text = strings.Join(c.Text, " ")
	if reflect.ValueOf(change).IsZero() {
		return process.Usagef("say what to change: flags such as --every 2h, or a new text")
	}
	switch { // they take each other's place
	case len(c.Cron) > 0 && c.Every == "":
		change.Every = "0s"
	case c.Every != "" && len(c.Cron) == 0:
		change.Cron = []string{}
		if change.TimeZone == nil {
			change.TimeZone = new(string)
		}
	}
	return updateSchedule(p, r, c.ID, change)
}

// updateSchedule changes a schedule and says when it starts its next objective.
func updateSchedule(p *process.Process, r *remote, id string, change client.ScheduleChange) error {
	s, err := bySchedule(p.Ctx, r, &id, func(id string) (*client.Schedule, error) { return r.client.UpdateSchedule(p.Ctx, id, change) })
	if err == nil {
		printNext(p, r, s)
	}
	return err
}

// schedulePauseCommand is "longhaul schedule pause".
type schedulePauseCommand struct {
	oneSchedule
	Note string `help:"Why." placeholder:"TEXT"`
}

func (c *schedulePauseCommand) Run(p *process.Process, r *remote) error {
	change := client.ScheduleChange{Paused: new(true)}
	if c.Note != "" {
		change.Note = &c.Note
	}
	return updateSchedule(p, r, c.ID, change)
}

// scheduleResumeCommand is "longhaul schedule resume".
type scheduleResumeCommand struct{ oneSchedule }

func (c *scheduleResumeCommand) Run(p *process.Process, r *remote) error {
	return updateSchedule(p, r, c.ID, client.ScheduleChange{Paused: new(bool)})
}

// scheduleTriggerCommand is "longhaul schedule trigger".
type scheduleTriggerCommand struct {
	oneSchedule
	Overlap string `help:"In place of the policy of the schedule: skip, buffer-one, buffer-all, cancel-other or allow-all." enum:",skip,buffer-one,buffer-all,cancel-other,allow-all" default:"" placeholder:"POLICY"`
}

func (c *scheduleTriggerCommand) Run(p *process.Process, r *remote) error {
	t, err := bySchedule(p.Ctx, r, &c.ID, func(id string) (*client.Triggered, error) {
		return r.client.TriggerSchedule(p.Ctx, id, timetable.Overlap(c.Overlap))
	})
	switch {
	case err != nil:
		return err
	case t.Skipped:
		return fmt.Errorf("nothing was started: an objective of schedule %s is open. To start one beside it: %s %s --overlap allow-all", c.ID, r.command("schedule trigger"), c.ID)
	case t.Run != nil && t.Run.Failure != "":
		return fmt.Errorf("nothing was started: %s", t.Run.Failure)
	case t.Run == nil:
		fmt.Fprintf(p.Stdout, "Accepted. It starts when the open objective of the schedule has ended, if its overlap policy lets it wait: %s %s\n", r.command("schedule show"), process.ShellWord(c.ID))
		return nil
	}
	fmt.Fprintf(p.Stdout, "Started %s\nTo watch it: %s %s\n", a2a.VisibleLine(t.Run.ObjectiveID), r.command("watch"), process.ShellWord(t.Run.ObjectiveID))
	return nil
}

// scheduleBackfillCommand is "longhaul schedule backfill".
type scheduleBackfillCommand struct {
	oneSchedule
	From    string `required:"" help:"First time, such as 2026-12-01T00:00:00Z." placeholder:"TIME"`
	Until   string `aliases:"to" help:"Last time; now by default." placeholder:"TIME"`
	Overlap string `help:"How the objectives run: one after another (buffer-all, the default), at the same time (allow-all), or as another policy of schedules says." enum:",skip,buffer-one,buffer-all,cancel-other,allow-all" default:"" placeholder:"POLICY"`
}

func (c *scheduleBackfillCommand) Run(p *process.Process, r *remote) error {
	from, err := parseTime("--from", c.From)
	if err != nil {
		return err
	}
	until, err := parseTime("--until", c.Until)
	if err != nil {
		return err
	}
	until = cmp.Or(until, new(a2a.At(time.Now())))
	x, err := bySchedule(p.Ctx, r, &c.ID, func(id string) (*client.Schedule, error) { return r.client.Schedule(p.Ctx, id) })
	if err != nil {
		return err
	}
	runs, err := r.client.BackfillSchedule(p.Ctx, c.ID, *from, *until, timetable.Overlap(c.Overlap))
	if err != nil {
		return err
	}
	var starts [][]string
	for _, run := range runs {
		if run.Status == "" {
			starts = append(starts, []string{timeText(run.At, x.TimeZone), run.ObjectiveID})
		}
	}
	if known := len(runs) - len(starts); known > 0 {
		fmt.Fprintf(p.Stdout, "Left out, since they were started before: %d\n", known)
	}
	if len(starts) == 0 {
		fmt.Fprintln(p.Stdout, "There is nothing to start.")
		return nil
	}
	fmt.Fprintf(p.Stdout, "To be started: %d\n\n", len(starts))
	process.WriteTable(p.Stdout, []string{"TIME", "OBJECTIVE"}, starts)
	return nil
}

// scheduleDeleteCommand is "longhaul schedule delete".
type scheduleDeleteCommand struct{ oneSchedule }

func (c *scheduleDeleteCommand) Run(p *process.Process, r *remote) error {
	dropped, err := bySchedule(p.Ctx, r, &c.ID, func(id string) (int, error) { return r.client.DeleteSchedule(p.Ctx, id) })
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "Schedule %s is deleted. Objectives that it has started continue.\n", c.ID)
	if dropped > 0 {
		fmt.Fprintf(p.Stdout, "Not started, since they waited in it, as those of a backfill do: at least %s\n", opt.Count(dropped, "objective"))
	}
	return nil
}
