package hook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/hook"
	"longhaul/api/message"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// file has a trigger of each kind. The secret of the first is that of the example of GitHub, that of
// the others is in variables.
const file = `triggers:
- {name: pulls, kind: github, secret: "It's a Secret to Everybody", tenant: acme, principal: github, skill: review,
   when: '{{and (eq .Event "pull_request") (eq .Body.action "opened")}}', message: 'Review {{.Body.number}} of {{.Body.repository.id}}: {{.Body.title}}', context: 'pull-{{.Body.number}}'}
- {name: paid, kind: stripe, secret: '${STRIPE}', tenant: acme, principal: stripe, when: '{{gt .Body.data.object.amount_paid 1000}}', message: '{{.Event}} {{.Body.data.object.amount_paid}} {{.Body.more}}'}
- {name: alerts, kind: alertmanager, secret: '${OTHER}', tenant: acme, principal: alertmanager, message: '{{.Event}}: {{range .Body.alerts}}{{.labels.alertname}} {{end}}'}
- {name: any, kind: secret, secret: '${OTHER}', tenant: acme, principal: robot, message: '{{json .Body}}'}
`

const (
	gitHubSecret = "It's a Secret to Everybody"
	stripeSecret = "whsec_0123456789abcdef"
	otherSecret  = "0123456789abcdef"
)

func env(name string) (string, bool) {
	v, ok := map[string]string{"GITHUB_SECRET": gitHubSecret, "STRIPE_SECRET": stripeSecret, "ALERT_SECRET": otherSecret, "FORM_SECRET": otherSecret, "STRIPE": stripeSecret, "OTHER": otherSecret, "SHORT": "canary"}[name]
	return v, ok
}

// documented returns the example in the documentation.
func documented(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/doors.md")
	_, example, ok := strings.Cut(string(text), "```yaml\ntriggers:")
	example, _, _ = strings.Cut(example, "```")
	if err != nil || !ok {
		t.Fatal("no example", err)
	}
	return "triggers:" + example
}

// inAcme puts the triggers of a file into a tenant.
func inAcme(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "{name:", "{tenant: acme, name:"), "- name:", "- tenant: acme\n    name:")
}

func load(t *testing.T, text string) ([]hook.Trigger, error) {
	t.Helper()
	path := test.File(t, "triggers.yaml", text)
	list, err := hook.Load(path, env)
	if err != nil {
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""))
	}
	return list, err
}

// An agent keeps what begins work.
type agent struct{ got a2a.Message }

func (a *agent) Decide(_ context.Context, m a2a.Message) (message.Decision, error) {
	a.got = m
	if strings.Contains(m.Text(), "ping") {
		return message.Decision{Answer: &a2a.Message{MessageID: "pong", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart("pong")}}}, nil
	}
	return message.Decision{}, nil
}

// A site is a server with triggers.
type site struct {
	*api.Server
	t     *testing.T
	world *servicetest.World
	agent *agent
	page  *hook.Page
}

// strict lets one request of an address be wrong.
type strict map[string]bool

func (s strict) Call(c call.Caller) (func(), error) {
	if s[c.Principal] {
		return nil, &call.Fault{Kind: call.RateLimited, Message: "Too many requests"}
	}
	s[c.Principal] = true
	return func() {}, nil
}

func (s strict) Stream(call.Caller) (func(), error) { return func() {}, nil }

func begin(t *testing.T, file string, wrong call.Quota) *site {
	t.Helper()
	list := test.Value(load(t, file))(t)
	s := &site{t: t, agent: &agent{}, world: servicetest.New(t, servicetest.Config{})}
	operations := service.New(service.Config{
		Engine: s.world, Journal: s.world.Journal(), Pushes: s.world.Journal().Pushes, Watch: s.world.Watch, Agent: s.agent, Card: card.Info{Name: "Longhaul"},
		Idempotency: call.NoRepeats, Now: s.world.Now, MaxQueue: 1,
	})
	s.page = hook.New(hook.Config{Calls: operations.Calls, Messages: operations.Messages, Triggers: list, Wrong: wrong, Now: s.world.Now})
	s.Server = api.New(api.Config{Service: operations, Now: s.world.Now, Hooks: s.page})
	return s
}

