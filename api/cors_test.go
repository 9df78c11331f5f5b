package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/test"
)

func TestCORS(t *testing.T) {
	const mine = "https://app.example.com"
	for _, tc := range []struct {
		origins []string
		origin  string
		want    string
	}{
		{nil, mine, ""},
		{[]string{mine}, mine, mine},
		{[]string{mine}, "https://evil.example.com", ""},
		{[]string{mine}, "", ""},
		{[]string{"*"}, "https://any.example.com", "https://any.example.com"},
	} {
		s := newService(t, func(c *config) { c.Origins = tc.origins })
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			rest := s.rest(t, method, "/a2a/rest/tasks/x:subscribe", "", "Origin", tc.origin).Header()
			test.Is(t, fmt.Sprintf("%v: %s over plain HTTP from %s allows", tc.origins, method, tc.origin), tc.want, rest.Get("Access-Control-Allow-Origin"))
			if got := rest.Get("Access-Control-Allow-Methods"); method == http.MethodOptions && (got == "GET, OPTIONS, POST") != (tc.want != "") {
				t.Errorf("%v: preflight of plain HTTP from %q allows %q", tc.origins, tc.origin, got)
			}
			h := s.serve(t, method, "/a2a", `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`, "Origin", tc.origin).Header()
			test.Is(t, fmt.Sprintf("%v: %s from %s allows", tc.origins, method, tc.origin), tc.want, h.Get("Access-Control-Allow-Origin"))
			if h.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("cookies are allowed")
			}
			if got := h.Get("Access-Control-Allow-Headers"); method == http.MethodOptions && strings.Contains(got, "A2A-Extensions") != (tc.want != "") {
				t.Errorf("%v: preflight from %s allows headers %q", tc.origins, tc.origin, got)
			}
		}
	}
}

// A page can make its own host name resolve to this machine: then the browser
// treats the server as the page's own.
func TestServer_hosts(t *testing.T) {
	for _, tc := range []struct {
		hosts []string
		host  string
		want  int
	}{
		{nil, "evil.example.com:7420", http.StatusOK},
		{[]string{"localhost"}, "evil.example.com:7420", http.StatusMisdirectedRequest},
		{[]string{"localhost"}, "localhost.example.com", http.StatusMisdirectedRequest},
		{[]string{"localhost"}, "LocalHost:7420", http.StatusOK},
		{[]string{"localhost"}, "localhost.", http.StatusOK},
		{[]string{"localhost"}, "127.0.0.1:7420", http.StatusOK},
		{[]string{"localhost"}, "[::1]:7420", http.StatusOK},
		{[]string{"localhost"}, "[::1]", http.StatusOK},
		{[]string{"localhost", "agent.example.com"}, "agent.example.com", http.StatusOK},
		{[]string{"localhost"}, "", http.StatusOK},
	} {
		s := newService(t, func(c *config) { c.Hosts = tc.hosts })
		for _, path := range []string{"/.well-known/agent-card.json", "/a2a/.well-known/agent-card.json"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Host = tc.host
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			test.Is(t, fmt.Sprintf("%v: %s of %q", tc.hosts, path, tc.host), tc.want, w.Code)
		}
		for _, path := range []string{"/healthz", "/readyz"} { // a probe may use a name of its own; health is no secret
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Host = tc.host
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != http.StatusOK {
				t.Errorf("%v: %s of %q: %d", tc.hosts, path, tc.host, w.Code)
			}
		}
	}
}

func TestLenientVersion(t *testing.T) {
	s := newService(t, func(c *config) { c.LenientVersion = true })
	ask := func(method string, headers ...string) string {
		w := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`, headers...)
		return w.Header().Get("A2A-Version") + " " + parse(t, w.Body.Bytes()).at("error", "code").String()
	}
	for _, tc := range []struct{ method, version, want string }{
		{"ListTasks", "", "1.0 "},
		{"tasks/list", "", "0.3 "},
		{"objectives/list", "", "0.3 "},
		{"ListTasks", "0.3", "0.3 -32601"},
		{"ListTasks", "99.0", " -32009"},
	} {
		test.Is(t, fmt.Sprintf("%s under %q", tc.method, tc.version), tc.want, ask(tc.method, "A2A-Version", tc.version))
	}
	for version, want := range map[string]int{"": 200, "1.0": 200, "1.0.1": 200, "0.3": 400, "2.0": 400} {
		test.Is(t, fmt.Sprintf("plain HTTP under %q: status", version), want, s.rest(t, "GET", "/a2a/rest/tasks", "", "A2A-Version", version).Code)
	}
}

// A page of another origin must not make changes through the browser of an
// allowed user.
func TestForeignPages(t *testing.T) {
	for _, tc := range []struct {
		name    string
		origins []string
		header  map[string]string
		want    int
	}{
		{name: "no browser", want: http.StatusOK},
		{name: "foreign page", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example.com"}, want: http.StatusForbidden},
		{name: "foreign page of an old browser", header: map[string]string{"Origin": "https://evil.example.com"}, want: http.StatusForbidden},
		{name: "our page", header: map[string]string{"Sec-Fetch-Site": "same-origin"}, want: http.StatusOK},
		{name: "trusted page", origins: []string{"https://app.example.com"}, header: map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example.com"}, want: http.StatusOK},
		{name: "any page", origins: []string{"*"}, header: map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example.com"}, want: http.StatusOK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.Origins = tc.origins })
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`))
			for name, value := range tc.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("status %d, want %d: %s", w.Code, tc.want, w.Body)
			}
		})
	}
}

// The card and other public documents may be read by every page, also by one that
// sends headers for which a browser asks first.
func TestCORS_publicDocuments(t *testing.T) {
	for _, origins := range [][]string{nil, {"https://app.example.com"}, {"*"}} {
		s := newService(t, func(c *config) { c.Origins, c.Hosts = origins, []string{"localhost", "example.com"} })
		for _, path := range []string{
			"/.well-known/agent-card.json", "/.well-known/agent.json", "/a2a/.well-known/agent-card.json",
			"/a2a/rest/.well-known/agent-card.json", "/v1.0/.well-known/agent-card.json", "/.well-known/openwop", "/v1/openapi.json", "/healthz", "/readyz",
		} {
			for _, origin := range []string{"https://other.example.com", "null"} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, path, nil)
				r.Host = "localhost:7420"
				r.Header.Set("Origin", origin)
				r.Header.Set("Access-Control-Request-Method", "GET")
				r.Header.Set("Access-Control-Request-Headers", "a2a-version")
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				h := w.Header()
				got := []string{h.Get("Access-Control-Allow-Origin"), h.Get("Access-Control-Allow-Methods"), h.Get("Access-Control-Allow-Credentials"), h.Get("Allow")}
				if diff := cmp.Diff([]string{"*", "GET, HEAD, OPTIONS", "", "GET, HEAD, OPTIONS"}, got); diff != "" || w.Code != http.StatusNoContent {
					t.Errorf("%v: %s: status %d (-want +got):\n%s", origins, path, w.Code, diff)
				}
				if names := strings.ToLower(h.Get("Access-Control-Allow-Headers")); !strings.Contains(names, "a2a-version") {
					t.Errorf("%v: %s allows the headers %q", origins, path, names)
				}
				if got := s.get(t, path, "Origin", origin).Header().Values("Access-Control-Allow-Origin"); !slices.Equal(got, []string{"*"}) {
					t.Errorf("%v: %s from %s: allowed origins %q", origins, path, origin, got)
				}
			}
		}
	}
}
