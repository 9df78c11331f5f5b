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
	"longhaul/opt"
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
type step struct{ listing }

// stepsOf returns the steps of an address.
func stepsOf(at spot) []step {
	return each(at.Values["step"], func(text string) step {
		q, _ := url.ParseQuery(text)
		return step{listing{q}}
	})
}

// stepping returns s with other steps.
func (s spot) stepping(steps []string) spot {
	q := maps.Clone(s.Values)
	q["step"] = steps
	return spot{s.base, listing{q}}
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

// newTask begins the names of new tasks.
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
	tasksOf  map[string]planTasks // what changes of them, by the id of their plan
	added    map[string]string    // the names of new tasks, by their ids
	skipped  map[string]bool      // by id
	asked    map[subject]asked
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
	d := &draft{now: &o, was: f.o, allows: f.allows, tasksOf: map[string]planTasks{}, added: map[string]string{}, skipped: map[string]bool{}, asked: map[subject]asked{}}
	o.Plans = each(f.o.Plans, func(p *opt.Plan) *opt.Plan { return new(*p) })
	steps := stepsOf(at)
	lines := make([]draftLine, len(steps))
	for i, s := range steps {
		text, err := d.apply(i, s)
		rest := at.stepping(slices.Delete(slices.Clone(at.Values["step"]), i, i+1))
		lines[i] = draftLine{Text: cmp.Or(text, nameText(s.Get("name")), s.Get("of")), Undo: rest.path()}
		if wrong, ok := errors.AsType[*opt.SpecError](err); ok {
			err = errors.New(wrong.Problem)
		}
		if err != nil {
			lines[i].Refused = "This cannot be made: " + err.Error() + "."
		}
	}
	return d, lines
}

var (
	// errGone says that a step is about what cannot be changed so now.
	errGone = errors.New("it can no longer be changed so")
	// errNoChain says that a plan or a task has no neighbour with which it could change places.
	errNoChain = errors.New("it is not in a chain with another one that can move")
)

