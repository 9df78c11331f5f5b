package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// sendIn is send in a context.
func (s *site) sendIn(t *testing.T, as, contextID, text string) string {
	t.Helper()
	return s.say(t, as, `{"messageId":"m-`+text+`","contextId":"`+contextID+`","role":"ROLE_USER","parts":[{"text":"`+text+`"}]}`)
}

// answer answers the gate of an objective as a caller.
func (s *site) answer(t *testing.T, as, id, action string) {
	t.Helper()
	s.say(t, as, `{"messageId":"m-`+action+`","taskId":"`+id+`","role":"ROLE_USER","parts":[{"data":{"action":"`+action+`"}}]}`)
}

// say sends a message as a caller, and returns the id of its task.
func (s *site) say(t *testing.T, as, message string) string {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/a2a/rest/message:send", strings.NewReader(`{"message":`+message+`}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("Authorization", "Bearer "+as)
	w := test.Value(http.DefaultClient.Do(r))(t)
	defer func() { _ = w.Body.Close() }()
	var answer struct {
		Task struct{ ID string }
	}
	if err := json.NewDecoder(w.Body).Decode(&answer); err != nil || answer.Task.ID == "" {
		t.Fatalf("%s: %d, %v", message, w.StatusCode, err)
	}
	return answer.Task.ID
}

// A sentForm is a form of a page as a browser would send it.
type sentForm struct {
	action string
	values url.Values
	dos    []string // the names of its buttons
}

// form returns the form of a page with an id.
func (p page) form(t *testing.T, id string) (sentForm, bool) {
	t.Helper()
	root := test.Value(html.Parse(strings.NewReader(p.html)))(t)
	for n := range root.Descendants() {
		if n.Data != "form" || attribute(n, "id") != id {
			continue
		}
		f := readForm(n)
		for n := range root.Descendants() {
			if n.Data == "button" && attribute(n, "form") == id { // it is elsewhere, as in a menu
				f.dos = append(f.dos, attribute(n, "value"))
			}
		}
		return f, true
	}
	return sentForm{}, false
}

