package console_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// planned returns a site whose objectives get plans, and the id of an objective of ann.
// Tasks run until the test ends them.
func planned(t *testing.T, plans ...opt.PlanSpec) (*site, string) {
	t.Helper()
	s := beginWorld(t, servicetest.Config{Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
		return servicetest.Made{Plans: plans}, true
	}})
	return s, s.send(t, "acme/ann", "Go")
}

// tasksNamed returns tasks with names, and no dependencies.
func tasksNamed(names ...string) (out []opt.TaskSpec) {
	for _, name := range names {
		out = append(out, opt.TaskSpec{Name: name})
	}
	return out
}

func task(id string, plan, n int) string { return opt.TaskID(opt.PlanID(id, plan), n) }

// wants checks that the text of a page has some texts and lacks others, which begin with !, and holds does so for its HTML.
func (p page) wants(t *testing.T, texts ...string) { t.Helper(); p.check(t, p.text, texts) }
func (p page) holds(t *testing.T, texts ...string) { t.Helper(); p.check(t, p.html, texts) }

func (p page) check(t *testing.T, in string, texts []string) {
	t.Helper()
	for _, text := range texts {
		unwanted, not := strings.CutPrefix(text, "!")
		if strings.Contains(in, unwanted) == not {
			t.Errorf("%s (%d): is %q there? %v: %s", p.path, p.status, unwanted, not, in)
		}
	}
}

// shows is wants of a page with a status.
func (p page) shows(t *testing.T, status int, texts ...string) {
	t.Helper()
	if p.status != status {
		t.Errorf("%s: %d, want %d: %s", p.path, p.status, status, p.text)
	}
	p.wants(t, texts...)
}

// A page says whether one of those who are asked is enough.
func TestObjective_waitsFor(t *testing.T) {
	for want, accepts := range map[string]int{"ann, bob or the group legal": 0, "ann, bob, the group legal": 2} {
		s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
		of := &opt.Responders{Principals: []string{"ann", "bob"}, Groups: []string{"legal"}, Accepts: accepts}
		s.world.Gate(task(id, 1, 0), opt.Gate{Kind: opt.Approval, Title: "Go?", Actions: []opt.Action{opt.Accept}, Responders: of})
		s.signedIn(t, "acme/ann").get("/console/objectives/"+id).wants(t, "waiting Waits for "+want+": Go?")
	}
}

func TestObjective(t *testing.T) {
	s, id := planned(t,
		opt.PlanSpec{Name: "Gather", Description: "From everywhere.", Tasks: []opt.TaskSpec{
			{Name: "Ask", Executor: "agent"}, {Name: "Look", Metadata: a2a.Metadata{}.With(opt.KeyOptional, true)}, {Name: "Sum up"}}},
		opt.PlanSpec{Name: "Publish", Dependencies: []string{"plan-0"}, Tasks: tasksNamed("Print")})
	b := s.signedIn(t, "acme/ann")
	b.get("/console/objectives/"+id).wants(t, "Go", "working Works on Ask", "asked by ann", "0 % done", "Gather", "Publish")
	b.get("/console/objectives/"+id+"?plan=1").wants(t, "From everywhere.")
	b.get("/console/objectives/"+id+"?plan=2").wants(t, "waits for Gather", "waits for other plans")
	b.get("/console/objectives/"+id+"?task=1-0").wants(t, "by agent", "Attempts and waits What Took Began Attempt 1")
	s.world.Complete(task(id, 1, 0), a2a.Artifact{ArtifactID: "a", Name: "Answers", Parts: []a2a.Part{a2a.TextPart("All is well.")}})
	s.world.Fail(task(id, 1, 1), "broken", "Nobody looked.")
	p := b.get("/console/objectives/" + id)
	p.wants(t, "failed Look", ": failed: broken. Nobody looked.", "made “Answers”", "!All is well.")
	s.world.Gate(task(id, 1, 2), opt.Gate{Kind: opt.Approval, Title: "Publish this?", Actions: []opt.Action{opt.Accept}})
	p = b.get("/console/objectives/" + id)
	p.wants(t, "waiting Waits for anyone who may answer: Publish this?", "waits for an answer: Publish this?")
	p.holds(t, `href="/console/inbox/task-`, `data-events="/console/events/`+id+`"`)
	for path, workflow := range map[string]string{"": id, "?task=1-0": opt.PlanID(id, 1)} {
		b.get("/console/objectives/"+id+path).holds(t, `href="https://temporal.example.com/namespaces/default/workflows/`+workflow+`"`)
	}
	b.get("/console/objectives/"+id, "If-None-Match", p.header.Get("ETag")).shows(t, http.StatusNotModified)
	s.signedIn(t, "other/eve").get("/console/objectives/"+id).wants(t, "Not found", "!Gather")
	for _, path := range []string{"?task=1-0", "/timeline"} {
		s.signedIn(t, "other/eve").get("/console/objectives/"+id+path).shows(t, http.StatusNotFound)
	}
	for _, path := range []string{"/console/objectives/x", "/console/objectives/" + id + "?task=9-9", "/console/objectives/" + strings.Repeat("x", 300)} {
		b.get(path).shows(t, http.StatusNotFound)
	}
}

