package clients_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2aext"
	"github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// goPeer is a client of github.com/a2aproject/a2a-go/v2.
type goPeer struct {
	*a2aclient.Client
	seen card
	tap  *tap
}

// A transport sets a client up for one binding, through a tap. Bindings other
// than the first on the card also need the option that prefers them.
type transport func(*tap) []a2aclient.FactoryOption

// jsonRPC is the default of a client.
func jsonRPC(p *tap) []a2aclient.FactoryOption {
	return []a2aclient.FactoryOption{a2aclient.WithJSONRPCTransport(p.client())}
}

func plainHTTP(p *tap) []a2aclient.FactoryOption {
	return []a2aclient.FactoryOption{a2aclient.WithRESTTransport(p.client()), prefer(a2a.TransportProtocolHTTPJSON)}
}

// gRPC has no TLS, since everything is on loopback.
func gRPC(p *tap) []a2aclient.FactoryOption {
	dial := append(p.dialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	return []a2aclient.FactoryOption{a2agrpc.WithGRPCTransport(dial...), prefer(a2a.TransportProtocolGRPC)}
}

func prefer(binding a2a.TransportProtocol) a2aclient.FactoryOption {
	return a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{binding}})
}

// jsonRPC03 has the client speak the older version.
func jsonRPC03(p *tap) []a2aclient.FactoryOption {
	return []a2aclient.FactoryOption{a2aclient.WithDefaultsDisabled(), a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: p.client()})}
}

func goSDK(over transport) func(*testing.T) dial {
	connect := func(ctx context.Context, t *testing.T, url string, extensions ...string) peer {
		t.Helper()
		tap := newTap(t)
		seen, err := agentcard.NewResolver(tap.client()).Resolve(ctx, url)
		if err != nil {
			t.Fatalf("fetch the card: %v", err)
		}
		options := append(over(tap), a2aclient.WithCallInterceptors(a2aext.NewActivator(extensions...)))
		c, err := a2aclient.NewFromCard(ctx, seen, options...)
		if err != nil {
			t.Fatalf("make a client from the card: %v", err)
		}
		t.Cleanup(func() { _ = c.Destroy() })
		return &goPeer{c, cardOf(seen), tap}
	}
	return func(*testing.T) dial { return connect }
}

func cardOf(c *a2a.AgentCard) card {
	out := card{Name: c.Name, Streaming: c.Capabilities.Streaming}
	for _, s := range c.Skills {
		out.Skills = append(out.Skills, s.ID)
	}
	for _, x := range c.Capabilities.Extensions {
		out.Extensions = append(out.Extensions, x.URI)
	}
	return out
}

func (p *goPeer) card() card        { return p.seen }
func (p *goPeer) activated() string { return p.tap.activated() }
func (p *goPeer) chosen() string    { return p.tap.chosen() }

func (p *goPeer) send(ctx context.Context, m message) (task, error) {
	result, err := p.SendMessage(ctx, m.request())
	if err != nil {
		return task{}, p.word(err)
	}
	t, ok := result.(*a2a.Task)
	if !ok {
		return task{}, fmt.Errorf("a %T is no task", result)
	}
	return taskOf(t), nil
}

func (m message) request() *a2a.SendMessageRequest {
	var parts []*a2a.Part
	if m.Text != "" {
		parts = append(parts, a2a.NewTextPart(m.Text))
	}
	if m.Data != nil {
		parts = append(parts, a2a.NewDataPart(m.Data))
	}
	req := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, parts...)}
	req.Message.TaskID, req.Message.ContextID = a2a.TaskID(m.TaskID), m.ContextID
	if m.Leave || m.History != nil {
		req.Config = &a2a.SendMessageConfig{ReturnImmediately: m.Leave, HistoryLength: m.History}
	}
	if m.Push != nil {
		req.Config.PushConfig = m.Push.config()
	}
	return req
}

func (p *goPeer) stream(ctx context.Context, m message) iter.Seq2[event, error] {
	return p.events(p.SendStreamingMessage(ctx, m.request()))
}

func (p *goPeer) subscribe(ctx context.Context, id string) iter.Seq2[event, error] {
	return p.events(p.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}))
}

func (p *goPeer) get(ctx context.Context, id string, history *int) (task, error) {
	t, err := p.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(id), HistoryLength: history})
	return taskOf(t), p.word(err)
}

func (p *goPeer) cancel(ctx context.Context, id string) (task, error) {
	t, err := p.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(id)})
	return taskOf(t), p.word(err)
}

func (p *goPeer) list(ctx context.Context, q query) (page, error) {
	l, err := p.ListTasks(ctx, &a2a.ListTasksRequest{
		ContextID: q.ContextID, Status: a2a.TaskState(state10(q.State)), PageSize: q.PageSize, PageToken: q.PageToken, IncludeArtifacts: q.Artifacts,
	})
	if err != nil {
		return page{}, p.word(err)
	}
	out := page{Next: l.NextPageToken, Size: l.PageSize, Total: l.TotalSize}
	for _, t := range l.Tasks {
		out.Tasks = append(out.Tasks, taskOf(t))
	}
	return out, nil
}

func (p *goPeer) word(err error) error {
	return typed(err, []refusal{
		{a2a.ErrTaskNotFound, errNotFound}, {a2a.ErrTaskNotCancelable, errNotCancelable},
		{a2a.ErrUnsupportedOperation, errUnsupported}, {a2a.ErrInvalidParams, errInvalid},
	})
}

func (p *goPeer) events(in iter.Seq2[a2a.Event, error]) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		for e, err := range in {
			var out event
			if err == nil {
				out, err = eventOf(e)
			}
			if !yield(out, p.word(err)) {
				return
			}
		}
	}
}

func eventOf(e a2a.Event) (event, error) {
	switch e := e.(type) {
	case *a2a.Task:
		t := taskOf(e)
		return event{Task: &t}, nil
	case *a2a.TaskStatusUpdateEvent:
		return event{Status: &update{TaskID: string(e.TaskID), Now: statusOf(e.Status)}}, nil
	case *a2a.TaskArtifactUpdateEvent:
		return event{Piece: &piece{TaskID: string(e.TaskID), Of: artifactOf(e.Artifact), Append: e.Append, Last: e.LastChunk}}, nil
	}
	return event{}, fmt.Errorf("an event of type %T", e)
}

func taskOf(t *a2a.Task) task {
	if t == nil {
		return task{}
	}
	out := task{ID: string(t.ID), ContextID: t.ContextID, Status: statusOf(t.Status), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, artifactOf(a))
	}
	for _, m := range t.History {
		text, _ := content(m)
		out.History = append(out.History, said{state03(string(m.Role), "ROLE_"), text})
	}
	return out
}

func statusOf(s a2a.TaskStatus) status {
	out := status{State: state03(string(s.State), "TASK_STATE_")}
	if s.Message != nil {
		out.Text, out.Data = content(s.Message)
	}
	return out
}

func artifactOf(a *a2a.Artifact) artifact {
	out := artifact{ID: string(a.ID), Name: a.Name}
	for _, p := range a.Parts {
		out.Text += p.Text()
	}
	return out
}

func content(m *a2a.Message) (text string, data map[string]any) {
	for _, p := range m.Parts {
		text += p.Text()
		if d, ok := p.Data().(map[string]any); ok {
			data = d
		}
	}
	return text, data
}
