package console_test

import (
	"net/http"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Texts keep their lines, JSON has a line for each member, and times of timelines have
// seconds. The page of an objective that has ended has its results.
func TestObjective_isReadable(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Description: "First.\nThen.", Tasks: []opt.TaskSpec{{Name: "A", Description: "Look\n  twice."}}})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"
	b.get(path+id+"?plan=1").holds(t, "First.\nThen.")
	b.get(path+id+"?task=1-0").holds(t, "Look\n  twice.")
	s.world.Gate(task(id, 1, 0), opt.Gate{Kind: opt.Approval, Title: "One line?\nTwo lines?", Actions: []opt.Action{opt.Accept}})
	b.get("/console/inbox/"+task(id, 1, 0)+":1").holds(t, "<bdi>One line? Two lines?</bdi></h1>", ">One line?\nTwo lines?</p>")
	s.answer(t, "acme/ann", id, "accept")
	p := b.get(path + id)
	p.holds(t, "<strong>action</strong><span>accept</span>", `data-exact>1 Mar 2026, 09:30:00 UTC<`)
	b.get(path+id+"/timeline").holds(t, `data-exact>1 Mar 2026, 09:30:00 UTC<`)

	s.world.Complete(task(id, 1, 0), a2a.Artifact{ArtifactID: "a", Name: "Data", Parts: []a2a.Part{a2a.TextPart(`{"made": ["tea"]}`)}})
	p = b.get(path + id)
	p.holds(t, "{\n  &#34;made&#34;: [\n    &#34;tea&#34;\n  ]\n}")
}

// Ids of later attempts, plans and tasks lead to the page that shows them.
func TestObjective_otherIDs(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b := s.signedIn(t, "acme/ann")
	for from, to := range map[string]string{
		id + "~2": id, id + "~12": id, opt.PlanID(id, 1): id + "?plan=1", task(id, 1, 0): id + "?task=1-0", task(id, 1, 0) + "~2": id + "?task=1-0", id + "~2/timeline": id + "/timeline",
	} {
		p := b.get("/console/objectives/" + from)
		at := strings.TrimSuffix(p.path+"?"+p.query, "?")
		if p.status != http.StatusOK || at != "/console/objectives/"+to {
			t.Errorf("%s leads to %s: %d", from, at, p.status)
		}
	}
	b.get("/console/objectives/"+id+"~").shows(t, http.StatusNotFound)
}

// A page that does not exist leads on, for callers who are signed in.
func TestUnknown_leadsOn(t *testing.T) {
	s, _ := planned(t)
	for key, want := range map[string]int{"acme/ann": 3, "nobody": 0} {
		p := s.browser(t).get("/console/nope", "Authorization", "Bearer "+key)
		links := 0
		for _, to := range []string{`href="/console/"`, `href="/console/inbox"`, `href="/console/objectives"`} {
			if nav, _, _ := strings.Cut(p.html, "<main"); strings.Contains(nav, "<li><a "+to) {
				links++
			}
		}
		if p.status != http.StatusNotFound || links != want {
			t.Errorf("%d with %d links, want %d: %s", p.status, links, want, p.html)
		}
	}
}

// A form that was refused for the moment says when a repeat may succeed.
func TestChange_saysWhenToRetry(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b := s.signedIn(t, "acme/ann")
	page := b.get("/console/objectives/" + id)
	s.world.Down(opt.ErrUnavailable)
	p := b.send(page, "change", "pause")
	if p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" {
		t.Errorf("%d with Retry-After %q: %s", p.status, p.header.Get("Retry-After"), p.text)
	}
}

// A form that was sent from another tab with other contents says so, and can be sent again.
func TestChange_inAnotherTab(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b := s.signedIn(t, "acme/ann")
	tab := b.get("/console/objectives/" + id)
	b.send(tab, "text", "text", "name", "First")
	p := b.send(tab, "text", "text", "name", "Second")
	test.Is(t, "the status", http.StatusConflict, p.status)
	p.wants(t, "You have sent this form before with other contents", "!was used before", "First", "!Second: ")
	p.holds(t, `value="Second"`)
	b.send(p, "text", "text").wants(t, "The text was changed.", "Second")
}
