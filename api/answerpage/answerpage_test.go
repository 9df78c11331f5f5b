package answerpage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/answerpage"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/signing"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// A site is a server with answer links, and work that waits at a gate.
type site struct {
	*api.Server
	world *servicetest.World
	links *signing.Links
	logs  *observer.ObservedLogs
	task  string // that waits
}

// wrong limits addresses that send wrong links: it refuses after a number of calls.
type wrong struct{ left int }

func (w *wrong) Call(call.Caller) (func(), error) {
	if w.left--; w.left < 0 {
		return nil, call.TooMany(time.Second)
	}
	return func() {}, nil
}

func (w *wrong) Stream(call.Caller) (func(), error) { return func() {}, nil }

// begin returns a site where work waits at a gate.
func begin(t *testing.T, gate opt.Gate, change ...func(*service.Config, *answerpage.Config)) *site {
	t.Helper()
	s := &site{}
	s.world = servicetest.New(t, servicetest.Config{
		Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Approve"}}}}}, true
		},
		Script: func(w opt.Work) servicetest.Play {
			if len(w.Replies) == 0 {
				return servicetest.Play{Outcome: &opt.Outcome{State: gate.State(), Gate: &gate}}
			}
			said := w.Replies[len(w.Replies)-1]
			text := fmt.Sprint(said.Action, " ", said.Feedback, said.DecidedBy, " ", said.Groups)
			for _, p := range said.Edited {
				text += " " + *p.Text
			}
			for _, a := range said.Answers {
				text += fmt.Sprintf(" %s=%s", a.ID, a.Answer)
			}
			return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "out", Parts: []a2a.Part{a2a.TextPart(text)}}}}}
		},
	})
	var err error
	if s.links, err = signing.NewLinks(s.world.Now, bytes.Repeat([]byte{1}, 32)); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.InfoLevel)
	s.logs = logs
	cfg := service.Config{
		Engine: s.world, Journal: s.world.Journal(), Pushes: s.world.Journal().Pushes, Watch: s.world.Watch, Agent: agent{}, Card: card.Info{Name: "Longhaul"},
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond, Now: s.world.Now, Log: zap.New(core),
	}
	page := answerpage.Config{Console: "/console/inbox/", Links: s.links, Keys: s.world.Journal().APIKeys, Now: s.world.Now, Expired: signing.ErrLinkExpired, Log: cfg.Log}
	for _, f := range change {
		f(&cfg, &page)
	}
	operations := service.New(cfg)
	page.Calls, page.Gates = operations.Calls, operations.Gates
	s.Server = api.New(api.Config{
		Service: operations, Log: cfg.Log, Now: s.world.Now, Answers: answerpage.New(page),
		Authenticate: func(r *http.Request) (call.Caller, error) {
			return servicetest.Caller(r.Header.Get("Authorization"))
		},
	})
	s.work(s.call(t, "carl", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"Go"}]}}`))
	return s
}

// work has the site continue with the objective in an answer.
func (s *site) work(answer string) {
	s.task = "task-" + regexp.MustCompile(`"obj-(\w+)"`).FindStringSubmatch(answer)[1] + "-1-0"
}

type agent struct{}

func (agent) Decide(_ context.Context, _ a2a.Message) (message.Decision, error) {
	return message.Decision{}, nil
}

// link returns the link for ann that the n-th notice about the gate has.
func (s *site) link(t *testing.T, n int, change ...func(*outbox.AnswerLink)) string {
	t.Helper()
	l := outbox.AnswerLink{
		ID: fmt.Sprint("n", n), Tenant: "acme", Principal: "ann", Groups: []string{"editors"}, GateID: opt.GateID(s.task, 1),
		Expires: a2a.At(s.world.Now().Add(time.Hour)),
	}
	if gates := s.gates(t); len(gates) > 0 {
		l.ObjectDigest = gates[0].ObjectDigest
	}
	for _, f := range change {
		f(&l)
	}
	token := test.Value(s.links.Sign(l))(t)
	return "/answer/" + token
}

// serve sends a request; headers are given as name and value in turn.
func (s *site) serve(t *testing.T, verb, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), verb, path, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// post sends a form: names and values in turn.
func (s *site) post(t *testing.T, path string, form ...string) *httptest.ResponseRecorder {
	t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	return s.serve(t, http.MethodPost, path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Origin", "null")
}

// gates returns the open gates of the task.
func (s *site) gates(t *testing.T) []*opt.Gate {
	t.Helper()
	v := test.Value(s.world.Journal().Task(t.Context(), "acme", s.task, shown.TaskWant{}))(t)
	return v.Gates
}

// rename has a principal change the plan in which the task waits.
func (s *site) rename(t *testing.T, principal string) {
	t.Helper()
	ref, _ := opt.ParseID(s.task)
	s.call(t, principal, "plans/update", fmt.Sprintf(`{"id":%q,"description":"More"}`, opt.PlanID(ref.ObjectiveID, 1)))
}

// call has a principal call a method, and returns the answer.
func (s *site) call(t *testing.T, principal, method, params string) string {
	t.Helper()
	w := s.serve(t, http.MethodPost, "/", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params),
		"Content-Type", "application/json", "A2A-Version", "1.0", "Authorization", "Bearer acme/"+principal)
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"error"`) {
		t.Fatalf("%s: %s", method, w.Body)
	}
	return w.Body.String()
}

