package console_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/net/html"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/console"
	"longhaul/api/identity"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

// A site is a server with a console, and the world behind it.
type site struct {
	*httptest.Server
	world    *servicetest.World
	service  *service.Service
	sessions *sessions
}

// begin returns a site. In its world a message makes one plan with one task, which opens
// the gate; nil: the task runs until the test ends it.
func begin(t *testing.T, gate *opt.Gate, change ...func(*console.Config)) *site {
	t.Helper()
	return beginWorld(t, servicetest.Config{
		Planner: approving,
		Script: func(w opt.Work) servicetest.Play {
			if len(w.Replies) == 0 && gate != nil {
				return servicetest.Play{Outcome: &opt.Outcome{State: gate.State(), Gate: gate}}
			}
			return servicetest.Play{}
		},
	}, change...)
}

// approving makes one plan with one task.
func approving(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
	return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Approve"}}}}}, true
}

// beginWorld returns a site for a world.
func beginWorld(t *testing.T, world servicetest.Config, change ...func(*console.Config)) *site {
	t.Helper()
	return beginService(t, world, func(*service.Config) {}, change...)
}

// beginService returns a site for a world, with a change of its service.
func beginService(t *testing.T, world servicetest.Config, serve func(*service.Config), change ...func(*console.Config)) *site {
	t.Helper()
	s := &site{sessions: &sessions{list: map[string]access.Session{}}}
	s.world = servicetest.New(t, world)
	served := service.Config{
		Engine: s.world, Journal: s.world.Journal(), Pushes: s.world.Journal().Pushes, Watch: s.world.Watch, Agent: agent{}, Card: card.Info{Name: "Longhaul"},
		Standing: s.world.Journal().Standing, Absences: s.world.Journal().Absences,
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond, Now: s.world.Now,
		CallTimeout: time.Minute, // a large object takes long on a busy machine
		Links:       read.Links{UI: "https://temporal.example.com", Namespace: "default"},
	}
	serve(&served)
	operations := service.New(served)
	authenticate := func(r *http.Request) (call.Caller, error) {
		return servicetest.Caller(r.Header.Get("Authorization"))
	}
	s.service = operations
	cfg := console.Config{Service: operations, Authenticate: authenticate, Sessions: signedIn(s.sessions, s.world.Now), Now: s.world.Now}
	for _, f := range change {
		f(&cfg)
	}
	s.Server = httptest.NewServer(api.New(api.Config{Service: operations, Now: s.world.Now, Console: console.New(cfg), Authenticate: cfg.Authenticate}))
	t.Cleanup(s.Close)
	t.Cleanup(operations.Close)
	return s
}

// send sends a message as a caller, such as "acme/ann", and returns the id of its task.
func (s *site) send(t *testing.T, as, text string) string {
	t.Helper()
	return s.say(t, as, `{"messageId":"m-`+url.PathEscape(text)+`","role":"ROLE_USER","parts":[{"text":"`+text+`"}]}`)
}

// A browser keeps cookies and follows redirects within the site.
type browser struct {
	t    *testing.T
	site *site
	http *http.Client
}

// browser returns a browser without cookies.
func (s *site) browser(t *testing.T) *browser {
	t.Helper()
	jar := test.Value(cookiejar.New(nil))(t)
	return &browser{t, s, &http.Client{Jar: jar}}
}

// signedIn returns a browser that has signed in with a key, such as "acme/ann".
func (s *site) signedIn(t *testing.T, key string) *browser {
	t.Helper()
	b := s.browser(t)
	if p := b.post("/console/sign-in", url.Values{"key": {key}}); p.status != http.StatusOK || p.path != "/console/inbox" {
		t.Fatalf("signing in as %s: %d at %s", key, p.status, p.path)
	}
	return b
}

// A page is what a browser shows.
type page struct {
	status int
	path   string
	query  string
	header http.Header
	html   string
	text   string // of the page, without its elements, in one line
}

func (b *browser) get(path string, headers ...string) page {
	b.t.Helper()
	return b.do(http.MethodGet, path, "", headers...)
}

func (b *browser) post(path string, form url.Values, headers ...string) page {
	b.t.Helper()
	return b.do(http.MethodPost, path, form.Encode(), append([]string{"Sec-Fetch-Site", "same-origin", "Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

func (b *browser) do(verb, path, body string, headers ...string) page {
	b.t.Helper()
	r := test.Value(http.NewRequestWithContext(b.t.Context(), verb, b.site.URL+path, strings.NewReader(body)))(b.t)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := test.Value(b.http.Do(r))(b.t)
	defer func() { _ = w.Body.Close() }()
	data := test.Value(io.ReadAll(w.Body))(b.t)
	return page{w.StatusCode, w.Request.URL.Path, w.Request.URL.RawQuery, w.Header, string(data), textOf(string(data))}
}

// textOf returns the text of a page as a reader sees it, in one line.
func textOf(page string) string {
	var out []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(strings.Join(out, " ")), " ")
		case html.TextToken:
			out = append(out, string(z.Text()))
		}
	}
}

type agent struct{}

func (agent) Decide(context.Context, a2a.Message) (message.Decision, error) {
	return message.Decision{}, nil
}

// signedIn returns what keeps browsers signed in, without a provider.
func signedIn(store identity.SessionStore, now func() time.Time) *identity.Sessions {
	return &identity.Sessions{Store: store, Now: now, Log: zap.NewNop()}
}

// sessions keeps sessions in memory.
type sessions struct {
	sync.Mutex
	list map[string]access.Session
}

func (s *sessions) OpenSession(_ context.Context, o access.Session) error {
	s.Lock()
	defer s.Unlock()
	s.list[o.ID] = o
	return nil
}

func (s *sessions) Session(_ context.Context, id string, now time.Time) (access.Session, error) {
	s.Lock()
	defer s.Unlock()
	o, ok := s.list[id]
	if !ok || o.ExpiresAt.Millis() <= now.UnixMilli() {
		return o, opt.ErrUnknown
	}
	return o, nil
}

func (s *sessions) RenewSession(_ context.Context, o access.Session, was a2a.Time) (bool, error) {
	s.Lock()
	defer s.Unlock()
	old, ok := s.list[o.ID]
	if ok = ok && old.RenewAt == was; ok {
		s.list[o.ID] = o
	}
	return ok, nil
}

func (s *sessions) CloseSession(_ context.Context, id string) error {
	s.Lock()
	defer s.Unlock()
	delete(s.list, id)
	return nil
}
