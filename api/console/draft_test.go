package console_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// draft adds a step to the draft of a page by one of its forms, names and values in turns.
func (b *browser) draft(p page, form string, fields ...string) page {
	b.t.Helper()
	f, ok := p.form(b.t, form)
	if !ok {
		b.t.Fatalf("%s has no form %s: %s", p.path, form, p.text)
	}
	for i := 0; i < len(fields); i += 2 {
		f.values[fields[i]] = strings.Split(fields[i+1], "|")
	}
	return b.get(p.path + "?" + f.values.Encode())
}

// drafting returns the page on which a draft begins, with a plan or a task selected.
func (b *browser) drafting(path, query string) page {
	b.t.Helper()
	return b.get(b.get(path+"?"+query).link(b.t, `>Change (?:its tasks|the plans)</a>`, path))
}

// link returns the address of the first link with an end, on the page of an objective at a path.
func (p page) link(t *testing.T, end, path string) string {
	t.Helper()
	m := regexp.MustCompile(`href="([^"]*)"` + end).FindStringSubmatch(p.html)
	if m == nil {
		t.Fatalf("%s has no link %s: %s", p.path, end, p.text)
	}
	to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
	if strings.HasPrefix(to, "?") {
		return path + to
	}
	return to
}

// addTask adds a task to a plan.
func (b *browser) addTask(path, plan string, fields ...string) page {
	b.t.Helper()
	return b.send(b.draft(b.drafting(path, "plan="+plan), "draft-add", fields...), "draft", "draft")
}

func branched(t *testing.T) (*site, *browser, string) {
	t.Helper()
	s, id := planned(t,
		opt.PlanSpec{Name: "P", Dependencies: []string{}, Tasks: []opt.TaskSpec{{Name: "A"}, {Name: "B", Metadata: a2a.Metadata{}.With(opt.KeyOptional, true)}, {Name: "C"}}},
		opt.PlanSpec{Name: "Q", Dependencies: []string{"plan-0"}, Tasks: tasksNamed("D")}, opt.PlanSpec{Name: "R", Dependencies: []string{"plan-0"}, Tasks: tasksNamed("E")})
	return s, s.signedIn(t, "acme/ann"), "/console/objectives/" + id
}

// A draft has steps of each kind, shows what they change, and makes them all at once.
func TestDraft(t *testing.T) {
	s, b, path := branched(t)
	p := b.draft(b.drafting(path, "task=1-0"), "draft-add", "name", "Look", "description", "Look at it", "executor", "agent", "optional", "1")
	p.wants(t, "“Look” is added to plan “P”, after “A”, optional, by agent: Look at it", "Make this change")
	p = b.get(p.link(t, `[^>]*><title>Look: `, path))
	p = b.draft(p, "draft-add", "name", "Check")
	p.wants(t, "“Check” is added to plan “P”, after “Look”")
	p = b.draft(b.get(p.link(t, `[^>]*><title>Check: `, path)), "draft-order", "after", "new-1|1-2")
	p.wants(t, "“Check” waits for “C”, “Look”")
	p = b.draft(b.get(p.link(t, `[^>]*><title>R: `, path)), "draft-order", "after", "2")
	p.wants(t, "Plan “R” waits for “Q”, no longer for “P”")
	p = b.get(b.get(p.link(t, `[^>]*><title>B: `, path)).link(t, `>Skip it</a>`, path))
	p.wants(t, "“B” is skipped", "Make these 5 changes")
	p.holds(t, `class="o added" data-after="1-0"`, `class="o skipped"`, `class="added" data-after="1-2 new-1"`, `<path class="fresh"`, `id="n3" class="plan" data-after="2"`)
	if o := s.world.Objective(idIn(path)); o.Revision != 1 {
		t.Errorf("a draft has changed the objective: revision %d", o.Revision)
	}
	b.send(p, "draft", "draft").wants(t, "Your changes were made.", "Look", "Check", "!not made yet")
	o := s.world.Objective(idIn(path))
	tasks := o.Plans[0].Tasks
	if len(tasks) != 5 || tasks[3].Executor != "agent" || !tasks[3].Optional() || tasks[1].State != opt.TaskCanceled || o.Revision != 4 {
		t.Errorf("revision %d: %+v", o.Revision, tasks)
	}
	test.Is(t, "Check waits for", "C Look", each(o.Plans[0].Before(tasks[4])))
	if d := o.Plans[2].Dependencies; len(d) != 1 || d[0] != o.Plans[1].ID {
		t.Errorf("R waits for %v", d)
	}
}

