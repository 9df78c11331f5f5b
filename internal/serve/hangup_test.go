package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/internal/namespace"
	"longhaul/internal/test"
	"longhaul/opt/access"
)

// At a real SIGHUP a process reads its playbooks again: it uses them for
// messages, and the card has their skills. If they have mistakes, it logs them
// and nothing changes.
func TestServe_readsPlaybooksAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "books.yaml")
	write := func(name, rest string) {
		t.Helper()
		text := "name: " + name + "\ndefault: true\nskills: [{id: " + name + ", name: N, description: D, tags: [t]}]\nplans: [{name: P, tasks: [{name: T}]}]\n" + rest
		test.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("first", "")
	ctx, stop := context.WithCancel(t.Context())
	var url string
	var agent Agent
	up, logged, ended := make(chan struct{}), make(chan zapcore.Entry, 10), make(chan error, 1)
	core, logs := observer.New(zap.InfoLevel)
	go func() {
		ended <- run(ctx, Build{Default: "publish"}, logSettings{LogLevel: "error", LogFormat: "text"}, opsSettings{}, func(h *host) []part {
			h.log = zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
				if strings.Contains(e.Message, "playbooks") {
					logged <- e
				}
				return nil
			}))
			temporal := namespace.Temporal{TemporalAddr: "127.0.0.1:1", Namespace: "default"} // nothing listens there
			shared := Shared{Store: Store{dataSettings: dataSettings{DataDir: t.TempDir()}}, Work: workSettings{Playbooks: []string{file}}, Temporal: temporal}
			g := shared.newGround(h, linkSettings{}, access.Quotas{}, func() namespace.Target { return temporal.Embedded(temporal.TemporalAddr) })
			a := &apiServer{ground: g, settings: apiSettings{Addr: "127.0.0.1:0", Agent: "playbooks", cardSettings: cardSettings{AgentName: "Test"}}}
			return append(append([]part{g.reach, g.notices, g.planning, g.store, g.temporal}, a.parts()...), step(func(context.Context) error {
				url, agent = a.listeners.url, a.agent
				close(up)
				return nil
			}))
		})
	}()
	select {
	case <-up:
	case err := <-ended:
		t.Fatal(err)
	}
	check := func(when, want string) {
		t.Helper()
		test.Is(t, when, "playbook "+want, test.Value(agent.Decide(t.Context(), a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}))(t).Planner)
		test.Is(t, when+": the card has the skill", want, skillOn(t, url))
	}
	hangUp := func(want string) {
		t.Helper()
		test.OK(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		test.Is(t, "logged", want, (<-logged).Message)
	}
	check("at first", "first")
	write("second", "")
	hangUp("Read the playbooks again")
	check("with another file", "second")
	write("third", "step: 1\n")
	hangUp("Kept the playbooks from before")
	check("with a file that is wrong", "second")
	problem := fmt.Sprint(logs.FilterMessage("Kept the playbooks from before").All()[0].ContextMap()["error"])
	test.Is(t, "logged", file+`:5: a playbook has no member "step"`, problem)
	write("third", "")
	hangUp("Read the playbooks again")
	check("with a file that was mended", "third")
	stop()
	test.Error(t, "the call", nil, <-ended)
}

// skillOn returns the skill on the card of a server.
func skillOn(t *testing.T, url string) string {
	t.Helper()
	r := test.Value(http.Get(url + "/.well-known/agent-card.json"))(t)
	defer r.Body.Close()
	var card struct{ Skills []struct{ ID string } }
	if err := json.NewDecoder(r.Body).Decode(&card); err != nil || len(card.Skills) != 1 {
		t.Fatalf("card %+v, error %v", card, err)
	}
	return card.Skills[0].ID
}