// result returns the state of the task and what came of it.
func (s *site) result(t *testing.T) string {
	t.Helper()
	v := test.Value(s.world.Journal().Task(t.Context(), "acme", s.task, shown.TaskWant{Artifacts: true}))(t)
	out := string(v.State)
	for _, a := range v.Task.Artifacts {
		out += ": " + a.Text()
	}
	return out
}

func approval() opt.Gate {
	return opt.Gate{
		Kind: opt.Approval, Title: "Publish <it>?", Description: "For the & record", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask},
		Object: []a2a.Part{a2a.TextPart("One <script>alert(1)</script>\nTwo </textarea>")},
	}
}

func clarification() opt.Gate {
	return opt.Gate{Kind: opt.Clarification, Title: "Details", Questions: []opt.Question{
		{ID: "audience", Question: "For whom?"},
		{ID: "n", Question: "How many?", Schema: json.RawMessage(`{"type":"integer","minimum":1}`)},
		{ID: "tone", Question: "Which tone?", Schema: json.RawMessage(`{"enum":["plain","formal"]}`)},
	}}
}

var title = regexp.MustCompile(`<h1>(.*)</h1>`)

// heading returns the status and the heading of a page.
func heading(w *httptest.ResponseRecorder) string {
	m := title.FindStringSubmatch(w.Body.String())
	if m == nil {
		return fmt.Sprint(w.Code, " ", w.Body)
	}
	return fmt.Sprint(w.Code, " ", m[1])
}

func want(t *testing.T, what string, w *httptest.ResponseRecorder, wanted string) {
	t.Helper()
	test.Is(t, what, wanted, heading(w))
}

// Reading the page decides nothing: several times, by HEAD, or for a preview.
func TestPage_get(t *testing.T) {
	s := begin(t, approval())
	path := s.link(t, 1)
	before := len(s.world.Calls())
	for _, headers := range [][]string{nil, {"Sec-Purpose", "prefetch"}, {"Purpose", "preview"}, {"Sec-Fetch-Site", "cross-site", "Origin", "https://mail.example.com"}} {
		want(t, fmt.Sprint("GET ", headers), s.serve(t, http.MethodGet, path, "", headers...), "200 Publish &lt;it&gt;?")
		test.Is(t, "HEAD", http.StatusOK, s.serve(t, http.MethodHead, path, "", headers...).Code)
	}
	want(t, "GET with an action", s.serve(t, http.MethodGet, path+"?action=accept", ""), "200 Publish &lt;it&gt;?")
	for _, verb := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
		test.Is(t, verb, http.StatusMethodNotAllowed, s.serve(t, verb, path, "action=accept").Code)
	}
	if n := len(s.world.Calls()); n != before || len(s.gates(t)) != 1 {
		t.Errorf("the engine was called %d times, and %d gates are open", n-before, len(s.gates(t)))
	}
}