func readForm(form *html.Node) sentForm {
	out := sentForm{attribute(form, "action"), url.Values{}, nil}
	for n := range form.Descendants() {
		name := attribute(n, "name")
		switch {
		case n.Data == "button":
			out.dos = append(out.dos, attribute(n, "value"))
		case n.Data == "textarea" && n.FirstChild != nil:
			out.values.Add(name, n.FirstChild.Data)
		case n.Data == "input" && (attribute(n, "type") != "checkbox" || has(n, "checked")):
			out.values.Add(name, attribute(n, "value"))
		}
	}
	return out
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// press opens a page, fills in a form of it with fields (names and values in turns), and
// presses a button.
func (b *browser) press(path, form, do string, fields ...string) page {
	b.t.Helper()
	return b.send(b.get(path), form, do, fields...)
}

// send fills in a form of a page and presses a button.
func (b *browser) send(p page, form, do string, fields ...string) page {
	b.t.Helper()
	f, ok := p.form(b.t, form)
	if !ok || !slices.Contains(f.dos, do) {
		b.t.Fatalf("%s has no button %s in form %s: %v %s", p.path, do, form, f.dos, p.text)
	}
	f.values.Set("do", do)
	for i := 0; i < len(fields); i += 2 {
		f.values.Del(fields[i])
		for value := range strings.SplitSeq(fields[i+1], "|") {
			f.values.Add(fields[i], value)
		}
	}
	return b.post(f.action, f.values)
}

func TestChange_objective(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A", "B")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	b.press(path, "change", "pause").wants(t, "Paused: running tasks finish", "paused It is paused.", "Resume")
	if f, _ := b.get(path).form(t, "change"); slices.Contains(f.dos, "pause") {
		t.Error("a paused objective can be paused")
	}
	b.press(path, "change", "resume").wants(t, "Resumed.", "working")
	b.press(path, "text", "text", "name", "Another name", "description", "And a text").wants(t, "The text was changed.", "Another name", "And a text")
	b.press(path, "add-plan", "add-plan", "name", "Second", "tasks", "One\r\n\r\n Two ", "optional", "1").wants(t, "The plan was added.", "Second", "One", "Two")
	b.addTask(path, "1", "name", "C", "description", "More", "executor", "agent", "after", "1-0|1-1").wants(t, "Your changes were made.", "C")
	b.get(path+"?task=1-2").wants(t, "by agent", "More", "After A working B")
	b.press(path, "add-plan", "add-plan", "name", "Third", "after", "1").wants(t, "Third")
	b.get(path+"?plan=3").wants(t, "waits for P")
	b.send(b.draft(b.drafting(path, "plan=3"), "draft-order", "after", "1|2"), "draft", "draft").wants(t, "Your changes were made.", "waits for P , Second")
	b.press(path+"?plan=3", "p3-change", "skip").wants(t, "Skipped.", "skipped")
	b.press(path, "replan", "replan", "reason", "Because").wants(t, "New plans are being made.")
	b.press(path, "change", "cancel").wants(t, "Canceled.", "canceled", "Retry", "!Declare")
	b.press(path, "change", "retry").wants(t, "A new attempt has begun.", "working")
	b.press(path, "change", "fail").wants(t, "Declared failed.", "The objective was declared failed.")
	b.press(path, "change", "retry-planned").wants(t, "A new attempt has begun, with new plans.")
	b.press(path, "change", "complete").wants(t, "Declared completed.", "!Retry")
	b.get(path+"/timeline").wants(t, "The objective is being stopped by ann, and will be canceled")
}

func TestChange_plan(t *testing.T) {
	optional := a2a.Metadata{}.With(opt.KeyOptional, true)
	s, id := planned(t, opt.PlanSpec{Name: "P", Metadata: optional, Tasks: tasksNamed("A")}, opt.PlanSpec{Name: "Q", Tasks: tasksNamed("B")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	b.press(path+"?plan=1", "p1-change", "pause").wants(t, "Paused:", "Resume")
	b.press(path+"?plan=1", "p1-change", "resume").wants(t, "Resumed.")
	b.press(path+"?plan=1", "p1-change", "fail").wants(t, "Declared failed.", "Retry now")
	b.press(path+"?plan=1", "p1-change", "retry-later").wants(t, "It is tried again when it is its turn.")
	b.press(path+"?plan=2", "p2-change", "complete").wants(t, "Declared completed.")
}

func TestChange_task(t *testing.T) {
	optional := a2a.Metadata{}.With(opt.KeyOptional, true)
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "A", Metadata: optional}, {Name: "B"}, {Name: "C"}, {Name: "D"}}})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	b.press(path+"?task=1-0", "task-change", "skip").wants(t, "Skipped.", "canceled")
	b.press(path+"?task=1-1", "task-change", "complete").wants(t, "Declared completed.", "completed", "moved by hand", "!Cancel this task")
	b.press(path+"?task=1-2", "task-change", "complete").wants(t, "completed")
	b.press(path+"?task=1-3", "task-change", "cancel").wants(t, "Canceled.", "canceled")
	b.get(path).wants(t, "failed", "Retry")
	if f, _ := b.get(path+"?task=1-0").form(t, "task-change"); len(f.dos) > 0 {
		t.Errorf("a task that has ended can be changed: %v", f.dos)
	}
}

// Another client is faster: the page says so, shows the present state and keeps the
// input, which can be sent again.
func TestChange_stale(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	old := b.get(path + "?plan=1")
	task := b.get(path + "?task=1-0")
	s.signedIn(t, "acme/bob").press(path, "change", "pause")
	p := b.send(old, "text", "text", "name", "My <b>work", "description", "Do it")
	p.wants(t, "Another change was faster", "is at revision 2 now, and the form was opened at revision 1", "Resume")
	f, _ := p.form(t, "text")
	if p.status != http.StatusConflict || f.values.Get("name") != "My <b>work" || f.values.Get("description") != "Do it" || !strings.Contains(p.html, `<details id="text-form" open>`) || !strings.Contains(p.html, `id="menu" open>`) {
		t.Errorf("%d: %v", p.status, f)
	}
	if name := s.world.Objective(id).Name; strings.HasPrefix(name, "My") {
		t.Errorf("the name is %s", name)
	}
	b.send(p, "text", "text").wants(t, "The text was changed.", "My <b>work")
	b.send(task, "task-change", "cancel").wants(t, "Another change was faster", "working")
	b.send(old, "change", "cancel").wants(t, "Another change was faster", "!Canceled.")
	if s.world.Objective(id).Status.Ended() {
		t.Error("a form with an old revision has canceled the objective")
	}
}

