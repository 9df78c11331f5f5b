// Package chat_test has the service show gates as cards at doubles of Slack and Teams, and answers them
// there, while its processes are killed. The platforms' own libraries judge the requests.
package chat_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 60 * time.Second

type obj = map[string]any

// A request is one of a platform.
type request struct {
	header map[string]string
	body   string
}

// A platform is a double of one, with people who press.
type platform interface {
	// name returns the kind of its channels.
	name() string
	// channel returns the members of a channel in the file for notices.
	channel() string
	// card waits for the first card with a text, and returns the values of its buttons, by their labels.
	card(text string) map[string]string
	// changed waits until a card shows a text, and reminded until a line below it does.
	changed(text string)
	reminded(text string)
	// press presses a button, and submit sends a dialog with two answers.
	press(account, value string) request
	submit(account, value, number, tone string) request
	// forged returns a request that is not from the platform.
	forged(r request) request
	// shown waits until the answer to a press, or what follows it, shows a text to the person alone.
	shown(answer, text string)
	// mistaken and done report what an answer to a dialog is.
	mistaken(answer string) bool
	done(answer string) bool
}

// send sends a request of a platform.
func send(t *testing.T, site *harness.Site, p platform, r request) (int, string) {
	t.Helper()
	sender := harness.Client{URL: site.URL(), HTTP: http.DefaultClient, Header: r.header}
	status, answer := sender.MustPage(t, http.MethodPost, "/chat/"+p.name(), r.body)
	return status, string(answer)
}

const book = `name: asks
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
`

// follow has a card follow its gate through a reminder, a refused press, a dialog and the answer, while
// the process is killed: the same card changes after it, since its place is durable. Secrets are in no
// log.
func follow(t *testing.T, p platform, secrets ...string) {
	t.Helper()
	dir := t.TempDir()
	channels := harness.WriteFile(t, dir, "notices.yaml",
		"channels:\n- {name: team, tenants: [default], "+p.channel()+", people: [{principal: ann, email: ann@example.com}, {principal: bob, account: UBOB}]}\n")
	site := harness.NewSite(t, harness.Dev)
	site.Hide(secrets...)
	site.Env = []string{"LONGHAUL_PLAYBOOKS=" + harness.WriteFile(t, dir, "book.yaml", book), "LONGHAUL_NOTICES=" + channels, "LONGHAUL_PUBLIC_URL=" + site.URL()}
	running := site.Start(harness.AllInOne)
	c := site.Client()
	root := c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "x"})
	accept := p.card("Go on?")["Accept"]
	running.Kill()
	site.Start(harness.AllInOne)
	p.reminded("Reminder: Go on?")

	refused := p.press("UBOB", accept)
	if status, _ := send(t, site, p, p.forged(refused)); status != http.StatusUnauthorized {
		t.Errorf("a forged request: %d", status)
	}
	_, answer := send(t, site, p, refused)
	p.shown(answer, "Others decide here")
	if status, _ := send(t, site, p, refused); status != http.StatusConflict {
		t.Errorf("the same request again: %d", status)
	}
	if status, answer := send(t, site, p, p.press("UANN", accept)); status != http.StatusOK {
		t.Fatalf("the answer: %d %s", status, answer)
	}
	p.changed("Accepted by ann")

	details := p.card("How many?")["Answer"]
	_, answer = send(t, site, p, p.press("UBOB", details))
	p.shown(answer, "Which tone?")
	if _, answer := send(t, site, p, p.submit("UBOB", details, "0", "plain")); !p.mistaken(answer) {
		t.Errorf("a number below the minimum: %s", answer)
	}
	if _, answer := send(t, site, p, p.submit("UBOB", details, "3", "plain")); !p.done(answer) {
		t.Errorf("the answers: %s", answer)
	}
	c.AwaitState(t, within, root.ID, "COMPLETED")
	p.changed("Answered by bob")
}

// judge has the libraries of a platform judge its requests and answers.
func judge(t *testing.T, program string, recorded any) {
	t.Helper()
	dir := harness.NodeProgram(t, "js", filepath.Join("js", program), filepath.Join("js", "types.mjs"))
	input := test.Value(json.Marshal(recorded))(t)
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, program))
	var complaints strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &complaints
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != "[]" {
		t.Errorf("%s: %v\n%s\n%s", program, err, out, &complaints)
	}
}
