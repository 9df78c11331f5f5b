// Package doors_test answers gates of the whole service at each of its doors: the same rules hold at
// all of them, and of answers that race, also while the process is killed, one decides.
package doors_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/chatapp"
	"longhaul/internal/chatapp/teamstest"
	"longhaul/internal/signing"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

type obj = map[string]any

const within = 60 * time.Second

var answerKey = bytes.Repeat([]byte{7}, 32)

// book returns a playbook whose gate needs a number of editors.
func book(name, matches string, accepts int) string {
	return fmt.Sprintf(`name: %s
%s
plans:
- name: P
  tasks:
  - {name: Outline, description: say outline}
  - name: Approve
    human: {approve: 'Good?', object: '{{results "Outline"}}', responders: {groups: [editors], not-requester: true, accepts: %d}}
`, name, matches, accepts)
}

// editors may decide, each at their own door in a race.
var editors = []string{"bob", "carol", "dave", "erin", "frank", "gwen", "hugo", "iris", "jack"}

// An office is a site with callers, chat platforms and answer links.
type office struct {
	t     *testing.T
	site  *harness.Site
	slack *harness.Slack
	teams *teamstest.Teams
	links *signing.Links
	keys  map[string]string       // by caller
	seats map[string]*http.Client // signed in to the console, by caller
}

func newOffice(t *testing.T) *office {
	t.Helper()
	dir, playbooks := t.TempDir(), t.TempDir()
	o := &office{t: t, slack: harness.NewSlack(t), teams: teamstest.New(t), keys: map[string]string{}, seats: map[string]*http.Client{}}
	var people []string
	for _, name := range append([]string{"ann", "mallory", "dora"}, editors...) {
		people = append(people, fmt.Sprintf("{principal: %s, groups: [%s], email: %s@example.com}", name, groupOf(name), name))
	}
	channels := "channels:\n"
	for kind, members := range map[string]string{
		"slack": fmt.Sprintf("kind: slack, url: %q, channel: C0123456789, token: %s, secret: %s", o.slack.URL, harness.SlackToken, harness.SlackSecret),
		"teams": o.teams.Channel(),
	} {
		channels += fmt.Sprintf("- {name: %s, tenants: [default], %s, people: [%s]}\n", kind, members, strings.Join(people, ", "))
		channels += fmt.Sprintf("- {name: %s-others, tenants: [rivals], %s, people: [{principal: rival, email: rival@example.com}]}\n", kind, members)
	}
	harness.WriteFile(t, playbooks, "one.yaml", book("one", "default: true\nskills: [{id: one, name: N, description: D, tags: [t]}]", 1))
	harness.WriteFile(t, playbooks, "two.yaml", book("two", "match: {keywords: [twice]}", 2))
	harness.WriteFile(t, playbooks, "ask.yaml", "name: ask\nskills: [{id: ask, name: Ask, description: Asks, tags: [t]}]\nplans:\n- name: P\n  tasks:\n  - {name: Ask, human: {approve: 'Really?'}}\n  - {name: Say, description: say done}\n")
	o.site = harness.NewSite(t, harness.Dev, "--auth", "keys")
	o.site.Env = []string{
		"LONGHAUL_PLAYBOOKS=" + playbooks, "LONGHAUL_NOTICES=" + harness.WriteFile(t, dir, "notices.yaml", channels),
		"LONGHAUL_ANSWER_KEYS=" + base64.StdEncoding.EncodeToString(answerKey), "LONGHAUL_PUBLIC_URL=" + o.site.URL(), "LONGHAUL_REPLY_WAIT=1m",
	}
	o.keys["rival"] = o.site.Key("rival", "--scopes", "all", "--groups", "editors", "--tenant", "rivals")
	for _, name := range append([]string{"ann", "mallory", "dora"}, editors...) {
		o.keys[name] = o.site.Key(name, "--scopes", "all", "--groups", groupOf(name))
	}
	var err error
	if o.links, err = signing.NewLinks(nil, answerKey); err != nil {
		t.Fatal(err)
	}
	return o
}

