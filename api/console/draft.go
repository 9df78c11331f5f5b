package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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

// stepsOf returns the steps of an address. A step is one change of a draft: do is "add", for a task; "order", for
// what a plan or a task waits for; "earlier" or "later", for its place in a chain; "between", for a task that comes
// after one task and before another; or "skip". of is the key of the plan or task, and after has the keys of those
// that it waits for. A new task has a name of its own as its key, since others may add tasks meanwhile.
func stepsOf(at spot) []url.Values {
	return each(at.Values["step"], func(text string) url.Values {
		q, _ := url.ParseQuery(text)
		return q
	})
}

func (s spot) stepping(steps []string) spot {
	s = s.with()
	s.Values["step"] = steps
	return s
}

// adding returns s with one more step, from the fields of a form. A new task gets its name.
func (s spot) adding(form url.Values) spot {
	q := newListing(form, "do", "of", "after", "before", "name", "description", "executor", "optional")
	if q.Get("do") == "add" {
		n := 1
		for _, had := range stepsOf(s) {
			last, _ := strconv.Atoi(strings.TrimPrefix(had.Get("as"), newTask))
			n = max(n, last+1)
		}
		q.Set("as", newTask+strconv.Itoa(n))
	}
	return s.stepping(slices.Concat(s.Values["step"], []string{q.Encode()}))
}

const newTask = "new-"

// ToDraft returns the address at which a draft begins for the present state of o.
func (s spot) ToDraft(o *opt.Objective) string { return s.onto(o).path() }

// onto returns s with its draft moved to the present state of o.
func (s spot) onto(o *opt.Objective) spot {
	return s.with("view", "graph", "draft", numberText(o.Revision), "since", numberText(max(o.UpdatedAt.Millis(), latestOf(o))))
}

// A draft is an objective with steps that were not sent.
type draft struct {
	now, was *opt.Objective // the former is a copy
	allows   func(opt.Command) bool
	added    map[string]string // the names of new tasks, by their ids
	skipped  map[string]bool   // by id
	asked    []asked           // what makes was what now is
}

// An asked is a command of a draft, and the steps that it takes.
type asked struct {
	opt.Command
	steps []int
}

// draftOf returns the draft with the steps of an address, and for each what it changes, or why it cannot.
func draftOf(f forms, at spot) (*draft, []draftLine) {
	d := &draft{now: f.o, was: f.o, allows: f.allows, added: map[string]string{}, skipped: map[string]bool{}}
	steps := stepsOf(at)
	lines := make([]draftLine, len(steps))
	for i, s := range steps {
		next, text, err := d.stepped(s, i)
		rest := at.stepping(slices.Delete(slices.Clone(at.Values["step"]), i, i+1))
		lines[i] = draftLine{Text: cmp.Or(text, shown.Name(s.Get("name")), s.Get("of")), Undo: rest.path()}
		if wrong, ok := errors.AsType[*opt.SpecError](err); ok {
			err = errors.New(wrong.Problem)
		}
		if err != nil {
			lines[i].Refused = "This cannot be made: " + err.Error() + "."
		} else {
			d = next
		}
	}
	d.sort()
	return d, lines
}

// stepped returns d with the n-th step, and what that changes.
func (d *draft) stepped(s url.Values, n int) (next *draft, text string, err error) {
	next = d.clone()
	if text, err = next.apply(s); err == nil {
		err = next.ask(n)
	}
	return next, text, err
}

// clone returns a copy of d that a step can change. Tasks are replaced, not changed.
func (d *draft) clone() *draft {
	c, o := *d, *d.now
	o.Plans = each(o.Plans, func(p *opt.Plan) *opt.Plan {
		p = new(*p)
		p.Tasks = slices.Clone(p.Tasks)
		return p
	})
	c.now, c.added, c.skipped = &o, maps.Clone(d.added), maps.Clone(d.skipped)
	return &c
}

