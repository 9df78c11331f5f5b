// Package chat_test has the service show gates as cards at a double of Slack, and answers them
// there, while its processes are killed. Slack's own libraries judge the requests.
package chat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

const (
	within = 60 * time.Second
	secret = harness.SlackSecret
)

// values returns the values of the buttons of a card, by their labels.
func values(t *testing.T, card harness.SlackCall) map[string]string {
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

type obj = map[string]any

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
	s, dir := harness.NewSlack(t), t.TempDir()
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
		"channels:\n- {name: team, kind: slack, url: %q, tenants: [default], channel: C0123456789, token: %s, secret: %s, people: [{principal: ann, email: ann@example.com}, {principal: bob, account: UBOB}]}\n", s.URL, harness.SlackToken, secret))
	site := harness.NewSite(t, harness.Dev)
	site.Hide(secret, harness.SlackToken)
	site.Env = []string{"LONGHAUL_PLAYBOOKS=" + book, "LONGHAUL_NOTICES=" + channels, "LONGHAUL_PUBLIC_URL=" + site.URL()}
	p := site.Start(harness.AllInOne)
	c := site.Client()
	root := c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "x"})
	card := s.Await(t, within, "chat.postMessage", "Go on?")
	p.Kill()
	site.Start(harness.AllInOne)
	s.Await(t, within, "chat.postMessage", "Reminder: Go on?")
	accept := values(t, card)["Accept"]

	headers, body := s.Signed(s.Click("UBOB", accept))
	if status, _ := send(t, site, headers, body+"&x=1"); status != http.StatusUnauthorized {
		t.Errorf("an altered request: %d", status)
	}
	send(t, site, headers, body)
	s.Await(t, within, "chat.postEphemeral", "Others decide here")
	if status, _ := send(t, site, headers, body); status != http.StatusConflict {
		t.Errorf("the same request again: %d", status)
	}
	headers, body = s.Signed(s.Click("UANN", accept))
	if status, answer := send(t, site, headers, body); status != http.StatusOK {
		t.Fatalf("the answer: %d %s", status, answer)
	}
	s.Await(t, within, "chat.update", "Accepted by ann")

	details := s.Await(t, within, "chat.postMessage", "How many?")
	h, b := s.Signed(s.Click("UBOB", values(t, details)["Answer"]))
	send(t, site, h, b)
	s.Await(t, within, "views.open", "Which tone?")
	submit := func(n string) string {
		h, b := s.Signed(obj{"type": "view_submission", "user": obj{"id": "UBOB"}, "view": obj{"private_metadata": values(t, details)["Answer"], "state": obj{"values": obj{
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
	s.Await(t, within, "chat.update", "Answered by bob")
	judge(t, s, headers, body)
}

// judge has Slack's libraries judge the requests.
func judge(t *testing.T, s *harness.Slack, headers map[string]string, body string) {
	t.Helper()
	program := filepath.Join(harness.NodeProgram(t, "js", filepath.Join("js", "main.mjs")), "main.mjs")
	input, err := json.Marshal(obj{"secret": secret, "signed": obj{"headers": headers, "body": body}, "calls": s.All()})
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
