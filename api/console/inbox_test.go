package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// desk begins a site where the gate of an objective depends on the message that began it.
func desk(t *testing.T, gates map[string]*opt.Gate) *site {
	t.Helper()
	return beginWorld(t, servicetest.Config{
		Planner: func(o opt.Objective, m *a2a.Message) (servicetest.Made, bool) {
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: m.Text()}}}}}, true
		},
		Script: func(w opt.Work) servicetest.Play {
			g := gates[w.Name]
			return servicetest.Play{Outcome: &opt.Outcome{State: g.State(), Gate: g}}
		},
	})
}

// titles returns the titles of the questions of a page of the inbox.
func titles(p page) (list []string) {
	for _, part := range strings.Split(p.html, `<a class="question" href=`)[1:] {
		_, rest, _ := strings.Cut(part, "<bdi>")
		title, _, _ := strings.Cut(rest, "</bdi>")
		list = append(list, title)
	}
	return list
}

// The inbox has what waits for the caller: the nearest deadline first, then the longest
// wait. It finds gates by text, by objective and by context.
func TestInbox(t *testing.T) {
	gate := func(title string, change func(*opt.Gate)) *opt.Gate {
		g := &opt.Gate{Kind: opt.Approval, Title: title, Actions: []opt.Action{opt.Accept, opt.Reject}}
		change(g)
		return g
	}
	s := desk(t, map[string]*opt.Gate{
		"one":   gate("Oldest", func(*opt.Gate) {}),
		"two":   gate("Later", func(g *opt.Gate) { g.Ladder = []opt.Step{{Kind: opt.Expire, After: 7200}} }),
		"three": gate("For bob", func(g *opt.Gate) { g.Responders = &opt.Responders{Principals: []string{"bob"}} }),
		"four":  gate("Soon", func(g *opt.Gate) { g.Ladder = []opt.Step{{Kind: opt.Expire, After: 60, Action: opt.Accept}} }),
		"five":  gate("Newest", func(*opt.Gate) {}),
	})
	ids := map[string]string{}
	for _, text := range []string{"one", "two", "three", "four", "five"} {
		ids[text] = s.send(t, "acme/carl", text)
	}
	ann := s.signedIn(t, "acme/ann")
	mine := ann.get("/console/inbox")
	mine.holds(t, "<title>(4) Inbox", `<span class="count">4<`)
	mine.wants(t, "4 waiting", "it is accepted")
	for path, want := range map[string][]string{
		"/console/inbox":                                          {"Soon", "Later", "Oldest", "Newest"},
		"/console/inbox?show=all":                                 {"Soon", "Later", "Oldest", "For bob", "Newest"},
		"/console/inbox?text=LATER+two":                           {"Later"},
		"/console/inbox?text=bob":                                 nil,
		"/console/inbox?show=all&text=bob":                        {"For bob"},
		"/console/inbox?objective=" + url.QueryEscape(ids["one"]): {"Oldest"},
		"/console/inbox?context=nowhere":                          nil,
	} {
		if diff := cmp.Diff(want, titles(ann.get(path))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	s.signedIn(t, "acme/bob").get("/console/inbox").wants(t, "5 waiting")
	s.signedIn(t, "umbrella/eve").get("/console/inbox").wants(t, "Nothing waits for you.")
}

// A page of the inbox leads to the next one, until all were shown once.
func TestInbox_pages(t *testing.T) {
	s := begin(t, &opt.Gate{Kind: opt.Approval, Title: "Publish?", Actions: []opt.Action{opt.Accept}})
	want := map[string]bool{}
	for i := range 60 {
		id := s.send(t, "acme/carl", "m"+strings.Repeat("x", i))
		want[id] = true
	}
	b := s.signedIn(t, "acme/ann")
	got, n := map[string]bool{}, 0
	for path := "/console/inbox"; path != ""; n++ {
		p := b.get(path)
		if p.status != http.StatusOK || n > 2 {
			t.Fatalf("page %d: %d", n, p.status)
		}
		for _, part := range strings.Split(p.html, `<li id="gate-`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if got[id] {
				t.Errorf("%s is there twice", id)
			}
			got[id] = true
		}
		path = ""
		if _, rest, more := strings.Cut(p.html, `<p><a href="/console/inbox?page=`); more {
			token, _, _ := strings.Cut(rest, `"`)
			path = "/console/inbox?page=" + strings.ReplaceAll(token, "&amp;", "&")
		}
	}
	if len(got) != len(want) || n != 2 {
		t.Errorf("%d gates on %d pages, want %d on 2", len(got), n, len(want))
	}
}

// hidden returns the values of the hidden fields of a name on a page.
func hidden(p page, name string) (values []string) {
	for _, m := range regexp.MustCompile(`<input type="hidden" name="`+name+`" value="([^"]*)">`).FindAllStringSubmatch(p.html, -1) {
		values = append(values, html.UnescapeString(m[1]))
	}
	return values
}

// Alike questions are decided together: each for itself, with the digest of its own object.
func TestInbox_together(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	for _, text := range []string{"one", "two", "three"} {
		s.send(t, "acme/carl", text)
	}
	b := s.signedIn(t, "acme/ann")
	list := b.get("/console/inbox")
	list.wants(t, "Approve 3 Decide together", "The draft")
	link := regexp.MustCompile(`href="([^"]*)" data-together`).FindStringSubmatch(list.html)
	if link == nil {
		t.Fatalf("no link in %s", list.html)
	}
	p := b.get(html.UnescapeString(link[1]))
	p.wants(t, "3 questions at once", "The draft", "Accept all 3", "Reject all 3")
	form := func(p page) url.Values {
		return url.Values{"action": {"accept"}, "feedback": {"Fine"}, "list": {""}, "with": hidden(p, "with"), "digest": hidden(p, "digest")}
	}
	sent := form(p)
	sent["digest"][1] = "sha256:00"
	p = b.post("/console/inbox", sent)
	p.shows(t, http.StatusConflict)
	test.Is(t, "the open gate", sent["with"][1], s.open(t))
	p.wants(t, "2 of 3 were decided", "1 question at once", "The draft")
	b.get("/console/inbox/"+sent["with"][2]).wants(t, "Accepted by ann", "Fine")
	p = b.post("/console/inbox", form(p))
	p.shows(t, http.StatusOK)
	test.Is(t, "the page", "/console/inbox", p.path)
	p.wants(t, "Accepted by ann : Publish?", "Nothing waits for you.")
	for _, form := range []url.Values{{"action": {"accept"}}, {"action": {"accept"}, "with": {"x:1"}}, {"action": {"refine"}, "with": {"x:1"}, "digest": {""}}} {
		b.post("/console/inbox", form).shows(t, http.StatusBadRequest)
	}
}

// After an answer comes the next question of the same list, and the last one is followed by the
// one before it.
func TestInbox_next(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "one")
	s.send(t, "acme/carl", "two")
	b := s.signedIn(t, "acme/ann")
	p := b.get("/console/inbox?text=approve")
	ids := hidden(p, "interrupt")
	for i, want := range []string{"Accepted by ann : Publish? · Look at it again", "Nothing that waits fits."} {
		if id := hidden(p, "interrupt")[0]; (id == ids[0]) != (i == 0) {
			t.Fatalf("answer %d is for %s", i, id)
		}
		before := p
		p = b.answer(hidden(p, "interrupt")[0], p, "action", "accept", "list", hidden(p, "list")[0], "after", hidden(p, "after")[0])
		p.wants(t, want)
		if q, _ := url.ParseQuery(p.query); p.path != "/console/inbox" || q.Get("text") != "approve" {
			t.Errorf("the page is %s?%s", p.path, p.query)
		}
		again := b.get("/console/inbox?beside=" + url.QueryEscape(hidden(before, "interrupt")[0]))
		again.wants(t, "Accepted by ann", "As it was decided on")
		again.holds(t, `!name="digest"`)
	}
}
