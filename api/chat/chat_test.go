package chat_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/chat"
	"longhaul/api/message"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/chatapp"
	"longhaul/opt"
	"longhaul/opt/shown"
)

const secret = "0123456789abcdef0123456789abcdef"

var people = []chatapp.Person{
	{Principal: "ann", Groups: []string{"editors"}, Email: "ann@example.com"},
	{Principal: "bob", Groups: []string{"editors"}, Account: "U-bob"},
	{Principal: "carl", Account: "U-carl"}, // who asks for the work
}

// accounts are those at the platform, with what it says about them.
var accounts = map[string]string{
	"U-ann":   `"is_email_confirmed":true,"email_verified":true,"email":"ann@example.com","profile":{"email":"ann@example.com","display_name":"x"}`,
	"U-liar":  `"is_email_confirmed":false,"email_verified":false,"email":"ann@example.com","profile":{"email":"ann@example.com"}`,
	"U-named": `"is_email_confirmed":true,"email_verified":true,"email":"x@example.org","profile":{"email":"x@example.org","display_name":"ann","real_name":"ann"}`,
	"U-dora":  `"is_email_confirmed":true,"email_verified":true,"email":"dora@example.net","profile":{"email":"dora@example.net"}`,
}

// A platform records the requests to it.
type platform struct{ requests []string }

func (p *platform) Do(_ context.Context, r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	if r.Header.Get("Authorization") != "Bearer bot" {
		return nil, fmt.Errorf("unauthorized")
	}
	id := r.URL.Query().Get("user")
	if id == "" {
		_, id, _ = strings.Cut(r.URL.Path, "/users/")
	}
	answer := `{"ok":true}`
	if id != "" {
		more := accounts[id]
		if more == "" {
			more = `"is_bot":true`
		}
		answer = fmt.Sprintf(`{"ok":true,"id":%q,"user":{"id":%q,%s},%s}`, id, id, more, more)
	} else {
		p.requests = append(p.requests, r.URL.Path+" "+string(body))
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// last returns the last request, "" if there is none.
func (p *platform) last() string {
	if len(p.requests) == 0 {
		return ""
	}
	return p.requests[len(p.requests)-1]
}

// A site is a server with a door, and work that waits at a gate.
type site struct {
	*api.Server
	t        *testing.T
	world    *servicetest.World
	platform *platform
	app      chatapp.App
	task     string
	n        int // of requests
}

type agent struct{}

func (agent) Decide(context.Context, a2a.Message) (message.Decision, error) {
	return message.Decision{}, nil
}

func begin(t *testing.T, kind chatapp.Kind, gate opt.Gate) *site {
	t.Helper()
	s := &site{t: t, platform: &platform{}, app: chatapp.App{
		Kind: kind, Name: "team", Tenant: "acme", URL: "https://chat.example.com", Token: "bot", Secret: secret, Room: "C1", People: people, Domains: []string{"example.net"},
	}}
	s.world = servicetest.New(t, servicetest.Config{
		Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Approve"}}}}}, true
		},
		Script: func(w opt.Work) servicetest.Play {
			if len(w.Replies) == 0 {
				return servicetest.Play{Outcome: &opt.Outcome{State: gate.State(), Gate: &gate}}
			}
			said := w.Replies[len(w.Replies)-1]
			text := fmt.Sprint(said.Action, " ", said.Feedback, " by ", said.DecidedBy)
			for _, a := range said.Answers {
				text += fmt.Sprintf(" %s=%s", a.ID, a.Answer)
			}
			return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "out", Parts: []a2a.Part{a2a.TextPart(text)}}}}}
		},
	})
	operations := service.New(service.Config{
		Engine: s.world, Journal: s.world.Journal(), Pushes: s.world.Journal().Pushes, Watch: s.world.Watch, Agent: agent{}, Card: card.Info{Name: "Longhaul"},
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond, Now: s.world.Now,
	})
	other := s.app
	other.Name, other.Tenant, other.Secret = "others", "other", strings.Repeat("x", 32)
	page := chat.New(chat.Config{
		Calls: operations.Calls, Gates: operations.Gates, Apps: []chatapp.App{s.app, other}, Keys: s.world.Journal().APIKeys, Sender: s.platform,
		PublicURL: "https://agent.example.com", Now: s.world.Now,
	})
	s.Server = api.New(api.Config{Service: operations, Now: s.world.Now, Chat: page, Authenticate: func(r *http.Request) (call.Caller, error) {
		return servicetest.Caller(r.Header.Get("Authorization"))
	}})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"Go"}]}}}`))
	for name, v := range map[string]string{"Content-Type": "application/json", "A2A-Version": "1.0", "Authorization": "Bearer acme/carl"} {
		r.Header.Set(name, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	_, rest, _ := strings.Cut(w.Body.String(), `"obj-`)
	id, _, _ := strings.Cut(rest, `"`)
	s.task = "task-" + id + "-1-0"
	return s
}

