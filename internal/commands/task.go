package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// callAndPrint calls a method and prints its result as JSON.
func (r *remote) callAndPrint(p *process.Process, method string, params any) error {
	raw, err := r.client.Call(p.Ctx, method, params)
	return printRaw(p, raw, err)
}

// printRaw prints what a call has returned as JSON.
func printRaw(p *process.Process, raw json.RawMessage, err error) error {
	if err == nil {
		process.RawLine(p.Stdout, raw)
	}
	return err
}

// getCommand is "longhaul get".
type getCommand struct {
	remoteSettings
	Task    string `arg:"" help:"Id of the task, or of its gate."`
	History int    `help:"Messages of its history to include with --json, the latest." default:"0"`
	Scope   string `help:"Whose messages: task, plan or objective. Default: what the conversation has chosen." enum:",task,plan,objective" default:"" placeholder:"SCOPE"`
	Object  bool   `help:"Print only the object of its gate, to edit it." xor:"output"`
	JSON    bool   `help:"Print the task as JSON, as GetTask has it." xor:"output"`
}

func (c *getCommand) Run(p *process.Process, r *remote) error {
	id, err := wholeID(p.Ctx, r, c.Task)
	if err != nil {
		return err
	}
	if c.Object {
		return printObject(p.Ctx, r, id)
	}
	id = taskIDOf(id)
	if c.JSON {
		params := map[string]any{"id": id, "historyLength": c.History}
		if c.Scope != "" {
			params["metadata"] = map[string]any{opt.KeyHistoryScope: c.Scope}
		}
		return r.callAndPrint(p, "GetTask", params)
	}
	t, err := r.client.Get(p.Ctx, id, 0)
	if err != nil {
		return err
	}
	show := r.plain(false, false).(*printer)
	show.showTimes = true
	show.begin(t.ID)
	for _, closed := range closedBelow(p.Ctx, r.noRepeat, t) {
		show.objective, _ = client.ObjectiveOf(t.Metadata)
		show.printDecided(closed)
	}
	show.event(client.Event{Event: a2a.Event{Task: t}})
	show.showWaiting(func() []*opt.Gate { return nil })
	printWaits(p.Ctx, r.noRepeat, show, t)
	if used := client.UsageIn(t.Metadata); used != "" {
		show.printLines("Used: %s", show.sanitize(used))
	}
	if at, ok := t.Metadata.String("longhaul/v1/workflowUrl"); ok {
		show.blankLine = true
		show.printLines("Workflow: %s", show.sanitize(at))
	}
	if id := laterAttempt(p.Ctx, r.noRepeat, t); id != "" {
		show.blankLine = true
		show.printLines("The objective was retried. Its latest attempt:\n\n  %s %s", r.command("get"), id)
	}
	return nil
}

// printWaits prints for which worker t waits, or the tasks below it. It ignores errors, since this output is not
// essential.
func printWaits(ctx context.Context, agent *client.Client, show *printer, t *a2a.Task) {
	ref, ok := opt.ParseID(t.ID)
	if !ok || t.Status.State.Terminal() {
		return
	}
	o, err := agent.GetObjective(ctx, ref.ObjectiveID)
	if err != nil {
		return
	}
	for _, plan := range o.Plans {
		for _, task := range plan.Tasks {
			if ref.TaskID == "" || ref.TaskID == task.ID {
				show.printWait(plan, task)
			}
		}
	}
}

// printObject prints the object of a gate whole, as it can be edited.
func printObject(ctx context.Context, r *remote, id string) error {
	gateID := ""
	if taskIDOf(id) != id {
		gateID = id
	}
	w, err := readWaiting(ctx, r.client, taskIDOf(id), gateID)
	if err != nil {
		return err
	}
	text, err := editable(w.object)
	if err == nil {
		if _, _, terminal := process.TerminalOf(r.process.Stdout); terminal {
			text = []byte(a2a.Visible(string(text)))
		}
		_, err = r.process.Stdout.Write(text)
	}
	return err
}

// shownDecisions is of how many tasks below a root task decisions are shown, the latest.
const shownDecisions = 20

// closedBelow returns the metadata of the tasks below the root task t at which gates were closed, in
// the order of the decisions. It ignores errors: t has the latest one, too.
func closedBelow(ctx context.Context, agent *client.Client, t *a2a.Task) (closed []a2a.Metadata) {
	objectiveID := rootOf(t.ID)
	latest, some := client.Decided(t.Metadata)
	if objectiveID == "" || !some {
		return nil
	}
	page, err := agent.Decisions(ctx, objectiveID, client.DecisionOptions{PageSize: listPage})
	var ids []string
	for _, d := range pageItems(page, err) {
		if d.Closed && d.TaskID != t.ID && d.GateID != latest.GateID && !slices.Contains(ids, d.TaskID) {
			ids = append(ids, d.TaskID)
		}
	}
	for _, id := range ids[max(0, len(ids)-shownDecisions):] {
		if task, err := agent.Get(ctx, id, 0); err == nil {
			closed = append(closed, task.Metadata)
		}
	}
	return closed
}

