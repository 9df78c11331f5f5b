package commands

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// showWaiting implements [display].
func (p *printer) showWaiting(open func() []*opt.Gate) {
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
	if !closedSince(p.latest) {
		p.printGate(key, g, s, question)
	}
	for _, g := range open() {
		p.printGate(g.ID, g, a2a.TaskStatus{State: g.State().A2A()}, g.Prompt())
	}
}

// closedSince reports whether the gate that the status in e is about was closed after that
// status. A root task shows its former status for a moment after its gate was closed, also in
// updates about its plans and tasks.
func closedSince(e client.Event) bool {
	s, ok := e.TaskStatus()
	_, open := client.Gate(e.Metadata())
	d, closed := client.Decided(e.Metadata())
	_, below := e.Metadata()[opt.KeyEvent]
	return ok && !open && (below || closed && !d.At.Time().Before(s.At.Time()))
}

// printGate prints a question, the object to decide on and the commands that answer. For a gate
// that was printed before, it prints only the changes. g is nil if the question has no gate.
func (p *printer) printGate(key string, g *opt.Gate, s a2a.TaskStatus, question string) {
	before := p.gates[key]
	if g != nil {
		p.gates[key] = g
	}
	if p.asked[key] {
		p.printChanges(before, g)
		return
	}
	p.asked[key] = true
	p.gatePrints++
	p.blankLine = true
	p.printLines("%s", p.paint(shown.LookOfTask(s.State).Kind, p.sanitize(question)))
	p.blankLine = true
	if object := objectText(objectOf(g, s.Message)); object != "" {
		p.printLines("%s", p.sanitize(object))
		p.blankLine = true
	}
	shown, _ := client.Gate(p.latest.Metadata())
	if client.ReplyPending(p.latest.Metadata()) && (g == nil || shown != nil && shown.ID == g.ID) {
		p.printLines("An answer is already stored; a worker will use it as soon as one is available.")
		return
	}
	if g != nil {
		p.printQuestions(g)
		p.printDetails(g)
	}
	if p.inPlace {
		return
	}
	p.printLines("The task waits %s\n\n%s", waitsFor(g, s.State), replyCommands(g, s.State, p.command, p.taskID))
	p.blankLine = true
}

// printQuestions prints the ids of the questions of g and what each takes: one that takes any text
// and is the only one was printed with the gate.
func (p *printer) printQuestions(g *opt.Gate) {
	var lines []string
	for _, q := range g.Questions {
		if form := formText(shown.NewQuestion(q)); form != "" || len(g.Questions) > 1 {
			lines = append(lines, "  "+a2a.VisibleLine(q.ID)+": "+cmp.Or(form, "a text"))
		}
	}
	if len(lines) > 0 {
		p.printLines("%s", p.sanitize(strings.Join(lines, "\n")))
		p.blankLine = true
	}
}

// printDetails prints the exchanges at g, who may answer, the votes and the next step without
// an answer.
func (p *printer) printDetails(g *opt.Gate) {
	if exchanges := exchangesText(g, 0); exchanges != "" {
		p.printLines("%s", p.sanitize(exchanges))
		p.blankLine = true
	}
	p.printUnshown(g)
	kept := ""
	if g.Keep {
		kept = "Forks keep an accept of the same."
	}
	for _, text := range []string{whoText(g), votesText(g), g.Original.String(), kept} {
		if text != "" {
			p.printLines("%s", p.sanitize(text))
		}
	}
	if g.Next != nil {
		p.printLines("Without an answer: %s at %s", p.sanitize(g.Next.String()), timeText(g.Next.At, ""))
	}
}

// printUnshown prints how to read the messages of which g does not show all.
func (p *printer) printUnshown(g *opt.Gate) {
	if n := g.Unshown(); n > 0 {
		p.printLines("Messages of which not all is shown here: %d. An accept covers them, too. To read them:\n\n  %s %s --json --history %d --scope objective",
			n, p.command("get"), process.ShellWord(g.TaskID), allMessages)
		p.blankLine = true
	}
}

// allMessages is more than the messages that an objective has.
const allMessages = 100_000

