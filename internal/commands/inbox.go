package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// inboxCommand is "longhaul inbox".
type inboxCommand struct {
	remoteSettings
	Kind      string `help:"Only gates of this kind." enum:",approval,clarification,credential" default:"" placeholder:"KIND"`
	Objective string `help:"Only gates of this objective." placeholder:"ID"`
	Mine      bool   `help:"Only gates that wait for you: that you may answer, and at which you have not voted."`
	Watch     bool   `help:"Continue with what waits later, until Ctrl-C."`
	JSON      bool   `help:"Print each gate as a line of JSON, as /v1/interrupts has it."`
}

// watchPause is how long an inbox that is watched waits before it is read again.
const watchPause = 2 * time.Second

func (c *inboxCommand) Run(p *process.Process, r *remote) error {
	r.page = page{"open gates", "/v1/interrupts"}
	ctx, stop := process.Interruptible(p.Ctx)
	defer stop()
	p.Ctx = ctx // of answers, too
	i := &inbox{inboxCommand: c, process: p, remote: r, known: map[string]bool{}}
	var err error
	if ask := newPrompt(p); ask != nil && !c.JSON {
		err = i.answer(ctx, ask)
	} else {
		err = i.list(ctx)
	}
	if err == nil && !c.JSON && i.stands {
		propose(ctx, p, r)
	}
	if errors.Is(err, context.Canceled) {
		return &process.ExitError{Code: process.ExitInterrupted, Text: "stopped"}
	}
	return err
}

// An inbox is what waits for people, as a command shows it.
type inbox struct {
	*inboxCommand
	process *process.Process
	remote  *remote
	known   map[string]bool // gates that were printed, or answered in place
	stands  bool            // standing decisions may decide about one of those that wait
}

func (i *inbox) read(ctx context.Context, size int, token string) (*client.Page[client.Interrupt], error) {
	page, err := i.remote.client.Interrupts(ctx, client.InterruptOptions{Kind: opt.GateKind(i.Kind), ObjectiveID: i.Objective, Mine: i.Mine, PageSize: size, PageToken: token})
	for _, g := range pageItems(page, err) {
		i.stands = i.stands || g.Standing != ""
	}
	return page, err
}

// row returns a gate as a row of a table.
func (i *inbox) row(g client.Interrupt) []string {
	now, next := time.Now(), "-"
	if g.Next != nil {
		next = fmt.Sprintf("%s in %s", g.Next, durationText(max(0, g.Next.At.Time().Sub(now))))
	}
	prompt := g.Prompt()
	if g.DeputyFor != "" {
		prompt = "As deputy for " + g.DeputyFor + ": " + prompt
	}
	return []string{g.ID, string(g.Kind), durationText(now.Sub(g.RequestedAt.Time())), next, prompt}
}

