package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A waiting is what an answer is for: a task, and the gate at which it waits.
type waiting struct {
	task   *a2a.Task
	gate   *opt.Gate  // the zero value if the task shows none, or another than the answer names
	object []a2a.Part // of the gate
	waits  bool       // for an answer of any kind, as far as the task and its objective show
}

// shownBy returns the task that shows a gate: its own, or the given one if the id of the gate does not name it.
func shownBy(taskID, gateID string) string {
	if of := taskIDOf(gateID); of != gateID {
		return of
	}
	return taskID
}

// readWaiting returns what an answer to a task is for; gateID may be "". A root task shows no
// gate while other tasks work, so the gates of the tasks below it are read then.
func readWaiting(ctx context.Context, agent *client.Client, taskID, gateID string) (waiting, error) {
	t, err := agent.Get(ctx, shownBy(taskID, gateID), 0)
	if client.HasReason(err, "PERMISSION_DENIED") { // a key may answer and not read
		return waiting{task: &a2a.Task{ID: taskID}, gate: &opt.Gate{}, waits: true}, nil
	}
	if err != nil {
		return waiting{}, err
	}
	w := waiting{task: t, gate: &opt.Gate{}, waits: t.Status.State.Interrupted()}
	switch g, shown := client.Gate(t.Metadata); {
	case shown && (gateID == "" || g.ID == gateID):
		w.gate, w.object, w.waits = g, objectOf(g, t.Status.Message), true
	case !w.waits && gateID == "" && !t.Status.State.Terminal():
		below := gatesBelow(ctx, agent, taskID)
		if len(below) == 1 {
			return readWaiting(ctx, agent, taskID, below[0].ID)
		}
		w.waits = len(below) > 0
	}
	return w, nil
}

// gatesBelow returns the open gates of the tasks below a root task, none if they cannot be read.
func gatesBelow(ctx context.Context, agent *client.Client, taskID string) []*opt.Gate {
	objectiveID := rootOf(taskID)
	if objectiveID == "" {
		return nil
	}
	o, err := agent.GetObjective(ctx, objectiveID)
	if err != nil {
		return nil
	}
	gates, _ := readGates(ctx, agent, waitingTasks(o))
	return gates
}

// fits returns the error of an answer that what waits does not take, with the commands that
// answer there; a is the decision, "" if the answer is none.
func (c *answerCommand) fits(ctx context.Context, r *remote, w waiting, a opt.Action) error {
	isText := a == "" && len(c.Set) == 0
	switch unfit := c.unfit(w.gate, a); {
	case isText && !w.waits && w.task.Status.State.Terminal():
		return c.closedError(ctx, r, w.task, errors.New("the task has ended"))
	case isText && !w.waits:
		return fmt.Errorf("nothing waits for an answer: the task is %s. To send the text to the work all the same:\n\n  %s --task %s %s",
			shown.LookOfTask(opt.TaskState(w.task.Status.State)).Word, r.command("send"), process.ShellWord(w.task.ID), process.ShellQuoted(strings.Join(c.Text, " ")))
	case a != "" && !w.waits && c.gateID() == "" && !w.task.Status.State.Terminal():
		return fmt.Errorf("nothing waits for a decision: the task is %s. To list what waits:\n\n  %s",
			shown.LookOfTask(opt.TaskState(w.task.Status.State)).Word, r.command("inbox"))
	case isText && w.gate.ID == "" && c.gateID() != "":
		return c.closedError(ctx, r, w.task, errors.New("the task does not wait at this gate"))
	case unfit != "":
		return c.gateError(ctx, r, w, "this gate does not take "+unfit)
	}
	return nil
}

// unfit returns what of the answer g does not take, "" if it may take all of it.
func (c *answerCommand) unfit(g *opt.Gate, a opt.Action) string {
	asks := g.Kind == opt.Clarification
	switch {
	case g.ID == "", a != "" && (g.Allows(a) || !asks && len(g.Actions) == 0):
		return ""
	case a != "":
		return "the decision " + c.word()
	case len(c.Set) > 0 && !asks:
		return "answers to questions"
	case len(c.Set) > 0:
		return c.unfitSet(g.Questions)
	case asks && len(g.Questions) != 1:
		return "one text for all questions"
	case g.Kind == opt.Approval, g.Kind == opt.Credential && len(g.Actions) == 0:
		return "a text"
	}
	return ""
}