// press returns the button with an action on the card of the gate.
func (s *site) press(action string) chatapp.Press {
	p := chatapp.Press{Channel: "team", Gate: opt.GateID(s.task, 1), Action: action}
	v, err := s.world.Journal().Task(s.t.Context(), "acme", s.task, shown.TaskWant{})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(v.Gates) > 0 {
		p.Digest = v.Gates[0].ObjectDigest
	}
	return p
}

// result returns the state of the task and what came of it.
func (s *site) result() string {
	v, err := s.world.Journal().Task(s.t.Context(), "acme", s.task, shown.TaskWant{Artifacts: true})
	if err != nil {
		s.t.Fatal(err)
	}
	out := string(v.State)
	for _, a := range v.Task.Artifacts {
		out += ": " + a.Text()
	}
	return out
}

// A sent is a request of a platform.
type sent struct {
	path   string
	header http.Header
	body   string
}

func (s *site) send(in sent) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, in.path, strings.NewReader(in.body))
	r.Header = in.header.Clone()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// A door makes the requests of a platform.
type door struct {
	click  func(s *site, account string, p chatapp.Press) sent
	submit func(s *site, account string, p chatapp.Press, words map[string]string) sent
	// shown returns the text for the person after a click.
	shown func(s *site, w *httptest.ResponseRecorder) string
}

// sign signs a request as Slack does.
func (s *site) sign(key, payload string, at time.Time) sent {
	s.n++
	body := url.Values{"payload": {payload}, "n": {fmt.Sprint(s.n)}}.Encode()
	ts := fmt.Sprint(at.Unix())
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "v0:%s:%s", ts, body)
	return sent{"/chat/slack", http.Header{
		"X-Slack-Request-Timestamp": {ts}, "X-Slack-Signature": {"v0=" + hex.EncodeToString(mac.Sum(nil))}, "Content-Type": {"application/x-www-form-urlencoded"},
	}, body}
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

type obj = map[string]any

var doors = map[chatapp.Kind]door{
	chatapp.Slack: {
		click: func(s *site, account string, p chatapp.Press) sent {
			return s.sign(secret, text(obj{"type": "block_actions", "trigger_id": "t", "user": obj{"id": account}, "channel": obj{"id": "C1"}, "actions": []any{obj{"value": p.Text()}}}), s.world.Now())
		},
		submit: func(s *site, account string, p chatapp.Press, words map[string]string) sent {
			values := obj{}
			for name, word := range words {
				values[name] = obj{"value": obj{"type": "plain_text_input", "value": word}}
			}
			return s.sign(secret, text(obj{"type": "view_submission", "user": obj{"id": account}, "view": obj{"private_metadata": p.Text(), "state": obj{"values": values}}}), s.world.Now())
		},
		shown: func(s *site, _ *httptest.ResponseRecorder) string {
			if last := s.platform.last(); strings.HasPrefix(last, "/api/chat.postEphemeral ") {
				return last
			}
			return ""
		},
	},
	chatapp.Mattermost: {
		click: func(s *site, account string, p chatapp.Press) sent {
			s.n++
			return sent{"/chat/mattermost", http.Header{"Content-Type": {"application/json"}},
				text(obj{"user_id": account, "user_name": "ann", "trigger_id": fmt.Sprint(s.n), "context": obj{"token": s.app.Sign(p)}})}
		},
		submit: func(s *site, account string, p chatapp.Press, words map[string]string) sent {
			p.By = account
			return sent{"/chat/mattermost", http.Header{"Content-Type": {"application/json"}},
				text(obj{"type": "dialog_submission", "user_id": account, "state": s.app.Sign(p), "submission": words})}
		},
		shown: func(_ *site, w *httptest.ResponseRecorder) string { return w.Body.String() },
	},
}

func approval() opt.Gate {
	return opt.Gate{Kind: opt.Approval, Title: "Publish it?", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.Ask}, Object: []a2a.Part{a2a.TextPart("The outline")}}
}