// A form that is sent twice counts once.
func TestChange_twice(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	p := b.draft(b.drafting(path, "plan=1"), "draft-add", "name", "B")
	for range 2 {
		b.send(p, "draft", "draft").wants(t, "Your changes were made.")
	}
	if n := len(s.world.Objective(id).Plans[0].Tasks); n != 2 {
		t.Errorf("the plan has %d tasks, want 2", n)
	}
	b.get(path+"/timeline").wants(t, "1 task was added to plan “P”")
}

// While the engine does not answer, nothing is lost: the same form can be sent again.
func TestChange_unavailable(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	s.world.Down(opt.ErrUnavailable)
	p := b.addTask(path, "1", "name", "B")
	p.wants(t, "It is not known whether the change was made.")
	s.world.Down(nil)
	b.send(p, "draft", "draft").wants(t, "Your changes were made.", "B")
}

// A new attempt that begins and cannot be started says both, until it is started.
func TestChange_retryNotStarted(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	b.press(path, "change", "cancel").wants(t, "Canceled.")
	s.world.Before(func(_ context.Context, name string) error {
		if name == "command" {
			return opt.ErrUnavailable
		}
		return nil
	})
	p := b.press(path, "change", "retry")
	p.wants(t, "A new attempt has begun.", "The new attempt waits: it was not started. Start it here.", "!Nothing was changed", "!It is not known")
	s.world.Down(nil)
	if o := s.world.Objective(id); o.Attempt != 2 || o.Started {
		t.Errorf("the objective is in attempt %d, started: %v", o.Attempt, o.Started)
	}
	b.send(p, "change", "start").wants(t, "Started.", "working", "!waits: it was not started")
	b.get(path+"?"+p.query).wants(t, "working", "!waits: it was not started")
}

func TestChange_invalid(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	p := b.press(path, "add-plan", "add-plan", "name", " ", "after", "7")
	p.wants(t, "Nothing was changed.")
	if f, _ := p.form(t, "add-plan"); p.status != http.StatusBadRequest || f.values.Get("name") != " " {
		t.Errorf("%d: %v", p.status, f)
	}
	old := b.get(path)
	for _, broken := range []url.Values{{}, {"do": {"pause"}}, {"do": {"pause"}, "key": {"k"}, "revision": {"x"}}, {"do": {"nothing"}, "key": {"k"}, "revision": {"1"}}} {
		b.post(path, broken).shows(t, http.StatusBadRequest)
	}
	whole := url.Values{"do": {"complete"}, "key": {"k"}, "revision": {"1"}}
	for _, part := range []string{"/tasks/9999999-0", "/tasks/1", "/tasks/x", "/plans/9999999", "/plans/1-0", "/plans/01"} {
		b.post(path+part, whole).shows(t, http.StatusNotFound)
	}
	test.Is(t, old.path+" is at revision", 1, s.world.Objective(id).Revision)
}

// A fork is made by a form, and stands beside its original. Tasks that have begun are repeated only if
// the box says so.
func TestFork(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b := s.signedIn(t, "acme/ann")
	path := "/console/objectives/" + id
	b.press(path, "fork", "fork", "at", "none").wants(t, "is not the number of an event")
	b.press(path, "fork", "fork", "at", "").wants(t, "no recorded end")
	if s.world.Objective(id).Status.Ended() {
		t.Error("the original has ended")
	}
	fork := b.press(path, "fork", "fork", "repeat", "1")
	fork.wants(t, "This is the fork.", "Fork of", "side by side")
	side := b.get(regexp.MustCompile(`/console/objectives/[^"]*/compare\?with=[^"]*`).FindString(fork.html))
	side.wants(t, "Side by side", "P / A", "working, 0")
	s.signedIn(t, "other/eve").get(side.path).shows(t, http.StatusNotFound)
}

