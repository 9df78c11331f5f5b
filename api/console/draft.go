package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Limits of a draft, whose steps are in its address.
const (
	mostSteps    = 40
	longestDraft = 16 << 10 // bytes of the address
)

// A step is one change of a draft: do is "add", for a task; "order", for what a plan or a task waits for;
// "earlier" or "later", for its place in a chain; "between", for a task that comes after one task and before
// another; or "skip". of is the key of the plan or task, and after has the keys of those that it waits for. A new
// task has a name of its own as its key, since others may add tasks meanwhile.
type step struct{ url.Values }

// stepFields are the fields of a step.
var stepFields = []string{"do", "of", "after", "before", "name", "description", "executor", "optional"}

// stepsOf returns the steps of an address.
func stepsOf(at spot) (out []step) {
	for _, text := range at.Steps {
		q, _ := url.ParseQuery(text)
		out = append(out, step{q})
	}
	return out
}

// with returns s with one more step, from the fields of a form. A new task gets its name.
func (s spot) with(form url.Values) spot {
	q := url.Values{}
	for _, field := range stepFields {
		if form.Has(field) {
			q[field] = form[field]
		}
	}
	if q.Get("do") == "add" {
		n := 1
		for _, had := range stepsOf(s) {
			if of, ok := strings.CutPrefix(had.Get("as"), newTask); ok {
				last, _ := strconv.Atoi(of)
				n = max(n, last+1)
			}
		}
		q.Set("as", newTask+strconv.Itoa(n))
	}
	s.Steps = append(slices.Clone(s.Steps), q.Encode())
	return s
}

// newTask begins the names of new tasks.
const newTask = "new-"

// ToDraft returns the address at which a draft begins for the present state of o.
func (s spot) ToDraft(o *opt.Objective) string { return s.onto(o).path() }

// onto returns s with its draft moved to the present state of o.
func (s spot) onto(o *opt.Objective) spot {
	s.Graph, s.Draft, s.Since = true, o.Revision, max(o.UpdatedAt.Millis(), latestOf(o))
	return s
}

// A draft is an objective with steps that were not sent.
type draft struct {
	now, was *opt.Objective // the former is a copy
	allows   func(opt.Command) bool
	tasksOf  map[string]planTasks // what changes of them, by the id of their plan
	names    map[string]string    // of new tasks, by their ids
	skipped  map[string]bool      // by id
	asked    []asked
}

// The planTasks of a plan are its new tasks, and what those that were there wait for.
type planTasks struct {
	added []opt.TaskSpec
	order []opt.TaskOrder
}

// An asked is a command of a draft, and the steps that it takes.
type asked struct {
	opt.Command
	steps []int
}

// draftOf returns o with the steps of a draft, and for each what it changes, or why it cannot.
func draftOf(f forms, at spot) (*draft, []draftLine) {
	o := *f.o
	d := &draft{now: &o, was: f.o, allows: f.allows, tasksOf: map[string]planTasks{}, names: map[string]string{}, skipped: map[string]bool{}}
	o.Plans = nil
	for _, p := range f.o.Plans {
		o.Plans = append(o.Plans, new(*p))
	}
	steps := stepsOf(at)
	lines := make([]draftLine, len(steps))
	for i, s := range steps {
		text, err := d.apply(i, s)
		rest := at
		rest.Steps = slices.Delete(slices.Clone(at.Steps), i, i+1)
		lines[i] = draftLine{Text: cmp.Or(text, shorten(a2a.Visible(s.Get("name")), titleLetters), s.Get("of")), Undo: rest.path()}
		if wrong, ok := errors.AsType[*opt.SpecError](err); ok {
			err = errors.New(wrong.Problem)
		}
		if err != nil {
			lines[i].Refused = "This cannot be made: " + err.Error() + "."
		}
	}
	return d, lines
}

// apply carries out a step, and returns what it changes.
func (d *draft) apply(n int, s step) (text string, err error) {
	switch s.Get("do") {
	case "add":
		return d.add(n, s)
	case "order":
		return d.order(n, s)
	case "earlier", "later":
		return d.move(n, s)
	case "between":
		return d.between(n, s)
	case "skip":
		return d.skip(n, s)
	}
	return "", errGone
}

// errGone says that a step is about what cannot be changed so now.
var errGone = errors.New("it can no longer be changed so")

