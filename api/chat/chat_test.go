package chat_test

import (
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
	"longhaul/internal/chatapp/teamstest"
	"longhaul/internal/test"
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

// members are those of Teams.
var members = map[string]string{
	"U-ann":   member("U-ann", teamstest.Directory, "user", "ann@example.com"),
	"U-liar":  member("U-liar", teamstest.Directory, "guest", "ann@example.com"),
	"U-named": member("U-named", teamstest.Directory, "user", "x@example.org"),
	"U-dora":  member("U-dora", teamstest.Directory, "user", "dora@example.net"),
	"U-far":   member("U-far", "another", "user", "ann@example.com"),
	"U-mask":  member("U-ann", teamstest.Directory, "user", "ann@example.com"),
	"U-new":   "",
}

func member(id, directory, role, email string) string {
	return text(obj{"id": "29:" + id, "aadObjectId": id, "name": "ann", "tenantId": directory, "userRole": role, "email": email})
}

// A platform records the requests to it. Those to Teams go to its double.
type platform struct {
	requests []string
	teams    *teamstest.Teams
}

func (p *platform) Do(_ context.Context, r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.String(), p.teams.URL) {
		return http.DefaultClient.Do(r)
	}
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
	s := &site{t: t, platform: &platform{teams: teamstest.New(t)}, app: chatapp.App{
		Kind: kind, Name: "team", Tenant: "acme", URL: "https://chat.example.com", Token: "bot", Secret: secret, Room: "C1", People: people, Domains: []string{"example.net"},
	}}
	if at := s.platform.teams; kind == chatapp.Teams {
		s.app.URL, s.app.Secret, s.app.Room = at.URL, teamstest.Secret, teamstest.Room
		s.app.Bot = &chatapp.Bot{ID: teamstest.App, Directory: teamstest.Directory, Login: at.URL + "/login", Keys: at.URL + "/metadata"}
		at.Members = members
	}
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
	if other.Name, other.Tenant = "others", "other"; kind != chatapp.Teams {
		other.Secret = strings.Repeat("x", 32)
	}
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
	v := test.Value(s.world.Journal().Task(s.t.Context(), "acme", s.task, shown.TaskWant{}))(s.t)
	if len(v.Gates) > 0 {
		p.Digest = v.Gates[0].ObjectDigest
	}
	return p
}

// result returns the state of the task and what came of it.
func (s *site) result() string {
	v := test.Value(s.world.Journal().Task(s.t.Context(), "acme", s.task, shown.TaskWant{Artifacts: true}))(s.t)
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
	// dialog returns the dialog that a click has opened, "" for none.
	dialog func(s *site, w *httptest.ResponseRecorder) string
	// mistake is the beginning of an answer that leaves a dialog open, for the name of an input.
	mistake string
}

// opened returns the dialog in the latest request to a platform.
func opened(s *site, _ *httptest.ResponseRecorder) string {
	if last := s.platform.last(); strings.Contains(last, "open ") {
		return last
	}
	return ""
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
		dialog: opened, mistake: `"errors":{"%s"`,
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
		shown:  func(_ *site, w *httptest.ResponseRecorder) string { return w.Body.String() },
		dialog: opened, mistake: `"errors":{"%s"`,
	},
	chatapp.Teams: {
		click: func(s *site, account string, p chatapp.Press) sent {
			name := "adaptiveCard/action"
			if p.Dialog() {
				name = "task/fetch"
			}
			return s.activity(s.platform.teams.Invoke(account, name, obj{"longhaul": p.Text()}, s.world.Now()), nil)
		},
		submit: func(s *site, account string, p chatapp.Press, words map[string]string) sent {
			data := obj{"longhaul": p.Text(), "action": "accept"} // which is the button's to say
			for name, word := range words {
				data[name] = word
			}
			return s.activity(s.platform.teams.Invoke(account, "task/submit", data, s.world.Now()), nil)
		},
		shown: func(_ *site, w *httptest.ResponseRecorder) string { return w.Body.String() },
		dialog: func(_ *site, w *httptest.ResponseRecorder) string {
			if strings.Contains(w.Body.String(), `"type":"continue"`) {
				return w.Body.String()
			}
			return ""
		},
		mistake: `"color":"Attention"`,
	},
}

