package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/internal/schema"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// answerCommand is "longhaul answer".
type answerCommand struct {
	remoteSettings
	Task string            `arg:"" help:"Id of the waiting task or of its gate."`
	Text []string          `arg:"" optional:"" help:"A decision and its text (accept, reject, refine, ask, or edit-accept, which accepts with another object; edit for short), or the answer to the only question."`
	Set  map[string]string `help:"The answer to one of several questions; may be repeated. An answer that must be no text is JSON, such as words=200; choices of a list have commas: colors=red,blue." placeholder:"ID=ANSWER" mapsep:"none"`
	File string            `help:"File with what replaces the object of the decision edit-accept; - for standard input. Where the object is a text so is this, else it may be JSON. get --object prints the object." placeholder:"PATH" type:"existingfile"`
	Say  bool              `help:"The text is an answer, even if it begins with the word of a decision."`
	Gate string            `help:"Id of the gate, if several are open." placeholder:"ID"`
	Seen string            `help:"Digest of the object that you have seen. A decision about another object is refused. Default: that of the object now." placeholder:"DIGEST"`
	JSON bool              `help:"Print the result as JSON, as SendMessage has it."`
}

func (c *answerCommand) Run(p *process.Process, r *remote) (err error) {
	if c.Task, err = wholeID(p.Ctx, r, c.Task); err != nil {
		return err
	}
	reply := client.Reply{GateID: c.gateID()}
	decided := c.setDecision(&reply)
	if err := c.check(reply.Action, decided, r); err != nil {
		return err
	}
	w, err := readWaiting(p.Ctx, r.client, taskIDOf(c.Task), reply.GateID)
	if err != nil {
		return err
	}
	if err := c.fits(p.Ctx, r, w, reply.Action); err != nil {
		return err
	}
	reply.GateID = cmp.Or(reply.GateID, w.gate.ID) // and no later one
	m, err := c.message(w, reply)
	if err != nil {
		return err
	}
	e, err := r.client.Send(p.Ctx, m, client.SendOptions{ReturnImmediately: true, Retry: true})
	switch {
	case err != nil:
		return c.refusedError(p.Ctx, r, w, err)
	case c.JSON:
		process.RawLine(p.Stdout, e.Raw)
		return nil
	}
	c.printResult(p.Stdout, r, e)
	return nil
}

// check refuses arguments that contradict each other, and those that say no answer.
func (c *answerCommand) check(a opt.Action, decided bool, r *remote) error {
	switch text := len(c.Text) > 0; {
	case text && len(c.Set) > 0:
		return process.Usagef("give one kind of answer: a decision, a text, or --set")
	case c.Seen != "" && !decided:
		return process.Usagef("--seen is only for a decision about an object")
	case decided:
		return c.checkDecision(a, r)
	case strings.TrimSpace(strings.Join(c.Text, " ")) == "" && len(c.Set) == 0:
		return process.Usagef("say what to answer: accept, reject, refine, edit-accept, ask, a text, or --set ID=ANSWER")
	}
	return nil
}

// message returns the message with the answer, which reply is to have.
func (c *answerCommand) message(w waiting, reply client.Reply) (a2a.Message, error) {
	text := strings.Join(c.Text, " ")
	var err error
	switch {
	case reply.Action != "":
		err = c.setObject(w, &reply)
	case len(c.Set) > 0:
		reply.Answers, err = answersTo(w.gate.Questions, c.Set)
	case w.gate.Kind == opt.Clarification:
		reply.Answers, err = answersTo(w.gate.Questions, map[string]string{w.gate.Questions[0].ID: text})
	default:
		m := reply.Message(taskIDOf(c.Task))
		m.Parts = []a2a.Part{a2a.TextPart(text)}
		return m, nil
	}
	if err != nil {
		return a2a.Message{}, err
	}
	return reply.Message(taskIDOf(c.Task)), nil
}

// gateID returns the id of the gate that the answer is for, "" if it names none.
func (c *answerCommand) gateID() string {
	if c.Gate == "" && taskIDOf(c.Task) != c.Task {
		return c.Task
	}
	return c.Gate
}

// answersTo returns texts, by the ids of questions, as answers to these: JSON, such as a number,
// where a question takes no text. The agent refuses answers to other questions.
func answersTo(questions []opt.Question, texts map[string]string) (list []opt.Answer, err error) {
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		var q opt.Question
		if i := slices.IndexFunc(questions, func(q opt.Question) bool { return q.ID == id }); i >= 0 {
			q = questions[i]
		}
		raw, err := answerOf(q, texts[id])
		if err != nil {
			return nil, fmt.Errorf("the answer to %s is not valid: %w", id, err)
		}
		list = append(list, opt.Answer{ID: id, Answer: raw})
	}
	return list, nil
}

// answerOf returns a text as an answer to q: choices of a list may be given with commas.
func answerOf(q opt.Question, text string) (json.RawMessage, error) {
	asked := shown.NewQuestion(q)
	if len(asked.Several) > 0 && json.Unmarshal([]byte(text), &[]any{}) != nil { // one choice may be JSON, too
		texts, chosen := choiceTexts(asked.Several), []json.RawMessage{}
		for word := range strings.SplitSeq(text, ",") {
			i := slices.Index(texts, strings.TrimSpace(word))
			if i < 0 {
				return nil, fmt.Errorf("%q is not one of %s", strings.TrimSpace(word), strings.Join(texts, ", "))
			}
			chosen = append(chosen, asked.Several[i])
		}
		text = string(a2a.DataPart(chosen).Data)
	}
	return schema.FromText(q.Schema, text)
}