// The rules of gates hold at each door.
func TestPage_rules(t *testing.T) {
	open := "input-required"
	for kind, d := range doors {
		for name, tt := range map[string]struct {
			responders opt.Responders
			account    string
			change     func(*chatapp.Press)
			text, want string
		}{
			"by address":             {account: "U-ann", want: "completed: accept  by ann"},
			"by account":             {account: "U-bob", want: "completed: accept  by bob"},
			"by domain":              {account: "U-dora", want: "completed: accept  by dora@example.net"},
			"an address not checked": {account: "U-liar", text: "not known here", want: open},
			"a name of another":      {account: "U-named", text: "not known here", want: open},
			"an unknown account":     {account: "U-new", text: "not known here", want: open},
			"the requester":          {responders: opt.Responders{NotRequester: true}, account: "U-carl", text: "Others decide here", want: open},
			"another group":          {responders: opt.Responders{Groups: []string{"leads"}}, account: "U-ann", text: "Others decide here", want: open},
			"a vote":                 {responders: opt.Responders{Accepts: 2}, account: "U-ann", want: open},
			"another object":         {account: "U-ann", change: func(p *chatapp.Press) { p.Digest = "sha256:00" }, text: "earlier state", want: open},
			"another gate":           {account: "U-ann", change: func(p *chatapp.Press) { p.Gate = "task-none-1-0:1" }, text: "nothing to answer", want: open},
		} {
			t.Run(fmt.Sprint(kind, " ", name), func(t *testing.T) {
				gate := approval()
				gate.Responders = &tt.responders
				s := begin(t, kind, gate)
				p := s.press("accept")
				if tt.change != nil {
					tt.change(&p)
				}
				w := s.send(d.click(s, tt.account, p))
				if text := d.shown(s, w); w.Code != http.StatusOK || !strings.Contains(text, tt.text) {
					t.Errorf("the person reads %d %q, want %q", w.Code, text, tt.text)
				}
				if got := s.result(); got != tt.want {
					t.Errorf("the task is %q, want %q", got, tt.want)
				}
			})
		}
	}
}

// The first valid answer wins, the second person sees who was first, and the same request
// again is refused.
func TestPage_firstWins(t *testing.T) {
	for kind, d := range doors {
		t.Run(string(kind), func(t *testing.T) {
			s := begin(t, kind, approval())
			p := s.press("reject")
			first := d.click(s, "U-ann", p)
			s.send(first)
			if got, want := s.result(), "completed: reject  by ann"; got != want {
				t.Fatalf("the task is %q, want %q", got, want)
			}
			if w := s.send(first); w.Code != http.StatusConflict {
				t.Errorf("the same request again: %d", w.Code)
			}
			p.Action = "accept"
			if text := d.shown(s, s.send(d.click(s, "U-bob", p))); !strings.Contains(text, "Rejected by ann") {
				t.Errorf("the second one reads %q", text)
			}
		})
	}
}

// A quorum counts principals, not presses.
func TestPage_quorum(t *testing.T) {
	for kind, d := range doors {
		t.Run(string(kind), func(t *testing.T) {
			gate := approval()
			gate.Responders = &opt.Responders{Accepts: 2}
			s := begin(t, kind, gate)
			p := s.press("accept")
			for range 2 {
				s.send(d.click(s, "U-ann", p))
			}
			if got := s.result(); got != "input-required" {
				t.Fatalf("after two presses of ann the task is %q", got)
			}
			s.send(d.click(s, "U-bob", p))
			if got, want := s.result(), "completed: accept  by bob"; got != want {
				t.Errorf("the task is %q, want %q", got, want)
			}
		})
	}
}

// A request that the platform has not signed is refused, and changes nothing.
func TestPage_forged(t *testing.T) {
	for kind, d := range doors {
		s := begin(t, kind, approval())
		good := d.click(s, "U-ann", s.press("accept"))
		altered := good
		altered.body = strings.Replace(good.body, "U-ann", "U-bob", 1)
		if kind == chatapp.Mattermost {
			app := s.app
			app.Secret = "another secret of 24 bytes"
			altered.body = text(obj{"user_id": "U-ann", "context": obj{"token": app.Sign(s.press("accept"))}})
		}
		forged := map[string]sent{"altered": altered, "no body": {good.path, good.header, ""}, "no signature": {good.path, http.Header{}, "{}"}}
		if kind == chatapp.Slack {
			payload := text(obj{"type": "block_actions", "user": obj{"id": "U-ann"}, "actions": []any{obj{"value": s.press("accept").Text()}}})
			forged["too old"] = s.sign(secret, payload, s.world.Now().Add(-6*time.Minute))
			forged["too new"] = s.sign(secret, payload, s.world.Now().Add(6*time.Minute))
			forged["another secret"] = s.sign("another", payload, s.world.Now())
		} else {
			p := s.press("refine")
			p.By = "U-ann"
			forged["the dialog of another"] = sent{good.path, good.header, text(obj{"type": "dialog_submission", "user_id": "U-bob", "state": s.app.Sign(p), "submission": obj{"feedback": "x"}})}
			forged["a dialog as a button"] = sent{good.path, good.header, text(obj{"user_id": "U-ann", "trigger_id": "x", "context": obj{"token": s.app.Sign(p)}})}
			forged["a button as a dialog"] = sent{good.path, good.header, text(obj{"type": "dialog_submission", "user_id": "U-ann", "state": s.app.Sign(s.press("refine")), "submission": obj{"feedback": "x"}})}
		}
		for name, in := range forged {
			if w := s.send(in); w.Code != http.StatusUnauthorized {
				t.Errorf("%s, %s: %d", kind, name, w.Code)
			}
		}
		if got := s.result(); got != "input-required" || len(s.platform.requests) > 0 {
			t.Errorf("%s: the task is %q, and the platform got %q", kind, got, s.platform.requests)
		}
	}
}

