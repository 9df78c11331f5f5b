package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/assume"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/rehearse"
)

// Planning has the planner of a process that this program would start.
type Planning interface {
	// Rehearsing returns the planner with a playbook: a file, a directory, or the name of one that
	// the program has, which messages then ask for as their skill.
	Rehearsing(playbook, calendars string) (plan rehearse.Planner, skill string, err error)
}

// rehearseCommand is "longhaul rehearse".
type rehearseCommand struct {
	remoteSettings
	Playbook  string `arg:"" optional:"" help:"File or directory of playbooks, or the name of a playbook of this program."`
	Message   string `arg:"" optional:"" help:"Text of the message that begins the work."`
	Assume    string `help:"File (YAML) with tasks, executors, people, requester, at, within, budget and quotas." type:"path" placeholder:"FILE"`
	Calendars string `help:"File with working hours and holidays of groups." type:"path" env:"LONGHAUL_CALENDARS" placeholder:"FILE"`
	Past      int    `help:"Take times and costs from so many past runs of the playbook at --url." placeholder:"N"`
	JSON      bool   `help:"Print the report with all events as JSON; times are nanoseconds since the begin."`
}

func (c *rehearseCommand) Run(p *process.Process, r *remote, planning Planning) error {
	if c.Playbook == "" || c.Message == "" {
		return process.Usagef("name a playbook and a message, such as: %s playbooks \"Release version 1.0\"", r.command("rehearse"))
	}
	a, err := assume.Read(c.Assume)
	if err != nil {
		return err
	}
	plan, skill, err := planning.Rehearsing(c.Playbook, c.Calendars)
	if err != nil {
		return err
	}
	if c.Past > 0 && len(a.Quotas.Spent(opt.DefaultTenant)) == 0 {
		if a.Used, err = usedNow(p.Ctx, r.client); err != nil {
			return err
		}
	}
	m := a2a.Message{MessageID: "rehearsal", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(c.Message)}}
	m.Metadata = m.Metadata.WithIf(skill != "", opt.KeySkill, skill)
	when := sinceText
	if a.At.IsZero() {
		a.At = time.Now().UTC()
	} else {
		when = func(d time.Duration) string {
			return fmt.Sprintf("%s (%s)", sinceText(d), a.At.Add(d).Format("Mon 2 Jan 2006 15:04"))
		}
	}
	report, err := rehearse.RunFrom(plan, m, a, func(planner string) ([]rehearse.PastRun, error) {
		return pastRuns(p.Ctx, r.client, planner, c.Past)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return process.PrintJSON(p.Stdout, report)
	}
	printRehearsal(p.Stdout, report, when)
	if report.Failure != "" && len(report.Tasks) == 0 {
		return &process.ExitError{Code: 1, Text: "there would be no plan"}
	}
	return nil
}

