// Package chat_test has the service show gates as cards at a double of Slack, and answers them
// there, while its processes are killed. Slack's own libraries judge the requests.
package chat_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

const (
	within = 60 * time.Second
	secret = "0123456789abcdef0123456789abcdef"
)

// A call is a request to Slack.
type call struct {
	Path string `json:"path"`
	Body string `json:"body"`
}

// A slack is a double of Slack's Web API. It keeps the requests that change something.
type slack struct {
	*httptest.Server
	mu    sync.Mutex
	calls []call
}

func newSlack(t *testing.T) *slack {
	s := &slack{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("Authorization") != "Bearer xoxb-bot":
			_, _ = io.WriteString(w, `{"ok":false,"error":"invalid_auth"}`)
		case r.URL.Path == "/api/users.info":
			id := r.URL.Query().Get("user")
			fmt.Fprintf(w, `{"ok":true,"user":{"id":%q,"is_email_confirmed":true,"profile":{"email":"%s@example.com"}}}`, id, strings.ToLower(strings.TrimPrefix(id, "U")))
		default:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.calls = append(s.calls, call{r.URL.Path, string(body)})
			fmt.Fprintf(w, `{"ok":true,"channel":"C0123456789","ts":"1772357404.%06d"}`, len(s.calls))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// all returns the requests so far.
func (s *slack) all() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call{}, s.calls...)
}

// await returns the latest request to a method that has a text.
func (s *slack) await(t *testing.T, method, text string) (found call) {
	t.Helper()
	harness.Eventually(t, within, method+" with "+text, func() error {
		calls := s.all()
		for i := len(calls) - 1; i >= 0; i-- {
			if calls[i].Path == "/api/"+method && strings.Contains(calls[i].Body, text) {
				found = calls[i]
				return nil
			}
		}
		return fmt.Errorf("there are %d requests", len(calls))
	})
	return found
}

// values returns the values of the buttons of a card, by their labels.
func values(t *testing.T, card call) map[string]string {
	t.Helper()
	var m struct {
		Blocks []struct {
			Elements []struct {
				Text  json.RawMessage
				Value string
			}
		}
	}
	if err := json.Unmarshal([]byte(card.Body), &m); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, b := range m.Blocks {
		for _, e := range b.Elements {
			var label struct{ Text string }
			if json.Unmarshal(e.Text, &label) == nil && e.Value != "" {
				out[label.Text] = e.Value
			}
		}
	}
	return out
}

// signed returns a request as Slack sends it.
func signed(payload any) (headers map[string]string, body string) {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	body = url.Values{"payload": {string(raw)}}.Encode()
	at := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", at, body)
	return map[string]string{"X-Slack-Request-Timestamp": at, "X-Slack-Signature": "v0=" + hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/x-www-form-urlencoded"}, body
}

type obj = map[string]any

// click presses a button.
func click(account, value string) any {
	return obj{"type": "block_actions", "trigger_id": "1.2.3", "user": obj{"id": account}, "channel": obj{"id": "C0123456789"}, "actions": []any{obj{"value": value}}, "n": time.Now().UnixNano()}
}

// send sends a request of Slack.
func send(t *testing.T, site *harness.Site, headers map[string]string, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.URL()+"/chat/slack", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range headers {
		r.Header.Set(name, v)
	}
	res, answer := harness.Do(t, r)
	return res.StatusCode, string(answer)
}

// A card follows its gate through a reminder, a refused press, a dialog and the answer, while the
// process is killed: the same card changes after it, since its place is durable.
func TestSlack(t *testing.T) {
	t.Parallel()
	s, dir := newSlack(t), t.TempDir()
	book := harness.WriteFile(t, dir, "book.yaml", `name: asks
default: true
skills: [{id: asks, name: N, description: D, tags: [t]}]
plans:
- name: P
  tasks:
  - name: Ask
    human: {approve: "Go on?", responders: {principals: [ann]}, wait: [{after: 2s, do: remind}]}
  - name: Details
    human:
      questions: [{id: n, question: "How many?", schema: {type: integer, minimum: 1}}, {id: tone, question: "Which tone?", schema: {enum: [plain, formal]}}]
`)
	channels := harness.WriteFile(t, dir, "notices.yaml", fmt.Sprintf(
		"channels:\n- {name: team, kind: slack, url: %q, tenants: [default], channel: C0123456789, token: xoxb-bot, secret: %s, people: [{principal: ann, email: ann@example.com}, {principal: bob, account: UBOB}]}\n", s.URL, secret))
	site := harness.NewSite(t, harness.Dev)
	site.Hide(secret, "xoxb-bot")
	site.Env = []string{"LONGHAUL_PLAYBOOKS=" + book, "LONGHAUL_NOTICES=" + channels, "LONGHAUL_PUBLIC_URL=" + site.URL()}
	p := site.Start(harness.AllInOne)
	c := site.Client()
	root := c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "x"})
	card := s.await(t, "chat.postMessage", "Go on?")
	p.Kill()
	site.Start(harness.AllInOne)
	s.await(t, "chat.postMessage", "Reminder: Go on?")
	accept := values(t, card)["Accept"]

	headers, body := signed(click("UBOB", accept))
	if status, _ := send(t, site, headers, body+"&x=1"); status != http.StatusUnauthorized {
		t.Errorf("an altered request: %d", status)
	}
	send(t, site, headers, body)
	s.await(t, "chat.postEphemeral", "Others decide here")
	if status, _ := send(t, site, headers, body); status != http.StatusConflict {
		t.Errorf("the same request again: %d", status)
	}
	headers, body = signed(click("UANN", accept))
	if status, answer := send(t, site, headers, body); status != http.StatusOK {
		t.Fatalf("the answer: %d %s", status, answer)
	}
	s.await(t, "chat.update", "Accepted by ann")

	details := s.await(t, "chat.postMessage", "How many?")
	h, b := signed(click("UBOB", values(t, details)["Answer"]))
	send(t, site, h, b)
	s.await(t, "views.open", "Which tone?")
	submit := func(n string) string {
		h, b := signed(obj{"type": "view_submission", "user": obj{"id": "UBOB"}, "view": obj{"private_metadata": values(t, details)["Answer"], "state": obj{"values": obj{
			"answer-0": obj{"value": obj{"type": "number_input", "value": n}}, "answer-1": obj{"value": obj{"type": "static_select", "selected_option": obj{"value": "plain"}}},
		}}}})
		_, answer := send(t, site, h, b)
		return answer
	}
	if answer := submit("0"); !strings.Contains(answer, `"errors":{"answer-0"`) {
		t.Errorf("a number below the minimum: %s", answer)
	}
	if answer := submit("3"); answer != "" {
		t.Errorf("the answers: %s", answer)
	}
	c.AwaitState(t, within, root.ID, "COMPLETED")
	s.await(t, "chat.update", "Answered by bob")
	judge(t, s, headers, body)
}

// judge has Slack's libraries judge the requests.
func judge(t *testing.T, s *slack, headers map[string]string, body string) {
	t.Helper()
	program := filepath.Join(harness.NodeProgram(t, "js", filepath.Join("js", "main.mjs")), "main.mjs")
	input, err := json.Marshal(obj{"secret": secret, "signed": obj{"headers": headers, "body": body}, "calls": s.all()})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", program)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "[]" {
		t.Errorf("Slack's libraries: %v\n%s", err, out)
	}
}
