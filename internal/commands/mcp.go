package commands

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	"longhaul/internal/process"
)

// mcpCommand is "longhaul mcp".
type mcpCommand struct{ remoteSettings }

func (c *mcpCommand) Run(p *process.Process, r *remote) error {
	ctx, stop := process.Interruptible(p.Ctx)
	defer stop()
	agent, err := c.httpClient()
	if err != nil {
		return err
	}
	in := p.Stdin
	if in == nil {
		in = os.Stdin
	}
	b := &mcpBridge{http: agent, settings: c.remoteSettings, out: p.Stdout, explain: r.explain, cancels: map[string]context.CancelFunc{}}
	return b.run(ctx, in)
}

// An mcpBridge passes the messages of a local host, each on a line, to the door of a server, and what
// the door sends back to the host. It knows no tools, so the host has those of the server.
type mcpBridge struct {
	http     *http.Client
	settings remoteSettings
	explain  func(error) error

	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	cancels map[string]context.CancelFunc // of calls in progress, by their ids as JSON
}

// An mcpMessage is what the bridge reads of a message.
type mcpMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name, URI, TaskID string
		RequestID         json.RawMessage
		Meta              struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
}

// run passes messages on until the host closes its end and all calls are answered.
func (b *mcpBridge) run(ctx context.Context, in io.Reader) error {
	var calls sync.WaitGroup
	closed := make(chan struct{})
	go func() { // reading does not end with ctx
		defer close(closed)
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				calls.Go(b.begin(ctx, line))
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-closed:
		calls.Wait()
	case <-ctx.Done():
	}
	return nil
}

// begin returns what passes a message on. A call can be canceled as soon as begin has returned.
func (b *mcpBridge) begin(ctx context.Context, line []byte) func() {
	var m mcpMessage
	_ = json.Unmarshal(line, &m) // the server refuses what cannot be read
	if m.Method == "notifications/cancelled" {
		b.mu.Lock()
		defer b.mu.Unlock()
		if cancel := b.cancels[string(m.Params.RequestID)]; cancel != nil {
			cancel()
		}
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	if m.ID != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.cancels[string(m.ID)] = cancel
	}
	return func() {
		defer cancel()
		err := b.post(ctx, m, line)
		b.mu.Lock()
		delete(b.cancels, string(m.ID))
		b.mu.Unlock()
		if err != nil && m.ID != nil && ctx.Err() == nil {
			failure := map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32000, "message": b.explain(err).Error()}}
			text, _ := json.Marshal(failure) // texts alone, and an id that was read
			b.write(text)
		}
	}
}

// post sends a message, and passes on what comes back: one message, or a stream of them.
func (b *mcpBridge) post(ctx context.Context, m mcpMessage, line []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(b.settings.URL, "/")+"/mcp", bytes.NewReader(line))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": m.Params.Meta.Version,
		"Mcp-Method": m.Method, "Mcp-Name": cmp.Or(m.Params.Name, m.Params.URI, m.Params.TaskID),
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if b.settings.Token != "" {
		req.Header.Set("Authorization", "Bearer "+b.settings.Token)
	}
	res, err := b.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return b.passStream(res.Body)
	}
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case bytes.Contains(body, []byte(`"jsonrpc"`)):
		b.write(bytes.TrimSpace(body))
	case res.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("the agent answers %s: %s", res.Status, bytes.TrimSpace(body))
	}
	return nil
}

// passStream passes on the messages of a stream, each of which is one line of it.
func (b *mcpBridge) passStream(stream io.Reader) error {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			b.write(bytes.TrimSpace(data))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *mcpBridge) write(message []byte) {
	b.writing.Lock()
	defer b.writing.Unlock()
	_, _ = b.out.Write(append(message, '\n')) // fails only if the host has gone
}
