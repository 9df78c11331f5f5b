package console

import (
	"errors"
	"net/url"
	"slices"

	"longhaul/opt"
)

// In a chain, where each waits for the one before it alone, a plan or a task can change places with its
// neighbour. That is made of changes of what each of them waits for.

// toMove returns the address with a step that moves something, "" if that is impossible.
func toMove(f forms, at spot, do, key string) string {
	to := at.with(url.Values{"do": {do}, "of": {key}})
	if _, lines := draftOf(f, to); lines[len(lines)-1].Refused != "" {
		return ""
	}
	return to.path()
}

// errNoChain says that a plan or a task has no neighbour with which it could change places.
var errNoChain = errors.New("it is not in a chain with another one that can move")

// move lets something change places with its neighbour.
func (d *draft) move(step int, s step) (string, error) {
	earlier := s.Get("do") == "earlier"
	if p, t := d.at(s.Get("of")); t != nil {
		first, second := neighbours(p.Tasks, p.Before, t, earlier)
		if first == nil {
			return "", errNoChain
		}
		return quoted(second.Name) + " comes before " + quoted(first.Name), d.swapTasks(step, p, first, second)
	}
	p := planAt(d.now, s.Get("of"))
	if p == nil {
		return "", errGone
	}
	first, second := neighbours(d.now.Plans, d.now.Before, p, earlier)
	if first == nil {
		return "", errNoChain
	}
	return "Plan " + quoted(second.Name) + " comes before " + quoted(first.Name), d.swapPlans(step, first, second)
}

// neighbours returns x and the one before or after it in a chain, in their order; nil for none.
func neighbours[T any](all []*T, before func(*T) []*T, x *T, earlier bool) (first, second *T) {
	if earlier {
		if was := before(x); len(was) == 1 {
			x = was[0]
		} else {
			return nil, nil
		}
	}
	for _, t := range all {
		if was := before(t); slices.Contains(was, x) {
			if second != nil || len(was) > 1 {
				return nil, nil
			}
			second = t
		}
	}
	if second == nil {
		return nil, nil
	}
	return x, second
}

// swapped returns what all wait for, by their ids, once two neighbours in a chain have changed places.
func swapped[T any](all []*T, before func(*T) []*T, first, second *T, id func(*T) string) map[string][]string {
	want := map[string][]string{}
	for _, t := range all {
		was := before(t)
		switch t {
		case first:
			was = []*T{second}
		case second:
			was = before(first)
		default:
			was = slices.Clone(was)
			if i := slices.Index(was, second); i >= 0 {
				was[i] = first
			}
		}
		want[id(t)] = each(was, id)
	}
	return want
}

// same reports whether two lists have the same ids.
func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// swapPlans changes the places of two plans. The others wait for the same as before, apart from those after them,
// although a plan with dependencies of its own may free those that follow the list.
func (d *draft) swapPlans(step int, first, second *opt.Plan) error {
	want := swapped(d.now.Plans, d.now.Before, first, second, idOfPlan)
	for _, p := range slices.Concat([]*opt.Plan{second, first}, d.now.Plans) {
		if p.Status.Ended() || same(each(d.now.Before(p), idOfPlan), want[p.ID]) {
			continue
		}
		if err := d.orderPlan(step, p, want[p.ID]); err != nil {
			return err
		}
	}
	return nil
}

// swapTasks changes the places of two tasks.
func (d *draft) swapTasks(step int, p *opt.Plan, first, second *opt.Task) error {
	return d.arrange(step, p, swapped(p.Tasks, p.Before, first, second, idOfTask))
}

// arrange has the tasks of a plan wait for those in want, by their ids.
func (d *draft) arrange(step int, p *opt.Plan, want map[string][]string) error {
	to := planTasks{slices.Clone(d.tasksOf[p.ID].added), slices.Clone(d.tasksOf[p.ID].order)}
	for _, t := range p.Tasks {
		if !same(each(p.Before(t), idOfTask), want[t.ID]) {
			d.wait(&to, p, t, want[t.ID])
		}
	}
	if err := d.put(step, p, to); err != nil {
		return err
	}
	for _, t := range p.Tasks {
		if !same(each(p.Before(t), idOfTask), want[t.ID]) {
			return errNoChain
		}
	}
	return nil
}

// between takes a task out of where it was, and has it come after one task and right before another that waits
// for that one.
func (d *draft) between(step int, s step) (string, error) {
	p, t := d.at(s.Get("of"))
	q, first := d.at(s.Get("after"))
	r, second := d.at(s.Get("before"))
	if t == nil || p != q || p != r || t == first || t == second || !slices.Contains(p.Before(second), first) {
		return "", errGone
	}
	want := map[string][]string{}
	for _, o := range p.Tasks {
		ids := []string{}
		for _, b := range p.Before(o) {
			if b != t {
				ids = append(ids, b.ID)
				continue
			}
			ids = append(ids, each(p.Before(t), idOfTask)...)
		}
		slices.Sort(ids)
		want[o.ID] = slices.Compact(ids)
	}
	want[t.ID] = []string{first.ID}
	want[second.ID] = append(slices.DeleteFunc(want[second.ID], func(id string) bool { return id == first.ID }), t.ID)
	text := quoted(t.Name) + " comes between " + quoted(first.Name) + " and " + quoted(second.Name)
	return text + listed(", no longer after ", d.before(p, t, []string{quoted(first.Name)})), d.arrange(step, p, want)
}