// unfitSet returns which answers of --set have no question, or which are missing.
func (c *answerCommand) unfitSet(questions []opt.Question) string {
	missing, other := []string{}, maps.Clone(c.Set)
	for _, q := range questions {
		if _, ok := c.Set[q.ID]; !ok {
			missing = append(missing, q.ID)
		}
		delete(other, q.ID)
	}
	switch {
	case len(other) > 0:
		return "an answer to " + strings.Join(slices.Sorted(maps.Keys(other)), ", ")
	case len(missing) > 0:
		return "answers without one to " + strings.Join(missing, ", ")
	}
	return ""
}

// wireField is the begin of a refusal that names a member of the message.
var wireField = regexp.MustCompile(`^Invalid parameters: message\.\S+ `)

// refusedError returns the error of an answer that the agent has refused.
func (c *answerCommand) refusedError(ctx context.Context, r *remote, w waiting, err error) error {
	refused, answered := errors.AsType[*client.Error](err)
	switch {
	case client.HasReason(err, client.ReasonObject):
		return fmt.Errorf("the object at the gate is not the one that you have seen. To look at it:\n\n  %s %s", r.command("get"), taskIDOf(c.Task))
	case answered && refused.Code == client.CodeUnsupported:
		t, failed := r.noRepeat.Get(ctx, w.task.ID, 0)
		if failed != nil {
			t = w.task
		}
		return c.closedError(ctx, r, t, err)
	case answered && refused.Code == client.CodeInvalidParams:
		return c.gateError(ctx, r, w, "the agent refuses this answer: "+wireField.ReplaceAllString(refused.Message, ""))
	}
	return err
}

// gateError returns the error of an answer with a problem, and the commands that answer at the
// gate; at all open ones if there are several and the answer names none.
func (c *answerCommand) gateError(ctx context.Context, r *remote, w waiting, problem string) error {
	if c.gateID() == "" {
		if gates := gatesBelow(ctx, r.noRepeat, taskIDOf(c.Task)); len(gates) > 1 {
			var list string
			for _, g := range gates {
				list += "\n" + g.Prompt() + "\n\n" + replyCommands(g, g.State().A2A(), r.command, c.Task)
			}
			return fmt.Errorf("the task has %d open gates: name one with --gate ID, or answer at one of them:\n%s", len(gates), list)
		}
	}
	if w.gate.ID == "" {
		return errors.New(problem)
	}
	state := w.gate.State().A2A()
	text := fmt.Sprintf("%s. The task waits %s\n\n%s", problem, waitsFor(w.gate, state), replyCommands(w.gate, state, r.command, c.Task))
	if w.gate.Kind == opt.Clarification && len(w.gate.Questions) == 1 && c.setDecision(&client.Reply{}) {
		text += "\nIf the answer is to begin with the word of a decision, add --say."
	}
	return errors.New(strings.TrimRight(text, "\n"))
}

// closedError returns the error of an answer to a task that does not wait for it. It says how
// the gate was closed, and which gates are open now, as far as the task and its
// objective show that.
func (c *answerCommand) closedError(ctx context.Context, r *remote, t *a2a.Task, refused error) error {
	gateID := c.gateID()
	err := fmt.Errorf("%s does not wait for this answer, or not any more: %w", c.Task, refused)
	d, ok := client.Decided(t.Metadata)
	if ok && (gateID == "" || d.GateID == gateID) {
		err = fmt.Errorf("the gate is closed: it was %s (%s): %w", decidedText(d, time.Time{}), timeText(d.At, ""), refused)
	}
	if gateID == "" {
		return err
	}
	for _, g := range otherGates(ctx, r.noRepeat, t, gateID) {
		err = fmt.Errorf("%w\n\nAnother gate is open now: %s\nTo look at it:\n\n  %s %s", err, process.OneLine(g.Prompt(), objectWidth), r.command("get"), process.ShellWord(g.ID))
	}
	return err
}

// otherGates returns the gate that t shows, or else the open gates of its objective, but for one.
func otherGates(ctx context.Context, agent *client.Client, t *a2a.Task, but string) []*opt.Gate {
	if g, open := client.Gate(t.Metadata); open && g.ID != but {
		return []*opt.Gate{g}
	}
	ref, ok := opt.ParseID(t.ID)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(gatesBelow(ctx, agent, opt.RootID(ref.ObjectiveID, ref.Attempt)), func(g *opt.Gate) bool { return g.ID == but })
}