// activity returns a request of Teams whose token has other claims than usual.
func (s *site) activity(in obj, claims obj) sent {
	token := s.platform.teams.Token(s.world.Now(), claims)
	return sent{"/chat/teams", http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}, text(in)}
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
				test.Is(t, "the task", tt.want, s.result())
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
			test.Is(t, "the same request again", http.StatusConflict, s.send(first).Code)
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
			test.Is(t, "the task is", "completed: accept  by bob", s.result())
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
		switch kind {
		case chatapp.Teams:
			forged = s.forgedActivities()
		case chatapp.Slack:
			payload := text(obj{"type": "block_actions", "user": obj{"id": "U-ann"}, "actions": []any{obj{"value": s.press("accept").Text()}}})
			forged["too old"] = s.sign(secret, payload, s.world.Now().Add(-6*time.Minute))
			forged["too new"] = s.sign(secret, payload, s.world.Now().Add(6*time.Minute))
			forged["another secret"] = s.sign("another", payload, s.world.Now())
		default:
			p := s.press("refine")
			p.By = "U-ann"
			forged["the dialog of another"] = sent{good.path, good.header, text(obj{"type": "dialog_submission", "user_id": "U-bob", "state": s.app.Sign(p), "submission": obj{"feedback": "x"}})}
			forged["a dialog as a button"] = sent{good.path, good.header, text(obj{"user_id": "U-ann", "trigger_id": "x", "context": obj{"token": s.app.Sign(p)}})}
			forged["a button as a dialog"] = sent{good.path, good.header, text(obj{"type": "dialog_submission", "user_id": "U-ann", "state": s.app.Sign(s.press("refine")), "submission": obj{"feedback": "x"}})}
		}
		for name, in := range forged {
			test.Is(t, fmt.Sprintf("%s, %s", kind, name), http.StatusUnauthorized, s.send(in).Code)
		}
		if got := s.result(); got != "input-required" || len(s.platform.requests) > 0 {
			t.Errorf("%s: the task is %q, and the platform got %q", kind, got, s.platform.requests)
		}
	}
}

// forgedActivities returns requests that are not from Teams, or not for the bot.
func (s *site) forgedActivities() map[string]sent {
	data := obj{"longhaul": s.press("accept").Text()}
	at := s.world.Now()
	press := func(at time.Time) obj { return s.platform.teams.Invoke("U-ann", "adaptiveCard/action", data, at) }
	out := map[string]sent{
		"no body":      {"/chat/teams", s.activity(press(at), nil).header, ""},
		"no token":     {"/chat/teams", http.Header{}, text(press(at))},
		"too old":      s.activity(press(at.Add(-6*time.Minute)), nil),
		"too new":      s.activity(press(at.Add(6*time.Minute)), nil),
		"another way":  {"/chat/teams", http.Header{"Authorization": {s.platform.teams.Token(at, nil)}}, text(press(at))},
		"no signature": {"/chat/teams", http.Header{"Authorization": {"Bearer eyJhbGciOiJub25lIn0." + strings.Split(s.platform.teams.Token(at, nil), ".")[1] + "."}}, text(press(at))},
	}
	for name, claims := range map[string]obj{
		"another bot":              {"aud": "another"},
		"another issuer":           {"iss": "https://issuer.example.com"},
		"a directory":              {"iss": "https://sts.windows.net/" + teamstest.Directory + "/"},
		"expired":                  {"exp": at.Add(-6 * time.Minute).Unix()},
		"for ever":                 {"exp": nil},
		"not yet":                  {"nbf": at.Add(6 * time.Minute).Unix()},
		"another service":          {"serviceurl": "https://service.example.com"},
		"no service":               {"serviceurl": nil},
		"a key of another channel": {"kid": teamstest.Unendorsed},
		"an unknown key":           {"kid": teamstest.Unknown},
		"a forged signature":       {"kid": teamstest.Forged},
	} {
		out[name] = s.activity(press(at), claims)
	}
	for member, v := range map[string]any{"id": "", "channelId": "webchat", "serviceUrl": "https://service.example.com"} {
		in := press(at)
		in[member] = v
		out["another "+member] = s.activity(in, nil)
	}
	unknown := s.press("accept")
	unknown.Channel = "none"
	out["a channel that is not here"] = s.activity(s.platform.teams.Invoke("U-ann", "adaptiveCard/action", obj{"longhaul": unknown.Text()}, at), nil)
	return out
}