// The page shows all text as text, has a form for each action, and its headers forbid
// browsers to keep, run and send anything.
func TestPage_content(t *testing.T) {
	s := begin(t, approval())
	w := s.serve(t, http.MethodGet, s.link(t, 1), "")
	page := w.Body.String()
	for _, part := range []string{
		"One &lt;script&gt;alert(1)&lt;/script&gt;\nTwo &lt;/textarea&gt;</pre>", "For the &amp; record", "You answer as ann.",
		`value="accept"`, `value="reject"`, `value="refine"`, `value="edit-accept"`, `value="ask"`, `<meta name="viewport"`, `name="robots" content="noindex, nofollow"`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s in\n%s", part, page)
		}
	}
	for _, part := range []string{"<script", "http-equiv", "src=", "href=", "action=\"http", "javascript"} {
		if strings.Contains(page, part) {
			t.Errorf("%s in\n%s", part, page)
		}
	}
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
		"X-Frame-Options": "DENY", "Content-Type": "text/html; charset=utf-8",
	} {
		test.Is(t, name, value, w.Header().Get(name))
	}
	policy := w.Header().Get("Content-Security-Policy")
	if !regexp.MustCompile(`^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$`).MatchString(policy) {
		t.Errorf("policy %q", policy)
	}
}

// Each action answers the gate as the principal of the link, by the rules of the API.
func TestPage_post(t *testing.T) {
	for name, tc := range map[string]struct {
		gate opt.Gate
		form []string
		page string
		want string // state of the task and result
	}{
		"accept": {approval(), []string{"action", "accept"}, "200 Thank you, your answer was recorded", "completed: accept ann []"},
		"reject": {approval(), []string{"action", "reject", "feedback", "No.\r\nNever. "}, "200 Thank you, your answer was recorded", "completed: reject No.\nNever.ann []"},
		"refine": {approval(), []string{"action", "refine", "feedback", "Shorter"}, "200 Thank you, your answer was recorded", "completed: refine Shorterann []"},
		"edit":   {approval(), []string{"action", "edit-accept", "edited", "Three\r\nFour"}, "200 Thank you, your answer was recorded", "completed: edit-accept ann [] Three\nFour"},
		"ask":    {approval(), []string{"action", "ask", "question", "Why?"}, "200 Your question was added", "input-required"},
		"answers": {clarification(), []string{"action", "answer", "answer-0", "Sailors", "answer-1", "3", "answer-2", "plain"},
			"200 Thank you, your answer was recorded", `completed:  ann [] audience="Sailors" n=3 tone="plain"`},

		"words": {opt.Gate{Kind: opt.Credential, Actions: []opt.Action{opt.Accept, opt.Reject}}, []string{"action", "say", "words", "In an hour"},
			"200 Thank you, your answer was recorded", "completed:  In an hourann []"},

		"no action":           {approval(), nil, "400 The answer cannot be used", "input-required"},
		"an unknown action":   {approval(), []string{"action", "explode"}, "400 The answer cannot be used", "input-required"},
		"refine without text": {approval(), []string{"action", "refine", "feedback", " "}, "400 The answer cannot be used", "input-required"},
		"ask without text":    {approval(), []string{"action", "ask"}, "400 The answer cannot be used", "input-required"},
		"not offered": {opt.Gate{Kind: opt.Approval, Actions: []opt.Action{opt.Accept}}, []string{"action", "reject"},
			"400 The answer cannot be used", "input-required"},
		"an answer is missing": {clarification(), []string{"action", "answer", "answer-0", "Sailors"}, "400 The answer cannot be used", "input-required"},
		"no number":            {clarification(), []string{"action", "answer", "answer-0", "Sailors", "answer-1", "few", "answer-2", "plain"}, "400 The answer cannot be used", "input-required"},
		"answers to approval":  {approval(), []string{"action", "answer", "answer-0", "accept"}, "400 The answer cannot be used", "input-required"},
		"accept a question":    {clarification(), []string{"action", "accept"}, "400 The answer cannot be used", "input-required"},
		"too much":             {approval(), []string{"action", "reject", "feedback", strings.Repeat("x", 2<<20)}, "400 The answer cannot be used", "input-required"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, tc.gate)
			w := s.post(t, s.link(t, 1), tc.form...)
			want(t, "page", w, tc.page)
			test.Is(t, "the task", tc.want, s.result(t))
		})
	}
}

// A link answers once, whichever messages are repeats elsewhere: a repeat gets the
// first result, another answer is refused, and a question does not use the link up.
func TestPage_once(t *testing.T) {
	for _, repeats := range []call.Idempotency{call.ByMessageID, call.ByHeader, call.NoRepeats} {
		t.Run(string(repeats), func(t *testing.T) { answersOnce(t, repeats) })
	}
}