// list prints what waits, and with --watch what waits later, too.
func (i *inbox) list(ctx context.Context) error {
	none := "Nothing waits for a person."
	for {
		table, err := listing[client.Interrupt]{
			json: i.JSON, limit: math.MaxInt, none: none, head: []string{"ID", "KIND", "WAITS", "NEXT", "QUESTION"}, row: i.row, keep: func(ids []string) { keepList(i.remote, ids) },
			read: func(size int, token string) (*client.Page[client.Interrupt], error) {
				page, err := i.read(ctx, size, token)
				if err == nil && i.Watch {
					i.leaveOut(page)
				}
				return page, err
			},
		}.print(i.process.Stdout)
		if table {
			fmt.Fprintf(i.process.Stdout, "\nTo see one whole, and how to answer it:\n\n  %s ID\n", i.remote.command("get"))
		}
		if err != nil || !i.Watch {
			return err
		}
		none = ""
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// leaveOut removes the gates from page that were in one before.
func (i *inbox) leaveOut(page *client.Page[client.Interrupt]) {
	all := *page
	page.Items, page.Raw = nil, nil
	for n, g := range all.Items {
		if !i.known[g.ID] {
			page.Items, page.Raw = append(page.Items, g), append(page.Raw, all.Raw[n])
		}
		i.known[g.ID] = true
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(watchPause):
		return nil
	}
}

// waiting returns the gates that were not answered here.
func (i *inbox) waiting(ctx context.Context) (gates []client.Interrupt, err error) {
	var ids []string
	for token := ""; ; {
		page, err := i.read(ctx, listPage, token)
		if err != nil {
			return nil, err
		}
		for _, g := range page.Items {
			if !i.known[g.ID] {
				gates, ids = append(gates, g), append(ids, g.ID)
			}
		}
		if token = page.NextPageToken; token == "" {
			keepList(i.remote, ids)
			return gates, nil
		}
	}
}

// answer has the person at the terminal choose gates and answer them, until none waits or the
// person leaves.
func (i *inbox) answer(ctx context.Context, ask *prompt) error {
	for answered := false; ; {
		gates, err := i.open(ctx, answered)
		if err != nil || len(gates) == 0 {
			return err
		}
		var options []string
		for _, g := range gates {
			row := i.row(g)
			options = append(options, strings.Join([]string{row[1], row[2], row[4], "(" + g.ObjectiveName + ")"}, "  "))
		}
		at, err := ask.choose(ctx, "What waits for a person:", options)
		if errors.Is(err, errLeft) {
			return nil
		}
		if err == nil {
			err = i.answerOne(ctx, ask, &gates[at].Gate)
			answered = err == nil
		}
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case errors.Is(err, errLeft):
			i.process.Note("You have left the question: nothing was sent, and what you have entered there is dropped.\n\n")
		case err != nil:
			i.process.Note(fmt.Sprintf("%s: %s\n\n", i.process.Name, a2a.Visible(i.remote.explain(err).Error())))
		}
	}
}

// open returns the gates. It looks again after an answer, since the work may ask at once, and with Watch
// until there are any.
func (i *inbox) open(ctx context.Context, answered bool) ([]client.Interrupt, error) {
	for told := false; ; answered = false {
		gates, err := i.waiting(ctx)
		if err != nil || len(gates) > 0 {
			return gates, err
		}
		if !answered && !told {
			told = true
			fmt.Fprintln(i.process.Stdout, "Nothing waits for a person.")
		}
		if !answered && !i.Watch {
			return nil, nil
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// answerOne shows a gate whole, and sends the answer of the person. The answer has the digest of
// the object that was shown: one about another object is refused.
func (i *inbox) answerOne(ctx context.Context, ask *prompt, listed *opt.Gate) error {
	w, err := readWaiting(ctx, i.remote.client, taskIDOf(listed.ID), listed.ID)
	if err != nil {
		return err
	}
	if w.gate.ID == "" {
		i.known[listed.ID] = true
		return errors.New("the gate is closed already")
	}
	show := i.remote.plain(false, false).(*printer)
	show.inPlace = true
	show.printGate(w.gate.ID, w.gate, a2a.TaskStatus{State: w.gate.State().A2A(), Message: w.task.Status.Message}, w.gate.Prompt())
	fmt.Fprintln(i.process.Stdout)
	a := answerCommand{remoteSettings: i.remoteSettings, Task: w.gate.ID}
	if w.gate.Kind == opt.Clarification {
		a.Set, err = ask.answers(ctx, w.gate.Questions)
	} else {
		a.Seen = w.gate.ObjectDigest
		a.Text, err = ask.decision(ctx, w.gate)
	}
	if err == nil && a.word() == string(opt.EditAccept) {
		var remove func()
		a.File, remove, err = ask.edited(ctx, w)
		defer remove()
	}
	if err == nil {
		err = a.Run(i.process, i.remote)
	}
	if err == nil && a.word() != string(opt.Ask) {
		i.known[w.gate.ID] = true
	}
	fmt.Fprintln(i.process.Stdout)
	return err
}

// decision asks for a decision at g, as the arguments of the command answer.
func (p *prompt) decision(ctx context.Context, g *opt.Gate) ([]string, error) {
	var words, options []string
	for _, d := range []struct {
		action opt.Action
		option string
	}{
		{opt.Accept, "accept"}, {opt.Reject, "reject, and say why"}, {opt.Refine, "refine: send it back, and say what to make better"},
		{opt.EditAccept, "edit-accept: change it, and accept that"}, {opt.Ask, "ask a question about it"},
	} {
		if g.Allows(d.action) {
			words, options = append(words, string(d.action)), append(options, d.option)
		}
	}
	if len(words) == 0 {
		return nil, errors.New("this gate takes no decision here")
	}
	at, err := p.choose(ctx, "Your decision:", options)
	if err != nil || words[at] == string(opt.Accept) || words[at] == string(opt.EditAccept) {
		return []string{words[max(at, 0)]}, err
	}
	text, err := p.line(ctx, strings.ToUpper(words[at][:1])+words[at][1:]+":", func(text string) error {
		if text == "" && words[at] != string(opt.Reject) {
			return errors.New("say what to " + words[at])
		}
		return nil
	})
	return []string{words[at], text}, err
}

// answers asks for the answers to questions, each with its choices, or until it fits.
func (p *prompt) answers(ctx context.Context, questions []opt.Question) (map[string]string, error) {
	out := map[string]string{}
	for _, q := range questions {
		text, err := p.answerTo(ctx, q)
		if err != nil {
			return nil, err
		}
		out[q.ID] = text
	}
	return out, nil
}

func (p *prompt) answerTo(ctx context.Context, q opt.Question) (string, error) {
	asked := shown.NewQuestion(q)
	choices := asked.Options
	if asked.Boolean {
		choices = []string{"true", "false"}
	}
	if len(choices) > 0 {
		at, err := p.choose(ctx, q.Question, choices)
		if err != nil {
			return "", err
		}
		return choices[at], nil
	}
	if len(asked.Several) > 0 {
		return p.several(ctx, q, asked.Several)
	}
	label := a2a.VisibleLine(q.Question)
	if form := formText(asked); form != "" {
		label += " (" + form + ")"
	}
	return p.line(ctx, label, func(text string) error {
		_, err := answerOf(q, text)
		return err
	})
}

// several has a person choose some of the choices, until these fit. It returns them as JSON: a text may have commas.
func (p *prompt) several(ctx context.Context, q opt.Question, choices []json.RawMessage) (string, error) {
	const done = "done"
	asks := q.Question + " Choose any, then " + done + "."
	chosen, title := map[int]bool{}, asks
	for at := 0; ; {
		var options []string
		list := []json.RawMessage{}
		for i, o := range choiceTexts(choices) {
			mark := unmarked
			if chosen[i] {
				mark, list = marked, append(list, choices[i])
			}
			options = append(options, mark+o)
		}
		var err error
		if at, err = p.chooseFrom(ctx, title, append(options, done), at); err != nil {
			return "", err
		}
		if at < len(choices) {
			chosen[at], title = !chosen[at], asks
			continue
		}
		text := string(a2a.DataPart(list).Data)
		if _, err = answerOf(q, text); err == nil {
			return text, nil
		}
		title = fmt.Sprintf("%s This does not fit: %v", q.Question, err)
	}
}
