package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/api/wire"
	"longhaul/internal/namespace"
	"longhaul/internal/test"
)

// The request that the program prints at its start is one of A2A 1.0.
func TestGreeting(t *testing.T) {
	var out strings.Builder
	greeting{url: "http://127.0.0.1:1", example: `Say "it's tea"`}.print(&out)
	_, rest, _ := strings.Cut(out.String(), "curl -s http://127.0.0.1:1 -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '")
	body, _, _ := strings.Cut(rest, "'\n")
	q, fault := wire.ReadRequest([]byte(body))
	if fault != nil || q.Method != "SendMessage" {
		t.Fatalf("the request is %q: %v", body, fault)
	}
	r := q.Reader(wire.V10)
	test.Contains(t, "the text", `longhaul send --url http://127.0.0.1:1 'Say "it'\''s tea"'`+"\n", out.String())
	if p := wire.ReadSend(r); r.Fault() != nil || !p.ReturnAtOnce || p.Message.Text() != `Say "it's tea"` {
		t.Errorf("the request is %+v: %v", p, r.Fault())
	}
}

// Where callers need a credential, the request has one.
func TestGreeting_authenticated(t *testing.T) {
	var out strings.Builder
	greeting{name: "poems", url: "https://127.0.0.1:1", authenticated: true, newKey: "poems keys create me", example: "Tea"}.print(&out)
	test.Contains(t, "the text", "\n  export LONGHAUL_TOKEN=$(poems keys create me)    # ", out.String())
	test.Contains(t, "the text", `curl -s https://127.0.0.1:1 -H "Authorization: Bearer $LONGHAUL_TOKEN" -H 'Content-Type`, out.String())
}

func TestPlanning_agent(t *testing.T) {
	p := &planning{host: newHost(zap.NewNop(), Build{Agents: map[string]Agent{"clerk": clerk{}, "actor": clerk{}}})}
	if a, err := p.agent("clerk"); a != (clerk{}) || err != nil {
		t.Errorf("--agent clerk: %v, error %v", a, err)
	}
	if a, err := p.agent("playbooks"); err != nil {
		t.Errorf("--agent playbooks: %v, error %v", a, err)
	}
	_, err := p.agent("missing")
	test.Is(t, "--agent missing", `--agent "missing": this program has playbooks, actor, clerk`, fmt.Sprint(err))
}

// An unknown agent is refused before anything is served.
func TestRun_unknownAgent(t *testing.T) {
	test.Contains(t, "the text", `--agent "missing": this program has playbooks`, refused(t, 2, Build{}, "api", "--agent", "missing", "--addr", "127.0.0.1:0"))
}

func TestCard(t *testing.T) {
	info := Build{}.card(apiSettings{cardSettings: cardSettings{AgentName: "Clerk"}, Required: []string{"urn:x", a2a.ExtensionOPT}}, api.Address{BaseURL: "http://127.0.0.1:1"}, clerk{})
	if diff := cmp.Diff([]call.Extension{{URI: "urn:x", Required: true}}, info.Extensions); diff != "" || !info.OPTRequired {
		t.Errorf("OPT required: %v; extensions beside it (-want +got):\n%s", info.OPTRequired, diff)
	}
	if len(info.Skills) != 1 || info.Skills[0].ID != "filing" || info.Name != "Clerk" {
		t.Errorf("card %+v", info)
	}
}

type clerk struct{}

func (clerk) Decide(context.Context, a2a.Message) (message.Decision, error) {
	return message.Decision{}, nil
}

func (clerk) Skills() []card.Skill { return []card.Skill{{ID: "filing"}} }

// Attempts that were canceled, or that end because the worker stops, are logged for those
// who look closely.
func TestSDKLog(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	log := namespace.SDKLog(zap.New(core))
	for _, err := range []error{context.Canceled, temporal.NewCanceledError(), temporal.NewApplicationError("The worker stops.", activities.WorkerStoppedError)} {
		log.Error("Activity error.", "Error", err)
		log.Warn("RecordActivityHeartbeat with error", "Error", err)
	}
	log.Error("Activity error.", "Error", errors.New("lost"))
	log.Warn("Slow")
	test.Is(t, "lines", 2, logs.Len())
}