var (
	// errGone says that a step is about what cannot be changed so now.
	errGone = errors.New("it can no longer be changed so")
	// errNoChain says that a plan or a task has no neighbour with which it could change places.
	errNoChain = errors.New("it is not in a chain with another one that can move")
)

func (d *draft) apply(s url.Values) (text string, err error) {
	of, ok := d.at(s.Get("of"))
	switch do := s.Get("do"); {
	case !ok:
	case do == "add" && of.task == nil:
		return d.add(s, of.plan)
	case do == "order":
		before := d.after(s, d.row(of))
		text = of.title() + " waits for " + cmp.Or(shown.Listed("", d.names(before)), "nothing") + shown.Listed(", no longer for ", d.dropped(of, before))
		of.before = before
		return text, d.arrange([]item{of})
	case do == "earlier", do == "later":
		return d.move(of, do == "earlier")
	case do == "between" && of.task != nil:
		return d.between(s, of)
	case do == "skip" && !d.skipped[of.id]:
		d.skipped[of.id] = true
		return of.title() + " is skipped" + shown.When(of.skip().Kind == opt.MoveTask, ": it is declared completed, without a result"), nil
	}
	return "", errGone
}

// An item is a plan or a task of a draft, with the ids of those that it waits for.
type item struct {
	id, name string
	before   []string
	plan     *opt.Plan // the item, or the plan of the task
	task     *opt.Task // nil for a plan
}

// itemOf returns a plan of o as an item, or one of its tasks if t is not nil.
func itemOf(o *opt.Objective, p *opt.Plan, t *opt.Task) item {
	if t == nil {
		return item{p.ID, p.Name, each(o.Before(p), func(p *opt.Plan) string { return p.ID }), p, nil}
	}
	return item{t.ID, t.Name, each(p.Before(t), func(t *opt.Task) string { return t.ID }), p, t}
}

// row lists all plans, or the tasks of the plan of a task.
func (d *draft) row(of item) []item {
	if of.task != nil {
		return d.tasks(of.plan)
	}
	return each(d.now.Plans, func(p *opt.Plan) item { return itemOf(d.now, p, nil) })
}

func (d *draft) tasks(p *opt.Plan) []item {
	return each(p.Tasks, func(t *opt.Task) item { return itemOf(d.now, p, t) })
}

// at returns the plan or the task with a key.
func (d *draft) at(key string) (found item, ok bool) {
	for _, p := range d.now.Plans {
		if d.key(p.ID) == key {
			return itemOf(d.now, p, nil), true
		}
		if i := slices.IndexFunc(p.Tasks, func(t *opt.Task) bool { return d.key(t.ID) == key }); i >= 0 {
			return itemOf(d.now, p, p.Tasks[i]), true
		}
	}
	return found, false
}

// key returns the key of the plan or the task with an id, the name of a new task.
func (d *draft) key(id string) string { return cmp.Or(d.added[id], keyOf(id)) }

func (i item) title() string {
	return shown.When(i.task == nil, "Plan ") + shown.Quoted(i.name)
}

func (d *draft) names(ids []string) []string {
	return each(ids, func(id string) string {
		p, t := taskOf(d.now, id)
		if t == nil {
			return shown.Quoted(p.Name)
		}
		return shown.Quoted(t.Name)
	})
}

// after returns the ids of those of a row that a step names.
func (d *draft) after(s url.Values, row []item) []string {
	named := func(one item) bool { return slices.Contains(s["after"], d.key(one.id)) }
	return each(filter(row, named), func(one item) string { return one.id })
}

// dropped names what an item has waited for, if it was there, apart from those with some ids.
func (d *draft) dropped(of item, now []string) []string {
	p := d.was.Plan(of.plan.ID)
	t := p.Task(of.id)
	if of.task != nil && t == nil {
		return nil
	}
	return d.names(filter(itemOf(d.was, p, t).before, func(id string) bool { return !slices.Contains(now, id) }))
}