func groupOf(name string) string {
	if name == "ann" || name == "mallory" || name == "dora" {
		return "staff"
	}
	return "editors"
}

func (o *office) client(name string) *harness.Client {
	return o.site.Client().With("Authorization", "Bearer "+o.keys[name])
}

// ask begins work for ann and returns its root task at the gate.
func (o *office) ask(id, text string) *harness.Task {
	o.t.Helper()
	c := o.client("ann")
	task := c.MustSendUntil(o.t.Context(), o.t, harness.Message{ID: id, Text: text})
	return c.Await(o.t, within, task.ID, "waits at a gate", func(task *harness.Task) bool { return task.Gate != nil })
}

// A try is an answer to a gate.
type try struct {
	who    string
	thread string // the context of the work
	gate   *harness.Gate
	digest string // of the object that the sender has seen
	action string
	id     string // of the message, at doors that have it
}

// An outcome is what the sender of a try sees.
type outcome int

const (
	accepted outcome = iota
	refused
	unknown // the answer may have been recorded
)

func (o outcome) String() string { return []string{"accepted", "refused", "unknown"}[o] }

// A door answers a gate, and returns the words of the door.
type door struct {
	name   string
	answer func(*office, context.Context, try) (outcome, string)
}

var doors = []door{
	{"A2A message", (*office).byMessage}, {"operation", (*office).byOperation}, {"console", (*office).byConsole}, {"answer link", (*office).byLink},
	{"command", (*office).byCommand}, {"Slack", (*office).bySlack}, {"Teams", (*office).byTeams}, {"MCP", (*office).byMCP}, {"AG-UI", (*office).byAGUI},
}

// call sends a request, and returns the status and the body; the status is 0 if there is no answer.
func (o *office) call(ctx context.Context, client *http.Client, verb, path, body string, header map[string]string) (int, string) {
	r, err := http.NewRequestWithContext(ctx, verb, o.site.URL()+path, strings.NewReader(body))
	if err != nil {
		o.t.Error(err)
		return 0, ""
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.Request.URL.Query().Has("stored") { // the page of an answer that is not judged
		return 0, string(text)
	}
	return res.StatusCode, string(text)
}

// outcomeOf returns what a status of HTTP says.
func outcomeOf(status int) outcome {
	switch {
	case status == http.StatusOK:
		return accepted
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusTooManyRequests:
		return refused
	}
	return unknown
}

var jsonType = map[string]string{"Content-Type": "application/json"}

func (o *office) with(name string, header map[string]string) map[string]string {
	out := map[string]string{"Authorization": "Bearer " + o.keys[name]}
	for k, v := range header {
		out[k] = v
	}
	return out
}

func (o *office) byMessage(ctx context.Context, a try) (outcome, string) {
	_, err := o.client(a.who).Send(ctx, harness.Message{ID: a.id, TaskID: a.gate.TaskID, Data: obj{"interruptId": a.gate.ID, "action": a.action, "objectDigest": a.digest}})
	switch {
	case err == nil:
		return accepted, ""
	case harness.MayRepeat(err):
		return unknown, err.Error()
	}
	return refused, err.Error()
}

func (o *office) byOperation(ctx context.Context, a try) (outcome, string) {
	body, _ := json.Marshal(obj{"action": a.action, "objectDigest": a.digest, "messageId": a.id})
	status, text := o.call(ctx, http.DefaultClient, http.MethodPost, "/v1/interrupts/"+a.gate.ID+"/answer", string(body), o.with(a.who, jsonType))
	return outcomeOf(status), text
}

var formHeader = map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}