// ask adds a step to the command that changes the same, which it replaces.
func (d *draft) ask(step int, cmd opt.Command) error {
	if !d.allows(cmd) {
		return errGone
	}
	d.keep(step, cmd)
	return nil
}

// keep is ask for a command that is allowed.
func (d *draft) keep(step int, cmd opt.Command) {
	i := slices.IndexFunc(d.asked, changes(cmd))
	if i < 0 {
		i, d.asked = len(d.asked), append(d.asked, asked{})
	}
	d.asked[i] = asked{cmd, append(d.asked[i].steps, step)}
}

// changes returns whether a command changes the same as another one.
func changes(cmd opt.Command) func(asked) bool {
	return func(a asked) bool {
		return a.Kind == cmd.Kind && a.PlanID == cmd.PlanID && a.TaskID == cmd.TaskID && a.Status == cmd.Status
	}
}

// add adds a task to a plan.
func (d *draft) add(step int, s step) (string, error) {
	p := planAt(d.now, s.Get("of"))
	if p == nil {
		return "", errGone
	}
	spec := opt.TaskSpec{Name: strings.TrimSpace(s.Get("name")), Description: strings.TrimSpace(s.Get("description"))}
	spec.Executor, spec.Dependencies = strings.TrimSpace(s.Get("executor")), d.tasks(p, s)
	if s.Get("optional") != "" {
		spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
	}
	had := d.tasksOf[p.ID]
	if err := d.put(step, p, planTasks{append(slices.Clone(had.added), spec), had.order}); err != nil {
		return "", err
	}
	t := p.Tasks[len(p.Tasks)-1]
	d.names[t.ID] = s.Get("as")
	text := fmt.Sprintf("%s is added to plan %s%s", quoted(t.Name), quoted(p.Name), listed(", after ", each(p.Before(t), quotedTask)))
	if t.Optional() {
		text += ", optional"
	}
	if t.Executor != "" {
		text += ", by " + shorten(a2a.Visible(t.Executor), titleLetters)
	}
	if t.Description != "" { // who sends the draft may have got it as a link
		text += ": " + beginningText(a2a.Visible(t.Description), mostShown)
	}
	return text, nil
}

// put replaces what changes of the tasks of a plan.
func (d *draft) put(step int, p *opt.Plan, to planTasks) error {
	was, had := d.was.Plan(p.ID), d.tasksOf[p.ID]
	tasks, err := was.NewTasks(to.added)
	if err != nil {
		return err
	}
	after := *p
	after.Tasks = slices.Concat(was.Tasks, tasks)
	order, err := opt.Reordered(&after, to.order)
	if err != nil {
		return err
	}
	for _, o := range order {
		t := *after.Task(o.ID)
		t.Dependencies = o.Dependencies
		after.Tasks[t.Index] = &t
	}
	if !reflect.DeepEqual(had.added, to.added) {
		err = d.ask(step, opt.Command{Kind: opt.AddTasks, PlanID: p.ID, Tasks: to.added})
	}
	switch cmd := (opt.Command{Kind: opt.OrderTasks, PlanID: p.ID, Order: to.order}); {
	case err != nil:
	case len(order) == 0:
		d.asked = slices.DeleteFunc(d.asked, changes(cmd))
	case reflect.DeepEqual(had.order, to.order):
	case !d.mayOrder(p):
		err = errGone
	default:
		d.keep(step, cmd)
	}
	if err == nil {
		d.tasksOf[p.ID], p.Tasks = to, after.Tasks
	}
	return err
}

// mayOrder reports whether the order of a plan, or of its tasks, may be changed as far as that is not about
// some of them alone.
func (d *draft) mayOrder(p *opt.Plan) bool {
	return d.allows(opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Change: &opt.Change{Name: new("another")}})
}

// tasks returns the ids of the tasks that a step names. They are nil for the last of a list in which
// one with ids would free all others.
func (d *draft) tasks(p *opt.Plan, s step) []string {
	ids := []string{}
	for _, t := range p.Tasks {
		if slices.Contains(s.Values["after"], d.key(t)) {
			ids = append(ids, t.ID)
		}
	}
	if n := len(p.Tasks); n > 0 && p.Loose && !p.Unordered() && len(ids) == 1 && ids[0] == p.Tasks[n-1].ID {
		return nil
	}
	return ids
}