// add adds a task to a plan. Right after the last of a list, in which one with dependencies would free all
// others, it has none.
func (d *draft) add(s url.Values, p *opt.Plan) (string, error) {
	t := &opt.Task{Name: s.Get("name"), Description: s.Get("description"), Executor: s.Get("executor"), Dependencies: append([]string{}, d.after(s, d.tasks(p))...)}
	if last := len(p.Tasks) - 1; last >= 0 && p.Loose && !p.Unordered() && slices.Equal(t.Dependencies, []string{p.Tasks[last].ID}) {
		t.Dependencies = nil
	}
	if s.Get("optional") != "" {
		t.Metadata = t.Metadata.With(opt.KeyOptional, true)
	}
	p.Tasks = append(p.Tasks, t)
	if err := d.check(p); err != nil {
		return "", err
	}
	t = p.Tasks[len(p.Tasks)-1]
	d.added[t.ID] = s.Get("as")
	text := fmt.Sprintf("%s is added to plan %s%s", shown.Quoted(t.Name), shown.Quoted(p.Name), shown.Listed(", after ", d.names(itemOf(d.now, p, t).before)))
	text += shown.When(t.Optional(), ", optional")
	// Who sends the draft may have got it as a link: it shows all.
	return text + shown.Behind(", by ", shown.Name(t.Executor)) + shown.Behind(": ", beginningText(a2a.Visible(t.Description), mostShown)), nil
}

// move lets an item change places with the one before or after it in a chain, in which each waits for the one before
// it alone. The others wait for the same as before, apart from those after the two.
func (d *draft) move(first item, earlier bool) (string, error) {
	row := d.row(first)
	if earlier {
		i := slices.IndexFunc(row, func(one item) bool { return slices.Equal(first.before, []string{one.id}) })
		if i < 0 {
			return "", errNoChain
		}
		first = row[i]
	}
	after := filter(row, func(one item) bool { return slices.Contains(one.before, first.id) })
	if len(after) != 1 || len(after[0].before) > 1 {
		return "", errNoChain
	}
	return after[0].title() + " comes before " + shown.Quoted(first.name), d.insert(after[0], first.before, first.id)
}

// between takes a task out of where it was, and has it come after one task and right before another that waits
// for that one.
func (d *draft) between(s url.Values, of item) (string, error) {
	first, _ := d.at(s.Get("after"))
	second, _ := d.at(s.Get("before"))
	if second.task == nil || of.plan != second.plan || of.id == first.id || of.id == second.id || !slices.Contains(second.before, first.id) {
		return "", errGone
	}
	text := of.title() + " comes between " + shown.Quoted(first.name) + " and " + shown.Quoted(second.name)
	return text + shown.Listed(", no longer after ", d.dropped(of, []string{first.id})), d.insert(of, []string{first.id}, second.id)
}

// insert takes an item out of where it was, and has it come after some and right before the next one, which has waited
// for those. Tasks then have to wait for no others.
func (d *draft) insert(of item, after []string, next string) error {
	want := filter(d.row(of), func(one item) bool { // an ended plan only if it is one of these two, and refused for that
		return one.task != nil || one.id == of.id || one.id == next || !one.plan.Status.Ended()
	})
	for i := range want {
		one := &want[i]
		if at := slices.Index(one.before, of.id); at >= 0 {
			one.before = slices.Replace(one.before, at, at+1, of.before...)
			slices.Sort(one.before)
			one.before = slices.Compact(one.before)
		}
		switch one.id {
		case of.id:
			one.before = after
		case next:
			one.before = append(slices.DeleteFunc(one.before, func(id string) bool { return slices.Contains(after, id) }), of.id)
		}
	}
	rank := func(one item) int { return slices.Index([]string{next, of.id}, one.id) }
	slices.SortStableFunc(want, func(a, b item) int { return rank(b) - rank(a) }) // in this order no change makes a cycle
	if err := d.arrange(want); err != nil {
		return err
	}
	if of.task != nil && slices.ContainsFunc(want, func(one item) bool { return !d.waits(one) }) {
		return errNoChain
	}
	return nil
}

