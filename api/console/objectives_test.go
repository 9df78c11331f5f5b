package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/console"
	"longhaul/api/message"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

// A workplace is a site with an agent of its own, whose clock a test can advance.
type workplace struct {
	*site
	ahead atomic.Int64 // nanoseconds that its clock is before the world's
	ended int          // objectives that end has recorded
}

// beginWork returns a site. In its world plans that are not known are made when the test
// ends the planning, and each task opens a gate if its name begins with "Approve".
func beginWork(t *testing.T, agent message.Agent, skills ...card.Skill) *workplace {
	t.Helper()
	s := &workplace{site: &site{sessions: &sessions{list: map[string]access.Session{}}}}
	s.world = servicetest.New(t, servicetest.Config{
		Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) { return servicetest.Made{}, false },
		Script: func(w opt.Work) servicetest.Play {
			if len(w.Replies) == 0 && strings.HasPrefix(w.Name, "Approve") {
				g := &opt.Gate{Kind: opt.Approval, Title: "Really?"}
				return servicetest.Play{Outcome: &opt.Outcome{State: g.State(), Gate: g}}
			}
			return servicetest.Play{}
		},
	})
	now := func() time.Time { return s.world.Now().Add(time.Duration(s.ahead.Load())) }
	operations := service.New(service.Config{
		Engine: s.world, Journal: s.world.Journal(), Pushes: s.world.Journal().Pushes, Watch: s.world.Watch, Agent: agent, Card: card.Info{Name: "Longhaul", Skills: skills},
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond, Now: now,
	})
	authenticate := func(r *http.Request) (call.Caller, error) {
		return servicetest.Caller(r.Header.Get("Authorization"))
	}
	pages := console.New(console.Config{Service: operations, Authenticate: authenticate, Sessions: signedIn(s.sessions, now), Now: now})
	s.Server = httptest.NewServer(api.New(api.Config{Service: operations, Now: now, Console: pages, Authenticate: authenticate}))
	t.Cleanup(s.Close)
	t.Cleanup(operations.Close)
	return s
}

// later advances the clock, so that no overview is shown again.
func (s *workplace) later() { s.ahead.Add(int64(5 * time.Second)) }

var rowID = regexp.MustCompile(`id="row-(obj-[a-z0-9]+)"`)

// rows returns the names of the objectives that a page lists.
func rows(p page) string {
	var names []string
	for _, m := range regexp.MustCompile(`(?s)id="row-.*?<bdi>(.*?)</bdi>`).FindAllStringSubmatch(p.html, -1) {
		names = append(names, m[1])
	}
	return strings.Join(names, ", ")
}

func TestObjectives_listsAndFilters(t *testing.T) {
	s := beginWork(t, planning{})
	s.send(t, "acme/ann", "Approve the report")
	s.send(t, "acme/bob", "Plan a trip")
	s.send(t, "umbrella/eve", "Approve a secret")
	b := s.signedIn(t, "acme/ann")

	all := b.get("/console/objectives")
	if rows(all) != "Plan a trip, Approve the report" || !strings.Contains(all.text, "2 objectives") || strings.Contains(all.text, "secret") {
		t.Fatalf("the list has %s: %s", rows(all), all.text)
	}
	all.wants(t, "waiting Approve the report", "1 answer missing", " ann ", " bob ", "planning Plan a trip", "Plan, task 1 of 2")
	ids := rowID.FindAllStringSubmatch(all.html, -1)
	today := s.world.Now().UTC().Format(time.DateOnly)
	before := s.world.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	for query, want := range map[string]string{
		"text=REPORT":                      "Approve the report",
		"text=" + ids[0][1]:                "Plan a trip",
		"text=nothing":                     "",
		"status=planning":                  "Plan a trip",
		"status=completed":                 "",
		"planner=playbook+demo":            "Approve the report",
		"context=" + ids[1][1]:             "Approve the report",
		"from=" + today:                    "Plan a trip, Approve the report",
		"to=" + before:                     "",
		"from=" + today + "&to=" + today:   "Plan a trip, Approve the report",
		"text=report&status=blocked&page=": "Approve the report",
	} {
		p := b.get("/console/objectives?" + query)
		if got := rows(p); got != want || p.status != http.StatusOK {
			t.Errorf("%s lists %q (%d), want %q", query, got, p.status, want)
		}
		if want == "" && !strings.Contains(p.text, "No objective matches") {
			t.Errorf("%s does not say that nothing matches: %s", query, p.text)
		}
	}
	for _, query := range []string{"status=done", "from=yesterday", "to=2026-02-30", "page=x", "text=" + strings.Repeat("x", 2000)} {
		b.get("/console/objectives?"+query).shows(t, http.StatusBadRequest)
	}
	if href := regexp.MustCompile(`href="([^"]*planner=[^"]*)"`).FindStringSubmatch(all.html); href == nil || rows(b.get(html.UnescapeString(href[1]))) != "Approve the report" {
		t.Errorf("the link to those of the same planner is %v", href)
	}
}

