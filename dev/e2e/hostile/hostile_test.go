// Package hostile_test attacks the whole service: as a caller, as a page in a browser, through a
// proxy and as a service that does tasks.
package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 60 * time.Second

// An installation is a site of one process whose callers need API keys.
type installation struct {
	*harness.Site
	process  *harness.Process
	grpc, ui string
}

func newInstallation(t *testing.T, args ...string) installation {
	t.Helper()
	i := installation{grpc: harness.FreeAddr(t), ui: harness.FreeAddr(t)}
	i.Site = harness.NewSite(t, harness.Dev, append(args, "--auth", "keys", "--grpc-addr", i.grpc, "--temporal-ui-addr", i.ui, "--trusted-proxies", "127.0.0.0/8")...)
	i.process = i.Start(harness.AllInOne)
	return i
}

// key returns a new API key.
func (i installation) key() string { return i.Key("ann", "--scopes", "all") }

// A page of another site has its own name resolve to this machine.
func TestHostile_page(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "localhost.evil.example": http.StatusMisdirectedRequest, "localhost": http.StatusOK, "127.0.0.1": http.StatusOK} {
		for _, url := range []string{i.URL() + "/.well-known/agent-card.json", i.URL() + "/console/sign-in", "http://" + i.ui + "/", "http://" + i.ui + "/api/v1/namespaces"} {
			r := test.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
			r.Host = host
			if res, _ := harness.Do(t, r); res.StatusCode != want {
				t.Errorf("%s for the host %s: %s, want %d", url, host, res.Status, want)
			}
		}
	}
}

// A client behind a proxy sends wrong keys without end. Others behind it are not affected, and
// valid keys are accepted even from that client.
func TestHostile_proxy(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	call := func(client, key string) int {
		status, _ := i.Client().With("X-Forwarded-For", "198.51.100.200, "+client).With("X-Api-Key", key).MustPage(t, http.MethodGet, "/v1/interrupts", "")
		return status
	}
	const attacker, other, wrong = "203.0.113.7", "198.51.100.1", "lh_aaaaaaaaaaaaaaaa_b"
	var flood sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	flood.Go(func() {
		for ctx.Err() == nil {
			_ = call(attacker, wrong)
		}
	})
	harness.Eventually(t, within, "the attacker is slowed", func() error {
		if got := call(attacker, wrong); got != http.StatusTooManyRequests {
			return fmt.Errorf("status %d", got)
		}
		return nil
	})
	for range 5 {
		key := i.key()
		test.Is(t, "a fresh key from the attacker's address", http.StatusOK, call(attacker, key))
		test.Is(t, "a fresh key from another address", http.StatusOK, call(other, i.key()))
	}
	test.Is(t, "a wrong key from another address", http.StatusUnauthorized, call(other, wrong))
	stop()
	flood.Wait()
}

// A service that does tasks asks questions that would run commands or burn a core.
func TestHostile_executor(t *testing.T) {
	t.Parallel()
	defs := ""
	for n := range 40 {
		defs += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%[2]d"},{"$ref":"#/$defs/d%[2]d"}]},`, n, n+1)
	}
	const evil = "a\u202eb\x1b]0;t\x07"
	shown, _ := json.Marshal("Why? " + evil)
	answers := map[string]string{
		"command": `{"state":"input-required","gate":{"kind":"clarification","questions":[{"id":"x; touch pwned","question":"Why?"}]}}`,
		"schema":  `{"state":"input-required","gate":{"kind":"clarification","questions":[{"id":"q","question":"Why?","schema":{"$ref":"#/$defs/d0","$defs":{` + defs + `"d40":{"type":"string"}}}}]}}`,
		"reason":  `{"state":"failed","code":"x; touch pwned","message":"No."}`,
		"text":    `{"state":"input-required","gate":{"kind":"clarification","questions":[{"id":"q","question":` + string(shown) + `}]}}`,
	}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for word, answer := range answers {
			if bytes.Contains(body, []byte("order "+word)) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, answer)
			}
		}
	}))
	defer shop.Close()
	dir := t.TempDir()
	i := newInstallation(t, "--allow-private-egress",
		"--endpoints", harness.WriteFile(t, dir, "endpoints.yaml", fmt.Sprintf("endpoints: {shop: {url: '%s/tasks'}}\n", shop.URL)),
		"--playbooks", harness.WriteFile(t, dir, "playbook.yaml", `
name: shop
default: true
plans:
- name: Order
  tasks:
  - {name: Pack, executor: http, attempts: 1, input: {endpoint: shop, data: {order: "{{.Message}}"}}}
`))
	key := i.key()
	c := i.Client().With("X-API-Key", key)
	for _, word := range []string{"command", "schema", "reason"} {
		task := c.MustSend(t.Context(), t, harness.Message{ID: word, Text: "order " + word})
		ended := c.AwaitEnd(t, within, task.ID)
		text, _ := json.Marshal(ended)
		if ended.State != "FAILED" || bytes.Contains(text, []byte("touch pwned")) {
			t.Errorf("%s: %s", word, text)
		}
	}
	task := c.MustSend(t.Context(), t, harness.Message{ID: "text", Text: "order text"})
	c.AwaitGate(t, within, task.ID)
	list := exec.CommandContext(t.Context(), i.Binary(), "inbox", "--url", i.URL())
	list.Env = append(os.Environ(), "LONGHAUL_TOKEN="+key)
	out, err := list.Output()
	if err != nil || strings.ContainsAny(string(out), "\x1b\x07\u202e") || !strings.Contains(string(out), "‹U+202E›") {
		t.Errorf("the inbox shows %q, %v", out, err)
	}
}