func TestObjective_waitsInQueue(t *testing.T) {
	s, _ := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	first := s.send(t, "acme/ann", "One")
	o := s.world.Objective(first)
	second := s.sendIn(t, "acme/ann", o.ContextID, "Two")
	s.signedIn(t, "acme/ann").get("/console/objectives/"+second).wants(t, "queued Waits for its turn in its context, at place 1. It begins when those before it have ended: One of ann", "Place in the queue 1, since", "Start", "Cancel…")
}

// A timeline says that an attempt begins again after a lost worker.
func TestObjective_losesWorker(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "A"}}})
	again := opt.Event{
		N: 1, Kind: opt.TaskTried, At: a2a.At(s.world.Now()), PlanID: opt.PlanID(id, 1), TaskID: task(id, 1, 0), From: "working", To: "working", Round: 1, Attempt: 1, Try: 2,
	}
	test.OK(t, s.world.Journal().Record(t.Context(), opt.Batch{ObjectiveID: id, Source: again.TaskID + "#1.1.2", Events: []opt.Event{again}}))
	s.signedIn(t, "acme/ann").get("/console/objectives/"+id+"?task=1-0").wants(t, "attempt 1 begins again")
}

// A task that has waited for a worker shows for how long, on the timeline and beside it.
func TestObjective_waitsForWorker(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "A"}}})
	s.world.Advance(time.Minute)
	taken := opt.Event{
		N: 1, Kind: opt.TaskTaken, At: a2a.At(s.world.Now()), PlanID: opt.PlanID(id, 1), TaskID: task(id, 1, 0), Round: 1, Attempt: 1, Try: 1, Waited: 60_000,
	}
	test.OK(t, s.world.Journal().Record(t.Context(), opt.Batch{ObjectiveID: id, Source: taken.TaskID + "#1.1.1", Events: []opt.Event{taken}}))
	p := s.signedIn(t, "acme/ann").get("/console/objectives/" + id + "?task=1-0")
	p.wants(t, "a worker has taken it after 1 min", "Waited for a worker")
	p.holds(t, `<rect class="untaken"`, "Waited for a worker, 1 min")
}

func TestObjective_attempts(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "A", Attempts: 2}, {Name: "B"}}})
	b := s.signedIn(t, "acme/ann")
	s.world.FailAttempt(task(id, 1, 0), "busy", "Too busy.")
	s.world.Advance(time.Hour)
	b.get("/console/objectives/"+id+"?task=1-0").wants(t, "A", "Attempt 2", "attempt 2 begins", "Before B")
	s.world.Fail(task(id, 1, 0), "broken", "It is broken.")
	p := b.get("/console/objectives/" + id)
	p.wants(t, "failed", "It is broken.", "Retry", "!Pause", "!Cancel…")
	p.holds(t, "!data-events")
	p = b.press("/console/objectives/"+id, "change", "retry")
	p.wants(t, "A new attempt has begun.", "working", "Attempt 2", "Pause")
	p.holds(t, `data-events="/console/events/`+id+`~2"`)
	b.get("/console/objectives/"+id+"?task=1-0").wants(t, "Attempt at the objective 2", "It is broken.")
}

func TestObjective_replanned(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "Old", Tasks: tasksNamed("A")})
	b := s.signedIn(t, "acme/ann")
	b.press("/console/objectives/"+id, "replan", "replan").wants(t, "New plans are being made.", "replaces 1 plan")
	b.get("/console/objectives/"+id+"?plan=1").wants(t, "skipped", "other plans replace it")
}

