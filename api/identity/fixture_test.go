package identity_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/card"
	apigrpc "longhaul/api/grpc"
	"longhaul/api/identity"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt/access"
)

// A fixture is a server of all bindings that authenticates its callers.
type fixture struct {
	*identity.Authenticator
	http    *api.Server
	grpc    a2apb.A2AServiceClient
	service *service.Service
	journal *journal.Journal
	clock   *clock
	logs    *observer.ObservedLogs
}

// A clock shows the same time until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newFixture returns a server that accepts what cfg says, and API keys; change may
// alter its configuration.
func newFixture(t *testing.T, cfg identity.Config, change ...func(*service.Config)) *fixture {
	t.Helper()
	world := servicetest.New(t, servicetest.Config{})
	core, logs := observer.New(zapcore.DebugLevel)
	f := &fixture{journal: world.Journal(), clock: &clock{now: servicetest.Start}, logs: logs}
	cfg.Keys, cfg.Now = f.journal.APIKeys, f.clock.Now
	f.Authenticator = identity.New(cfg)
	info := card.Info{Name: "Longhaul", Interfaces: api.Address{BaseURL: "http://agent.example.com"}.Interfaces()}
	f.Describe(&info)
	of := service.Config{Engine: world, Journal: world.Journal(), Pushes: world.Journal().Pushes, Watch: world.Watch, Card: info, Now: world.Now, Log: zap.New(core)}
	for _, f := range change {
		f(&of)
	}
	operations := service.New(of)
	f.service = operations
	f.http = api.New(api.Config{Service: operations, Authenticate: f.Authenticate, Challenge: f.Challenge(), Log: zap.New(core)})
	f.listen(t, apigrpc.New(apigrpc.Config{Service: operations, Authenticate: f.Authenticate}))
	return f
}

func (f *fixture) listen(t *testing.T, s *apigrpc.Server) {
	t.Helper()
	l := bufconn.Listen(1 << 16)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///agent", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	test.OK(t, err)
	f.grpc = a2apb.NewA2AServiceClient(conn)
	t.Cleanup(func() {
		_ = conn.Close()
		test.Error(t, "the call", nil, s.Shutdown(context.Background()))
		test.Error(t, "the call", nil, <-served)
	})
}

// key makes an API key; change may alter it. It returns the text to send.
func (f *fixture) key(t *testing.T, change ...func(*access.APIKey)) (text string, k access.APIKey) {
	t.Helper()
	k = access.APIKey{Tenant: "acme", Principal: "ann", Scopes: []string{"runs:read"}, CreatedAt: a2a.At(f.clock.Now())}
	for _, c := range change {
		c(&k)
	}
	text = identity.NewKey(&k)
	test.OK(t, f.journal.APIKeys.AddAPIKey(t.Context(), k))
	return text, k
}

// request returns a request with headers, given as name and value in turn.
func request(t *testing.T, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/a2a", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`))
	r.Header.Set("A2A-Version", "1.0")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// An answer is a server's, without what differs between two answers.
type answer struct {
	Status    int
	Challenge string
	Body      string
}

// calls lists tasks over every binding, and returns the answers. The code of gRPC
// is its status.
func (f *fixture) calls(t *testing.T, headers ...string) map[string]answer {
	t.Helper()
	out := map[string]answer{}
	r := request(t, headers...)
	plain := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a2a/rest/tasks", nil)
	plain.Header = r.Header
	for name, r := range map[string]*http.Request{"JSON-RPC": r, "plain HTTP": plain} {
		w := httptest.NewRecorder()
		f.http.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Result().Body)
		out[name] = answer{w.Code, w.Header().Get("WWW-Authenticate"), string(body)}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "a2a-version", "1.0")
	for i := 0; i+1 < len(headers); i += 2 {
		ctx = metadata.AppendToOutgoingContext(ctx, strings.ToLower(headers[i]), headers[i+1])
	}
	_, err := f.grpc.ListTasks(ctx, &a2apb.ListTasksRequest{})
	s := status.Convert(err)
	out["gRPC"] = answer{Status: int(s.Code()), Body: s.String()}
	return out
}

// wantStatus checks the status of each binding.
func wantStatus(t *testing.T, what string, got map[string]answer, http, grpc int) {
	t.Helper()
	for name, a := range got {
		want := http
		if name == "gRPC" {
			want = grpc
		}
		if a.Status != want {
			t.Errorf("%s over %s: status %d, want %d: %s", what, name, a.Status, want, a.Body)
		}
	}
}

// Statuses of gRPC.
const (
	grpcDenied      = 7
	grpcExhausted   = 8
	grpcUnavailable = 14
	grpcUnknown     = 16 // unauthenticated
)

// wantNoSecrets checks that no log line holds one of the texts.
func (f *fixture) wantNoSecrets(t *testing.T, secrets ...string) {
	t.Helper()
	if f.logs.Len() == 0 {
		t.Error("nothing was logged")
	}
	for _, entry := range f.logs.All() {
		line := test.Value(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(entry.Entry, entry.Context))(t)
		for _, secret := range secrets {
			if strings.Contains(line.String(), secret) {
				t.Errorf("the log holds a secret: %s", line)
			}
		}
	}
}
