// Package official is an agent on the server of the official Go SDK, with all of its
// stores in memory: what Longhaul is compared with. It understands some of the commands
// of the executor echo, so that both do the same work for the same message.
package official

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// Handler serves the agent at base: JSON-RPC of A2A 1.0, and its card.
func Handler(base string) http.Handler {
	capabilities := a2a.AgentCapabilities{Streaming: true, PushNotifications: true}
	store := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "anyone", nil }, // without one there are no lists
	})
	handler := a2asrv.NewHandler(agent{},
		a2asrv.WithTaskStore(store),
		a2asrv.WithCapabilityChecks(&capabilities),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})))
	mux := http.NewServeMux()
	mux.Handle("/", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		Name: "Official Go server", Version: "2.4.0", Capabilities: capabilities,
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(base, a2a.TransportProtocolJSONRPC)},
	}))
	return mux
}

// An agent runs the commands of a message: work 1s, stream 6 200ms, stamp 6 200ms, ask TEXT,
// report TEXT, say TEXT, show file, answer TEXT, reject TEXT. The answer to a question ends the task. Messages of the
// conformance kit are commands by their ids.
type agent struct{}

// Execute implements [a2asrv.AgentExecutor].
func (agent) Execute(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		commands := kitCommands(c.Message.ID)
		if text, ok := strings.CutPrefix(commands, "answer "); ok {
			yield(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(text)), nil)
			return
		}
		if c.StoredTask != nil && commands == "" {
			_ = yield(a2a.NewArtifactEvent(c, a2a.NewTextPart(Stamp()+" "+textOf(c.Message))), nil) && yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCompleted, nil), nil)
			return
		}
		if c.StoredTask == nil && !yield(a2a.NewSubmittedTask(c, c.Message), nil) || !yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateWorking, nil), nil) {
			return
		}
		for command := range strings.SplitSeq(cmp.Or(commands, textOf(c.Message)), ";") {
			if !run(ctx, c, strings.Fields(command), yield) {
				return
			}
		}
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCompleted, nil), nil)
	}
}

// run runs one command and reports whether the next one may.
func run(ctx context.Context, c *a2asrv.ExecutorContext, words []string, yield func(a2a.Event, error) bool) bool {
	if len(words) < 2 {
		return true
	}
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "work":
		d, _ := time.ParseDuration(words[1])
		return pause(ctx, d)
	case "stream":
		n, _ := strconv.Atoi(words[1])
		d, _ := time.ParseDuration(words[len(words)-1])
		return pieces{n, d, func() string { return "piece " }}.show(ctx, c, yield)
	case "stamp":
		n, _ := strconv.Atoi(words[1])
		d, _ := time.ParseDuration(words[len(words)-1])
		return pieces{n, d, Stamp}.show(ctx, c, yield)
	case "report":
		return yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateWorking, a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart(rest))), nil)
	case "ask":
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateInputRequired, a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart(rest))), nil)
		return false
	case "reject":
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateRejected, a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart(rest))), nil)
		return false
	case "show":
		return yield(a2a.NewArtifactEvent(c, shown[rest]), nil)
	case "say":
		return yield(a2a.NewArtifactEvent(c, a2a.NewTextPart(rest)), nil)
	}
	return true
}

// pieces are the pieces of an artifact, and the time from one to the next.
type pieces struct {
	n     int
	apart time.Duration
	text  func() string
}

// show reports whether the next command may run.
func (p pieces) show(ctx context.Context, c *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) bool {
	var id a2a.ArtifactID
	for i := range p.n {
		part := a2a.NewTextPart(p.text())
		e := a2a.NewArtifactUpdateEvent(c, id, part)
		if i == 0 {
			e = a2a.NewArtifactEvent(c, part)
			id = e.Artifact.ID
		}
		e.LastChunk = i == p.n-1
		if !yield(e, nil) || !pause(ctx, p.apart) {
			return false
		}
	}
	return true
}

// Stamp is the current time as the text of a piece, by which it is known how late the
// piece arrives.
func Stamp() string { return "stamp:" + strconv.FormatInt(time.Now().UnixNano(), 10) + " " }

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func textOf(m *a2a.Message) (text string) {
	for _, p := range m.Parts {
		text += p.Text()
	}
	return text
}

// Cancel implements [a2asrv.AgentExecutor].
func (agent) Cancel(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCanceled, nil), nil)
	}
}
