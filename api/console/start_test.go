package console_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/internal/test"
	"longhaul/opt"
)

// planning is an agent. It knows the plan for texts that begin with "Approve" or name the
// skill "demo", answers "Hello" at once, and leaves the rest to a worker. With an error it
// decides nothing.
type planning struct {
	err  error
	deaf *bool // the worker refuses everything, if it is true; nil: it does not
}

func (p planning) Decide(_ context.Context, m a2a.Message) (message.Decision, error) {
	skill, _ := m.Metadata.String(opt.KeySkill)
	switch {
	case p.err != nil:
		return message.Decision{}, p.err
	case m.Text() == "Hello":
		return message.Decision{Answer: &a2a.Message{Parts: []a2a.Part{a2a.TextPart("Good day")}}, Planner: "rules"}, nil
	case skill == "demo", strings.HasPrefix(m.Text(), "Approve"):
		gate := &opt.Gate{Kind: opt.Approval, Title: "Publish it?", Actions: []opt.Action{opt.Accept, opt.Reject}}
		return message.Decision{Planner: "playbook demo", Reason: "it says so", Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{
			{Name: m.Text(), Executor: "llm", Description: "With care"}, {Name: "Check", Executor: "human", Ask: gate},
		}}}}, nil
	}
	d := message.Decision{Reason: "no playbook matches"}
	if p.deaf != nil && *p.deaf {
		d.Refusal = "No skill takes this message. The skills are:\n- demo: Shows it"
	}
	return d, nil
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)"`)

// fields returns the hidden fields of the form of a page.
func fields(p page) url.Values {
	out := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(p.html, -1) {
		out.Set(m[1], html.UnescapeString(m[2]))
	}
	return out
}

func TestStart_showsThePlanFirst(t *testing.T) {
	s := beginWork(t, planning{}, card.Skill{ID: "demo", Name: "Demo", Description: "Shows it", Examples: []string{"Approve & go"}})
	b := s.signedIn(t, "acme/ann")
	form := b.get("/console/new")
	if !strings.Contains(form.html, `<option value="demo">Demo</option>`) || !strings.Contains(form.html, "text=Approve%20%26%20go") {
		t.Fatalf("the form: %s", form.html)
	}
	filled := fields(form)
	filled.Set("text", "Write a text\r\nof two lines")
	filled.Set("skill", "demo")
	filled.Set("name", "A text")
	preview := b.post("/console/new", filled)
	preview.wants(t, "Made by playbook demo : it says so", "Write a text", "Executor llm", "Check", "Asks a person to approve: Publish it?", "Executor human · after Write a text")
	if tasks := strings.Count(preview.html, `href="#at1-`); tasks != 2 || strings.Count(preview.html, `<li id="at`) != 2 {
		t.Errorf("the drawing of the preview leads to %d tasks", tasks)
	}
	if len(s.world.Openings()) != 0 {
		t.Fatal("the preview has begun an objective")
	}
	sent := fields(preview)
	began := b.post("/console/new/start", sent)
	again := b.post("/console/new/start", sent)
	openings := s.world.Openings()
	if len(openings) != 1 || began.path != "/console/objectives/"+openings[0].Objective.ID || again.path != began.path {
		t.Fatalf("%d objectives have begun; the page leads to %s, then to %s", len(openings), began.path, again.path)
	}
	o := openings[0].Objective
	if o.Name != "A text" || o.Tenant != "acme" || o.Principal != "ann" || openings[0].Message.Text() != "Write a text\nof two lines" || len(openings[0].Plans) != 1 {
		t.Errorf("the objective is %+v with the message %q and %d plans", o, openings[0].Message.Text(), len(openings[0].Plans))
	}
	back := b.post("/console/new", url.Values{"text": {"Write"}, "skill": {"demo"}, "change": {"1"}})
	back.holds(t, ">Write</textarea>", `<option value="demo" selected>`)
}

func TestStart_showsAPlanThatHasChanged(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	p := b.post("/console/new/start", url.Values{"text": {"Approve it"}, "seen": {"0123"}, "message": {"console-1"}})
	if p.status != http.StatusConflict || !strings.Contains(p.text, "The plan has changed") || len(s.world.Openings()) != 0 {
		t.Fatalf("%d: %s", p.status, p.text)
	}
	if p = b.post("/console/new/start", fields(p)); len(s.world.Openings()) != 1 {
		t.Errorf("the present plan does not begin: %d %s", p.status, p.text)
	}
}

