package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/mcp"
	"longhaul/api/message"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A site is a server with the door, and the world behind it.
type site struct {
	*httptest.Server
	t     *testing.T
	world *servicetest.World
	door  *mcp.Door
}

type agent struct{}

func (agent) Decide(context.Context, a2a.Message) (message.Decision, error) {
	return message.Decision{}, nil
}

// begin returns a site. Work waits at each of the gates in turn, and returns the decisions then; without
// gates it runs until the test ends it.
func begin(t *testing.T, gates []opt.Gate, change ...func(*mcp.Config)) *site {
	t.Helper()
	s := &site{t: t}
	s.world = servicetest.New(t, servicetest.Config{
		Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Approve"}}}}}, true
		},
		Script: func(w opt.Work) servicetest.Play {
			switch n := len(w.Replies); {
			case len(gates) == 0:
				return servicetest.Play{}
			case n < len(gates):
				return servicetest.Play{Outcome: &opt.Outcome{State: gates[n].State(), Gate: &gates[n]}}
			}
			var said []string
			for _, r := range w.Replies {
				text := string(r.Action) + " " + r.Feedback + " by " + r.DecidedBy
				for _, a := range r.Answers {
					text += " " + a.ID + "=" + string(a.Answer)
				}
				said = append(said, text)
			}
			return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "out", Parts: []a2a.Part{a2a.TextPart(strings.Join(said, "; "))}}}}}
		},
	})
	operations := service.New(service.Config{
		Engine: s.world, Journal: s.world.Journal(), Pushes: s.world.Journal().Pushes, Watch: s.world.Watch, Agent: agent{},
		Card:         card.Info{Name: "Longhaul", Version: "1", Skills: []card.Skill{{ID: "write text", Name: "Write", Description: "Writes", Examples: []string{"A song"}}, {ID: "inbox", Name: "I", Description: "D"}}},
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond, Now: s.world.Now,
	})
	authenticate := func(r *http.Request) (call.Caller, error) {
		return servicetest.Caller(r.Header.Get("Authorization"))
	}
	cfg := mcp.Config{Service: operations, Authenticate: authenticate, Challenge: `Bearer realm="x"`, URL: "https://agent.example.com", Gates: "/console/inbox/", Objectives: "/console/objectives/", Wait: 50 * time.Millisecond}
	for _, f := range change {
		f(&cfg)
	}
	s.door = mcp.New(cfg)
	s.Server = httptest.NewServer(api.New(api.Config{Service: operations, Now: s.world.Now, Authenticate: authenticate, MCP: s.door}))
	t.Cleanup(s.Close)
	t.Cleanup(operations.Close)
	return s
}

// as sends requests as a caller.
type as string

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(a))
	return http.DefaultTransport.RoundTrip(r)
}

// host connects a host of a caller, such as "acme/carl", which speaks a version of the protocol; "" is
// the latest.
func (s *site) host(caller, version string, options *sdk.ClientOptions) *sdk.ClientSession {
	s.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, options)
	session, err := c.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: s.URL + mcp.Path, HTTPClient: &http.Client{Transport: as(caller)}, DisableStandaloneSSE: true},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	test.OK(s.t, err)
	s.t.Cleanup(func() { _ = session.Close() })
	return session
}

// A result is what a tool has returned.
type result struct {
	*sdk.CallToolResult
	text   string
	handle struct {
		TaskID, State, Link string
		Final               bool
	}
}

// tool calls a tool.
func (s *site) tool(h *sdk.ClientSession, name string, args map[string]any) result {
	s.t.Helper()
	p := &sdk.CallToolParams{Name: name, Arguments: args}
	p.SetProgressToken("p")
	out, err := h.CallTool(s.t.Context(), p)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	r := result{CallToolResult: out}
	for _, c := range out.Content {
		r.text += c.(*sdk.TextContent).Text + "\n"
	}
	raw, _ := json.Marshal(out.StructuredContent)
	_ = json.Unmarshal(raw, &r.handle) // of other results it stays empty
	return r
}

// post sends a request of the latest version, from a host that knows tasks and forms, and returns the
// response.
func (s *site) post(caller, method string, params map[string]any) (out struct {
	Result struct {
		ResultType, TaskID, Status, StatusMessage, CreatedAt string
		InputRequests                                        map[string]struct {
			Method string
			Params sdk.ElicitParams
		}
		Result *struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	Error struct{ Message string }
}) {
	s.t.Helper()
	params["_meta"] = map[string]any{
		sdk.MetaKeyProtocolVersion: "2026-07-28",
		sdk.MetaKeyClientCapabilities: map[string]any{
			"elicitation": map[string]any{"form": map[string]any{}}, "extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}},
		},
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	r := test.Value(http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+mcp.Path, strings.NewReader(string(body))))(s.t)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": "write_text",
	} {
		r.Header.Set(name, value)
	}
	res := test.Value((&http.Client{Transport: as(caller)}).Do(r))(s.t)
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	if found := regexp.MustCompile(`(?m)^data: (\{.*)$`).FindSubmatch(text); found != nil {
		text = found[1]
	}
	if err := json.Unmarshal(text, &out); err != nil {
		s.t.Fatalf("%s: %v\n%s", method, err, text)
	}
	return out
}