// waits reports whether an item waits for those that it names, and for no others.
func (d *draft) waits(one item) bool {
	return same(itemOf(d.now, one.plan, one.plan.Task(one.id)).before, one.before)
}

func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// arrange has items of a row wait for those that they name: plans one after another, as these may wait for them now,
// and tasks all at once, as one with dependencies may free others.
func (d *draft) arrange(want []item) error {
	had := each(want, d.waits)
	for i, one := range want {
		switch {
		case one.task != nil && !had[i]:
			t := *one.task
			t.Dependencies = append([]string{}, one.before...)
			one.plan.Tasks[t.Index] = &t
		case one.task == nil && !d.waits(one):
			ids, err := d.now.Reordered(one.plan, one.before)
			if err != nil {
				return err
			}
			one.plan.Dependencies = ids
		}
	}
	if want[0].task == nil {
		return nil
	}
	return d.check(want[0].plan)
}

// check makes the new tasks of a plan, and reports why its tasks cannot be as they are.
func (d *draft) check(p *opt.Plan) error {
	was, order := d.was.Plan(p.ID), d.order(p)
	tasks, err := was.NewTasks(d.specs(p))
	if err != nil {
		return err
	}
	after := *was
	p.Tasks = slices.Concat(p.Tasks[:len(was.Tasks)], tasks)
	after.Tasks = slices.Concat(was.Tasks, tasks)
	meanwhile := after.Unordered() && !(was.Unordered() && p.Unordered()) // it is a list before or then, and free between
	if p.Loose && len(tasks) > 0 && order != nil && meanwhile {
		return errors.New("other tasks of its plan could begin too early")
	}
	_, err = opt.Reordered(&after, order)
	return err
}

// specs returns the new tasks of a plan, and order what those that were there wait for, if that changes.
func (d *draft) specs(p *opt.Plan) []opt.TaskSpec {
	return each(p.Tasks[len(d.was.Plan(p.ID).Tasks):], func(t *opt.Task) opt.TaskSpec {
		return opt.TaskSpec{Name: t.Name, Description: t.Description, Executor: t.Executor, Dependencies: t.Dependencies, Metadata: t.Metadata}
	})
}

func (d *draft) order(p *opt.Plan) (order []opt.TaskOrder) {
	for i, was := range d.was.Plan(p.ID).Tasks {
		if t := p.Tasks[i]; t != was && waitsElse(was.Dependencies, t.Dependencies) {
			order = append(order, opt.TaskOrder{ID: t.ID, Dependencies: t.Dependencies})
		}
	}
	return order
}

// waitsElse reports whether dependencies are declared other than they were.
func waitsElse(was, now []string) bool { return now != nil && (was == nil || !same(was, now)) }

// replaces reports whether a changes the same as a command before.
func (a asked) replaces(b asked) bool {
	return b.Kind == a.Kind && b.PlanID == a.PlanID && b.TaskID == a.TaskID && b.Status == a.Status
}

// may reports whether a command about a plan is allowed.
func (d *draft) may(cmd opt.Command, p *opt.Plan) bool {
	if cmd.Kind == opt.OrderTasks || cmd.Change != nil {
		return d.mayOrder(p)
	}
	return d.allows(cmd)
}

// mayOrder reports whether the order of a plan, or of its tasks, may be changed as far as that is not about
// some of them alone.
func (d *draft) mayOrder(p *opt.Plan) bool {
	return d.allows(opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Change: &opt.Change{Name: new("another")}})
}

// free reports whether d can change what an item waits for.
func (d *draft) free(of item) bool {
	if of.task != nil {
		return d.added[of.id] != "" || of.task.State == opt.TaskPending && d.mayOrder(of.plan)
	}
	_, err := d.now.Reordered(of.plan, of.plan.Dependencies)
	return err == nil
}