// printChanges prints the changes of a gate that was printed before.
func (p *printer) printChanges(before, g *opt.Gate) {
	if before == nil || g == nil || before.ID != g.ID {
		return
	}
	var texts []string
	if said := before.Omitted + len(before.Exchanges); g.Omitted+len(g.Exchanges) > said {
		texts = append(texts, exchangesText(g, said))
		defer p.printUnshown(g)
	}
	if len(g.Votes) != len(before.Votes) {
		texts = append(texts, votesText(g))
	}
	if g.Taken > before.Taken {
		texts = append(texts, stepText(g))
	}
	for _, text := range texts {
		if text != "" {
			p.printLines("%s", p.sanitize(text))
			p.gatePrints++
		}
	}
}

// taskName returns the name of the task of a gate, "" if it is not known.
func (p *printer) taskName(gateID string) string {
	if p.objective == nil {
		return ""
	}
	for _, plan := range p.objective.Plans {
		for _, t := range plan.Tasks {
			if t.A2ATaskID != "" && t.A2ATaskID == taskIDOf(gateID) {
				return t.Name
			}
		}
	}
	return ""
}

// printDecided prints once how the latest gate at a task with metadata m was closed.
func (p *printer) printDecided(m a2a.Metadata) {
	d, ok := client.Decided(m)
	if !ok || p.closed[d.GateID] {
		return
	}
	p.closed[d.GateID] = true
	p.gatePrints++
	name := p.taskName(d.GateID)
	var opened time.Time
	if g := p.gates[d.GateID]; g != nil {
		opened, name = g.RequestedAt.Time(), cmp.Or(name, g.Title)
	}
	text := decidedText(d, opened)
	if p.showTimes && !d.At.Time().IsZero() {
		text += " (" + timeText(d.At, "") + ")"
	}
	if name != "" {
		text = process.OneLine(name, objectWidth) + ": " + text
	} else {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	p.printLines("%s", p.sanitize(text))
}

func waitsFor(g *opt.Gate, state a2a.TaskState) string {
	switch {
	case state == a2a.AuthRequired && g != nil && g.Allows(opt.Accept):
		return "for an authorization elsewhere, and continues by itself once it has that. To say that it was given, or refuse it:"
	case state == a2a.AuthRequired:
		return "for an authorization elsewhere. To watch the task:"
	case g != nil && g.Kind == opt.Approval:
		return "for a decision. To decide:"
	}
	return "for an answer. To answer:"
}

// replyCommands returns the commands that answer at g, or a task that shows no gate.
func replyCommands(g *opt.Gate, state a2a.TaskState, command func(string) string, taskID string) string {
	answer := "  " + command("answer") + " "
	switch {
	case state == a2a.AuthRequired && (g == nil || !g.Allows(opt.Accept)):
		return "  " + command("watch") + " " + process.ShellWord(taskID) + "\n"
	case g == nil:
		return answer + process.ShellWord(taskID) + " \"your answer\"\n"
	}
	id := process.ShellWord(g.ID)
	switch {
	case g.Kind != opt.Clarification:
		var lines string
		for _, d := range []struct {
			action opt.Action
			words  string
		}{
			{opt.Accept, "accept"}, {opt.Refine, `refine "what to make better"`}, {opt.EditAccept, "edit-accept --file " + editedName(g)},
			{opt.Ask, `ask "a question about it"`}, {opt.Reject, `reject "what is wrong"`},
		} {
			if g.Allows(d.action) {
				lines += answer + id + " " + d.words + "\n"
			}
		}
		return lines
	case len(g.Questions) == 1:
		return answer + id + " " + exampleAnswer(g.Questions[0]) + "\n"
	}
	var sets string
	for _, q := range g.Questions {
		sets += fmt.Sprintf(" --set %s=%s", process.ShellWord(q.ID), exampleAnswer(q))
	}
	return answer + id + sets + "\n"
}

// exampleAnswer returns the place of an answer to q in a command.
func exampleAnswer(q opt.Question) string {
	if len(shown.NewQuestion(q).Several) > 0 {
		return `"one,another"`
	}
	return `"your answer"`
}

// editedName returns the name of a file for an object in place of that of g.
func editedName(g *opt.Gate) string {
	if strings.HasPrefix(g.ArtifactType, "text/") || len(g.ArtifactData) > 0 && g.ArtifactData[0] == '"' {
		return "edited.txt"
	}
	return "edited.json"
}