// pastRuns reads the latest n runs of a playbook that were completed.
func pastRuns(ctx context.Context, agent *client.Client, planner string, n int) (runs []rehearse.PastRun, err error) {
	if n <= 0 {
		return nil, nil
	}
	page, err := agent.ListObjectives(ctx, client.ObjectiveOptions{Planner: planner, Status: opt.ObjectiveCompleted, PageSize: min(n, listPage), Plans: true, Tasks: true})
	if err != nil {
		return nil, err
	}
	for _, o := range page.Items {
		run := rehearse.PastRun{Began: o.CreatedAt, Ended: o.UpdatedAt, Tasks: map[string]rehearse.PastTask{}}
		for _, p := range o.Plans {
			for _, t := range p.Tasks {
				if run.Tasks[rehearse.PlaceOf(t.ID)], err = pastTask(ctx, agent, t); err != nil {
					return nil, err
				}
			}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// usedNow reads what work has used of the quotas of the tenant; nothing from an agent that does not list it, or not to
// the caller.
func usedNow(ctx context.Context, agent *client.Client) (list []access.Use, err error) {
	page, err := client.Quotas(ctx, agent, "")
	if _, refused := errors.AsType[*client.Error](err); refused {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, q := range page.Items {
		if u, ok := q.Use(); ok {
			list = append(list, u)
		}
	}
	return list, nil
}

// pastTask reads when a task has ended; never if it is done elsewhere, or was taken over.
func pastTask(ctx context.Context, agent *client.Client, t client.PlanTask) (past rehearse.PastTask, err error) {
	if ref, ok := opt.ParseID(t.A2ATaskID); !ok || ref.PlanID != t.PlanID || t.Metadata.Has(opt.KeyTakenOver) {
		return past, nil
	}
	task, err := agent.Get(ctx, t.A2ATaskID, 0)
	if err == nil && task.Status.State.Terminal() {
		past.Ended, past.Used = task.Status.At, client.Used(t.Metadata)
	}
	return past, err
}

// printRehearsal prints a report; when is the text of a time at which people are asked.
func printRehearsal(out io.Writer, r *rehearse.Report, when func(time.Duration) string) {
	from := "by assumptions: without others, a task takes 1s and an answer 1 hour"
	if r.Past > 0 {
		from = "from " + opt.Count(r.Past, "past run")
	}
	fmt.Fprintf(out, "%s after %s, %s\n", lookOf(&client.Objective{Status: r.Status}).Word, r.Took.Text(sinceText), from)
	if r.Cost.High > 0 {
		fmt.Fprintf(out, "Costs %s\n", r.Cost.Text(opt.Money.String))
	}
	if r.Planner != "" {
		fmt.Fprintf(out, "Plans of %s: %s\n", a2a.VisibleLine(r.Planner), a2a.VisibleLine(r.Why))
	}
	if r.Failure != "" {
		fmt.Fprintln(out, a2a.VisibleLine(r.Failure))
	}
	printCourse(out, r)
	for _, g := range r.Gates {
		printAsked(out, g, when)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(out, "\nWARNING %s after %s, in %.0f%%: %s\n", cmp.Or(a2a.VisibleLine(w.Of), "all of it"), sinceText(w.At), 100*w.Share, w.Text)
	}
}

// printCourse prints the tasks; those with a mark decide when all ends.
func printCourse(out io.Writer, r *rehearse.Report) {
	var rows [][]string
	for _, t := range r.Tasks {
		mark := ""
		if t.Critical {
			mark = "*"
		}
		rows = append(rows, []string{mark, t.Plan + " / " + t.Name, string(t.State), sinceText(t.Began), sinceText(t.Ended)})
	}
	if len(rows) > 0 {
		fmt.Fprintln(out)
		process.WriteTable(out, []string{"*", "TASK", "STATE", "BEGINS", "ENDS"}, rows)
	}
}

// printAsked prints who is asked at a gate, when, and by which step.
func printAsked(out io.Writer, g rehearse.Gate, when func(time.Duration) string) {
	fmt.Fprintf(out, "\n%s: %s\n", a2a.VisibleLine(g.Task), process.OneLine(g.Title, objectWidth))
	asks := func(list []rehearse.Ask, before string) {
		for _, a := range list {
			who := strings.TrimPrefix(whoText(&opt.Gate{Responders: a.Of}), "Who may answer: ")
			if a.Step == opt.Remind || a.Step == opt.Expire {
				who = ""
			}
			if a.Calendar != "" {
				who = joined(who, "by the calendar "+a2a.VisibleLine(a.Calendar))
			}
			fmt.Fprintf(out, "  %s%s: %s\n", before, when(a.At), cmp.Or(joined(string(a.Step), who), "anyone"))
		}
	}
	asks(g.Asked, "after ")
	if g.By != "" {
		fmt.Fprintf(out, "  after %s: %s by %s\n", when(g.Closed), cmp.Or(participles[g.Action], string(g.Action)), a2a.VisibleLine(strings.TrimPrefix(g.By, opt.OwnNames)))
	}
	asks(g.Later, "without an answer after ")
}

// sinceText returns a time since the begin.
func sinceText(d time.Duration) string { return shortDuration(d.Round(time.Second).String()) }