type headers map[string]string

// send returns the answer to a request for a trigger.
func (s *site) send(name string, h headers, body string) (status int, answer string) {
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/hooks/"+name, strings.NewReader(body))
	for name, v := range h {
		r.Header.Set(name, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

// begins sends a request that begins work, and returns its objective.
func (s *site) begins(name string, h headers, body string) *opt.Objective {
	s.t.Helper()
	status, answer := s.send(name, h, body)
	var got struct{ TaskID string }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusAccepted {
		s.t.Fatalf("%s: %d %s", name, status, answer)
	}
	o := test.Value(s.world.Journal().Objective(s.t.Context(), "acme", got.TaskID))(s.t)
	return o
}

func mac(secret, text string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}

func sum(text string) string {
	d := sha256.Sum256([]byte(text))
	return hex.EncodeToString(d[:])
}

func gitHub(id, body string) headers {
	return headers{"X-Hub-Signature-256": "sha256=" + mac(gitHubSecret, body), "X-GitHub-Event": "pull_request", "X-GitHub-Delivery": id}
}

func (s *site) stripe(body string, age time.Duration) headers {
	at := fmt.Sprint(s.world.Now().Add(-age).Unix())
	return headers{"Stripe-Signature": "t=" + at + ",v1=" + mac("the old secret", at+"."+body) + ",v1=" + mac(stripeSecret, at+"."+body) + ",v0=00"}
}

const (
	pull    = `{"action":"opened","number":12,"title":"Faster","repository":{"id":129626912345678}}`
	invoice = `{"id":"evt_1","type":"invoice.paid","data":{"object":{"amount_paid":1999}}}`
	alerts  = `{"groupKey":"{}:{job=\"a\"}","status":"firing","alerts":[{"startsAt":"2026-01-02T03:04:05Z","fingerprint":"f1","labels":{"alertname":"Down"}}]}`
)

// An event of each kind starts work of the principal, with the message of the template.
func TestPage_starts(t *testing.T) {
	s := begin(t, file, nil)
	basic := "Basic YTowMTIzNDU2Nzg5YWJjZGVm" // a:0123456789abcdef
	for _, tt := range []struct {
		name, body string
		header     headers
		want       string
	}{
		{"pulls", pull, gitHub("d-1", pull), "acme|github|pull-12|review|Review 12 of 129626912345678: Faster|trigger:pulls:" + sum(pull)},
		{"paid", invoice, s.stripe(invoice, 0), "acme|stripe|||invoice.paid 1999|trigger:paid:evt_1"},
		{"alerts", alerts, headers{"Authorization": "Bearer " + otherSecret}, "acme|alertmanager|||firing: Down|trigger:alerts:2dd5b3872c7d3c699fc376ff1c203373528dc0d8fc6013dcd00b0b013f854800"},
		{"any", `{"a":1.5}`, headers{"Authorization": basic, "Idempotency-Key": "k"}, `acme|robot|||{"a":1.5}|trigger:any:k`},
		{"any", `[1]`, headers{"X-Signature-256": "sha256=" + mac(otherSecret, "[1]")}, `acme|robot|||[1]|trigger:any:080a9ed428559ef602668b4c00f114f1a11c3f6b02a435f0bdc154578e4d7f22`},
	} {
		o := s.begins(tt.name, tt.header, tt.body)
		skill, _ := s.agent.got.Metadata.String(opt.KeySkill)
		got := strings.Join([]string{o.Tenant, o.Principal, s.agent.got.ContextID, skill, s.agent.got.Text(), o.MessageID}, "|")
		test.Equal(t, tt.name, tt.want, got)
	}
}

// A repeat is answered with the same task, and begins nothing, also if its contents or the template
// have changed; another event begins another task.
func TestPage_once(t *testing.T) {
	s := begin(t, file, nil)
	bearer := headers{"Authorization": "Bearer " + otherSecret}
	later := strings.Replace(alerts, `"labels"`, `"endsAt":"2026-01-02T04:00:00Z","labels"`, 1)
	more := strings.Replace(alerts, `"alerts":[`, `"alerts":[{"startsAt":"2026-01-02T03:05:05Z","fingerprint":"f2"},`, 1)
	for name, tt := range map[string]struct {
		trigger              string
		first, repeat, other func() (headers, string)
	}{
		"GitHub": {"pulls",
			func() (headers, string) { return gitHub("d", pull), pull },
			func() (headers, string) { return gitHub("a captured one under another id", pull), pull },
			func() (headers, string) {
				other := strings.Replace(pull, `"number":12`, `"number":13`, 1)
				return gitHub("d", other), other
			}},
		"Stripe": {"paid",
			func() (headers, string) { return s.stripe(invoice, time.Minute), invoice },
			func() (headers, string) { return s.stripe(invoice, 0), invoice },
			func() (headers, string) {
				other := strings.Replace(invoice, "evt_1", "evt_2", 1)
				return s.stripe(other, 0), other
			}},
		"Alertmanager": {"alerts",
			func() (headers, string) { return bearer, alerts },
			func() (headers, string) { return bearer, later },
			func() (headers, string) { return bearer, more }},
		"the end of an alert": {"alerts",
			func() (headers, string) { return bearer, alerts },
			func() (headers, string) { return bearer, alerts },
			func() (headers, string) { return bearer, strings.Replace(alerts, "firing", "resolved", 1) }},
		"a key": {"any",
			func() (headers, string) {
				return headers{"Authorization": "Bearer " + otherSecret, "Idempotency-Key": "k"}, `1`
			},
			func() (headers, string) {
				return headers{"Authorization": "Bearer " + otherSecret, "Idempotency-Key": "k"}, `2`
			},
			func() (headers, string) {
				return headers{"Authorization": "Bearer " + otherSecret, "Idempotency-Key": "l"}, `1`
			}},
		"a key beside a signature": {"any",
			func() (headers, string) {
				return headers{"X-Signature-256": "sha256=" + mac(otherSecret, `5`), "Idempotency-Key": "k5"}, `5`
			},
			func() (headers, string) {
				return headers{"X-Signature-256": "sha256=" + mac(otherSecret, `5`), "Idempotency-Key": "l5"}, `5`
			},
			func() (headers, string) {
				return headers{"X-Signature-256": "sha256=" + mac(otherSecret, `6`), "Idempotency-Key": "k5"}, `6`
			}},
		"the body": {"any",
			func() (headers, string) { return bearer, `3` },
			func() (headers, string) { return bearer, `3` },
			func() (headers, string) { return bearer, `4` }},
	} {
		ids := map[string]string{}
		for what, f := range map[string]func() (headers, string){"first": tt.first, "repeat": tt.repeat, "else": tt.other} {
			h, body := f()
			ids[what] = s.begins(tt.trigger, h, body).ID
		}
		if ids["first"] != ids["repeat"] || ids["first"] == ids["else"] {
			t.Errorf("%s: the tasks are %v", name, ids)
		}
	}
	h, body := gitHub("d", pull), pull
	before := s.begins("pulls", h, body).ID
	list := test.Value(load(t, strings.Replace(file, "Review {{", "Look at {{", 1)))(t)
	s.page.Replace(list)
	test.Is(t, "after a change of the template the task", before, s.begins("pulls", h, body).ID)
}

// away is an engine that cannot be reached.
type away struct{}

func (away) Deliver(context.Context, *call.Call, message.SendParams) (*message.Receipt, error) {
	return nil, opt.ErrUnavailable
}

// The example of GitHub and a signature of Stripe's form that openssl has made are valid: what follows
// is another error.
func TestPage_golden(t *testing.T) {
	s := begin(t, file, nil)
	status, _ := s.send("pulls", headers{"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}, "Hello, World!")
	if status != http.StatusBadRequest { // it is no JSON
		t.Errorf("the example of GitHub: %d", status)
	}
	list := test.Value(load(t, file))(t)
	at := hook.New(hook.Config{Calls: call.New(call.Config{Log: zap.NewNop()}), Messages: away{}, Triggers: list, Now: func() time.Time { return time.Unix(1700000299, 0) }})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(invoice))
	r.Header.Set("Stripe-Signature", "t=1700000000,v1=bd5b5409e0dc2d66956d2ebc2f38d4706aac8afa8d532c1f7b7dee28d705f260")
	w := httptest.NewRecorder()
	at.Serve(&call.Call{}, w, r, "paid")
	test.Is(t, "a signature of Stripe", http.StatusServiceUnavailable, w.Code)
}

// A request that the sender has not signed is refused without a reason, as one for a trigger that
// does not exist. An address that sends many has to wait.
func TestPage_forged(t *testing.T) {
	s := begin(t, file, nil)
	good, old := gitHub("d", pull), s.stripe(invoice, 0)["Stripe-Signature"]
	stamp, rest, _ := strings.Cut(old, ",")
	for name, tt := range map[string]struct {
		trigger string
		header  headers
		body    string
	}{
		"an altered body":         {"pulls", good, strings.Replace(pull, "12", "13", 1)},
		"no body":                 {"pulls", good, ""},
		"no signature":            {"pulls", headers{}, pull},
		"no form":                 {"pulls", headers{"X-Hub-Signature-256": mac(gitHubSecret, pull)}, pull},
		"another hash":            {"pulls", headers{"X-Hub-Signature-256": "sha1=" + mac(gitHubSecret, pull)}, pull},
		"another secret":          {"pulls", headers{"X-Hub-Signature-256": "sha256=" + mac(otherSecret, pull)}, pull},
		"the secret itself":       {"pulls", headers{"Authorization": "Bearer " + gitHubSecret}, pull},
		"another trigger":         {"any", good, pull},
		"no trigger":              {"none", good, pull},
		"too old":                 {"paid", s.stripe(invoice, 5*time.Minute+time.Second), invoice},
		"too new":                 {"paid", s.stripe(invoice, -5*time.Minute-time.Second), invoice},
		"another time":            {"paid", headers{"Stripe-Signature": stamp + "0," + rest}, invoice},
		"no time":                 {"paid", headers{"Stripe-Signature": rest}, invoice},
		"another scheme":          {"paid", headers{"Stripe-Signature": strings.ReplaceAll(old, "v1=", "v2=")}, invoice},
		"an altered invoice":      {"paid", headers{"Stripe-Signature": old}, strings.Replace(invoice, "1999", "9999", 1)},
		"another bearer":          {"alerts", headers{"Authorization": "Bearer " + stripeSecret}, alerts},
		"another password":        {"alerts", headers{"Authorization": "Basic YTpi"}, alerts},
		"a signature as a bearer": {"any", headers{"Authorization": "Bearer " + mac(otherSecret, "1")}, "1"},
	} {
		if status, answer := s.send(tt.trigger, tt.header, tt.body); status != http.StatusUnauthorized || answer != "" {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	if s.agent.got.MessageID != "" {
		t.Errorf("work has begun: %v", s.agent.got)
	}
	s = begin(t, file, strict{})
	for _, want := range []int{401, 429} {
		if status, _ := s.send("pulls", headers{}, pull); status != want {
			t.Errorf("a wrong request: %d, want %d", status, want)
		}
	}
	if status, _ := s.send("pulls", good, pull); status != http.StatusAccepted {
		t.Errorf("a good request from there: %d", status)
	}
}

// Events that start nothing, and those that cannot be carried out.
func TestPage_refuses(t *testing.T) {
	s := begin(t, file, nil)
	key := func(id string) headers {
		return headers{"Authorization": "Bearer " + otherSecret, "Idempotency-Key": id}
	}
	unopened, queued := strings.Replace(pull, "opened", "closed", 1), strings.Replace(pull, `"Faster"`, `"Later"`, 1)
	small, odd := strings.Replace(invoice, "1999", "1", 1), strings.Replace(invoice, "1999", `"1999"`, 1)
	s.begins("pulls", gitHub("first", pull), pull)
	for name, tt := range map[string]struct {
		trigger string
		header  headers
		body    string
		status  int
		answer  string
	}{
		"another action":    {"pulls", gitHub("d", unopened), unopened, 200, `{"skipped":true}`},
		"a small amount":    {"paid", s.stripe(small, 0), small, 200, `{"skipped":true}`},
		"a text for amount": {"paid", s.stripe(odd, 0), odd, 400, "error calling gt: incompatible types for comparison"},
		"no JSON":           {"any", key("a"), "{", 400, "must be JSON"},
		"two values":        {"any", key("a"), "1 2", 400, "must be JSON: there is more than one value"},
		"a long id":         {"any", key(strings.Repeat("x", 1000)), "1", 202, "taskId"},
		"answered at once":  {"any", key("b"), `"ping"`, 400, "was answered by the agent at once"},
		"a wide body":       {"any", key("c"), strings.Repeat("1", 4<<20+1), 413, ""},
		"a full queue":      {"pulls", gitHub("q", queued), queued, 202, "taskId"},
	} {
		if status, answer := s.send(tt.trigger, tt.header, tt.body); status != tt.status || !strings.Contains(answer, tt.answer) {
			t.Errorf("%s: %d %s, want %d with %s", name, status, answer, tt.status, tt.answer)
		}
	}
	third := strings.Replace(pull, `"Faster"`, `"Last"`, 1)
	if status, answer := s.send("pulls", gitHub("r", third), third); status != http.StatusServiceUnavailable || !strings.Contains(answer, "Context queue is full") {
		t.Errorf("two that wait: %d %s", status, answer)
	}
}

// Mistakes in the file are found at the start, all of them, and without values of variables.
func TestLoad_mistakes(t *testing.T) {
	const good = "{name: a, kind: github, secret: '${OTHER}', principal: p, message: x}"
	for _, tt := range []struct{ old, new, want string }{
		{good, "", "triggers.yaml: the file needs triggers: a list with at least one"},
		{"name: a", "name: A b", "triggers.yaml: trigger A b: name: must be 1 to 63 of a-z, 0-9 and -, as in pull-requests"},
		{"kind: github", "kind: gitlab", "kind: must be github, stripe, alertmanager or secret"},
		{"principal: p", "principal: 'longhaul:x'", "principal: is required, and names that begin with "},
		{"principal: p, ", "", "principal: is required"},
		{"OTHER", "NONE", "secret: the environment variable NONE is not set"},
		{"OTHER", "SHORT", "secret: has 6 characters and needs at least 16"},
		{"message: x", "message: ''", "message: is required"},
		{"message: x", "message: '{{'", "message: template: message:1: unclosed action"},
		{"message: x", "message: '{{.Evnt}}'", "can't evaluate field Evnt in type hook.Event"},
		{"message: x", "message: x, when: '{{eqq 1 2}}'", `when: template: when:1: function "eqq" not defined`},
		{"message: x", "message: x, context: '{{.ID}}'", "context: template: context:1:2: executing"},
		{"message: x", "mesage: x, message: y", `triggers.yaml:2: member "mesage" is unknown (did you mean message?)`},
		{good, good + "\n- " + good, "triggers.yaml: trigger a: another trigger has this name"},
	} {
		list := "triggers:\n- " + good
		if tt.new == "" && tt.old == good {
			list = "triggers: []"
		}
		_, err := load(t, strings.Replace(list, tt.old, tt.new, 1))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %s", tt.new, err, tt.want)
		}
	}
	list, err := load(t, "triggers:\n- "+good)
	if err != nil || list[0].Tenant != opt.DefaultTenant {
		t.Errorf("%+v %v", list, err)
	}
}

// The example in the documentation starts work for events as their senders make them.
func TestLoad_documentation(t *testing.T) {
	s := begin(t, inAcme(documented(t)), nil)
	opened, bearer := `{"action":"opened","pull_request":{"html_url":"https://example.com/1"}}`, headers{"Authorization": "Bearer " + otherSecret}
	for _, tt := range []struct {
		name, body string
		header     headers
		want       string
	}{
		{"pulls", opened, gitHub("d", opened), "Review https://example.com/1"},
		{"disputes", invoice, s.stripe(invoice, 0), `{"amount_paid":1999}`},
		{"alerts", alerts, bearer, `Look at {}:{job="a"}`},
		{"forms", `{"text":"Hello"}`, bearer, "Hello"},
	} {
		s.begins(tt.name, tt.header, tt.body)
		test.Is(t, tt.name+": the message", tt.want, s.agent.got.Text())
	}
}