func answersOnce(t *testing.T, repeats call.Idempotency) {
	t.Helper()
	s := begin(t, approval(), func(c *service.Config, _ *answerpage.Config) { c.Idempotency = repeats })
	path := s.link(t, 1)
	for _, question := range []string{"Why?", "Why?", "How?"} {
		want(t, question, s.post(t, path, "action", "ask", "question", question), "200 Your question was added")
	}
	test.Is(t, "questions", 2, len(s.gates(t)[0].Exchanges))
	want(t, "accept", s.post(t, path, "action", "accept"), "200 Thank you, your answer was recorded")
	want(t, "the same", s.post(t, path, "action", "accept"), "200 Thank you, your answer was recorded")
	want(t, "another", s.post(t, path, "action", "reject"), "409 This link was used before")
	want(t, "another notice", s.post(t, s.link(t, 2), "action", "reject"), "409 Nothing to answer here any more")
	want(t, "the page", s.serve(t, http.MethodGet, path, ""), "409 Nothing to answer here any more")
	test.Is(t, "the task is", "completed: accept ann []", s.result(t))
}

// Messages of which the page does not show all could not be seen by who accepts, so the page
// offers no accept.
func TestPage_unshown(t *testing.T) {
	s := begin(t, approval())
	path := s.link(t, 1)
	for i := range opt.MostExchanges + 1 {
		if page := s.serve(t, http.MethodGet, path, "").Body.String(); strings.Contains(page, "not all is shown") || !strings.Contains(page, `value="accept"`) {
			t.Errorf("after %d questions the page is %s", i, page)
		}
		s.post(t, path, "action", "ask", "question", fmt.Sprint("Why ", i))
	}
	page := s.serve(t, http.MethodGet, path, "").Body.String()
	for text, want := range map[string]bool{
		"Messages to this work of which not all is shown here: 1.": true, `href="/console/inbox/`: true, `value="reject"`: true,
		`value="accept"`: false, `value="edit-accept"`: false, "Why 0<": false,
	} {
		if strings.Contains(page, text) != want {
			t.Errorf("the page has %q: %t, want %t\n%s", text, !want, want, page)
		}
	}
}

// A form that the page has not offered does not accept what the page does not show. Other
// answers count.
func TestPage_forged(t *testing.T) {
	unshown := func(t *testing.T, gate opt.Gate) *site {
		s := begin(t, gate)
		for i := range opt.MostExchanges + 1 {
			s.post(t, s.link(t, 1), "action", "ask", "question", fmt.Sprint("Why ", i))
		}
		return s
	}
	long := func(t *testing.T, gate opt.Gate) *site {
		s := begin(t, gate)
		s.post(t, s.link(t, 1), "action", "ask", "question", strings.Repeat("Why ", 1<<10))
		return s
	}
	whole := func(t *testing.T, gate opt.Gate) *site { return begin(t, gate) }
	file := approval()
	file.Object = append(file.Object, a2a.Part{Raw: []byte{1}, MediaType: "application/octet-stream"})
	votes := approval()
	votes.Responders = &opt.Responders{Accepts: 2}
	const refused, recorded = "400 The answer cannot be used", "200 Thank you, your answer was recorded"
	for name, tc := range map[string]struct {
		begin func(*testing.T, opt.Gate) *site
		gate  opt.Gate
		form  []string
		page  string
	}{
		"accept with messages omitted":      {unshown, approval(), []string{"action", "accept"}, refused},
		"edit-accept with messages omitted": {unshown, approval(), []string{"action", "edit-accept", "edited", "Three"}, refused},
		"reject with messages omitted":      {unshown, approval(), []string{"action", "reject"}, recorded},
		"refine with messages omitted":      {unshown, approval(), []string{"action", "refine", "feedback", "Shorter"}, recorded},
		"accept with a message cut":         {long, approval(), []string{"action", "accept"}, refused},
		"vote with a message cut":           {long, votes, []string{"action", "accept"}, refused},
		"accept with a file":                {whole, file, []string{"action", "accept"}, refused},
		"edit-accept with a file":           {whole, file, []string{"action", "edit-accept", "edited", "Three"}, refused},
		"reject with a file":                {whole, file, []string{"action", "reject"}, recorded},
		"accept in words":                   {whole, approval(), []string{"action", "say", "words", "accept"}, refused},
		"accept in words with a file":       {whole, file, []string{"action", "say", "words", "accept"}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.begin(t, tc.gate)
			want(t, "page", s.post(t, s.link(t, 2), tc.form...), tc.page)
			gates := s.gates(t)
			if waits := len(gates) == 1 && len(gates[0].Votes) == 0; waits != (tc.page == refused) {
				t.Errorf("the gates are %+v, and the task is %q", gates, s.result(t))
			}
		})
	}
}

