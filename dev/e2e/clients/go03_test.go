package clients_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/a2aext"
)

// goPeer03 is a client of github.com/a2aproject/a2a-go, the one for 0.3.
type goPeer03 struct {
	*a2aclient.Client
	seen card
	tap  *tap
}

func goSDK03(*testing.T) dial {
	return func(ctx context.Context, t *testing.T, url string, extensions ...string) peer {
		t.Helper()
		tap := newTap(t)
		found, err := (&agentcard.Resolver{Client: tap.client()}).Resolve(ctx, url)
		if err != nil {
			t.Fatalf("fetch the card: %v", err)
		}
		c, err := a2aclient.NewFromCard(ctx, found, a2aclient.WithJSONRPCTransport(tap.client()),
			a2aclient.WithInterceptors(a2aext.NewActivator(extensions...)))
		if err != nil {
			t.Fatalf("make a client from the card: %v", err)
		}
		t.Cleanup(func() { _ = c.Destroy() })
		seen := card{Name: found.Name, Streaming: found.Capabilities.Streaming}
		for _, s := range found.Skills {
			seen.Skills = append(seen.Skills, s.ID)
		}
		for _, x := range found.Capabilities.Extensions {
			seen.Extensions = append(seen.Extensions, x.URI)
		}
		return &goPeer03{c, seen, tap}
	}
}

func (p *goPeer03) card() card        { return p.seen }
func (p *goPeer03) activated() string { return p.tap.activated() }
func (p *goPeer03) chosen() string    { return p.tap.chosen() }

func (p *goPeer03) send(ctx context.Context, m message) (task, error) {
	result, err := p.SendMessage(ctx, m.params())
	if err != nil {
		return task{}, p.word(err)
	}
	t, ok := result.(*a2a.Task)
	if !ok {
		return task{}, fmt.Errorf("a %T is no task", result)
	}
	return taskOf03(t), nil
}

func (m message) params() *a2a.MessageSendParams {
	var parts []a2a.Part
	if m.Text != "" {
		parts = append(parts, a2a.TextPart{Text: m.Text})
	}
	if m.Data != nil {
		parts = append(parts, a2a.DataPart{Data: m.Data})
	}
	params := &a2a.MessageSendParams{Message: a2a.NewMessage(a2a.MessageRoleUser, parts...)}
	params.Message.TaskID, params.Message.ContextID = a2a.TaskID(m.TaskID), m.ContextID
	if m.Leave || m.History != nil {
		blocking := !m.Leave
		params.Config = &a2a.MessageSendConfig{Blocking: &blocking, HistoryLength: m.History}
	}
	if m.Push != nil {
		params.Config.PushConfig = m.Push.config03()
	}
	return params
}

func (p *goPeer03) stream(ctx context.Context, m message) iter.Seq2[event, error] {
	return p.events(p.SendStreamingMessage(ctx, m.params()))
}

func (p *goPeer03) subscribe(ctx context.Context, id string) iter.Seq2[event, error] {
	return p.events(p.ResubscribeToTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(id)}))
}

func (p *goPeer03) get(ctx context.Context, id string, history *int) (task, error) {
	t, err := p.GetTask(ctx, &a2a.TaskQueryParams{ID: a2a.TaskID(id), HistoryLength: history})
	return taskOf03(t), p.word(err)
}

func (p *goPeer03) cancel(ctx context.Context, id string) (task, error) {
	t, err := p.CancelTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(id)})
	return taskOf03(t), p.word(err)
}

func (p *goPeer03) word(err error) error {
	return typed(err, []refusal{
		{a2a.ErrTaskNotFound, errNotFound}, {a2a.ErrTaskNotCancelable, errNotCancelable},
		{a2a.ErrUnsupportedOperation, errUnsupported}, {a2a.ErrInvalidParams, errInvalid},
	})
}

func (p *goPeer03) events(in iter.Seq2[a2a.Event, error]) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		for e, err := range in {
			var out event
			if err == nil {
				out, err = eventOf03(e)
			}
			if !yield(out, p.word(err)) {
				return
			}
		}
	}
}

func eventOf03(e a2a.Event) (event, error) {
	switch e := e.(type) {
	case *a2a.Task:
		t := taskOf03(e)
		return event{Task: &t}, nil
	case *a2a.TaskStatusUpdateEvent:
		return event{Status: &update{TaskID: string(e.TaskID), Now: statusOf03(e.Status), Final: &e.Final}}, nil
	case *a2a.TaskArtifactUpdateEvent:
		return event{Piece: &piece{TaskID: string(e.TaskID), Of: artifactOf03(e.Artifact), Append: e.Append, Last: e.LastChunk}}, nil
	}
	return event{}, fmt.Errorf("an event of type %T", e)
}

func taskOf03(t *a2a.Task) task {
	if t == nil {
		return task{}
	}
	out := task{ID: string(t.ID), ContextID: t.ContextID, Status: statusOf03(t.Status), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, artifactOf03(a))
	}
	for _, m := range t.History {
		text, _ := content03(m.Parts)
		out.History = append(out.History, said{string(m.Role), text})
	}
	return out
}

func statusOf03(s a2a.TaskStatus) status {
	out := status{State: string(s.State)}
	if s.Message != nil {
		out.Text, out.Data = content03(s.Message.Parts)
	}
	return out
}

func artifactOf03(a *a2a.Artifact) artifact {
	text, _ := content03(a.Parts)
	return artifact{string(a.ID), a.Name, text}
}

func content03(parts a2a.ContentParts) (text string, data map[string]any) {
	for _, p := range parts {
		switch p := p.(type) {
		case a2a.TextPart:
			text += p.Text
		case a2a.DataPart:
			data = p.Data
		}
	}
	return text, data
}
