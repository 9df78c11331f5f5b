package grpc_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
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
	"longhaul/api/call"
	"longhaul/api/card"
	apigrpc "longhaul/api/grpc"
	"longhaul/api/message"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A fixture is a server, its service and engine, and a client of it.
type fixture struct {
	a2apb.A2AServiceClient
	api   *api.Server
	grpc  *apigrpc.Server
	conn  *grpc.ClientConn
	world *servicetest.World
	logs  *observer.ObservedLogs
	seen  atomic.Pointer[http.Request] // the last request that was authenticated
}

// A config configures a service and its server.
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
	world := servicetest.New(t, servicetest.Config{Planner: onePlan, Script: play})
	core, logs := observer.New(zap.DebugLevel)
	s := &fixture{world: world, logs: logs}
	cfg := config{serviceConfig: service.Config{
		Engine: world, Journal: world.Journal(), Pushes: world.Journal().Pushes, Watch: world.Watch, Agent: oracle{},
		Card: card.Info{
			Name:       "Longhaul",
			Interfaces: api.Address{BaseURL: "http://agent.example.com", GRPC: "agent.example.com:443"}.Interfaces(),
		},
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond,
		Now: world.Now, Log: zap.New(core),
	}, grpcConfig: apigrpc.Config{MaxMessage: 64 << 10}}
	cfg.Authenticate = func(r *http.Request) (call.Caller, error) {
		s.seen.Store(r)
		return callerOf(r)
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
	test.OK(t, err)
	s.conn, s.A2AServiceClient = conn, a2apb.NewA2AServiceClient(conn)
	t.Cleanup(func() {
		_ = conn.Close()
		test.Error(t, "the call", nil, s.grpc.Shutdown(context.Background()))
		test.Error(t, "Serve", nil, <-served)
	})
}

// callerOf returns the caller that the Authorization header names.
func callerOf(r *http.Request) (call.Caller, error) {
	return servicetest.Caller(r.Header.Get("Authorization"))
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
	answer := test.Value(s.SendMessage(with(t), said(id, text)))(t)
	return answer.GetTask()
}

// onePlan makes a plan of one task.
func onePlan(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
	return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Task"}}}}}, true
}

// play lets a task run until the test ends it if its message says "slow", fail if
// it says "fail", and otherwise make a post at once.
func play(w opt.Work) servicetest.Play {
	switch text := w.Messages[0].Text(); {
	case strings.HasPrefix(text, "slow"):
		return servicetest.Play{}
	case strings.HasPrefix(text, "fail"):
		return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskFailed, Code: "broken", Message: "It broke."}}
	}
	return post()
}

// taskOf returns the id of the only plan task of an objective.
func taskOf(objectiveID string) string { return opt.TaskID(opt.PlanID(objectiveID, 1), 0) }

// finish has the task of an objective make a post.
func (s *fixture) finish(objectiveID string) {
	p := post()
	s.world.Stream(taskOf(objectiveID), p.Chunks...)
	s.world.End(taskOf(objectiveID), *p.Outcome)
}

// post is a result that has parts of every kind, in two pieces.
func post() servicetest.Play {
	one := opt.Chunk{Artifact: a2a.Artifact{
		ArtifactID: "post", Name: "Post", Description: "What was asked for", Extensions: []string{"urn:x"}, Parts: []a2a.Part{a2a.TextPart("Durable ")},
		Metadata: a2a.Metadata{"big": json.RawMessage(`9007199254740992`), "none": json.RawMessage(`null`), "deep": json.RawMessage(`{"list":[1,"two",true,{}]}`)},
	}}
	url := "https://example.com/a.png"
	two := opt.Chunk{Append: true, Last: true, Artifact: a2a.Artifact{ArtifactID: "post", Parts: []a2a.Part{
		{Raw: []byte{0, 1, 255}, Filename: "a.bin", MediaType: "application/octet-stream"}, {URL: &url, MediaType: "image/png"},
		{Raw: []byte{}}, {Data: json.RawMessage(`null`)}, {Data: json.RawMessage(`[1.5,-2e-3,{"ä":""}]`), Metadata: a2a.Metadata{"k": json.RawMessage(`"v"`)}}, a2a.TextPart(""),
	}}}
	whole := one.Artifact
	whole.Parts = append(append([]a2a.Part{}, one.Artifact.Parts...), two.Artifact.Parts...)
	return servicetest.Play{
		Chunks:  []opt.Chunk{one, two},
		Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{whole}, Streamed: []string{"post"}},
	}
}

// An oracle answers greetings itself.
type oracle struct{}

func (oracle) Decide(_ context.Context, m a2a.Message) (message.Decision, error) {
	switch m.Text() {
	case "hello":
		return message.Decision{Answer: &a2a.Message{Parts: []a2a.Part{a2a.TextPart("Hello.")}}}, nil
	case "panic":
		panic("the oracle is out")
	}
	return message.Decision{}, nil
}