// A page offers what the scopes of the caller allow, and nothing else; a form that was not
// offered is refused.
func TestChange_scopes(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	path := "/console/objectives/" + id
	all := []string{"pause", "complete", "fail", "cancel", "replan", "add-plan", "text", "skip", "fork"}
	for scopes, want := range map[string][]string{
		"runs:read":                   nil,
		"runs:read runs:create":       {"pause", "add-plan", "text", "fork"},
		"runs:read runs:cancel":       {"fail", "cancel"},
		"runs:read approvals:respond": {"complete"},
		"all":                         {"pause", "complete", "fail", "cancel", "replan", "add-plan", "text", "fork"},
	} {
		b := s.signedIn(t, "acme/bob "+scopes)
		for _, at := range []string{path + "?plan=1", path + "?task=1-0"} {
			p := b.get(at)
			offered := map[string]bool{}
			for _, m := range regexp.MustCompile(`<button [^>]*value="([a-z-]+)"`).FindAllStringSubmatch(p.html, -1) {
				offered[m[1]] = true
			}
			if strings.Contains(at, "task") {
				f, _ := p.form(t, "task-change")
				offered = map[string]bool{}
				for _, do := range f.dos {
					offered[do] = true
				}
				want = slices.DeleteFunc(slices.Clone(want), func(do string) bool { return do != "fail" && do != "cancel" && do != "complete" })
			}
			for _, do := range all {
				test.Is(t, fmt.Sprintf("%s with %s: %s is offered", at, scopes, do), slices.Contains(want, do), offered[do])
			}
		}
	}
	full, reader := s.signedIn(t, "acme/ann").get(path+"?plan=1"), s.signedIn(t, "acme/bob runs:read")
	for _, form := range []string{"change", "text", "replan", "fork", "add-plan", "p1-change"} {
		f, _ := full.form(t, form)
		f.values.Set("do", f.dos[0])
		reader.post(f.action, f.values).shows(t, http.StatusForbidden)
		s.signedIn(t, "other/eve").post(f.action, f.values).shows(t, http.StatusNotFound)
	}
	if o := s.world.Objective(id); o.Revision != 1 {
		t.Errorf("the objective is at revision %d", o.Revision)
	}
}

// limited returns a browser that has signed in with a key that perhaps may read nothing.
func (s *site) limited(t *testing.T, key string) *browser {
	t.Helper()
	b := s.browser(t)
	b.post("/console/sign-in", url.Values{"key": {key}})
	return b
}

// The form of a task has buttons for several scopes: one of them is not enough to cancel.
func TestChange_cancelTaskScope(t *testing.T) {
	optional := a2a.Metadata{}.With(opt.KeyOptional, true)
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "A"}, {Name: "B", Metadata: optional}}})
	ann, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	sent := map[string]sentForm{}
	for do, key := range map[string]string{"cancel": "1-0", "skip": "1-1"} {
		f, _ := ann.get(path+"?task="+key).form(t, "task-change")
		if !slices.Contains(f.dos, do) {
			t.Fatalf("task %s has no button %s: %v", key, do, f.dos)
		}
		f.values.Set("do", do)
		sent[do] = f
	}
	for _, scope := range []string{"runs:create", "approvals:respond"} {
		for _, f := range sent {
			for _, scopes := range []string{scope, "runs:read " + scope} {
				s.limited(t, "acme/bob "+scopes).post(f.action, f.values).shows(t, http.StatusForbidden, "runs:cancel")
			}
		}
	}
	for _, task := range s.world.Objective(id).Plans[0].Tasks {
		if task.State.Ended() {
			t.Errorf("%s is %s", task.Name, task.State)
		}
	}
}