func TestStart_answersAtOnce(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	for _, path := range []string{"/console/new", "/console/new/start"} {
		p := b.post(path, url.Values{"text": {"Hello"}})
		p.shows(t, http.StatusOK, "Good day")
		p.holds(t, "!>Start</button>")
	}
	test.Is(t, "objectives that have begun", 0, len(s.world.Openings()))
}

func TestStart_pausesForReview(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	preview := b.post("/console/new", url.Values{"text": {"Think about it"}})
	if !strings.Contains(preview.text, "A worker makes the plan once the objective has begun: no playbook matches") && !strings.Contains(preview.text, "A worker makes the plan once the objective has begun : no playbook matches") {
		t.Fatalf("the preview: %s", preview.text)
	}
	for _, review := range []bool{false, true} {
		form := b.post("/console/new", url.Values{"text": {"Think about it"}})
		sent := fields(form)
		if review {
			sent.Set("review", "1")
		}
		b.post("/console/new/start", sent)
		openings := s.world.Openings()
		test.Is(t, fmt.Sprintf("review %v: the objective is paused", review), review, s.world.Objective(openings[len(openings)-1].Objective.ID).Paused)
	}
}

// A pause that fails is no secret: the objective has begun, and its page says that it was
// not paused, until it is.
func TestStart_pauseFails(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	sent := fields(b.post("/console/new", url.Values{"text": {"Think about it"}}))
	sent.Set("review", "1")
	s.world.Before(func(_ context.Context, name string) error {
		if name == "command" {
			return opt.ErrUnavailable
		}
		return nil
	})
	p := b.post("/console/new/start", sent)
	s.world.Down(nil)
	openings := s.world.Openings()
	if len(openings) != 1 || p.status != http.StatusOK || p.path != "/console/objectives/"+openings[0].Objective.ID {
		t.Fatalf("%d objectives have begun; the page is %d %s", len(openings), p.status, p.path)
	}
	p.holds(t, `role="alert">The objective has begun and was not paused. Pause it here`)
	again := b.post("/console/new/start", sent)
	if len(s.world.Openings()) != 1 || again.path != p.path || !s.world.Objective(openings[0].Objective.ID).Paused {
		t.Fatalf("again: %d %s", again.status, again.path)
	}
	again.wants(t, "!was not paused")
	b.get(p.path+"?missed=pause").wants(t, "!was not paused")
}

// A form that is sent while the service is unavailable keeps its input and its message,
// so that it can be sent again.
func TestStart_unavailable(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	sent := fields(b.post("/console/new", url.Values{"text": {"Think about it"}, "name": {"A name"}}))
	s.world.Down(opt.ErrUnavailable)
	p := b.post("/console/new/start", sent)
	test.Is(t, "the status", http.StatusServiceUnavailable, p.status)
	p.wants(t, "It is not known whether the objective has begun.", "Think about it")
	if kept := fields(p); kept.Encode() != sent.Encode() {
		t.Fatalf("the form had %v and has %v", sent, kept)
	}
	s.world.Down(nil)
	if p = b.post("/console/new/start", fields(p)); p.status != http.StatusOK || len(s.world.Openings()) != 1 {
		t.Errorf("again: %d %s", p.status, p.text)
	}
}

// A form that shows a plan which cannot be made keeps its input.
func TestStart_noPreview(t *testing.T) {
	s := beginWork(t, planning{err: opt.ErrUnavailable})
	b := s.signedIn(t, "acme/ann")
	for _, path := range []string{"/console/new", "/console/new/start"} {
		p := b.post(path, url.Values{"text": {"Think about it"}, "message": {"console-1"}})
		if p.status != http.StatusServiceUnavailable || fields(p).Get("message") != "console-1" {
			t.Errorf("%s: %d with the fields %v", path, p.status, fields(p))
		}
		p.holds(t, "This try has begun nothing", ">Think about it</textarea>")
	}
}

// A form that was sent before with another request says so, and can be sent as another one.
func TestStart_sentBefore(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	first := fields(b.post("/console/new", url.Values{"text": {"Think about it"}}))
	b.post("/console/new/start", first)
	first.Set("text", "Think about that")
	p := b.post("/console/new/start", first)
	if p.status != http.StatusConflict || len(s.world.Openings()) != 1 {
		t.Fatalf("%d; %d objectives have begun", p.status, len(s.world.Openings()))
	}
	p.wants(t, "This form was sent before with another request", "Think about that")
	if p = b.post("/console/new/start", fields(p)); p.status != http.StatusOK || len(s.world.Openings()) != 2 {
		t.Errorf("again: %d %s; %d objectives have begun", p.status, p.text, len(s.world.Openings()))
	}
}