func idIn(path string) string { return strings.TrimPrefix(path, "/console/objectives/") }

func each(tasks []*opt.Task) string {
	var names []string
	for _, t := range tasks {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// A conflict shows both: what others have changed, and the draft, which continues from there.
func TestDraft_conflict(t *testing.T) {
	s, b, path := branched(t)
	p := b.draft(b.drafting(path, "plan=1"), "draft-add", "name", "Mine")
	s.world.Advance(time.Minute)
	s.signedIn(t, "acme/bob").addTask(path, "1", "name", "Theirs").wants(t, "Your changes were made.", "Theirs")
	refused := b.send(p, "draft", "draft")
	test.Is(t, "a draft for a former revision", http.StatusConflict, refused.status)
	refused.wants(t, "Another change was faster", "Others have changed it meanwhile", "1 task was added to plan “P”", "“Mine” is added to plan “P”")
	live := b.get(p.path + "?" + p.query)
	live.wants(t, "Others have changed it meanwhile", "!Make this change")
	for _, p := range []page{refused, live} {
		p = b.get(p.link(t, `>Go on from the present state</a>`, path))
		p.wants(t, "“Mine” is added to plan “P”, after “C”", "Make this change", "!Others have changed")
	}
	b.send(b.get(live.link(t, `>Go on from the present state</a>`, path)), "draft", "draft").wants(t, "Your changes were made.", "Theirs", "Mine")
}

// Of a draft that is refused in the middle the rest stays, and says that a part was made.
func TestDraft_partly(t *testing.T) {
	s, b, path := branched(t)
	p := b.draft(b.drafting(path, "plan=1"), "draft-add", "name", "Mine")
	p = b.draft(b.get(p.link(t, `[^>]*><title>R: `, path)), "draft-order", "after", "2")
	s.world.Before(func(_ context.Context, name string) error {
		if o := s.world.Objective(idIn(path)); name == "command" && o.Revision == 2 {
			return opt.ErrUnavailable
		}
		return nil
	})
	refused := b.send(p, "draft", "draft")
	refused.wants(t, "A part was made", "It is not known whether the change was made", "Plan “R” waits for “Q”", "!“Mine” is added")
	s.world.Down(nil)
	b.send(refused, "draft", "draft").wants(t, "Your changes were made.")
	if o := s.world.Objective(idIn(path)); o.Revision != 3 || len(o.Plans[0].Tasks) != 4 {
		t.Errorf("revision %d, %d tasks", o.Revision, len(o.Plans[0].Tasks))
	}
}

// A draft refuses what cannot be, and offers nothing to those who may not change the work.
func TestDraft_refuses(t *testing.T) {
	s, b, path := branched(t)
	at := b.drafting(path, "plan=1")
	for step, want := range map[string]string{
		"do=order&of=1-0&after=1-2":              "keeps its order: it is working",
		"do=between&of=1-2&after=1-1&before=1-0": "it can no longer be changed so",
		"do=order&of=1&after=2":                  "cannot be made",
		"do=later&of=1":                          "it is not in a chain",
		"do=earlier&of=1-1":                      "keeps its order: it is working",
		"do=later&of=1-2":                        "it is not in a chain",
		"do=later&of=7":                          "it can no longer be changed so",
		"do=skip&of=9-9":                         "it can no longer be changed so",
		"do=add&of=1&name=":                      "cannot be made",
		"do=dance&of=1":                          "it can no longer be changed so",
	} {
		p := b.get(at.path + "?" + at.query + "&" + step)
		p.wants(t, want, "!Make this change")
	}
	loop := b.get(at.path + "?" + at.query + "&do=order&of=2&after=3")
	b.get(loop.path+"?"+loop.query+"&do=order&of=3&after=2").wants(t, "the dependencies form a cycle")
	ok := b.draft(at, "draft-add", "name", "Mine")
	f, _ := ok.form(t, "draft")
	f.values.Set("do", "draft")
	reader := s.signedIn(t, "acme/bob runs:read")
	reader.get(path+"?plan=1").holds(t, "!>Change its tasks<")
	reader.get(ok.path+"?"+ok.query).wants(t, "cannot be made", "!Make this change")
	reader.post(f.action, f.values).shows(t, http.StatusForbidden)
	many := strings.Repeat("&step=do%3Dskip%26of%3D1-0", 41)
	b.get(at.path+"?"+at.query+many).shows(t, http.StatusBadRequest)
}

// Plans in a chain change places, by one step whose parts are changes of what each waits for. So do new tasks.
func TestDraft_move(t *testing.T) {
	s, id := planned(t,
		opt.PlanSpec{Name: "P", Dependencies: []string{}, Tasks: tasksNamed("A")}, opt.PlanSpec{Name: "Q", Dependencies: []string{"plan-0"}, Tasks: tasksNamed("B")},
		opt.PlanSpec{Name: "R", Dependencies: []string{"plan-1"}, Tasks: tasksNamed("C")}, opt.PlanSpec{Name: "S", Dependencies: []string{"plan-2"}, Tasks: tasksNamed("D")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	p := b.drafting(path, "plan=2")
	p.wants(t, "Later Skip it", "!Earlier Later") // the one before it has begun
	p = b.get(p.link(t, ">Later</a>", path))
	p.wants(t, "Plan “R” comes before “Q”", "Make this change", "!Plan “S” waits")
	p.holds(t, `id="n3" class="plan" data-after="1"`, `data-after="3"`, `id="n4" class="plan" data-after="2"`)
	back := b.get(p.link(t, ">Earlier</a>", path))
	back.wants(t, "Plan “Q” comes before “R”", "!Make these")
	b.send(p, "draft", "draft").wants(t, "Your changes were made.")
	o := s.world.Objective(id)
	for i, want := range []int{-1, 2, 0, 1} {
		if d := o.Plans[i].Dependencies; want >= 0 && (len(d) != 1 || d[0] != o.Plans[want].ID) {
			t.Errorf("plan %s waits for %v", o.Plans[i].Name, d)
		}
	}
	p = b.draft(b.drafting(path, "plan=4"), "draft-add", "name", "E", "after", "4-0")
	p = b.draft(b.get(p.link(t, `[^>]*><title>E: `, path)), "draft-add", "name", "F", "after", "new-1")
	p = b.get(b.get(p.link(t, `[^>]*><title>F: `, path)).link(t, ">Earlier</a>", path))
	p.wants(t, "“F” comes before “E”")
	b.send(p, "draft", "draft").wants(t, "Your changes were made.")
	tasks := s.world.Objective(id).Plans[3].Tasks
	test.Is(t, "E and F wait for", "FD", each(s.world.Objective(id).Plans[3].Before(tasks[1]))+each(s.world.Objective(id).Plans[3].Before(tasks[2])))
	b.press(path, "change", "pause")
	b.press(path+"?task=1-0", "task-change", "complete").wants(t, "P completed")
	p = b.drafting(path, "plan=3")
	p.wants(t, "Later Skip it", "!Earlier Later") // the one before it has ended
	b.get(p.path+"?"+p.query+"&do=earlier&of=3").wants(t, "This cannot be made", "!Make this change")
}

// A draft that is sent again makes the same changes in the same order: their keys are made of their places.
func TestDraft_sameOrder(t *testing.T) {
	specs := []opt.PlanSpec{{Name: "P", Dependencies: []string{}, Tasks: tasksNamed("A")}}
	for i := range 9 {
		specs = append(specs, opt.PlanSpec{Name: string(rune('Q' + i)), Dependencies: []string{"plan-" + string(rune('0'+min(i, 2)))}, Tasks: tasksNamed("A")})
	}
	s, id := planned(t, specs...)
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	for i, do := range []string{"earlier", "later", "earlier", "later"} {
		p, had := b.drafting(path, "plan=3"), len(s.world.Commands())
		b.send(b.get(p.path+"?"+p.query+"&do="+do+"&of=3"), "draft", "draft").wants(t, "Your changes were made.")
		var followers, want []string
		for _, c := range s.world.Commands()[had+2:] { // after those of R and of Q
			followers = append(followers, c.PlanID)
		}
		for _, p := range s.world.Objective(id).Plans[3:] {
			want = append(want, p.ID)
		}
		if !slices.Equal(want, followers) {
			t.Errorf("%d, %s: the followers are changed in the order %q", i, do, followers)
		}
	}
}

// Tasks that exist and have not begun get another order: by what they wait for, in a chain, and by being put
// between two others. All of it is one change.
func TestDraft_tasks(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A", "B", "C", "D")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	p := b.drafting(path, "task=1-2")
	p = b.get(p.link(t, ">Later</a>", path))
	p.wants(t, "“D” comes before “C”", "Make this change")
	p = b.get(p.path + "?" + p.query + "&do=between&of=1-1&after=1-3&before=1-2")
	p.wants(t, "“B” comes between “D” and “C”, no longer after “A”", "Make these 2 changes")
	p = b.draft(b.get(p.link(t, `[^>]*><title>D: `, path)), "draft-add", "name", "E")
	p = b.draft(b.get(p.link(t, `[^>]*><title>B: `, path)), "draft-order", "after", "new-1")
	p.wants(t, "“B” waits for “E”, no longer for “A”")
	p.holds(t, `id="n1-1" data-after="new-1"`, `class="edge" d="M`, `data-after="1-1" data-before="1-2"`, `<path class="fresh"`)
	b.send(p, "draft", "draft").wants(t, "Your changes were made.")
	o := s.world.Objective(id)
	for i, want := range []string{"", "E", "B", "A", "D"} {
		test.Is(t, o.Plans[0].Tasks[i].Name+" waits for", want, each(o.Plans[0].Before(o.Plans[0].Tasks[i])))
	}
	if o.Revision != 3 { // added, and ordered
		t.Errorf("revision %d", o.Revision)
	}
	b.get(path+"/timeline").wants(t, "The order was changed: ", "“B” waits for “E”")
}

// A draft has nothing that is done before people decide about it.
func TestDraft_approval(t *testing.T) {
	ask := opt.TaskSpec{Name: "Approve", Ask: &opt.Gate{Kind: opt.Approval, Title: "Pay?", Actions: []opt.Action{opt.Accept, opt.Reject}}}
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: append(tasksNamed("A"), ask, opt.TaskSpec{Name: "Pay"}, opt.TaskSpec{Name: "Mail"})})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	p := b.drafting(path, "task=1-2")
	p.wants(t, "!Earlier") // also not later: "Mail" would be what the approval releases
	p = b.get(p.path + "?" + p.query + "&do=order&of=1-2")
	p.wants(t, "“Pay” waits for nothing, no longer for “Approve”", `"Pay" has to stay after "Approve", where people are asked`, "!Make this change")
}

// steps adds steps to the address of a page.
func (b *browser) steps(p page, steps ...string) page {
	b.t.Helper()
	for _, step := range steps {
		p = b.get(p.path + "?" + p.query + "&" + step)
	}
	return p
}

// Of tasks and plans that are left out none begins because another one is left out before it, in each order of
// the steps.
func TestDraft_skips(t *testing.T) {
	steps := []string{"do=skip&of=1-0", "do=skip&of=1-1", "do=skip&of=1-2", "do=skip&of=2", "do=skip&of=3-0"}
	for _, backwards := range []bool{false, true} {
		if backwards {
			slices.Reverse(steps)
		}
		s, id := planned(t,
			opt.PlanSpec{Name: "P", Tasks: append(tasksNamed("A"), opt.TaskSpec{Name: "B", Dependencies: []string{"task-2"}}, opt.TaskSpec{Name: "C", Dependencies: []string{"task-0"}})},
			opt.PlanSpec{Name: "Q", Tasks: tasksNamed("D")}, opt.PlanSpec{Name: "R", Tasks: tasksNamed("E", "F")})
		b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
		b.send(b.steps(b.drafting(path, "plan=1"), steps...), "draft", "draft").wants(t, "Your changes were made.")
		var begun []string
		for _, r := range s.world.Events(id) {
			if _, key, ok := strings.Cut(r.Event.TaskID, id[len("obj-"):]+"-"); ok && r.Event.To == string(opt.TaskWorking) {
				begun = append(begun, key)
			}
		}
		if want := []string{"1-0", "3-1"}; !slices.Equal(want, begun) { // A before, and F
			t.Errorf("backwards %v: %q have begun, want %q", backwards, begun, want)
		}
	}
}

// A looseJournal shows all objectives as if they had begun under early rules.
type looseJournal struct{ service.Journal }

func (j looseJournal) Objective(ctx context.Context, tenant, id string) (*opt.Objective, error) {
	o, err := j.Journal.Objective(ctx, tenant, id)
	if err == nil {
		o.Loose = true
		for _, p := range o.Plans {
			p.Loose = true
		}
	}
	return o, err
}

// Where dependencies of one task free all others of a list, none may be free between two commands.
func TestDraft_loose(t *testing.T) {
	depending := tasksNamed("A", "B", "C")
	depending[2].Dependencies = []string{"task-1"}
	var plans []opt.PlanSpec
	for i, tasks := range [][]opt.TaskSpec{tasksNamed("First"), tasksNamed("A", "B", "C", "D"), tasksNamed("A", "B", "C"), depending} {
		plans = append(plans, opt.PlanSpec{Name: string(rune('P' + i)), Dependencies: []string{"plan-0"}[:min(i, 1)], Tasks: tasks})
	}
	s := beginService(t, servicetest.Config{Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
		return servicetest.Made{Plans: plans}, true
	}}, func(cfg *service.Config) { cfg.Journal = looseJournal{cfg.Journal} })
	id := s.send(t, "acme/ann", "Go")
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	at := b.drafting(path, "plan=2")

	b.steps(at, "do=earlier&of=2-1").wants(t, "it is not in a chain", "!Make this change")
	b.steps(at, "do=add&of=2&name=N&after=2-3", "do=earlier&of=new-1").wants(t, "“N” is added to plan “Q”, after “D”", "other tasks of its plan could begin too early")
	b.steps(at, "do=add&of=3&name=N&after=3-2", "do=order&of=3-2&after=new-1", "do=add&of=3&name=M&after=new-1").wants(t, "This cannot be made: other tasks of its plan could begin too early.")
	there := b.steps(at, "do=earlier&of=4-2")
	there.wants(t, "“C” comes before “B”", "Make this change")
	there.holds(t, `id="n4-1" data-after="4-2"`)
	back := b.steps(there, "do=earlier&of=4-1")
	back.wants(t, "“B” comes before “C”", "!This cannot be made")
	back.holds(t, `id="n4-2" data-after="4-1"`)

	b.steps(at, "do=earlier&of=3-1", "do=add&of=3&name=N&after=3-2").wants(t, "“B” comes before “A”", "This cannot be made: other tasks of its plan could begin too early.")
	added := b.steps(at, "do=add&of=4&name=N&after=4-2", "do=earlier&of=4-2")
	added.wants(t, "“N” is added to plan “S”, after “C”", "“C” comes before “B”", "Make these 2 changes")
}