// apply carries out a step, and returns what it changes.
func (d *draft) apply(n int, s step) (text string, err error) {
	of, ok := d.at(s.Get("of"))
	switch do := s.Get("do"); {
	case !ok:
		return "", errGone
	case do == "add" && of.task == nil:
		return d.add(n, s, of)
	case do == "order":
		return d.order(n, s, of)
	case do == "earlier", do == "later":
		return d.move(n, of, do == "earlier")
	case do == "between" && of.task != nil:
		return d.between(n, s, of)
	case do == "skip":
		return d.skip(n, of)
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

// item returns a task of a plan as an item, or the plan if t is nil.
func (d *draft) item(p *opt.Plan, t *opt.Task) item {
	if t == nil {
		return item{p.ID, p.Name, each(d.now.Before(p), idOfPlan), p, nil}
	}
	return item{t.ID, t.Name, each(p.Before(t), idOfTask), p, t}
}

// row lists all plans, or the tasks of the plan of a task.
func (d *draft) row(of item) []item {
	if of.task != nil {
		return d.tasks(of.plan)
	}
	return each(d.now.Plans, func(p *opt.Plan) item { return d.item(p, nil) })
}

func (d *draft) tasks(p *opt.Plan) []item {
	return each(p.Tasks, func(t *opt.Task) item { return d.item(p, t) })
}

// at returns the plan or the task with a key.
func (d *draft) at(key string) (found item, ok bool) {
	for _, p := range d.now.Plans {
		if keyOf(p.ID) == key {
			return d.item(p, nil), true
		}
		for _, t := range p.Tasks {
			if d.key(t.ID) == key {
				return d.item(p, t), true
			}
		}
	}
	return found, false
}

// key returns the key of the plan or the task with an id, the name of a new task.
func (d *draft) key(id string) string { return cmp.Or(d.added[id], keyOf(id)) }

// title names an item at the beginning of a sentence.
func (i item) title() string {
	if i.task == nil {
		return "Plan " + quoted(i.name)
	}
	return quoted(i.name)
}

// names returns the names of the plans or tasks with some ids.
func (d *draft) names(ids []string) []string {
	return each(ids, func(id string) string {
		if _, t := taskOf(d.now, id); t != nil {
			return quoted(t.Name)
		}
		return nameOfPlan(d.now, id)
	})
}

// after returns the ids of those of a row that a step names.
func (d *draft) after(s step, row []item) []string {
	named := filter(row, func(one item) bool { return slices.Contains(s.Values["after"], d.key(one.id)) })
	return append([]string{}, each(named, idOfItem)...)
}

// dropped names what an item has waited for, if it was there, apart from those with some ids.
func (d *draft) dropped(of item, now []string) []string {
	p, was := d.was.Plan(of.plan.ID), []string(nil)
	if of.task == nil {
		was = each(d.was.Before(p), idOfPlan)
	} else if of.task.Index < len(p.Tasks) {
		was = each(p.Before(p.Tasks[of.task.Index]), idOfTask)
	}
	return d.names(filter(was, func(id string) bool { return !slices.Contains(now, id) }))
}

// add adds a task to a plan. Right after the last of a list, in which one with dependencies would free all
// others, it has none.
func (d *draft) add(n int, s step, to item) (string, error) {
	p := to.plan
	spec := opt.TaskSpec{Name: s.Get("name"), Description: s.Get("description"), Executor: s.Get("executor")}
	spec.Dependencies = d.after(s, d.tasks(p))
	if last := len(p.Tasks) - 1; last >= 0 && p.Loose && !p.Unordered() && slices.Equal(spec.Dependencies, []string{p.Tasks[last].ID}) {
		spec.Dependencies = nil
	}
	if s.Get("optional") != "" {
		spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
	}
	had := d.tasksOf[p.ID]
	if err := d.put(n, p, planTasks{append(slices.Clone(had.added), spec), had.order}); err != nil {
		return "", err
	}
	t := p.Tasks[len(p.Tasks)-1]
	d.added[t.ID] = s.Get("as")
	text := fmt.Sprintf("%s is added to plan %s%s", quoted(t.Name), quoted(p.Name), listed(", after ", d.names(d.item(p, t).before)))
	if t.Optional() {
		text += ", optional"
	}
	if t.Executor != "" {
		text += ", by " + nameText(t.Executor)
	}
	if t.Description != "" { // who sends the draft may have got it as a link
		text += ": " + beginningText(a2a.Visible(t.Description), mostShown)
	}
	return text, nil
}

// order changes what an item waits for.
func (d *draft) order(n int, s step, of item) (string, error) {
	of.before = d.after(s, d.row(of))
	text := of.title() + " waits for " + cmp.Or(listed("", d.names(of.before)), "nothing")
	return text + listed(", no longer for ", d.dropped(of, of.before)), d.arrange(n, []item{of})
}

// move lets an item change places with its neighbour in a chain, in which each waits for the one before it
// alone. That is made of changes of what they wait for. The others wait for the same as before, apart from those
// after the two.
func (d *draft) move(n int, of item, earlier bool) (string, error) {
	first, second, ok := neighbours(d.row(of), of, earlier)
	if !ok {
		return "", errNoChain
	}
	return second.title() + " comes before " + quoted(first.name), d.insert(n, second, first.before, first.id)
}

// neighbours returns an item and the one before or after it in a chain, in their order.
func neighbours(row []item, of item, earlier bool) (first, second item, ok bool) {
	if earlier {
		i := slices.IndexFunc(row, func(one item) bool { return slices.Equal(of.before, []string{one.id}) })
		if i < 0 {
			return first, second, false
		}
		of = row[i]
	}
	after := filter(row, func(one item) bool { return slices.Contains(one.before, of.id) })
	if len(after) != 1 || len(after[0].before) > 1 {
		return first, second, false
	}
	return of, after[0], true
}

// between takes a task out of where it was, and has it come after one task and right before another that waits
// for that one.
func (d *draft) between(n int, s step, of item) (string, error) {
	first, _ := d.at(s.Get("after"))
	second, _ := d.at(s.Get("before"))
	if second.task == nil || of.plan != second.plan || of.id == first.id || of.id == second.id || !slices.Contains(second.before, first.id) {
		return "", errGone
	}
	text := of.title() + " comes between " + quoted(first.name) + " and " + quoted(second.name)
	return text + listed(", no longer after ", d.dropped(of, []string{first.id})), d.insert(n, of, []string{first.id}, second.id)
}

// insert takes an item out of where it was, and has it come after some and right before the next one, which has waited
// for those.
func (d *draft) insert(n int, of item, after []string, next string) error {
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
	return d.rearrange(n, want)
}

// rearrange is arrange for tasks that then have to wait for no others, and for plans.
func (d *draft) rearrange(n int, want []item) error {
	if err := d.arrange(n, want); err != nil || want[0].task == nil {
		return err
	}
	for _, one := range want {
		if !d.waits(one) {
			return errNoChain
		}
	}
	return nil
}

// waits reports whether an item waits for those that it names, and for no others.
func (d *draft) waits(one item) bool {
	now := d.item(one.plan, one.plan.Task(one.id)) // another one than one.task, or none for a plan
	return slices.Equal(slices.Sorted(slices.Values(now.before)), slices.Sorted(slices.Values(one.before)))
}

// arrange has items of a row wait for those that they name: plans one after another.
func (d *draft) arrange(n int, want []item) error {
	p := want[0].plan
	to := planTasks{slices.Clone(d.tasksOf[p.ID].added), slices.Clone(d.tasksOf[p.ID].order)}
	for _, one := range want {
		if d.waits(one) {
			continue
		}
		if one.task != nil {
			d.wait(&to, one)
		} else if err := d.orderPlan(n, one); err != nil {
			return err
		}
	}
	if want[0].task == nil {
		return nil
	}
	return d.put(n, p, to)
}

// wait has a task, a new one or not, wait for those that it names.
func (d *draft) wait(to *planTasks, one item) {
	if i := one.task.Index - len(d.was.Plan(one.plan.ID).Tasks); i >= 0 {
		to.added[i].Dependencies = one.before
		return
	}
	to.order = slices.DeleteFunc(to.order, func(o opt.TaskOrder) bool { return o.ID == one.id })
	to.order = append(to.order, opt.TaskOrder{ID: one.id, Dependencies: append([]string{}, one.before...)})
}

// put replaces what changes of the tasks of a plan.
func (d *draft) put(n int, p *opt.Plan, to planTasks) error {
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
	if add := (opt.Command{Kind: opt.AddTasks, PlanID: p.ID, Tasks: to.added}); !reflect.DeepEqual(had.added, to.added) {
		err = d.ask(n, add, d.allows(add))
	}
	switch cmd := (opt.Command{Kind: opt.OrderTasks, PlanID: p.ID, Order: to.order}); {
	case err != nil:
	case len(order) == 0:
		d.drop(cmd)
	case !reflect.DeepEqual(had.order, to.order):
		err = d.ask(n, cmd, d.mayOrder(p))
	}
	if err == nil {
		d.tasksOf[p.ID], p.Tasks = to, after.Tasks
	}
	return err
}

// orderPlan has a plan wait for those that it names. These may wait for it now, and no longer with the changes
// before.
func (d *draft) orderPlan(n int, one item) error {
	ids, err := d.now.Reordered(one.plan, one.before)
	if err != nil {
		return err
	}
	cmd := opt.Command{Kind: opt.UpdatePlan, PlanID: one.id, Change: &opt.Change{Dependencies: ids}}
	if d.was.Plan(one.id).DependsOn(ids) {
		d.drop(cmd)
	} else if err := d.ask(n, cmd, d.mayOrder(one.plan)); err != nil {
		return err
	}
	one.plan.Dependencies = ids
	return nil
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

// skip leaves out an item. A task that its plan needs is declared completed, so that the plan continues.
func (d *draft) skip(n int, of item) (string, error) {
	text, cmd := of.title()+" is skipped", of.skip()
	if cmd.Kind == opt.MoveTask {
		text += ": it is declared completed, without a result"
	}
	err := d.ask(n, cmd, d.allows(cmd))
	if err == nil {
		d.skipped[of.id] = true
	}
	return text, err
}

// skip returns the command that leaves out an item.
func (i item) skip() opt.Command {
	switch {
	case i.task == nil:
		return opt.Command{Kind: opt.UpdatePlan, PlanID: i.id, Status: string(opt.PlanSkipped)}
	case i.task.Optional():
		return opt.Command{Kind: opt.CancelTask, PlanID: i.plan.ID, TaskID: i.id}
	}
	return opt.Command{Kind: opt.MoveTask, PlanID: i.plan.ID, TaskID: i.id, Status: string(opt.TaskCompleted)}
}

// ask adds a step to the command that changes the same, which it replaces, if that is allowed.
func (d *draft) ask(n int, cmd opt.Command, allowed bool) error {
	if !allowed {
		return errGone
	}
	d.asked[subjectOf(cmd)] = asked{cmd, append(d.asked[subjectOf(cmd)].steps, n)}
	return nil
}

// drop takes out the command that changes the same.
func (d *draft) drop(cmd opt.Command) { delete(d.asked, subjectOf(cmd)) }

// A subject is what a command of a draft changes: a later one replaces the one before.
type subject struct {
	kind               opt.CommandKind
	plan, task, status string
}

func subjectOf(cmd opt.Command) subject {
	return subject{cmd.Kind, cmd.PlanID, cmd.TaskID, cmd.Status}
}

// ranks orders the commands: a plan whose last task is left out may end before it gets another.
var ranks = map[opt.CommandKind]int{opt.AddTasks: 1, opt.OrderTasks: 2, opt.UpdatePlan: 3, opt.MoveTask: 4, opt.CancelTask: 4}

// commands lists all commands, in that order. It is the same each time, since the keys of the commands are made of it.
func (d *draft) commands() []asked {
	rank := func(a asked) int {
		if a.Status == string(opt.PlanSkipped) {
			return len(ranks)
		}
		return ranks[a.Kind]
	}
	return slices.SortedFunc(maps.Values(d.asked), func(a, b asked) int {
		return cmp.Or(rank(a)-rank(b), d.depth(d.now.Plan(a.PlanID))-d.depth(d.now.Plan(b.PlanID)), slices.Compare(a.steps, b.steps),
			strings.Compare(a.PlanID, b.PlanID), strings.Compare(a.TaskID, b.TaskID))
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

func idOfPlan(p *opt.Plan) string { return p.ID }
func idOfTask(t *opt.Task) string { return t.ID }
func idOfItem(i item) string      { return i.id }