// A form that is refused shows nothing of the objective to a caller who may not read it.
func TestChange_refusedWithoutReading(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "Secret plan", Tasks: tasksNamed("Secret task")})
	ann, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	text, _ := ann.get(path).form(t, "text")
	text.values.Set("do", "text")
	task, _ := ann.get(path+"?task=1-0").form(t, "task-change")
	task.values.Set("do", "nothing")
	ann.press(path, "text", "text", "name", "Secret name")
	for scopes, reads := range map[string]bool{"runs:create": false, "runs:create runs:read": true} {
		b := s.limited(t, "acme/bob "+scopes)
		for want, f := range map[int]sentForm{http.StatusConflict: text, http.StatusBadRequest: task} {
			if got := b.post(f.action, f.values); got.status != want || strings.Contains(got.text, "Secret") != reads {
				t.Errorf("%s with %s: %d %s", f.action, scopes, got.status, got.text)
			}
		}
	}
}

// Forms for several tasks, and for the objective, are several forms.
func TestChange_sameButtonElsewhere(t *testing.T) {
	optional := a2a.Metadata{}.With(opt.KeyOptional, true)
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "A", Metadata: optional}, {Name: "B", Metadata: optional}}})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	keys := map[string]string{}
	for _, at := range []string{path, path + "?task=1-0", path + "?task=1-1"} {
		form := "task-change"
		if at == path {
			form = "change"
		}
		f, _ := b.get(at).form(t, form)
		key := f.values.Get("key")
		if other, ok := keys[key]; ok || key == "" {
			t.Errorf("the forms of %s and of %s have the key %q", other, at, key)
		}
		keys[key] = at
	}
}

// The page says that a plan has not confirmed a change in time.
func TestChange_unconfirmed(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	p, before := b.get(path), len(s.world.Commands())
	s.world.SleepOn(opt.PlanID(id, 1))
	answer := make(chan page, 1)
	go func() { answer <- b.send(p, "change", "pause") }()
	w := s.world.Watch(id)
	defer w.Close()
	for len(s.world.Commands()) == before {
		select {
		case <-w.C():
		case <-t.Context().Done():
			t.Fatal("no command came")
		}
	}
	s.world.Advance(time.Minute)
	(<-answer).wants(t, "Paused:", "1 plan had not confirmed the change when it was answered. It follows as soon as it can.")
}

var href = regexp.MustCompile(` href="([^"]*)"`)

// The page that answers to a refused form is at the address of the form, which often has no
// page of its own: it stays as it is, and its links lead to the pages that they name.
func TestChange_refusedPage(t *testing.T) {
	s := begin(t, &opt.Gate{Kind: opt.Approval, Title: "Publish?", Actions: []opt.Action{opt.Accept}})
	id := s.send(t, "acme/ann", "Go")
	s.answer(t, "acme/ann", opt.TaskID(opt.PlanID(id, 1), 0), "accept")
	b, path := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	b.addTask(path, "1", "name", "B", "after", "1-0")
	objective, task := b.get(path), b.get(path+"?task=1-0")
	if !strings.Contains(objective.html, "data-refresh") || !strings.Contains(task.html, "data-refresh") {
		t.Fatal("the pages do not refresh themselves")
	}
	s.signedIn(t, "acme/bob").press(path, "text", "text", "name", "Other")
	for name, p := range map[string]page{
		"the state": b.send(objective, "change", "pause"), "a text": b.send(objective, "text", "text", "name", "Third"),
		"a plan": b.send(objective, "add-plan", "add-plan", "name", "Q"), "a task": b.send(task, "task-change", "cancel"),
	} {
		p.shows(t, http.StatusConflict)
		p.holds(t, "!data-events", "!data-refresh")
		tasks := 0
		for _, link := range href.FindAllStringSubmatch(p.html, -1) {
			to := html.UnescapeString(link[1])
			if strings.Contains(to, "?task=") {
				tasks++
			}
			if strings.HasPrefix(to, "#") || strings.HasPrefix(to, "http") {
				continue
			}
			b.get(strings.TrimPrefix(resolve(t, p.path, to), s.URL)).shows(t, http.StatusOK)
		}
		if tasks == 0 {
			t.Errorf("%s: no link leads to a task", name)
		}
	}
}

// resolve returns the address that a link on the page at a path leads to.
func resolve(t *testing.T, path, link string) string {
	t.Helper()
	base := test.Value(url.Parse(path))(t)
	to := test.Value(base.Parse(link))(t)
	return to.String()
}
