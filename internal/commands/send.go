package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// sendCommand is "longhaul send".
type sendCommand struct {
	remoteSettings
	Text     []string `arg:"" optional:"" help:"Text of the message; - for standard input."`
	Playbook string   `help:"Playbook or skill that the message is for." placeholder:"NAME"`
	Criteria string   `help:"Criteria in words for the result, which a judge of the playbook or a person reads before the work completes." placeholder:"TEXT"`
	Watch    bool     `help:"Continue to watch while the task waits for a person, until it has ended." xor:"output"`
	ID       string   `help:"Id of the message. A repeat with the same id is the same message." placeholder:"ID"`
	Context  string   `help:"Context that the message belongs to." placeholder:"ID"`
	Task     string   `help:"Task that the message is for." placeholder:"ID"`
	Data     []string `help:"JSON to attach; may be repeated." placeholder:"JSON" sep:"none"`
	File     []string `help:"File to attach; may be repeated." placeholder:"PATH" sep:"none" type:"existingfile"`
	Budget   []string `help:"Most that the work may use: tokens=N, cost=X, time=2h, questions=N to people, calls=N of other agents; onExceeded=ask or fail." placeholder:"NAME=VALUE"`
	NoWait   bool     `help:"Only send, and print the new task." xor:"output"`
	Quiet    bool     `short:"q" help:"Print only the result." xor:"output"`
	JSON     bool     `help:"Print each event as a line of JSON, as the agent sent it."`
}

func (c *sendCommand) Run(p *process.Process, r *remote) error {
	m, err := c.message()
	if err != nil {
		return err
	}
	if c.NoWait {
		e, err := r.client.Send(p.Ctx, m, client.SendOptions{ReturnImmediately: true, Retry: true})
		if err == nil {
			r.plain(c.JSON, c.Quiet).event(e)
		}
		return err
	}
	ctx, stop := process.Interruptible(p.Ctx)
	defer stop()
	w := taskWatcher{display: r.display(c.JSON, c.Quiet), noRepeat: r.noRepeat, outage: r.outage, askAtOnce: c.Watch}
	state, err := w.run(ctx, func(ctx context.Context) eventStream { return r.client.Stream(ctx, m, client.SendOptions{Retry: true}) })
	if err == nil && c.Watch && w.taskID != "" && !state.Terminal() {
		state, err = w.run(ctx, func(ctx context.Context) eventStream { return r.client.Subscribe(ctx, w.taskID, w.last) })
	}
	w.display.end()
	switch {
	case errors.Is(err, context.Canceled) && w.taskID == "":
		return &process.ExitError{Code: process.ExitInterrupted, Text: "stopped; the message may have arrived. To send the same message again, add --id " + m.MessageID}
	case err != nil:
		return w.interrupted(r.explain(err), r.command("watch"))
	case !c.Watch:
		w.ask(p.Ctx)
	}
	return exitForState(state)
}

// message returns the message to send.
func (c *sendCommand) message() (a2a.Message, error) {
	m := a2a.Message{MessageID: cmp.Or(c.ID, client.NewMessageID()), ContextID: c.Context, TaskID: c.Task, Role: a2a.RoleUser}
	if c.Playbook != "" {
		m.Metadata = m.Metadata.With(opt.KeySkill, c.Playbook)
	}
	if c.Criteria != "" {
		m.Metadata = m.Metadata.With(opt.KeyAccept, map[string]string{"criteria": c.Criteria})
	}
	if len(c.Budget) > 0 {
		budget, err := budgetOf(c.Budget)
		if err != nil {
			return m, err
		}
		m.Metadata = m.Metadata.With(a2a.ExtensionBudget, budget)
	}
	text, err := c.text(os.Stdin)
	if err != nil {
		return m, err
	}
	m.Parts, err = c.parts(text)
	return m, err
}

func (c *sendCommand) parts(text string) (parts []a2a.Part, err error) {
	if text != "" {
		parts = append(parts, a2a.TextPart(text))
	}
	for _, data := range c.Data {
		if !json.Valid([]byte(data)) {
			return nil, process.Usagef("--data %s is not JSON", data)
		}
		parts = append(parts, a2a.Part{Data: json.RawMessage(data)})
	}
	for _, path := range c.File {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the file to send: %w", err)
		}
		parts = append(parts, a2a.Part{Raw: raw, Filename: filepath.Base(path), MediaType: cmp.Or(mime.TypeByExtension(filepath.Ext(path)), "application/octet-stream")})
	}
	if len(parts) == 0 {
		return nil, process.Usagef("say what to send: a text, --data or --file")
	}
	return parts, nil
}

// budgetOf returns the limits in --budget as the extension has them. The agent checks their values.
func budgetOf(limits []string) (map[string]any, error) {
	out := map[string]any{}
	for _, limit := range limits {
		switch name, value, _ := strings.Cut(limit, "="); {
		case name == "onExceeded":
			out[name] = value
		case slices.Contains([]string{"tokens", "cost", "questions", "calls"}, name) && json.Valid([]byte(value)):
			out[name] = json.RawMessage(value)
		case name == "time":
			span, err := time.ParseDuration(value)
			if err != nil {
				return nil, process.Usagef("--budget %s: must be a time such as 90s or 2h", limit)
			}
			out[name] = int64(span.Seconds())
		default:
			return nil, process.Usagef("--budget %s: must be tokens=N, cost=X, time=2h, questions=N, calls=N or onExceeded=ask or fail", limit)
		}
	}
	return out, nil
}

// text returns the text of the message, which may be on standard input, in.
func (c *sendCommand) text(in io.Reader) (string, error) {
	if len(c.Text) != 1 || c.Text[0] != "-" {
		return strings.Join(c.Text, " "), nil
	}
	raw, err := io.ReadAll(in)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the message from standard input: %w", err)
	case !utf8.Valid(raw):
		return "", process.Usagef("standard input is no text: send it as a file, with --file")
	case strings.TrimSpace(string(raw)) == "":
		return "", process.Usagef("standard input is empty: say what to send")
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}
