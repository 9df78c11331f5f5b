package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/opt"
)

// answerCommand is "longhaul answer".
type answerCommand struct {
	remoteSettings
	Task     string            `arg:"" help:"Id of the waiting task or of its gate."`
	Text     []string          `arg:"" optional:"" help:"The answer to the only question."`
	Accept   bool              `help:"Approve." xor:"decision"`
	Reject   bool              `help:"Do not approve." xor:"decision"`
	Feedback string            `help:"Why." placeholder:"TEXT"`
	Set      map[string]string `help:"The answer to one of several questions; may be repeated." placeholder:"ID=ANSWER" mapsep:"none"`
	Gate     string            `help:"Id of the gate, if several are open." placeholder:"ID"`
}

func (c *answerCommand) Run(p *program) error {
	r, err := c.reach(p)
	if err != nil {
		return err
	}
	m, err := c.message(p.ctx, r.client)
	if err != nil {
		return err
	}
	e, err := r.client.Send(p.ctx, m, client.SendOptions{ReturnImmediately: true, Retry: true})
	var refused *client.Error
	switch {
	case errors.As(err, &refused) && refused.Code == client.CodeUnsupported:
		return fmt.Errorf("%s does not wait for this answer, or not any more: %w", c.Task, err)
	case errors.As(err, &refused) && refused.Code == client.CodeInvalidParams && c.Gate == "":
		return c.which(p.ctx, r.look, m.TaskID, err)
	case err != nil:
		return err
	}
	answered(p.stdout, e, c.flags())
	return nil
}

// which returns the error of an answer that was refused and names no gate: if it
// was for a root task under which several gates are open, how to name one.
func (c *answerCommand) which(ctx context.Context, agent *client.Client, taskID string, refused error) error {
	ref, ours := opt.ParseID(taskID)
	if !ours || ref.TaskID != "" {
		return refused
	}
	o, err := agent.GetObjective(ctx, ref.ObjectiveID)
	if err != nil {
		return refused
	}
	gates, err := openGates(ctx, agent, o)
	if err != nil || len(gates) < 2 {
		return refused
	}
	var list string
	for _, g := range gates {
		list += "\n" + g.Prompt() + "\n\n" + replyCommands(g, g.State().A2A(), c.flags(), c.Task)
	}
	return fmt.Errorf("the task has %d open gates: name one with --gate ID, or answer at one of them:\n%s", len(gates), list)
}

// message returns the message with the answer.
func (c *answerCommand) message(ctx context.Context, agent *client.Client) (a2a.Message, error) {
	taskID, reply := c.Task, client.Reply{GateID: c.Gate, Feedback: c.Feedback}
	if i := strings.LastIndexByte(taskID, ':'); i > 0 && c.Gate == "" {
		if _, ours := opt.ParseID(taskID[:i]); ours {
			taskID, reply.GateID = taskID[:i], taskID
		}
	}
	text := strings.Join(c.Text, " ")
	switch decided := c.Accept || c.Reject; {
	case decided && (text != "" || len(c.Set) > 0), text != "" && len(c.Set) > 0:
		return a2a.Message{}, errors.New("give one kind of answer: --accept or --reject with --feedback, or --set, or a text")
	case c.Accept:
		reply.Action = opt.Accept
	case c.Reject:
		reply.Action = opt.Reject
	case len(c.Set) > 0:
		for _, id := range slices.Sorted(maps.Keys(c.Set)) {
			reply.Answers = append(reply.Answers, client.TextAnswer(id, c.Set[id]))
		}
	case text != "" && reply.GateID == "" && c.Feedback == "":
		m := reply.Message(taskID)
		m.Parts = []a2a.Part{a2a.TextPart(text)}
		return m, nil
	case text != "":
		question, err := onlyQuestion(ctx, agent, taskID, reply.GateID)
		if err != nil {
			return a2a.Message{}, err
		}
		reply.Answers = []opt.Answer{client.TextAnswer(question, text)}
	default:
		return a2a.Message{}, errors.New("say what to answer: --accept, --reject, --set ID=ANSWER or a text")
	}
	return reply.Message(taskID), nil
}

