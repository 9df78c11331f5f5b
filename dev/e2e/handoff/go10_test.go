package handoff_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// go10 runs an agent on the official Go SDK for 1.0. It has the authorization that it needs
// for some work once authorized is closed.
func go10(t *testing.T, rest bool, authorized <-chan struct{}) string {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	at, binding := s.URL+"/rpc", a2a.TransportProtocolJSONRPC
	if rest {
		at, binding = s.URL+"/rest", a2a.TransportProtocolHTTPJSON
	}
	handler := a2asrv.NewHandler(agent10{authorized})
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		Name: "Go", Version: "1", Capabilities: a2a.AgentCapabilities{Streaming: true}, SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(at, binding)},
	}))
	return s.URL
}

// agent10 runs the first word of a message as a command.
type agent10 struct{ authorized <-chan struct{} }

// Execute implements [a2asrv.AgentExecutor].
func (g agent10) Execute(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	said := ""
	for _, p := range c.Message.Parts {
		said += p.Text()
	}
	status := func(state a2a.TaskState, says string) a2a.Event {
		return a2a.NewStatusUpdateEvent(c, state, a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart(says)))
	}
	return func(yield func(a2a.Event, error) bool) {
		if c.StoredTask == nil && (!yield(a2a.NewSubmittedTask(c, c.Message), nil) || !yield(status(a2a.TaskStateWorking, "Reading"), nil)) {
			return
		}
		switch word, _, _ := strings.Cut(said, " "); {
		case c.StoredTask != nil || word == "go":
			_ = yield(a2a.NewArtifactEvent(c, a2a.NewTextPart("Done: "+said)), nil) && yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCompleted, nil), nil)
		case word == "auth":
			if !yield(status(a2a.TaskStateAuthRequired, "Log in at https://example.com."), nil) {
				return
			}
			select {
			case <-ctx.Done():
			case <-g.authorized:
				_ = yield(status(a2a.TaskStateWorking, "Logged in"), nil) && yield(a2a.NewArtifactEvent(c, a2a.NewTextPart("Done: "+said)), nil) && yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCompleted, nil), nil)
			}
		case word == "ask":
			yield(status(a2a.TaskStateInputRequired, "Which color?"), nil)
		case word == "fail":
			yield(status(a2a.TaskStateFailed, "No luck."), nil)
		case word == "reject":
			yield(status(a2a.TaskStateRejected, "Not my job."), nil)
		default:
			<-ctx.Done()
		}
	}
}

// Cancel implements [a2asrv.AgentExecutor].
func (agent10) Cancel(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCanceled, nil), nil)
	}
}