// key returns the key of a task, the name of a new one.
func (d *draft) key(t *opt.Task) string {
	if name := d.names[t.ID]; name != "" {
		return name
	}
	return taskKey(t)
}

// at returns the task with a key, and its plan; nil for none.
func (d *draft) at(key string) (*opt.Plan, *opt.Task) { return taskWith(d.now, key, d.key) }

// order changes what a plan or a task waits for.
func (d *draft) order(step int, s step) (string, error) {
	if p, t := d.at(s.Get("of")); t != nil {
		to := planTasks{slices.Clone(d.tasksOf[p.ID].added), slices.Clone(d.tasksOf[p.ID].order)}
		d.wait(&to, p, t, d.tasks(p, s))
		err := d.put(step, p, to)
		now := each(p.Before(p.Task(t.ID)), quotedTask)
		return quoted(t.Name) + " waits for " + cmp.Or(listed("", now), "nothing") + listed(", no longer for ", d.before(p, t, now)), err
	}
	p := planAt(d.now, s.Get("of"))
	if p == nil {
		return "", errGone
	}
	ids := []string{}
	for _, q := range d.now.Plans {
		if slices.Contains(s.Values["after"], planKey(q)) {
			ids = append(ids, q.ID)
		}
	}
	text := "Plan " + quoted(p.Name) + " waits for " + cmp.Or(listed("", each(ids, func(id string) string { return nameOfPlan(d.now, id) })), "nothing")
	err := d.orderPlan(step, p, ids)
	return text + listed(", no longer for ", each(d.dropped(p), quotedPlan)), err
}

// wait has a task, a new one or not, wait for those with some ids.
func (d *draft) wait(to *planTasks, p *opt.Plan, t *opt.Task, ids []string) {
	if i := t.Index - len(d.was.Plan(p.ID).Tasks); i >= 0 {
		to.added[i].Dependencies = ids
		return
	}
	to.order = slices.DeleteFunc(to.order, func(o opt.TaskOrder) bool { return o.ID == t.ID })
	to.order = append(to.order, opt.TaskOrder{ID: t.ID, Dependencies: append([]string{}, ids...)})
}

// before names what a task has waited for, if it was there, and waits for no longer.
func (d *draft) before(p *opt.Plan, t *opt.Task, now []string) []string {
	was := d.was.Plan(p.ID)
	if t.Index >= len(was.Tasks) {
		return nil
	}
	gone := each(was.Before(was.Tasks[t.Index]), quotedTask)
	return slices.DeleteFunc(gone, func(name string) bool { return slices.Contains(now, name) })
}

// orderPlan has a plan wait for the plans with some ids. These may wait for it now, and no longer with the
// changes before.
func (d *draft) orderPlan(step int, p *opt.Plan, ids []string) error {
	ids, err := d.now.Reordered(p, ids)
	was, cmd := d.was.Plan(p.ID), opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Change: &opt.Change{Dependencies: ids}}
	switch {
	case err != nil:
		return err
	case was.DependsOn(ids):
		d.asked = slices.DeleteFunc(d.asked, changes(cmd))
	case !d.mayOrder(p):
		return errGone
	default:
		d.keep(step, cmd)
	}
	p.Dependencies = ids
	return nil
}

// dropped lists the plans that a plan has waited for, and waits for no longer.
func (d *draft) dropped(p *opt.Plan) []*opt.Plan {
	was := d.was.Before(d.was.Plan(p.ID))
	return slices.DeleteFunc(slices.Clone(was), func(b *opt.Plan) bool { return slices.Contains(d.now.Before(p), d.now.Plan(b.ID)) })
}

// skip leaves out a plan or a task. One that its plan needs is declared completed, so that the plan
// continues.
func (d *draft) skip(step int, s step) (string, error) {
	cmd, text := opt.Command{Kind: opt.UpdatePlan, Status: string(opt.PlanSkipped)}, ""
	if p := planAt(d.now, s.Get("of")); p != nil {
		cmd.PlanID, text = p.ID, "Plan "+quoted(p.Name)+" is skipped"
	} else if p, t := d.at(s.Get("of")); t != nil {
		cmd, text = skipOf(p, t), quoted(t.Name)+" is skipped"
		if !t.Optional() {
			text += ": it is declared completed, without a result"
		}
	}
	err := d.ask(step, cmd)
	if err == nil {
		d.skipped[cmp.Or(cmd.TaskID, cmd.PlanID)] = true
	}
	return text, err
}