// What callers write is text: no element, no script, no change of direction.
func TestObjective_hostileNames(t *testing.T) {
	evil := "<script>alert(1)</script>\u202eevil\" onload=\"x"
	s, id := planned(t, opt.PlanSpec{Name: evil, Description: evil, Tasks: []opt.TaskSpec{{Name: evil, Description: evil, Executor: evil}}})
	s.world.Complete(task(id, 1, 0), a2a.Artifact{ArtifactID: evil + "/../x", Name: evil, Description: evil, Parts: []a2a.Part{
		a2a.TextPart("<img src=x onerror=alert(1)>"), {URL: new("javascript:alert(1)")}, {URL: new("javascript://x/%0aalert(1)")}, {URL: new("https://example.com/a b")},
		{Raw: []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), MediaType: "image/svg+xml", Filename: "../../" + evil + ".svg"},
	}})
	b := s.signedIn(t, "acme/ann")
	for _, path := range []string{"", "?task=1-0", "/timeline"} {
		p := b.get("/console/objectives/" + id + path)
		if n := strings.Count(strings.ReplaceAll(p.html, `<script type="module" src="/console/assets/`, ""), "<script"); n != 0 {
			t.Errorf("%s has %d scripts", path, n)
		}
		for _, wrong := range []string{"<img", "\u202e", `href="javascript`, " onload=\"x", "alert(1)</script>"} {
			p.holds(t, "!"+wrong)
		}
		p.shows(t, http.StatusOK)
	}
	p := b.get("/console/objectives/" + id)
	p.wants(t, "‹U+202E›", `<img src=x onerror=alert(1)>`, "javascript:alert(1)", "https://example.com/a b")
	file := b.get(downloads(p)[len(downloads(p))-1])
	if got := file.header.Get("Content-Disposition"); !safeName.MatchString(got) {
		t.Errorf("the file is sent with %s", got)
	}
	if file.header.Get("Content-Type") != "application/octet-stream" || file.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("an SVG image is sent with %v", file.header)
	}
}

var safeName = regexp.MustCompile(`^attachment; filename="?[\p{L}\d_.() -]+"?$`)

var downloadForm = regexp.MustCompile(`href="(/console/artifacts\?[^"]*)"`)

// downloads returns the paths of the downloads of a page.
func downloads(p page) (out []string) {
	for _, m := range downloadForm.FindAllStringSubmatch(p.html, -1) {
		out = append(out, html.UnescapeString(m[1]))
	}
	return out
}

// The page counts the parts that it leaves out.
func TestArtifacts_many(t *testing.T) {
	many := func(name string, n int) a2a.Artifact {
		a := a2a.Artifact{ArtifactID: name, Name: name}
		for i := range n {
			a.Parts = append(a.Parts, a2a.TextPart(fmt.Sprint(name, i)))
		}
		return a
	}
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	s.world.Complete(task(id, 1, 0), many("first", 40), many("second", 20), many("third", 1))
	b := s.signedIn(t, "acme/ann")
	for _, path := range []string{"", "?task=1-0"} {
		b.get("/console/objectives/"+id+path).wants(t, "first39", "second9", "!second10", "10 more parts are not shown.", "1 more is not shown here", "!third0")
	}
}

// So are the parts of a message.
func TestMessages_manyParts(t *testing.T) {
	s, _ := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	parts := make([]string, 51)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"text":"part%d"}`, i)
	}
	id := s.say(t, "acme/ann", `{"messageId":"many","role":"ROLE_USER","parts":[`+strings.Join(parts, ",")+`]}`)
	s.signedIn(t, "acme/ann").get("/console/objectives/"+id).wants(t, "part49", "1 more part is not shown.")
}

func TestArtifacts(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	image := []byte("\x89PNG\r\n\x1a\n and more")
	long := strings.Repeat("long text ", 2000)
	s.world.Complete(task(id, 1, 0), a2a.Artifact{ArtifactID: "a", Name: "All", Parts: []a2a.Part{
		a2a.TextPart("short"), a2a.TextPart(long), {Text: new("# Bold **words**"), MediaType: "text/markdown", Filename: "notes.md"}, a2a.DataPart(map[string]int{"n": 1}), {Raw: image, Filename: "picture.png"}, {Raw: []byte{0, 1, 2}, Filename: "data"},
	}})
	b := s.signedIn(t, "acme/ann")
	p := b.get("/console/objectives/" + id)
	p.wants(t, "Result “All” short", "n 1", "20 KiB", "!"+long)
	p.holds(t, `<img src="/console/artifacts?`, "<strong>words</strong>")
	for i, want := range []struct{ kind, name, content string }{
		{"text/plain; charset=utf-8", "artifact-1.txt", "short"}, {"text/plain; charset=utf-8", "artifact-2.txt", long},
		{"text/plain; charset=utf-8", "notes.md", "# Bold **words**"},
		{"application/json", "artifact-4.json", `{"n":1}`}, {"image/png", "picture.png", string(image)}, {"application/octet-stream", "data", "\x00\x01\x02"},
	} {
		path := downloads(p)[i]
		got := b.get(path)
		if got.html != want.content || got.header.Get("Content-Type") != want.kind || got.header.Get("Content-Disposition") != "attachment; filename="+want.name {
			t.Errorf("part %d: %d %v", i, got.status, got.header)
		}
		s.signedIn(t, "other/eve").get(path).shows(t, http.StatusNotFound)
		b.get(strings.ReplaceAll(path, "part=", "part=9")).shows(t, http.StatusNotFound)
	}
}