// signIn signs a caller in to the console.
func (o *office) signIn(ctx context.Context, name string) {
	o.t.Helper()
	jar := test.Value(cookiejar.New(nil))(o.t)
	o.seats[name] = &http.Client{Jar: jar}
	if status, text := o.call(ctx, o.seats[name], http.MethodPost, "/console/sign-in", url.Values{"key": {o.keys[name]}}.Encode(), formHeader); status != http.StatusOK {
		o.t.Fatalf("%s signs in: %d %s", name, status, text)
	}
}

func (o *office) byConsole(ctx context.Context, a try) (outcome, string) {
	if o.seats[a.who] == nil {
		o.signIn(ctx, a.who)
	}
	form := url.Values{"action": {a.action}, "digest": {a.digest}, "interrupt": {a.gate.ID}}
	status, text := o.call(ctx, o.seats[a.who], http.MethodPost, "/console/inbox/"+a.gate.ID, form.Encode(), formHeader)
	return outcomeOf(status), text
}

func (o *office) byLink(ctx context.Context, a try) (outcome, string) {
	link := outbox.AnswerLink{ID: "n-" + a.id, Tenant: "default", Principal: a.who, Groups: []string{groupOf(a.who)}, GateID: a.gate.ID, ObjectDigest: a.digest, Expires: a2a.At(time.Now().Add(time.Hour))}
	if a.who == "rival" {
		link.Tenant = "rivals"
	}
	token, err := o.links.Sign(link)
	if err != nil {
		o.t.Error(err)
	}
	status, text := o.call(ctx, http.DefaultClient, http.MethodPost, "/answer/"+token, url.Values{"action": {a.action}}.Encode(), formHeader)
	return outcomeOf(status), text
}

func (o *office) byCommand(ctx context.Context, a try) (outcome, string) {
	cmd := exec.CommandContext(ctx, o.site.Binary(), "answer", a.gate.ID, a.action, "--seen", a.digest, "--url", o.site.URL(), "--patience", "30s")
	cmd.Env = append(os.Environ(), "LONGHAUL_TOKEN="+o.keys[a.who])
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return accepted, string(out)
	case !errors.As(err, &exit) || bytes.Contains(out, []byte("nothing serves")) || bytes.Contains(out, []byte("unavailable")):
		return unknown, string(out)
	}
	return refused, string(out)
}

// pressOf returns the button of an answer at a channel.
func pressOf(a try, channel string) chatapp.Press {
	if a.who == "rival" {
		channel += "-others"
	}
	return chatapp.Press{Channel: channel, Gate: a.gate.ID, Action: a.action, Digest: a.digest}
}

// noVerdict matches what a person at a chat platform sees of an answer that may be given again.
var noVerdict = regexp.MustCompile("It is not known|is stored|Too many requests")

func (o *office) byTeams(ctx context.Context, a try) (outcome, string) {
	now := time.Now()
	body, _ := json.Marshal(o.teams.Invoke("U"+a.who, "adaptiveCard/action", obj{"longhaul": pressOf(a, "teams").Text()}, now))
	status, text := o.call(ctx, http.DefaultClient, http.MethodPost, "/chat/teams", string(body), map[string]string{"Authorization": "Bearer " + o.teams.Token(now, nil)})
	switch {
	case status != http.StatusOK || noVerdict.MatchString(text):
		return unknown, text
	case strings.Contains(text, "Your answer was recorded"):
		return accepted, text
	}
	return refused, text
}

func (o *office) bySlack(ctx context.Context, a try) (outcome, string) {
	press := pressOf(a, "slack")
	_, before := o.ephemeral(a.who)
	header, body := o.slack.Signed(o.slack.Click("U"+a.who, press.Text()))
	status, _ := o.call(ctx, http.DefaultClient, http.MethodPost, "/chat/slack", body, header)
	text, after := o.ephemeral(a.who)
	switch {
	case status != http.StatusOK || noVerdict.MatchString(text):
		return unknown, text
	case after > before:
		return refused, text
	}
	return accepted, ""
}