// laterAttempt returns the root task of the latest attempt at the objective of t, "" if t is
// no root task or that of the latest one.
func laterAttempt(ctx context.Context, agent *client.Client, t *a2a.Task) (latest string) {
	ref, ok := opt.ParseID(t.ID)
	if !ok || t.ID != opt.RootID(ref.ObjectiveID, ref.Attempt) || !t.Status.State.Terminal() {
		return ""
	}
	for n := max(ref.Attempt, 1) + 1; ; n++ {
		id := opt.RootID(ref.ObjectiveID, n)
		if _, err := agent.Get(ctx, id, 0); err != nil {
			return latest
		}
		latest = id
	}
}

// cancelCommand is "longhaul cancel".
type cancelCommand struct {
	remoteSettings
	Task   string `arg:"" help:"Id of the task."`
	Reason string `help:"Why, for people and for all work below the task." placeholder:"TEXT"`
	JSON   bool   `help:"Print the task as JSON, as CancelTask has it."`
}

func (c *cancelCommand) Run(p *process.Process, r *remote) (err error) {
	if c.Task, err = wholeID(p.Ctx, r, c.Task); err != nil {
		return err
	}
	var refused *client.Error
	if c.JSON {
		params := map[string]any{"id": c.Task}
		if c.Reason != "" {
			params["metadata"] = client.CancelMetadata(c.Reason)
		}
		return r.callAndPrint(p, "CancelTask", params)
	}
	t, err := r.client.Cancel(p.Ctx, c.Task, c.Reason)
	switch {
	case errors.As(err, &refused) && refused.Code == client.CodeTaskNotCancelable:
		return fmt.Errorf("%s: %w", r.endedText(p.Ctx, c.Task), err)
	case err != nil:
		return err
	case t.Status.State.Terminal():
		fmt.Fprintf(p.Stdout, "Task %s: %s\n", a2a.VisibleLine(t.ID), shown.LookOfTask(t.Status.State).Word)
		return nil
	}
	fmt.Fprintf(p.Stdout, "Task %s: it is being canceled, and is %s until its work has stopped. To see that:\n\n  %s %s\n", a2a.VisibleLine(t.ID), shown.LookOfTask(t.Status.State).Word, r.command("watch"), process.ShellWord(t.ID))
	return nil
}

// endedText says that a task has ended already, and how if the agent returns it.
func (r *remote) endedText(ctx context.Context, taskID string) string {
	text := taskID + " has ended already"
	if t, err := r.noRepeat.Get(ctx, taskID, 0); err == nil && t.Status.State.Terminal() {
		text += ", and is " + shown.LookOfTask(t.Status.State).Word
	}
	return text
}

// objectiveCommand is "longhaul objective".
type objectiveCommand struct {
	remoteSettings
	ID   string `arg:"" help:"Id of the objective, or of one of its tasks or plans."`
	JSON bool   `help:"Print the objective as JSON, as objectives/get has it."`
}

func (c *objectiveCommand) Run(p *process.Process, r *remote) error {
	id, err := wholeID(p.Ctx, r, c.ID)
	if err != nil {
		return err
	}
	id = objectiveIDOf(id)
	if c.JSON {
		raw, err := r.client.Call(p.Ctx, "objectives/get", map[string]any{"id": id})
		var result struct {
			Objective json.RawMessage `json:"objective"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &result)
		}
		return printRaw(p, result.Objective, err)
	}
	o, err := r.client.GetObjective(p.Ctx, id)
	if err != nil {
		return err
	}
	columns := 1 << 10
	if _, size, ok := process.TerminalOf(p.Stdout); ok {
		columns, _ = size()
	}
	inner := &printer{color: process.Colored(p.Stdout)}
	for _, line := range (tree{columns: columns, rows: 1 << 20, now: time.Now(), done: doneOf(p.Ctx, r.noRepeat, o), paint: inner.paint}).lines(o) {
		fmt.Fprintln(p.Stdout, line)
	}
	return nil
}

// doneOf returns how much of o is done, in percent, as the root task of its latest attempt has it; nil
// if that is not known.
func doneOf(ctx context.Context, agent *client.Client, o *client.Objective) *int {
	if o.Status.Ended() {
		return nil
	}
	t, err := agent.Get(ctx, o.ID, 0)
	if err != nil {
		return nil
	}
	if latest, ok := t.Metadata.String("longhaul/v1/retriedBy"); ok {
		if t, err = agent.Get(ctx, latest, 0); err != nil {
			return nil
		}
	}
	return doneIn(t.Metadata)
}

// cardCommand is "longhaul card".
type cardCommand struct {
	remoteSettings
	JSON bool `help:"Print the card as JSON, as the agent serves it."`
}

func (c *cardCommand) Run(p *process.Process, r *remote) error {
	if c.JSON {
		raw, err := r.client.Read(p.Ctx, client.CardPath)
		return printRaw(p, raw, err)
	}
	card, err := r.client.Card(p.Ctx)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintln(p.Stdout, a2a.Visible(fmt.Sprintf(format, args...)))
	}
	say("%s %s", card.Name, card.Version)
	say("%s", card.Description)
	say("")
	for _, i := range card.Interfaces {
		say("  %-10s A2A %s  %s", i.Binding, i.Version, i.URL)
	}
	if len(card.Skills) > 0 {
		say("\nSkills:")
	}
	for _, s := range card.Skills {
		say("\n  %s: %s", s.ID, s.Description)
		for _, example := range s.Examples {
			say("    for example: %s", example)
		}
	}
	return nil
}