// word returns the first word of the text, "" if there is none.
func (c *answerCommand) word() string {
	if len(c.Text) == 0 {
		return ""
	}
	return c.Text[0]
}

// setDecision sets the decision of r; ok is false if the answer is no decision.
func (c *answerCommand) setDecision(r *client.Reply) (ok bool) {
	if c.Say || len(c.Text) == 0 {
		return false
	}
	rest := strings.Join(c.Text[1:], " ")
	switch word := c.word(); word {
	case "accept", "reject":
		r.Action, r.Feedback = opt.Action(word), rest
	case "refine":
		r.Action, r.Refine = opt.Refine, &opt.Refinement{Scope: "whole", Text: rest}
	case "ask":
		r.Action, r.Question = opt.Ask, rest
	case "edit", "edit-accept":
		r.Action = opt.EditAccept
	default:
		return false
	}
	return true
}

// checkDecision refuses a decision without what it needs, or with what it does not take.
func (c *answerCommand) checkDecision(a opt.Action, r *remote) error {
	word, text, file := c.word(), len(c.Text) > 1, c.File != ""
	needsText := []opt.Action{opt.Refine, opt.Ask}
	switch edits := a == opt.EditAccept; {
	case !text && slices.Contains(needsText, a):
		return process.Usagef("say what to %s, such as: %s %s %s \"…\"", word, r.command("answer"), c.Task, word)
	case file && !edits:
		return process.Usagef("--file is only for the decision edit-accept")
	case file && text:
		return process.Usagef("give the edited object as a text or with --file, not both")
	case edits && !file && !text:
		return process.Usagef("say what replaces the object: a text, or --file PATH")
	}
	return nil
}

// setObject sets the digest of the object in r, so that r cannot decide about another object,
// and the replacement of the object if r edits it.
func (c *answerCommand) setObject(w waiting, r *client.Reply) error {
	if r.Digest = c.Seen; c.Seen == "" && r.Action != opt.Ask {
		r.Digest = w.gate.ObjectDigest
	}
	if r.Action != opt.EditAccept {
		return nil
	}
	text, err := c.replacementText()
	if err == nil {
		r.Edited, err = replacementJSON(w.object, text)
	}
	return err
}

// readInput reads a file; - is standard input.
func readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// replacementText returns the replacement of the object of a gate, as the user gave it.
func (c *answerCommand) replacementText() (string, error) {
	text, from := strings.Join(c.Text[1:], " "), "the text"
	if c.File != "" {
		raw, err := readInput(c.File)
		if err != nil {
			return "", fmt.Errorf("read the edited object: %w", err)
		}
		if text, from = string(raw), c.File; from == "-" {
			from = "standard input"
		}
	}
	if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed == "null" || trimmed == `""` {
		return "", process.Usagef("%s is empty: say what replaces the object, or send it back with refine", from)
	}
	return text, nil
}

// replacementJSON returns the replacement of an object as JSON: a string if the object is text,
// the text itself if the object is data, and for other objects the text itself if it is JSON.
func replacementJSON(object []a2a.Part, text string) (json.RawMessage, error) {
	texts, data := len(object) > 0, len(object) > 0
	for _, p := range object {
		texts, data = texts && p.Text != nil, data && p.Data != nil
	}
	switch valid := json.Valid([]byte(text)); {
	case data && !valid:
		return nil, process.Usagef("the object is data, and what replaces it is not JSON. A text is JSON in quotation marks")
	case valid && !texts:
		return json.RawMessage(text), nil
	}
	return json.Marshal(text)
}

// printResult prints the result of an answer and how to watch the task.
func (c *answerCommand) printResult(out io.Writer, r *remote, e client.Event) {
	if e.Task == nil {
		fmt.Fprintln(out, a2a.Visible(e.Message.Text()))
		return
	}
	t := e.Task
	name := a2a.VisibleLine(t.ID)
	if client.ReplyPending(t.Metadata) {
		fmt.Fprintf(out, "Task %s: the answer is stored; a worker will use it as soon as one is available.\n", name)
	} else {
		fmt.Fprintf(out, "Task %s: %s\n", name, shown.LookOfTask(t.Status.State).Word)
		if text := c.openReason(t); text != "" {
			fmt.Fprintln(out, a2a.Visible(text))
		}
	}
	id := t.ID
	if ref, ok := opt.ParseID(id); ok {
		id = opt.RootID(ref.ObjectiveID, ref.Attempt)
	} else if t.Status.State.Terminal() {
		return
	}
	fmt.Fprintf(out, "\nTo see what follows:\n\n  %s %s\n", r.command("watch"), process.ShellWord(id))
}

// openReason returns why the gate is still open after the answer, "" if it is not.
func (c *answerCommand) openReason(t *a2a.Task) string {
	var r client.Reply
	g, open := client.Gate(t.Metadata)
	if !c.setDecision(&r) || !open || c.gateID() != "" && g.ID != c.gateID() {
		return ""
	}
	switch votes := votesText(g); {
	case r.Action == opt.Ask:
		return "Your question is kept at the gate, which stays open."
	case votes != "" && g.Responders.Several():
		return "Your vote counts. " + votes
	}
	return ""
}