// skip returns the command that leaves out an item. A task that its plan needs is declared completed, so that the plan
// continues.
func (i item) skip() opt.Command {
	switch {
	case i.task == nil:
		return opt.Command{Kind: opt.UpdatePlan, PlanID: i.id, Status: string(opt.PlanSkipped)}
	case i.task.Optional():
		return opt.Command{Kind: opt.CancelTask, PlanID: i.plan.ID, TaskID: i.id}
	}
	return opt.Command{Kind: opt.MoveTask, PlanID: i.plan.ID, TaskID: i.id, Status: string(opt.TaskCompleted)}
}

// commands lists what makes a plan of d what it is.
func (d *draft) commands(p *opt.Plan) (all []opt.Command) {
	if tasks := d.specs(p); tasks != nil {
		all = append(all, opt.Command{Kind: opt.AddTasks, PlanID: p.ID, Tasks: tasks})
	}
	if order := d.order(p); order != nil {
		all = append(all, opt.Command{Kind: opt.OrderTasks, PlanID: p.ID, Order: order})
	}
	if waitsElse(d.was.Plan(p.ID).Dependencies, p.Dependencies) {
		all = append(all, opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Change: &opt.Change{Dependencies: p.Dependencies}})
	}
	items := append(each(p.Tasks, func(t *opt.Task) item { return item{id: t.ID, plan: p, task: t} }), item{id: p.ID, plan: p})
	return append(all, each(filter(items, func(i item) bool { return d.skipped[i.id] }), item.skip)...)
}

// ask sets the commands of d, if those are allowed that the n-th step changes.
func (d *draft) ask(n int) error {
	before := d.asked
	d.asked = nil
	for _, p := range d.now.Plans {
		for _, cmd := range d.commands(p) {
			a := asked{cmd, []int{n}}
			if i := slices.IndexFunc(before, a.replaces); i >= 0 && reflect.DeepEqual(before[i].Command, cmd) {
				a = before[i]
			} else if !d.may(cmd, p) {
				return errGone
			} else if i >= 0 {
				a.steps = append(slices.Clone(before[i].steps), n)
			}
			d.asked = append(d.asked, a)
		}
	}
	return nil
}

// sort brings the commands of d into an order that is the same each time. A plan whose last task is left out may end
// before it gets another. What a plan waits for is changed before what waits for it, so that no command makes a cycle;
// it is left out after that, which else would begin.
func (d *draft) sort() {
	depth := map[string]int{} // how many plans or tasks in a row must be done before one
	for i, n := range depths(placesBefore(d.now.Plans, d.now.Before)) {
		p := d.now.Plans[i]
		depth[p.ID] = n
		for j, n := range depths(placesBefore(p.Tasks, p.Before)) {
			depth[p.Tasks[j].ID] = n
		}
	}
	place := func(a asked) []int {
		n := depth[a.PlanID]
		if a.Status != "" || a.Kind == opt.CancelTask { // a plan after its tasks, as commands has them
			return []int{3, -n, -depth[a.TaskID]}
		}
		return []int{slices.Index([]opt.CommandKind{opt.AddTasks, opt.OrderTasks, opt.UpdatePlan}, a.Kind), n}
	}
	slices.SortStableFunc(d.asked, func(a, b asked) int { return slices.Compare(place(a), place(b)) })
}

type draftPanel struct {
	Lines  []draftLine
	Theirs []moment // changes since the draft began
	Renew  string   // the address of the draft for the present state, "" if it is for that
	Drop   string
	Send   *changeForm // nil while nothing can be sent
	Of     *draftTarget
	Hidden url.Values // the fields of forms that add a step
}

type draftLine struct{ Text, Refused, Undo string }