// A tenant's people cannot press buttons of another tenant's cards: the secret of the app of
// one does not open the channel of the other, and the gate is none of theirs.
func TestPage_otherTenant(t *testing.T) {
	s := begin(t, chatapp.Slack, approval())
	p := s.press("accept")
	payload := func() string {
		return text(obj{"type": "block_actions", "user": obj{"id": "U-ann"}, "channel": obj{"id": "C1"}, "actions": []any{obj{"value": p.Text()}}})
	}
	s.send(s.sign(strings.Repeat("x", 32), payload(), s.world.Now())) // the channel of acme
	p.Channel = "others"
	s.send(s.sign(strings.Repeat("x", 32), payload(), s.world.Now()))
	if got := s.result(); got != "input-required" || !strings.Contains(s.platform.last(), "nothing to answer") {
		t.Errorf("the task is %q, and the person reads %q", got, s.platform.last())
	}
}

// A dialog asks for words or for typed answers, and shows mistakes in them.
func TestPage_dialog(t *testing.T) {
	questions := opt.Gate{Kind: opt.Clarification, Title: "Details", Questions: []opt.Question{
		{ID: "audience", Question: "For whom?"},
		{ID: "n", Question: "How many?", Schema: json.RawMessage(`{"type":"integer","minimum":1}`)},
		{ID: "tone", Question: "Which tone?", Schema: json.RawMessage(`{"enum":["plain","formal"]}`)},
		{ID: "now", Question: "Now?", Schema: json.RawMessage(`{"type":"boolean"}`)},
	}}
	for kind, d := range doors {
		t.Run(string(kind), func(t *testing.T) {
			s := begin(t, kind, approval())
			p := s.press("refine")
			s.send(d.click(s, "U-ann", p))
			if got := s.platform.last(); !strings.Contains(got, "What should be better?") || !strings.Contains(got, "open ") {
				t.Fatalf("the dialog: %s", got)
			}
			if w := s.send(d.submit(s, "U-ann", p, map[string]string{"feedback": " "})); !strings.Contains(w.Body.String(), `"errors":{"feedback"`) {
				t.Errorf("without words: %s", w.Body)
			}
			if w := s.send(d.submit(s, "U-ann", p, map[string]string{"feedback": "Shorter"})); w.Code != http.StatusOK || s.result() != "completed: refine Shorter by ann" {
				t.Errorf("%d %s, the task is %q", w.Code, w.Body, s.result())
			}

			s = begin(t, kind, questions)
			p = s.press(chatapp.Answer)
			s.send(d.click(s, "U-ann", p))
			for _, part := range []string{"For whom?", "How many?", "formal", "Yes", "number"} {
				if !strings.Contains(s.platform.last(), part) {
					t.Errorf("no %s in the dialog %s", part, s.platform.last())
				}
			}
			words := map[string]string{"answer-0": "All", "answer-1": "0", "answer-2": "plain", "answer-3": "true"}
			if w := s.send(d.submit(s, "U-ann", p, words)); !strings.Contains(w.Body.String(), `"errors":{"answer-1"`) {
				t.Errorf("a number below the minimum: %s", w.Body)
			}
			words["answer-1"] = "3"
			s.send(d.submit(s, "U-ann", p, words))
			if got, want := s.result(), `completed:   by ann audience="All" n=3 tone="plain" now=true`; got != want {
				t.Errorf("the task is %q, want %q", got, want)
			}
		})
	}
}

// A dialog does not open for those who may not answer, nor on an earlier state.
func TestPage_dialogRefused(t *testing.T) {
	for kind, d := range doors {
		gate := approval()
		gate.Responders = &opt.Responders{Groups: []string{"editors"}}
		s := begin(t, kind, gate)
		p := s.press("refine")
		if text := d.shown(s, s.send(d.click(s, "U-carl", p))); !strings.Contains(text, "Others decide here") {
			t.Errorf("%s: the person reads %q", kind, text)
		}
		p.Digest = "sha256:00"
		if text := d.shown(s, s.send(d.click(s, "U-ann", p))); !strings.Contains(text, "earlier state") {
			t.Errorf("%s: the person reads %q", kind, text)
		}
		if bytes.Contains([]byte(strings.Join(s.platform.requests, " ")), []byte("open ")) {
			t.Errorf("%s: a dialog was opened: %q", kind, s.platform.requests)
		}
	}
}
