package console_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"longhaul/api/console"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestConsole_asksToSignIn(t *testing.T) {
	s := begin(t, nil)
	b := s.browser(t)
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	if p := b.get("/console/inbox?page=2", "Authorization", "Bearer nobody"); p.status != http.StatusSeeOther || p.header.Get("Location") != "/console/sign-in?next=%2Fconsole%2Finbox%3Fpage%3D2" {
		t.Errorf("a page without a session: %d to %s", p.status, p.header.Get("Location"))
	}
	b.get("/console/inbox", "Authorization", "Bearer nobody", "X-Console-Refresh", "1").shows(t, http.StatusUnauthorized)
}

func TestConsole_signsInAndOut(t *testing.T) {
	s := begin(t, &opt.Gate{Kind: opt.Approval, Title: "Publish?"})
	s.send(t, "acme/ann", "Go")
	s.send(t, "umbrella/eve", "Secret")

	b := s.browser(t)
	b.post("/console/sign-in", url.Values{"key": {"nobody"}}).shows(t, http.StatusUnauthorized, "not valid")
	b = s.signedIn(t, "acme/ann")
	p := b.get("/console/inbox")
	p.shows(t, http.StatusOK, "Publish?", "!Secret")
	b.get("/console/inbox", "If-None-Match", p.header.Get("ETag")).shows(t, http.StatusNotModified)
	b.post("/console/sign-out", nil)
	test.Is(t, "sessions", 0, len(s.sessions.list))
}

func TestConsole_leadsToItsOwnPagesOnly(t *testing.T) {
	s := begin(t, nil)
	for _, next := range []string{"https://evil.example/console/inbox", "//evil.example/console/inbox", "/elsewhere", "/console/../x", `/\evil.example`} {
		b := s.browser(t)
		p := b.post("/console/sign-in", url.Values{"key": {"acme/ann"}, "next": {next}})
		p.shows(t, http.StatusOK)
		test.Is(t, "the page", "/console/inbox", p.path)
	}
}

// A person who opens a page comes back to it after signing in.
func TestConsole_leadsBack(t *testing.T) {
	s := begin(t, nil)
	for _, path := range []string{"/console/", "/console/objectives", "/console/objectives?text=a+b"} {
		b := s.browser(t)
		asked := b.get(path, "Authorization", "Bearer nobody")
		if asked.path != "/console/sign-in" {
			t.Fatalf("%s leads to %s", path, asked.path)
		}
		next := fields(asked).Get("next")
		p := b.post("/console/sign-in", url.Values{"key": {"acme/ann"}, "next": {next}})
		if want, _, _ := strings.Cut(path, "?"); p.path != want || next != path {
			t.Errorf("%s: the form leads to %q, and it to %s", path, next, p.path)
		}
	}
}

// Pages are private: no browser and no proxy stores them, also not those that did not change.
func TestConsole_isNotStored(t *testing.T) {
	s := begin(t, nil)
	b := s.signedIn(t, "acme/ann")
	p := b.get("/console/inbox")
	same := b.get("/console/inbox", "If-None-Match", p.header.Get("ETag"))
	for name, got := range map[string]page{"a page": p, "the same page": same, "no page": b.get("/console/nothing")} {
		test.Is(t, fmt.Sprintf("%s (%d) has Cache-Control", name, got.status), "no-store", got.header.Get("Cache-Control"))
	}
	test.Is(t, "the same page again", http.StatusNotModified, same.status)
}

func TestConsole_refusesFormsOfOtherOrigins(t *testing.T) {
	s := begin(t, nil)
	b := s.browser(t)
	p := b.post("/console/sign-in", url.Values{"key": {"acme/ann"}}, "Sec-Fetch-Site", "cross-site")
	p.shows(t, http.StatusForbidden)
	test.Is(t, "sessions", 0, len(s.sessions.list))
}

func TestConsole_setsHeaders(t *testing.T) {
	s := begin(t, nil)
	for _, path := range []string{"/console/inbox", "/console/sign-in", "/console/nothing", "/console/assets/console.js"} {
		h := s.signedIn(t, "acme/ann").get(path).header
		if !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self';") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s has the headers %v", path, h)
		}
	}
}

func TestConsole_streamsEvents(t *testing.T) {
	s := begin(t, nil)
	id := s.send(t, "acme/ann", "Go")
	b := s.signedIn(t, "acme/ann")
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+console.EventsPath+id, nil)
	w := test.Value(b.http.Do(r))(t)
	defer func() { _ = w.Body.Close() }()
	lines := bufio.NewScanner(w.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data:") && strings.Contains(lines.Text(), id) {
			return
		}
	}
	t.Errorf("the stream (%d) has no event about %s", w.StatusCode, id)
}