// At a gate that several have to accept, a link votes once, and cannot change the
// vote.
func TestPage_votes(t *testing.T) {
	g := approval()
	g.Responders = &opt.Responders{Groups: []string{"editors"}, Accepts: 2}
	s := begin(t, g)
	path := s.link(t, 1)
	want(t, "accept", s.post(t, path, "action", "accept"), "200 Thank you, your answer was recorded")
	want(t, "reject", s.post(t, path, "action", "reject"), "409 This link was used before")
	want(t, "by the next notice", s.post(t, s.link(t, 2), "action", "reject"), "409 Nothing to answer here any more")
	want(t, "the page", s.serve(t, http.MethodGet, path, ""), "409 Nothing to answer here any more")
	if got := s.gates(t); len(got) != 1 || len(got[0].Votes) != 1 {
		t.Fatalf("the gate is %+v", got)
	}
	want(t, "another principal", s.post(t, s.link(t, 1, func(l *outbox.AnswerLink) { l.Principal = "bob" }), "action", "accept"), "200 Thank you, your answer was recorded")
	test.Is(t, "the task is", "completed: accept bob [editors]", s.result(t))
}

// Links that do not count answer nothing, show nothing of the work, and are logged
// without their tokens.
func TestPage_refused(t *testing.T) {
	other := test.Value(signing.NewLinks(nil, bytes.Repeat([]byte{2}, 32)))(t)
	restricted := approval()
	restricted.Responders = &opt.Responders{Groups: []string{"leads"}}
	guarded := approval()
	guarded.Responders = &opt.Responders{NotRequester: true}
	for name, tc := range map[string]struct {
		gate opt.Gate
		path func(s *site, good string) string
		page string
	}{
		"altered":        {approval(), func(_ *site, good string) string { return good[:len(good)-5] + "AAAAA" }, "404 This link is not valid"},
		"cut":            {approval(), func(_ *site, good string) string { return good[:40] }, "404 This link is not valid"},
		"another key":    {approval(), func(s *site, _ string) string { s.links = other; return s.link(t, 1) }, "404 This link is not valid"},
		"expired":        {approval(), func(s *site, good string) string { s.world.Advance(time.Hour); return good }, "410 This link has expired"},
		"another tenant": {approval(), func(s *site, _ string) string { return s.link(t, 1, func(l *outbox.AnswerLink) { l.Tenant = "rival" }) }, "404 Nothing to answer here any more"},
		"another gate": {approval(), func(s *site, _ string) string {
			return s.link(t, 1, func(l *outbox.AnswerLink) { l.GateID = opt.GateID(s.task, 2) })
		}, "404 Nothing to answer here any more"},
		"no gate":         {approval(), func(s *site, _ string) string { return s.link(t, 1, func(l *outbox.AnswerLink) { l.GateID = "x" }) }, "404 Nothing to answer here any more"},
		"no responder":    {restricted, func(_ *site, good string) string { return good }, "403 Others answer here now"},
		"a requester":     {guarded, func(s *site, good string) string { s.rename(t, "ann"); return good }, "403 Others answer here now"},
		"a canceled task": {approval(), func(s *site, good string) string { s.cancel(t); return good }, "409 Nothing to answer here any more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, tc.gate)
			path := tc.path(s, s.link(t, 1))
			for _, w := range []*httptest.ResponseRecorder{s.serve(t, http.MethodGet, path, ""), s.post(t, path, "action", "accept")} {
				want(t, "page", w, tc.page)
				for _, secret := range []string{"Publish", "alert", "record", "obj-", s.task} {
					if strings.Contains(w.Body.String(), secret) {
						t.Errorf("%q in\n%s", secret, w.Body)
					}
				}
			}
			if got := s.result(t); strings.HasPrefix(got, "completed") {
				t.Errorf("the task is %q", got)
			}
			for _, e := range s.logs.All() {
				if line := fmt.Sprint(e.Message, e.ContextMap()); strings.Contains(line, strings.TrimPrefix(path, "/answer/")) {
					t.Errorf("the token is in the log: %s", line)
				}
			}
		})
	}
}