func TestObjectives_pages(t *testing.T) {
	s := beginWork(t, planning{})
	s.fill(t, 120)
	b := s.signedIn(t, "acme/ann")
	older := regexp.MustCompile(`href="([^"]*)" rel="next"`)
	for _, query := range []string{"", "?text=objective"} {
		seen := map[string]bool{}
		pages, path := 0, "/console/objectives"+query
		for pages < 10 {
			p := b.get(path)
			pages++
			for _, m := range rowID.FindAllStringSubmatch(p.html, -1) {
				seen[m[1]] = true
			}
			next := older.FindStringSubmatch(p.html)
			if next == nil {
				break
			}
			path = html.UnescapeString(next[1])
		}
		if pages != 3 || len(seen) != 120 {
			t.Errorf("%q: %d pages with %d objectives", query, pages, len(seen))
		}
	}
}

func TestObjectives_needScopes(t *testing.T) {
	s := beginWork(t, planning{})
	reader, starter := s.signedIn(t, "acme/ann runs:read"), s.browser(t)
	starter.post("/console/sign-in", url.Values{"key": {"acme/ann runs:create"}})
	for _, path := range []string{"/console/objectives", "/console/"} {
		if p := reader.get(path); p.status != http.StatusOK || strings.Contains(p.html, `href="/console/new"`) {
			t.Errorf("%s for a reader: %d %s", path, p.status, p.text)
		}
		starter.get(path).shows(t, http.StatusForbidden)
	}
	reader.get("/console/new").shows(t, http.StatusForbidden)
	if p := reader.post("/console/new/start", url.Values{"text": {"Go"}}); p.status != http.StatusForbidden || len(s.world.Openings()) != 0 {
		t.Errorf("a new objective of a reader: %d", p.status)
	}
	starter.get("/console/new").shows(t, http.StatusOK)
}

// hostile are texts that a page shows and does not obey.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `javascript:alert(1)`, "a\u202egnp.exe", `{{.}}`, `<svg onload=alert(1)>`}

func TestObjectives_showHostileTexts(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	for i, text := range hostile {
		b.post("/console/new/start", url.Values{"text": {text}, "name": {strings.ReplaceAll(text, "\u202e", "")}, "message": {fmt.Sprint("console-", i)}, "seen": {""}})
	}
	if n := len(s.world.Openings()); n != len(hostile) {
		t.Fatalf("%d objectives have begun", n)
	}
	for _, path := range []string{
		"/console/objectives", "/console/objectives?text=" + url.QueryEscape(hostile[0]), "/console/objectives?planner=" + url.QueryEscape(hostile[1]),
		"/console/new?skill=" + url.QueryEscape(hostile[1]) + "&text=" + url.QueryEscape(hostile[0]) + "&context=" + url.QueryEscape(hostile[1]),
	} {
		p := b.get(path)
		p.shows(t, http.StatusOK)
		p.holds(t, "!<script>alert", "!<img", "!<svg onload", `!href="javascript:`)
	}
}

// Pages stay small and fast with many objectives.
func TestObjectives_load(t *testing.T) {
	s := beginWork(t, planning{})
	s.fill(t, 10_000)
	for i := range 60 {
		s.send(t, "acme/ann", fmt.Sprint("Approve ", i))
	}
	b := s.signedIn(t, "acme/ann")
	for _, path := range []string{"/console/", "/console/objectives", "/console/objectives?text=objective", "/console/objectives?text=nothing", "/console/objectives?status=submitted&planner=x"} {
		s.later()
		began := time.Now()
		p := b.get(path)
		t.Logf("%s: %d KiB in %v", path, len(p.html)>>10, time.Since(began))
		if p.status != http.StatusOK || len(p.html) > 300<<10 {
			t.Errorf("%s: %d, %d bytes", path, p.status, len(p.html))
		}
	}
	b.get("/console/objectives").wants(t, "10060 objectives")
	b.get("/console/objectives?text=objective").wants(t, "1000 or more objectives")
}

// fill records objectives that wait to be started.
func (s *workplace) fill(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		id := opt.NewObjectiveID([16]byte{1, byte(i >> 16), byte(i >> 8), byte(i)})
		at := a2a.At(s.world.Now().Add(-time.Duration(i) * time.Second))
		o := opt.Objective{
			ID: id, ContextID: id, Tenant: "acme", Principal: "ann", Name: fmt.Sprint("Objective ", i, " with a name of the usual length"), Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
			CreatedAt: at, UpdatedAt: at, Attempt: 1, Revision: 1,
		}
		test.OK(t, s.world.Journal().Record(t.Context(), opt.Batch{ObjectiveID: id, Source: id, Events: []opt.Event{opt.Opening{Objective: o, Idle: true}.Event()}}))
	}
}
