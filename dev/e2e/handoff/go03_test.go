package handoff_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
)

// go03 runs an agent on the official Go SDK for 0.3.
func go03(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(agent03{})))
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		Name: "Go", Version: "1", ProtocolVersion: "0.3.0", URL: s.URL + "/rpc", PreferredTransport: a2a.TransportProtocolJSONRPC, Capabilities: a2a.AgentCapabilities{Streaming: true},
	}))
	return s.URL
}

// agent03 runs the first word of a message as a command.
type agent03 struct{}

// Execute implements [a2asrv.AgentExecutor].
func (agent03) Execute(ctx context.Context, c *a2asrv.RequestContext, q eventqueue.Queue) error {
	said := ""
	for _, p := range c.Message.Parts {
		if text, ok := p.(a2a.TextPart); ok {
			said += text.Text
		}
	}
	say := func(state a2a.TaskState, says string) error {
		e := a2a.NewStatusUpdateEvent(c, state, a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.TextPart{Text: says}))
		e.Final = state != a2a.TaskStateWorking
		return q.Write(ctx, e)
	}
	if c.StoredTask == nil {
		if err := q.Write(ctx, a2a.NewSubmittedTask(c, c.Message)); err != nil {
			return err
		}
		if err := say(a2a.TaskStateWorking, "Reading"); err != nil {
			return err
		}
	}
	switch word, _, _ := strings.Cut(said, " "); {
	case c.StoredTask != nil || word == "go":
		if err := q.Write(ctx, a2a.NewArtifactEvent(c, a2a.TextPart{Text: "Done: " + said})); err != nil {
			return err
		}
		return say(a2a.TaskStateCompleted, "Done.")
	case word == "ask":
		return say(a2a.TaskStateInputRequired, "Which color?")
	case word == "fail":
		return say(a2a.TaskStateFailed, "No luck.")
	case word == "reject":
		return say(a2a.TaskStateRejected, "Not my job.")
	}
	<-ctx.Done()
	return ctx.Err()
}

// Cancel implements [a2asrv.AgentExecutor].
func (agent03) Cancel(ctx context.Context, c *a2asrv.RequestContext, q eventqueue.Queue) error {
	e := a2a.NewStatusUpdateEvent(c, a2a.TaskStateCanceled, nil)
	e.Final = true
	return q.Write(ctx, e)
}