// A draftTarget is the plan or task that is selected, and what can be done with it.
type draftTarget struct {
	Key, Name string
	Skip      string // the address with the step that leaves it out, "" if that is impossible
	Earlier   string // likewise, that changes places with the one before it in a chain
	Later     string // likewise, with the one after it
	Plan      string // the key of the plan that can have a new task, "" for none
	After     []choice
	Order     []choice
}

func draftPanelOf(f forms, at spot) (*tree, *draftPanel, error) {
	if len(at.Values["step"]) > mostSteps || len(at.path()) > longestDraft {
		return nil, nil, call.Invalid(call.Violation{Field: "A draft", Description: "has no room for more: make its changes first"})
	}
	d, lines := draftOf(f, at)
	p := &draftPanel{Lines: lines, Drop: at.sent().path(), Hidden: at.Values}
	if of, ok := d.at(cmp.Or(at.Get("task"), at.Get("plan"))); ok {
		p.Of = d.target(at, of)
	}
	ready := len(d.asked) > 0 && !slices.ContainsFunc(lines, draftLine.refused)
	if f.o.Revision != at.number("draft") {
		p.Renew = at.onto(f.o).path()
		var err error
		if p.Theirs, err = changedSince(f, at.number("since")); err != nil {
			return nil, nil, err
		}
	} else if ready {
		p.Send = new(f.form("draft", "/draft?"+at.Encode()))
		p.Send.Revision = f.o.Revision
	}
	return d.draw(at), p, nil
}

func (l draftLine) refused() bool { return l.Refused != "" }

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

// target returns what can be done with an item that is selected.
func (d *draft) target(at spot, of item) *draftTarget {
	out := &draftTarget{Key: d.key(of.id), Name: of.name}
	step := func(do string) string { // the address with one more step, "" if it cannot be made
		s := url.Values{"do": {do}, "of": {out.Key}}
		_, _, err := d.stepped(s, len(at.Values["step"]))
		return shown.When(err == nil, at.adding(s).path())
	}
	out.Earlier, out.Later, out.Skip = step("earlier"), step("later"), step("skip")
	if d.free(of) {
		out.Order = d.choices(d.row(of), of.id, of.before)
	}
	if d.allows(opt.Command{Kind: opt.AddTasks, PlanID: of.plan.ID, Tasks: []opt.TaskSpec{{Name: "another"}}}) {
		last := of.id
		if n := len(of.plan.Tasks); of.task == nil && n > 0 {
			last = of.plan.Tasks[n-1].ID
		}
		out.Plan, out.After = keyOf(of.plan.ID), d.choices(d.tasks(of.plan), "", []string{last})
	}
	return out
}

// choices lists the items of a row but one, and which of them are chosen.
func (d *draft) choices(row []item, but string, chosen []string) []choice {
	others := filter(row, func(one item) bool { return one.id != but })
	return each(others, func(one item) choice {
		return choice{d.key(one.id), shown.Name(one.name), slices.Contains(chosen, one.id)}
	})
}

// draw returns the drawing of d, with what it changes.
func (d *draft) draw(at spot) *tree {
	t := treeOf(d.now, at.To, d.was)
	for i, p := range d.row(item{}) {
		d.mark(&t.Plans[i].treeTask, p, at)
		for j, task := range d.tasks(p.plan) {
			d.mark(&t.Plans[i].Tasks[j], task, at)
		}
	}
	return t
}

// mark adds what d says about an item to its drawing, whose title says it, too.
func (d *draft) mark(drawn *treeTask, of item, at spot) {
	drawn.Free, drawn.After = d.free(of), strings.Join(each(of.before, d.key), " ")
	switch {
	case d.added[of.id] != "":
		drawn.Mark, drawn.Name, drawn.Key = "added", "+ "+drawn.Name, d.key(of.id)
		drawn.Path = at.To(drawn.Key)
	case d.skipped[of.id]:
		drawn.Mark = "skipped"
	default:
		return
	}
	drawn.Title += ", " + drawn.Mark
}
