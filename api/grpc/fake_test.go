package grpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"longhaul/a2a"
	"longhaul/api"
	apigrpc "longhaul/api/grpc"
	"longhaul/api/service"
	"longhaul/internal/journal"
	"longhaul/opt"
)

var start = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// A fixture is a server, what is behind it, and a client of it.
type fixture struct {
	a2apb.A2AServiceClient
	api    *api.Server
	grpc   *apigrpc.Server
	conn   *grpc.ClientConn
	engine *engine
	logs   *observer.ObservedLogs
	seen   *http.Request // by whoever asks who calls
}

// A config is that of a service and of the server in front of it.
type config struct {
	serviceConfig
	grpcConfig
}

type (
	serviceConfig = service.Config
	grpcConfig    = apigrpc.Config
)

// newService returns a service; change may alter its configuration.
func newService(t *testing.T, change ...func(*config)) *fixture {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	core, logs := observer.New(zap.InfoLevel)
	s := &fixture{engine: &engine{journal: j}, logs: logs}
	cfg := config{serviceConfig: service.Config{
		Engine: s.engine, Journal: j, Watch: func(id string) service.Watch { return j.Watch(id) }, Agent: oracle{},
		Card: service.CardInfo{
			Name:       "Longhaul",
			Interfaces: api.Address{BaseURL: "http://agent.example.com", GRPC: "agent.example.com:443"}.Interfaces(),
		},
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond,
		Now: func() time.Time { return start }, Log: zap.New(core),
	}, grpcConfig: apigrpc.Config{MaxMessage: 64 << 10}}
	cfg.Authenticate = func(r *http.Request) (service.Caller, error) {
		s.seen = r
		return whoever(r)
	}
	for _, f := range change {
		f(&cfg)
	}
	cfg.Service = service.New(cfg.serviceConfig)
	s.api = api.New(api.Config{Service: cfg.Service, Authenticate: cfg.Authenticate})
	s.grpc = apigrpc.New(cfg.grpcConfig)
	s.listen(t)
	return s
}

func (s *fixture) listen(t *testing.T) {
	t.Helper()
	l := bufconn.Listen(1 << 16)
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///agent", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	s.conn, s.A2AServiceClient = conn, a2apb.NewA2AServiceClient(conn)
	t.Cleanup(func() {
		_ = conn.Close()
		if err := s.grpc.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// whoever takes "Bearer tenant/principal" at its word, and no metadata for one
// that the tests use.
func whoever(r *http.Request) (service.Caller, error) {
	switch auth := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); auth {
	case "":
		return service.Caller{Tenant: "acme", Principal: "ann"}, nil
	case "nobody":
		return service.Caller{}, errors.New("no such key")
	case "guest":
		return service.Caller{}, fmt.Errorf("key of a guest: %w", service.ErrForbidden)
	case "later":
		return service.Caller{}, opt.ErrUnavailable
	default:
		tenant, principal, _ := strings.Cut(auth, "/")
		return service.Caller{Tenant: tenant, Principal: principal}, nil
	}
}

// with returns a context for a call of 1.0 with metadata, given as name and value
// in turn.
func with(t *testing.T, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), append([]string{"a2a-version", "1.0"}, pairs...)...)
}

// said returns a request to send text.
func said(id, text string) *a2apb.SendMessageRequest {
	return &a2apb.SendMessageRequest{Message: &a2apb.Message{
		MessageId: id, Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: text}}},
	}}
}

// send sends text and returns the task.
func (s *fixture) send(t *testing.T, id, text string) *a2apb.Task {
	t.Helper()
	answer, err := s.SendMessage(with(t), said(id, text))
	if err != nil {
		t.Fatal(err)
	}
	return answer.GetTask()
}

// An engine plays the part of the workflows at once: under "slow" the work begins
// and does not end, else it is done.
type engine struct {
	service.Engine // what the tests do not call
	journal        *journal.Journal

	mu   sync.Mutex
	n    map[string]int64 // events recorded, by objective
	down error
}

func (e *engine) Ready(context.Context) error { return e.down }

func (e *engine) Start(_ context.Context, o opt.Opening) (opt.Opening, error) {
	if e.down != nil {
		return o, e.down
	}
	id := o.Objective.ID
	e.play(id, o.Event(), opt.Event{Kind: opt.TaskMoved, TaskID: id, To: "working"})
	if !strings.HasPrefix(o.Message.Text(), "slow") {
		e.finish(id)
	}
	return o, nil
}

func (e *engine) Cancel(_ context.Context, taskID, _ string) error {
	e.play(taskID, opt.Event{Kind: opt.TaskMoved, TaskID: taskID, To: "canceled"})
	return nil
}

// finish ends an objective, with a result that has parts of every kind.
func (e *engine) finish(id string) {
	one := opt.Chunk{Artifact: a2a.Artifact{
		ArtifactID: "post", Name: "Post", Description: "What was asked for", Extensions: []string{"urn:x"}, Parts: []a2a.Part{a2a.TextPart("Durable ")},
		Metadata: a2a.Metadata{"big": json.RawMessage(`9007199254740992`), "none": json.RawMessage(`null`), "deep": json.RawMessage(`{"list":[1,"two",true,{}]}`)},
	}}
	url := "https://example.com/a.png"
	two := opt.Chunk{Append: true, Last: true, Artifact: a2a.Artifact{ArtifactID: "post", Parts: []a2a.Part{
		{Raw: []byte{0, 1, 255}, Filename: "a.bin", MediaType: "application/octet-stream"}, {URL: &url, MediaType: "image/png"},
		{Raw: []byte{}}, {Data: json.RawMessage(`null`)}, {Data: json.RawMessage(`[1.5,-2e-3,{"ä":""}]`), Metadata: a2a.Metadata{"k": json.RawMessage(`"v"`)}}, a2a.TextPart(""),
	}}}
	e.play(id,
		opt.Event{Kind: opt.ArtifactAdded, TaskID: id, Chunk: &one},
		opt.Event{Kind: opt.ArtifactAdded, TaskID: id, Chunk: &two},
		opt.Event{Kind: opt.TaskMoved, TaskID: id, To: "completed", Status: &a2a.Message{MessageID: "done", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart("Done.")}}},
	)
}

// play records events of an objective as its workflow would.
func (e *engine) play(id string, events ...opt.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n == nil {
		e.n = map[string]int64{}
	}
	for i := range events {
		e.n[id]++
		events[i].N, events[i].At = e.n[id], a2a.At(start.Add(time.Duration(e.n[id])*time.Millisecond))
	}
	if err := e.journal.Record(context.Background(), opt.Batch{ObjectiveID: id, Source: id, Events: events}); err != nil {
		panic(err)
	}
}

// An oracle answers greetings itself.
type oracle struct{}

func (oracle) Decide(_ context.Context, m a2a.Message) (service.Decision, error) {
	switch m.Text() {
	case "hello":
		return service.Decision{Answer: &a2a.Message{Parts: []a2a.Part{a2a.TextPart("Hello.")}}}, nil
	case "panic":
		panic("the oracle is out")
	}
	return service.Decision{}, nil
}