// A link to a principal with API keys has the rights of those that are valid when it is used.
func TestPage_revoked(t *testing.T) {
	editors := approval()
	editors.Responders = &opt.Responders{Groups: []string{"editors"}}
	const answered, refused = "200 Thank you, your answer was recorded", "403 Others answer here now"
	all := []string{string(call.RespondApprovals)}
	for name, tc := range map[string]struct {
		keys []access.APIKey
		page string
	}{
		"no keys":               {nil, answered},
		"valid":                 {[]access.APIKey{{Groups: []string{"editors"}, Scopes: all}}, answered},
		"one of two is revoked": {[]access.APIKey{{Groups: []string{"editors"}, Scopes: all, RevokedAt: a2a.AtMillis(1)}, {Groups: []string{"editors"}, Scopes: all}}, answered},
		"revoked":               {[]access.APIKey{{Groups: []string{"editors"}, Scopes: all, RevokedAt: a2a.AtMillis(1)}}, refused},
		"expired":               {[]access.APIKey{{Groups: []string{"editors"}, Scopes: all, ExpiresAt: a2a.AtMillis(1)}}, refused},
		"without the group":     {[]access.APIKey{{Scopes: all}, {Groups: []string{"editors"}, Scopes: all, RevokedAt: a2a.AtMillis(1)}}, refused},
		"without the right":     {[]access.APIKey{{Groups: []string{"editors"}}}, refused},
		"another's":             {[]access.APIKey{{Principal: "bob", Scopes: all, RevokedAt: a2a.AtMillis(1)}, {Tenant: "rival", Scopes: all, RevokedAt: a2a.AtMillis(1)}}, answered},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, editors)
			for i, k := range tc.keys {
				if k.ID, k.Hash = fmt.Sprint(i), []byte{1}; k.Tenant == "" {
					k.Tenant = "acme"
				}
				if k.Principal == "" {
					k.Principal = "ann"
				}
				test.OK(t, s.world.Journal().APIKeys.AddAPIKey(t.Context(), k))
			}
			path := s.link(t, 1)
			if tc.page == refused {
				want(t, "page", s.serve(t, http.MethodGet, path, ""), refused)
			}
			want(t, "answer", s.post(t, path, "action", "accept"), tc.page)
		})
	}
}

func (s *site) cancel(t *testing.T) {
	t.Helper()
	test.OK(t, s.world.Cancel(t.Context(), opt.DerivedObjectiveID("acme", "carl", "m"), "carl", ""))
}

// A decision about another object than the one that the notice showed is refused.
func TestPage_anotherObject(t *testing.T) {
	s := begin(t, approval())
	w := s.post(t, s.link(t, 1, func(l *outbox.AnswerLink) { l.ObjectDigest = "sha256:00" }), "action", "accept")
	want(t, "page", w, "400 The answer cannot be used")
	test.Is(t, "the task", "input-required", s.result(t))
}

// Only the page itself may send its form, as far as the browser says so.
func TestPage_origin(t *testing.T) {
	for name, tc := range map[string]struct {
		headers []string
		sent    bool
	}{
		"the page":                      {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "null"}, true},
		"the page, in an older browser": {[]string{"Origin", "null"}, true},
		"the same origin":               {[]string{"Origin", "http://example.com"}, true},
		"no browser":                    {nil, true},
		"another page":                  {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		"another page, older":           {[]string{"Origin", "https://evil.example"}, false},
		"a neighbour":                   {[]string{"Sec-Fetch-Site", "same-site", "Origin", "https://www.example.com"}, false},
		"the address bar":               {[]string{"Sec-Fetch-Site", "none"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, approval())
			w := s.serve(t, http.MethodPost, s.link(t, 1), "action=accept", append(tc.headers, "Content-Type", "application/x-www-form-urlencoded")...)
			if sent := w.Code == http.StatusOK; sent != tc.sent || sent != (len(s.gates(t)) == 0) {
				t.Errorf("%s, %d gates are open", heading(w), len(s.gates(t)))
			}
		})
	}
}