// The addresses of guests, and of members of other directories, are not confirmed. Activities that are
// no presses do nothing.
func TestPage_teams(t *testing.T) {
	s := begin(t, chatapp.Teams, approval())
	d := doors[chatapp.Teams]
	for _, account := range []string{"U-liar", "U-far", "U-mask", ""} {
		if w := s.send(d.click(s, account, s.press("accept"))); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "not known here") {
			t.Errorf("%s: %d %s", account, w.Code, w.Body)
		}
	}
	for name, in := range map[string]obj{
		"a message":                   {"type": "message", "text": "accept"},
		"another button":              {"value": obj{"action": obj{"data": obj{"x": "y"}}}},
		"another form":                {"value": 1},
		"a dialog that is no dialog":  {"name": "task/submit", "value": obj{"data": obj{"longhaul": s.press("accept").Text()}}},
		"a button of a dialog":        {"value": obj{"action": obj{"data": obj{"longhaul": s.press("refine").Text()}}}},
		"an activity of another kind": {"name": "signin/verifyState"},
	} {
		activity := s.platform.teams.Invoke("U-ann", "adaptiveCard/action", obj{"longhaul": s.press("accept").Text()}, s.world.Now())
		for member, v := range in {
			activity[member] = v
		}
		if w := s.send(s.activity(activity, nil)); w.Code != http.StatusOK || w.Body.Len() > 0 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	other := s.press("accept")
	other.Channel = "others" // of another tenant, by the same bot
	if w := s.send(d.click(s, "U-ann", other)); !strings.Contains(w.Body.String(), "nothing to answer") {
		t.Errorf("another tenant: %s", w.Body)
	}
	test.Is(t, "the task", "input-required", s.result())
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
			mistake := func(name string) string { return strings.Replace(d.mistake, "%s", name, 1) }
			if got := d.dialog(s, s.send(d.click(s, "U-ann", p))); !strings.Contains(got, "What should be better?") {
				t.Fatalf("the dialog: %s", got)
			}
			if w := s.send(d.submit(s, "U-ann", p, map[string]string{"feedback": " "})); !strings.Contains(w.Body.String(), mistake("feedback")) {
				t.Errorf("without words: %s", w.Body)
			}
			if w := s.send(d.submit(s, "U-ann", p, map[string]string{"feedback": "Shorter"})); w.Code != http.StatusOK || s.result() != "completed: refine Shorter by ann" {
				t.Errorf("%d %s, the task is %q", w.Code, w.Body, s.result())
			}

			s = begin(t, kind, questions)
			p = s.press(chatapp.Answer)
			shown := d.dialog(s, s.send(d.click(s, "U-ann", p)))
			for _, part := range []string{"For whom?", "How many?", "formal", "Yes", "number"} {
				test.Contains(t, fmt.Sprintf("no %s in the dialog", part), part, shown)
			}
			words := map[string]string{"answer-0": "All", "answer-1": "0", "answer-2": "plain", "answer-3": "true"}
			if w := s.send(d.submit(s, "U-ann", p, words)); !strings.Contains(w.Body.String(), mistake("answer-1")) {
				t.Errorf("a number below the minimum: %s", w.Body)
			} else if kind == chatapp.Teams && !strings.Contains(w.Body.String(), `"value":"All"`) {
				t.Errorf("the other answers are not kept: %s", w.Body)
			}
			words["answer-1"] = "3"
			s.send(d.submit(s, "U-ann", p, words))
			test.Is(t, "the task is", `completed:   by ann audience="All" n=3 tone="plain" now=true`, s.result())
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
		w := s.send(d.click(s, "U-ann", p))
		if text := d.shown(s, w); !strings.Contains(text, "earlier state") {
			t.Errorf("%s: the person reads %q", kind, text)
		}
		if strings.Contains(strings.Join(s.platform.requests, " "), "open ") || d.dialog(s, w) != "" {
			t.Errorf("%s: a dialog was opened: %q %s", kind, s.platform.requests, w.Body)
		}
	}
}