// Decisions are in the timeline, and in a list with their hashes.
func TestTimeline_decisions(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A", "B")})
	for n, answer := range []opt.Action{opt.Accept, opt.Reject} {
		taskID := task(id, 1, n)
		g := opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept, opt.Reject}}
		s.world.Gate(taskID, g)
		s.answer(t, "acme/bob", id, string(answer))
		s.world.Complete(taskID)
	}
	b := s.signedIn(t, "acme/ann")
	b.get("/console/objectives/"+id+"/timeline").wants(t, "A : bob decided: accept", "B : bob decided: reject", "waits for an answer: Go on?", "Decisions, in their order", "accept, accepted 1-0 sha256:")
	b.get("/console/objectives/"+id+"?task=1-0").wants(t, "bob decided: accept", "!bob decided: reject")
	b.get("/console/objectives/"+id+"?task=1-1").wants(t, "bob decided: reject", "!bob decided: accept")
}

func TestTimeline(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed(slices.Repeat([]string{"A"}, 50)...)})
	for n := range 50 {
		s.world.Complete(task(id, 1, n), a2a.Artifact{ArtifactID: "a", Name: fmt.Sprint("secret-", n), Parts: []a2a.Part{a2a.TextPart("hidden content")}})
	}
	b := s.signedIn(t, "acme/ann")
	p, seen, pages := b.get("/console/objectives/"+id+"/timeline"), 0, 0
	last := int64(1 << 60)
	for {
		p.wants(t, "!hidden content")
		for _, m := range regexp.MustCompile(`<li id="e(\d+)"`).FindAllStringSubmatch(p.html, -1) {
			var n int64
			if _, err := fmt.Sscan(m[1], &n); err != nil || n >= last {
				t.Fatalf("event %s comes after %d", m[1], last)
			}
			last, seen = n, seen+1
		}
		pages++
		next := regexp.MustCompile(`<a href="(\?page=[^"]*)">Earlier`).FindStringSubmatch(p.html)
		if next == nil {
			break
		}
		p = b.get("/console/objectives/" + id + "/timeline" + next[1])
	}
	p.wants(t, "ann asked for it", "Plan “P” was added")
	if seen < 150 || pages < 3 || last != 1 {
		t.Errorf("%d events on %d pages, down to %d", seen, pages, last)
	}
	b.get("/console/objectives/"+id+"/timeline?page=x").shows(t, http.StatusBadRequest)
}

// The largest objective has a page of a limited size. The log has the time.
func TestObjective_large(t *testing.T) {
	var plans []opt.PlanSpec
	for p := range 10 {
		plan := opt.PlanSpec{Name: fmt.Sprintf("Plan %d of the large objective", p)}
		for n := range 50 {
			task := opt.TaskSpec{Name: fmt.Sprintf("Task %d writes a chapter of the book", n), Executor: "agent"}
			if n > 0 && n%5 == 0 {
				for b := n - 5; b < n; b++ {
					task.Dependencies = append(task.Dependencies, fmt.Sprint("task-", b))
				}
			}
			plan.Tasks = append(plan.Tasks, task)
		}
		plans = append(plans, plan)
	}
	s, id := planned(t, plans...)
	b := s.signedIn(t, "acme/ann")
	b.get("/console/objectives/" + id)
	began := time.Now()
	p := b.get("/console/objectives/" + id)
	t.Logf("%d bytes in %v", len(p.html), time.Since(began))
	if p.status != http.StatusOK || strings.Count(p.html, `<li id="t`) != 500 {
		t.Errorf("status %d, %d rows", p.status, strings.Count(p.html, `<li id="t`))
	}
	graph := b.get("/console/objectives/" + id + "?view=graph")
	test.Is(t, "nodes", 500, strings.Count(graph.html, `<use href="#n-`))
	if len(p.html) > 200<<10 || len(graph.html) > 200<<10 {
		t.Errorf("%d and %d bytes", len(p.html), len(graph.html))
	}
}