// The principal of a link has its usual limits, and an address that sends wrong links
// has to wait.
func TestPage_limits(t *testing.T) {
	s := begin(t, approval(), func(_ *service.Config, p *answerpage.Config) { p.Wrong = &wrong{left: 2} })
	good := s.link(t, 1)
	for _, page := range []string{"404 This link is not valid", "404 This link is not valid", "429 Too many requests"} {
		w := s.serve(t, http.MethodGet, "/answer/guess", "")
		want(t, "a wrong link", w, page)
		if after := w.Header().Get("Retry-After"); (after == "1") != (w.Code == http.StatusTooManyRequests) {
			t.Errorf("Retry-After is %q", after)
		}
	}
	want(t, "a good one", s.serve(t, http.MethodGet, good, ""), "200 Publish &lt;it&gt;?")

	s = begin(t, approval(), func(c *service.Config, _ *answerpage.Config) { c.Quota = &wrong{left: 1} }) // for the send
	want(t, "too often", s.post(t, s.link(t, 1), "action", "accept"), "429 Too many requests")
	if len(s.gates(t)) != 1 {
		t.Error("a refused request has decided")
	}
}

// An answer that no workflow has judged yet, because workers are away, is kept.
func TestPage_pending(t *testing.T) {
	s := begin(t, approval())
	path := s.link(t, 1)
	s.world.Sleep()
	want(t, "accept", s.post(t, path, "action", "accept"), "202 Your answer is on its way")
	s.world.Wake()
	test.Is(t, "the task is", "completed: accept ann []", s.result(t))
}

// The page says which objects it does not show completely.
func TestPage_objects(t *testing.T) {
	g := approval()
	large := strings.Repeat("0123456789 ", 10_000)
	site := "https://example.com/a"
	g.Object = []a2a.Part{a2a.TextPart(large), {Data: json.RawMessage(`{"a":[1,"<b>"]}`)}, {Raw: []byte("abc"), Filename: "x.bin"}, {URL: &site, MediaType: "text/html"}}
	s := begin(t, g)
	page := s.serve(t, http.MethodGet, s.link(t, 1), "").Body.String()
	for _, part := range []string{large, "{\n  &#34;a&#34;: [\n    1,\n    &#34;\\u003cb\\u003e&#34;\n  ]\n}", "x.bin (a file of 3 bytes, which is not shown here)", site, "text/html"} {
		if !strings.Contains(page, part) {
			t.Errorf("no %.40s in the page", part)
		}
	}
	if strings.Contains(page, `value="edit-accept"`) {
		t.Error("several parts can be edited")
	}
	console := `<a href="/console/inbox/` + opt.GateID(s.task, 1) + `">`
	if strings.Contains(page, `value="accept"`) || !strings.Contains(page, `value="reject"`) || !strings.Contains(page, console) {
		t.Errorf("an object with a file that is not shown can be accepted, or nothing leads to the console:\n%s", page)
	}
	g.Object = []a2a.Part{a2a.TextPart(strings.Repeat("0123456789 ", 100_000))}
	s = begin(t, g)
	page = s.serve(t, http.MethodGet, s.link(t, 1), "").Body.String()
	if !strings.Contains(page, "Text (1100000 bytes, too large to be shown here)") || strings.Contains(page, `value="accept"`) || strings.Contains(page, "0123456789") {
		t.Error("a large text is not only named")
	}
}

// Of many answers by one link at a time, one counts; those that say the same get its
// result, and the others are refused.
func TestPage_concurrent(t *testing.T) {
	s := begin(t, approval(), func(c *service.Config, _ *answerpage.Config) { c.ReplyWait = time.Minute })
	path := s.link(t, 1)
	pages := make(chan string, 20)
	var posts sync.WaitGroup
	for i := range cap(pages) {
		posts.Go(func() {
			action := []string{"accept", "reject"}[i%2]
			pages <- action + " " + heading(s.post(t, path, "action", action))
		})
	}
	posts.Wait()
	close(pages)
	got := map[string]int{}
	for page := range pages {
		got[page]++
	}
	first, other := "accept", "reject"
	if strings.HasPrefix(s.result(t), "completed: reject") {
		first, other = other, first
	}
	want := map[string]int{first + " 200 Thank you, your answer was recorded": 10, other + " 409 This link was used before": 10}
	test.Equal(t, "pages", want, got)
}

// A form for which the server has no room is refused as a call too many.
func TestPage_busy(t *testing.T) {
	s := begin(t, approval())
	r := httptest.NewRequest(http.MethodPost, s.link(t, 1), iotest.ErrReader(call.TooMany(time.Second)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	test.Is(t, "status", http.StatusTooManyRequests, w.Code)
}
