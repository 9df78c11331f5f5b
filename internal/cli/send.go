package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"longhaul/a2a"
	"longhaul/client"
)

// sendCommand is "longhaul send".
type sendCommand struct {
	remoteSettings
	Text    []string `arg:"" optional:"" help:"Text of the message."`
	ID      string   `help:"Id of the message. A repeat with the same id is the same message." placeholder:"ID"`
	Context string   `help:"Context that the message belongs to." placeholder:"ID"`
	Task    string   `help:"Task that the message is for." placeholder:"ID"`
	Data    []string `help:"JSON to attach; may be repeated." placeholder:"JSON" sep:"none"`
	File    []string `help:"File to attach; may be repeated." placeholder:"PATH" sep:"none" type:"existingfile"`
	NoWait  bool     `help:"Only send, and print the new task." xor:"output"`
	Quiet   bool     `short:"q" help:"Print only the result." xor:"output"`
	JSON    bool     `help:"Print each event as a line of JSON."`
}

func (c *sendCommand) Run(p *program) error {
	m, err := c.message()
	if err != nil {
		return err
	}
	r, err := c.reach(p)
	if err != nil {
		return err
	}
	show := c.display(p, c.JSON, c.Quiet)
	if c.NoWait {
		e, err := r.client.Send(p.ctx, m, client.SendOptions{ReturnImmediately: true, Retry: true})
		if err == nil {
			show.event(e)
		}
		return err
	}
	w := watching{display: show, look: r.look, trouble: r.trouble}
	state, err := w.run(p.ctx, func(ctx context.Context) events { return r.client.Stream(ctx, m, client.SendOptions{Retry: true}) })
	if err != nil {
		return w.interrupted(err, c.flags())
	}
	w.ask(p.ctx)
	return exitOf(state)
}

// message returns the message to send.
func (c *sendCommand) message() (a2a.Message, error) {
	m := a2a.Message{MessageID: c.ID, ContextID: c.Context, TaskID: c.Task, Role: a2a.RoleUser}
	if text := strings.Join(c.Text, " "); text != "" {
		m.Parts = append(m.Parts, a2a.TextPart(text))
	}
	for _, data := range c.Data {
		if !json.Valid([]byte(data)) {
			return m, fmt.Errorf("--data %s is not JSON", data)
		}
		m.Parts = append(m.Parts, a2a.Part{Data: json.RawMessage(data)})
	}
	for _, path := range c.File {
		raw, err := os.ReadFile(path)
		if err != nil {
			return m, fmt.Errorf("read the file to send: %w", err)
		}
		m.Parts = append(m.Parts, a2a.Part{Raw: raw, Filename: filepath.Base(path), MediaType: mediaType(path)})
	}
	if len(m.Parts) == 0 {
		return m, errors.New("say what to send: a text, --data or --file")
	}
	return m, nil
}

// mediaType returns the media type of a file, going by its name.
func mediaType(path string) string {
	if t := mime.TypeByExtension(filepath.Ext(path)); t != "" {
		return t
	}
	return "application/octet-stream"
}