// What a worker would refuse is not offered to be started, and not begun either if a page
// from before is sent.
func TestStart_refusedWork(t *testing.T) {
	deaf := false
	s := beginWork(t, planning{deaf: &deaf})
	b := s.signedIn(t, "acme/ann")
	before := b.post("/console/new", url.Values{"text": {"Dance"}})
	before.holds(t, `<button class="primary">Start</button>`)
	deaf = true
	for path, form := range map[string]url.Values{"/console/new": {"text": {"Dance"}}, "/console/new/start": fields(before)} {
		p := b.post(path, form)
		p.wants(t, "The agent refuses this request.", "No skill takes this message. The skills are: - demo: Shows it", "Dance", "Change the request")
		p.holds(t, "!>Start<", "!Pause it at once", "!makes the plan once")
	}
	test.Is(t, "objectives that have begun", 0, len(s.world.Openings()))
}

func TestStart_refusals(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	for problem, form := range map[string]url.Values{
		"The text is missing":       {"text": {" \n"}, "name": {"Kept"}},
		"The text is longer":        {"text": {strings.Repeat("x", 100_001)}, "name": {"Kept"}},
		"The name is longer":        {"text": {"Go"}, "name": {"Kept" + strings.Repeat("x", 200)}},
		"has control characters":    {"text": {"Go"}, "name": {"Kept\x1b"}},
		"The context is not an id.": {"text": {"Go"}, "name": {"Kept"}, "context": {"\x07"}},
	} {
		for _, path := range []string{"/console/new", "/console/new/start"} {
			p := b.post(path, form)
			p.shows(t, http.StatusBadRequest, problem)
			p.holds(t, `value="Kept`, `role="alert"`)
		}
	}
	test.Is(t, "objectives that have begun", 0, len(s.world.Openings()))
}

// A rehearsal shows the course of the work, who is asked when and what follows, and begins nothing.
func TestStart_rehearses(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	preview := b.post("/console/new", url.Values{"text": {"Approve <it>"}})
	preview.holds(t, `formaction="/console/new/rehearse"`)
	p := b.post("/console/new/rehearse", fields(preview))
	p.wants(t, "completed after 1 h. Without past runs", "Plan / Approve <it> completed 0 s 1 s yes", "Publish it? after 1 s: asked everyone after 1 h: Accepted by anyone")
	if len(s.world.Openings()) != 0 {
		t.Fatal("the rehearsal has begun an objective")
	}
	if b.post("/console/new/start", fields(p)); len(s.world.Openings()) != 1 {
		t.Error("the work does not begin from the page of a rehearsal")
	}
	unknown := b.post("/console/new/rehearse", url.Values{"text": {"Think about it"}})
	unknown.wants(t, "The plan is not known before the work begins.")
	s.signedIn(t, "acme/bob runs:read").post("/console/new/rehearse", fields(preview)).shows(t, http.StatusForbidden)
}

// building is an agent whose work is one task.
type building struct{}

func (building) Decide(context.Context, a2a.Message) (message.Decision, error) {
	return message.Decision{Planner: "playbook build", Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Build"}}}}}, nil
}

// A rehearsal has the times of past runs of the same tenant, for those who may read them.
func TestStart_rehearsesFromThePast(t *testing.T) {
	s := beginWork(t, building{})
	for _, took := range []time.Duration{time.Minute, 3 * time.Minute, 10 * time.Minute} {
		id := s.send(t, "acme/ann", "build "+took.String())
		s.world.Advance(took)
		s.world.Complete(strings.Replace(id, "obj-", "task-", 1) + "-1-0")
	}
	form := url.Values{"text": {"build"}}
	got := s.signedIn(t, "acme/bob").post("/console/new/rehearse", form)
	got.wants(t, "completed after 3 min 1 s (1 min 1 s", " in 50% of runs)", "From 3 past runs.")
	for _, key := range []string{"other/bob", "acme/bob runs:create"} {
		p := s.browser(t).post("/console/new/rehearse", form, "Authorization", "Bearer "+key)
		p.wants(t, "completed after 1 s. Without past runs")
	}
}