// skipOf returns the command that leaves out a task.
func skipOf(p *opt.Plan, t *opt.Task) opt.Command {
	cmd := opt.Command{Kind: opt.CancelTask, PlanID: p.ID, TaskID: t.ID}
	if !t.Optional() {
		cmd.Kind, cmd.Status = opt.MoveTask, string(opt.TaskCompleted)
	}
	return cmd
}

// ranks orders the commands: a plan whose last task is left out may end before it gets another.
var ranks = map[opt.CommandKind]int{opt.AddTasks: 1, opt.OrderTasks: 2, opt.UpdatePlan: 3, opt.MoveTask: 4, opt.CancelTask: 4}

// commands lists all commands, in that order.
func (d *draft) commands() []asked {
	rank := func(a asked) int {
		if a.Status == string(opt.PlanSkipped) {
			return len(ranks)
		}
		return ranks[a.Kind]
	}
	return slices.SortedStableFunc(slices.Values(d.asked), func(a, b asked) int {
		return cmp.Or(rank(a)-rank(b), d.depth(d.now.Plan(a.PlanID))-d.depth(d.now.Plan(b.PlanID)))
	})
}

// depth returns how many plans in a row must be done before a plan. What they wait for is changed before what it
// waits for, so that no command makes a cycle.
func (d *draft) depth(p *opt.Plan) (most int) {
	for _, b := range d.now.Before(p) {
		most = max(most, 1+d.depth(b))
	}
	return most
}

// draw returns the drawing of d, with what it changes.
func (d *draft) draw(at spot) *tree {
	t := treeOf(d.now, at, d.was)
	for i, p := range d.now.Plans {
		drawn := &t.Plans[i]
		_, err := d.now.Reordered(p, p.Dependencies)
		mayOrder := d.mayOrder(p)
		d.mark(&drawn.treeTask, p.ID, err == nil, each(d.now.Before(p), planKey))
		for j, task := range p.Tasks {
			block := &drawn.Tasks[j]
			_, isNew := d.names[task.ID]
			if isNew {
				block.Name = "+ " + block.Name
			}
			block.Key = d.key(task)
			block.Path = at.ToTask(block.Key)
			d.mark(block, task.ID, isNew || task.State == opt.TaskPending && mayOrder, each(p.Before(task), d.key))
		}
	}
	return t
}

// mark adds what d says about a plan or a task, whose title says it, too.
func (d *draft) mark(drawn *treeTask, id string, free bool, after []string) {
	drawn.Free, drawn.After = free, strings.Join(after, " ")
	switch {
	case d.skipped[id]:
		drawn.Mark = "skipped"
	case d.names[id] != "":
		drawn.Mark = "added"
	default:
		return
	}
	drawn.Title += ", " + drawn.Mark
}

// A draftPanel shows the steps of a draft beside the graph, and forms for more.
type draftPanel struct {
	Lines  []draftLine
	Theirs []moment // changes since the draft began
	Renew  string   // the address of the draft for the present state, "" if it is for that
	Drop   string
	Send   *changeForm // nil while nothing can be sent
	Of     *draftTarget
	Hidden url.Values // the fields of forms that add a step
}

// A draftLine is a step of a draft.
type draftLine struct{ Text, Refused, Undo string }

// A draftTarget is the plan or task that is selected, and what can be done with it.
type draftTarget struct {
	Key, Name string
	Skip      string // the address with the step that leaves it out, "" if that is impossible
	Earlier   string // likewise, that changes places with the one before it in a chain
	Later     string // likewise, with the one after it
	Plan      string // the key of the plan that can have a new task, "" for none
	After     []planChoice
	Order     []planChoice
}