// ephemeral returns the latest text that a person has seen at Slack, and how many there were.
func (o *office) ephemeral(who string) (latest string, n int) {
	for _, c := range o.slack.All() {
		var in struct{ User, Text string }
		if c.Path == "/api/chat.postEphemeral" && json.Unmarshal([]byte(c.Body), &in) == nil && in.User == "U"+who {
			latest, n = in.Text, n+1
		}
	}
	return latest, n
}

var eventData = regexp.MustCompile(`(?m)^data: (\{.*)$`)

func (o *office) byMCP(ctx context.Context, a try) (outcome, string) {
	args := obj{"interruptId": a.gate.ID, "action": a.action, "objectDigest": a.digest, "messageId": a.id}
	body, _ := json.Marshal(obj{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": obj{"name": "answer", "arguments": args}})
	header := o.with(a.who, map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
	status, text := o.call(ctx, http.DefaultClient, http.MethodPost, "/mcp", string(body), header)
	var out struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	found := eventData.FindStringSubmatch(text)
	switch {
	case status != http.StatusOK || found == nil || json.Unmarshal([]byte(found[1]), &out) != nil || len(out.Result.Content) == 0:
		return unknown, text
	case out.Result.IsError && strings.Contains(strings.ToLower(out.Result.Content[0].Text), "unavailable"), strings.Contains(out.Result.Content[0].Text, "is stored"):
		return unknown, text
	case out.Result.IsError:
		return refused, out.Result.Content[0].Text
	}
	return accepted, out.Result.Content[0].Text
}

// byAGUI reads only the first two events of a run: it stays open while others may still decide.
func (o *office) byAGUI(ctx context.Context, a try) (outcome, string) {
	body, _ := json.Marshal(obj{"threadId": a.thread, "runId": a.id, "messages": []any{}, "tools": []any{}, "context": []any{},
		"resume": []any{obj{"interruptId": a.gate.ID + "#" + a.digest, "status": "resolved", "payload": obj{"action": a.action}}}})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.site.URL()+"/agui", bytes.NewReader(body))
	if err != nil {
		o.t.Error(err)
		return unknown, ""
	}
	for name, value := range o.with(a.who, jsonType) {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return unknown, err.Error()
	}
	defer res.Body.Close()
	var all strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan() && strings.Count(all.String(), "data: ") < 2; {
		all.WriteString(lines.Text() + "\n")
	}
	switch text := all.String(); {
	case res.StatusCode != http.StatusOK:
		return outcomeOf(res.StatusCode), text
	case text == "", strings.Contains(text, "longhaul:answer-stored"), strings.Contains(text, "UNAVAILABLE"):
		return unknown, text
	case strings.Contains(text, `"RUN_STARTED"`):
		return []outcome{unknown, unknown, accepted}[strings.Count(text, "data: ")], text
	default:
		return refused, text
	}
}

// decisions returns the decisions at a gate, and all of its objective as the API has them.
func (o *office) decisions(root *harness.Task) (at []opt.Decision, raw string) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), within)
	defer cancel()
	objectiveID, _ := opt.SplitRoot(root.ID)
	status, text := o.call(ctx, http.DefaultClient, http.MethodGet, "/v1/objectives/"+objectiveID+"/decisions", "", o.with("ann", nil))
	var page struct{ Decisions []opt.Decision }
	if err := json.Unmarshal([]byte(text), &page); status != http.StatusOK || err != nil {
		o.t.Fatalf("decisions: %d %v %s", status, err, text)
	}
	for _, d := range page.Decisions {
		if d.GateID == root.Gate.ID {
			at = append(at, d)
		}
	}
	return at, text
}

// closedBy returns who has closed a gate, "" if no one has. The test fails if there is more than one.
func closedBy(t *testing.T, at []opt.Decision) (who string) {
	t.Helper()
	for _, d := range at {
		if d.Closed && who != "" {
			t.Errorf("%s and %s have closed the gate", who, d.DecidedBy)
		}
		if d.Closed {
			who = d.DecidedBy
		}
	}
	return who
}