// onlyQuestion returns the id of the question at a gate of a task; gateID may be
// "".
func onlyQuestion(ctx context.Context, agent *client.Client, taskID, gateID string) (string, error) {
	at := taskID // shows the gate
	if i := strings.LastIndexByte(gateID, ':'); i > 0 {
		if _, ours := opt.ParseID(gateID[:i]); ours {
			at = gateID[:i]
		}
	}
	t, err := agent.Get(ctx, at, 0)
	if err != nil {
		return "", err
	}
	g, ok := client.Gate(t.Metadata)
	switch {
	case !ok || gateID != "" && g.ID != gateID:
		return "", fmt.Errorf("%s does not wait at this gate, or not any more", taskID)
	case g.Kind == opt.Approval:
		return "", errors.New("the task waits for an approval: use --accept or --reject")
	case len(g.Questions) != 1:
		return "", errors.New("the task asks more than one question: use --set ID=ANSWER for each")
	}
	return g.Questions[0].ID, nil
}

// answered prints the result of an answer and how to watch the task.
func answered(out io.Writer, e client.Event, flags string) {
	if e.Task == nil {
		fmt.Fprintln(out, e.Message.Text())
		return
	}
	t := e.Task
	if client.ReplyPending(t.Metadata) {
		fmt.Fprintf(out, "Task %s: the answer is stored; a worker will use it as soon as one is available.\n", t.ID)
	} else {
		fmt.Fprintf(out, "Task %s: %s\n", t.ID, t.Status.State)
	}
	id := t.ID
	if ref, ok := opt.ParseID(id); ok {
		id = opt.RootID(ref.ObjectiveID, ref.Attempt)
	} else if t.Status.State.Terminal() {
		return
	}
	fmt.Fprintf(out, "\nTo see what follows:\n\n  longhaul watch%s %s\n", flags, id)
}

// ask implements [display].
func (p *printer) ask(open func() []*opt.Gate) {
	s, ok := p.latest.TaskStatus()
	if !ok || !s.State.Interrupted() {
		return
	}
	g, atGate := client.Gate(p.latest.Metadata())
	question := ""
	switch {
	case atGate:
		question = g.Prompt()
	case s.Message != nil:
		question = s.Message.Text()
	}
	key := question + s.At.String()
	if atGate {
		key = g.ID
	}
	p.put(key, g, s.State, question)
	for _, g := range open() {
		p.put(g.ID, g, g.State().A2A(), g.Prompt())
	}
}

// put prints a question and the commands that answer it, unless it did so before.
// g is nil if the question has no gate.
func (p *printer) put(key string, g *opt.Gate, state a2a.TaskState, question string) {
	if p.asked[key] {
		return
	}
	p.asked[key] = true
	p.apart = true
	p.line("%s", p.paint(string(state), question))
	p.apart = true
	shown, _ := client.Gate(p.latest.Metadata())
	if client.ReplyPending(p.latest.Metadata()) && (g == nil || shown != nil && shown.ID == g.ID) {
		p.line("An answer is already stored; a worker will use it as soon as one is available.")
		return
	}
	p.line("The task waits %s\n\n%s", waitsFor(g, state), replyCommands(g, state, p.flags, p.taskID))
	p.apart = true
}

func waitsFor(g *opt.Gate, state a2a.TaskState) string {
	switch {
	case state == a2a.AuthRequired:
		return "for an authorization elsewhere. To watch the task:"
	case g != nil && g.Kind == opt.Approval:
		return "for a decision. To decide:"
	}
	return "for an answer. To answer:"
}

// replyCommands returns the commands that answer at g, or a task that shows no gate.
func replyCommands(g *opt.Gate, state a2a.TaskState, flags, taskID string) string {
	answer := "  longhaul answer" + flags + " "
	switch {
	case state == a2a.AuthRequired:
		return "  longhaul watch" + flags + " " + taskID + "\n"
	case g == nil:
		return answer + taskID + " \"your answer\"\n"
	case g.Kind == opt.Approval:
		var lines string
		if g.Allows(opt.Accept) {
			lines += answer + g.ID + " --accept\n"
		}
		if g.Allows(opt.Reject) {
			lines += answer + g.ID + " --reject --feedback \"what is wrong\"\n"
		}
		return lines
	case len(g.Questions) == 1:
		return answer + g.ID + " \"your answer\"\n"
	}
	var sets string
	for _, q := range g.Questions {
		sets += fmt.Sprintf(" --set %s=\"your answer\"", q.ID)
	}
	return answer + g.ID + sets + "\n"
}