// draftPanelOf returns the drawing of a draft, and the panel beside it.
func draftPanelOf(f forms, at spot) (*tree, *draftPanel, error) {
	if len(at.Steps) > mostSteps || len(at.path()) > longestDraft {
		return nil, nil, call.Invalid(call.Violation{Field: "A draft", Description: "has no room for more: make its changes first"})
	}
	d, lines := draftOf(f, at)
	p := &draftPanel{Lines: lines, Drop: at.sent().path(), Hidden: at.query(), Of: d.target(at)}
	if p.Of != nil {
		p.Of.Earlier, p.Of.Later = toMove(f, at, "earlier", p.Of.Key), toMove(f, at, "later", p.Of.Key)
	}
	ready := len(d.asked) > 0 && !slices.ContainsFunc(lines, func(l draftLine) bool { return l.Refused != "" })
	if f.o.Revision != at.Draft {
		p.Renew = at.onto(f.o).path()
		var err error
		if p.Theirs, err = changedSince(f, at.Since); err != nil {
			return nil, nil, err
		}
	} else if ready {
		p.Send = new(f.form("draft", "/draft?"+at.query().Encode()))
		p.Send.Revision = at.Draft
	}
	return d.draw(at), p, nil
}

// changeKinds are the events by which people and planners change work.
var changeKinds = []opt.EventKind{
	opt.ObjectiveChanged, opt.ObjectivePaused, opt.ObjectiveResumed, opt.ObjectiveStopping, opt.ObjectiveRetried, opt.PlanAdded, opt.PlanChanged,
	opt.PlanPaused, opt.PlanResumed, opt.PlanStopping, opt.PlanRetried, opt.TasksAdded, opt.TasksOrdered, opt.TaskLinked, opt.TaskMoved,
}

// changedSince lists the changes after a time. Of the moves of tasks, those by hand are changes.
func changedSince(f forms, since int64) ([]moment, error) {
	events, err := f.cfg.Service.Events.ListEvents(f.r.Context(), f.call, read.EventListParams{ObjectiveID: f.o.ID, Limit: timelineSize})
	later := slices.DeleteFunc(events.Events, func(r shown.Recorded) bool {
		return r.Event.At.Millis() <= since || !slices.Contains(changeKinds, r.Event.Kind) || r.Event.Kind == opt.TaskMoved && r.Event.Reason != opt.ByHand
	})
	return momentsOf(f.o, later), err
}

// target returns what a spot selects, nil for nothing.
func (d *draft) target(at spot) *draftTarget {
	if p, t := d.at(at.Task); t != nil {
		return d.targetTask(at, p, t)
	}
	p := planAt(d.now, at.Plan)
	if p == nil {
		return nil
	}
	out := &draftTarget{Key: planKey(p), Name: p.Name}
	out.Skip = d.toSkip(at, out.Key, opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: string(opt.PlanSkipped)})
	d.offer(out, p, p.Tasks[max(0, len(p.Tasks)-1):])
	if _, err := d.now.Reordered(p, p.Dependencies); err == nil {
		out.Order = choicesOf(d.now.Plans, p, d.now.Before(p), planKey, func(q *opt.Plan) string { return q.Name })
	}
	return out
}

func (d *draft) targetTask(at spot, p *opt.Plan, t *opt.Task) *draftTarget {
	out := &draftTarget{Key: d.key(t), Name: t.Name}
	isNew := d.names[t.ID] != ""
	if isNew || t.State == opt.TaskPending && d.mayOrder(p) {
		out.Order = choicesOf(p.Tasks, t, p.Before(t), d.key, nameOf)
	}
	if !isNew {
		out.Skip = d.toSkip(at, out.Key, skipOf(p, t))
	}
	d.offer(out, p, []*opt.Task{t})
	return out
}

// toSkip returns the address with the step that leaves something out, "" if that is impossible.
func (d *draft) toSkip(at spot, key string, cmd opt.Command) string {
	if d.skipped[cmp.Or(cmd.TaskID, cmd.PlanID)] || !d.allows(cmd) {
		return ""
	}
	return at.with(url.Values{"do": {"skip"}, "of": {key}}).path()
}

// offer adds what a new task of a plan may wait for, unless it can have none.
func (d *draft) offer(out *draftTarget, p *opt.Plan, after []*opt.Task) {
	if d.allows(opt.Command{Kind: opt.AddTasks, PlanID: p.ID, Tasks: []opt.TaskSpec{{Name: "another"}}}) {
		out.Plan, out.After = planKey(p), choicesOf(p.Tasks, nil, after, d.key, nameOf)
	}
}

func nameOf(t *opt.Task) string     { return t.Name }
func idOfPlan(p *opt.Plan) string   { return p.ID }
func idOfTask(t *opt.Task) string   { return t.ID }
func quotedTask(t *opt.Task) string { return quoted(t.Name) }
func quotedPlan(p *opt.Plan) string { return quoted(p.Name) }
