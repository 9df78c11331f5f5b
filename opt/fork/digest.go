package fork

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A walk visits tasks of an objective, each after those before it, with the digests of their inputs.
type walk struct {
	of      *opt.Objective
	request string // digest of the request
	// done reports whether a task is done, whose inputs have a digest. It is called once for each task
	// for which all before it are done.
	done  func(p *opt.Plan, t *opt.Task, digest string) bool
	tasks map[*opt.Task]string // digests of those that are done, with what they have made; "" for another
	plans map[*opt.Plan]string // likewise, of all their tasks
}

func newWalk(o *opt.Objective, request *a2a.Message, done func(*opt.Plan, *opt.Task, string) bool) *walk {
	w := &walk{of: o, done: done, tasks: map[*opt.Task]string{}, plans: map[*opt.Plan]string{}}
	if request != nil {
		w.request = opt.PartsDigest(request.Parts)
	}
	return w
}

func (w *walk) all() {
	for _, p := range w.of.Plans {
		w.plan(p)
	}
}

// plan visits a plan, after those before it.
func (w *walk) plan(p *opt.Plan) string {
	if made, visited := w.plans[p]; visited {
		return made
	}
	before, whole := each(w.of.Before(p), w.plan)
	var list []string
	for _, t := range p.Tasks {
		if !whole || w.task(p, t, before) == "" {
			list = append(list, "")
		} else {
			list = append(list, w.tasks[t])
		}
	}
	w.plans[p] = ""
	if whole && !slices.Contains(list, "") {
		w.plans[p] = digestOf(before, list)
	}
	return w.plans[p]
}

// task visits a task of a plan with the digests of the plans before, after the tasks before it.
func (w *walk) task(p *opt.Plan, t *opt.Task, plans []string) string {
	if made, visited := w.tasks[t]; visited {
		return made
	}
	before := p.Before(t)
	made, known := each(before, func(b *opt.Task) string { return w.task(p, b, plans) })
	w.tasks[t] = ""
	if !known {
		return ""
	}
	places, _ := each(before, func(b *opt.Task) string { return opt.TaskPlace(b.Index) })
	digest := digestOf(w.of.Name, p.Name, w.request, plans, places, made, t.Name, t.Description, t.Executor, t.Input, t.Ask, t.Check)
	if w.done(p, t, digest) {
		w.tasks[t] = digestOf(digest, contents(t.Artifacts))
	}
	return w.tasks[t]
}

// each returns what of returns for the elements of a list; all is false if one is "".
func each[T any](list []T, of func(T) string) (out []string, all bool) {
	for _, v := range list {
		out = append(out, of(v))
	}
	return out, !slices.Contains(out, "")
}

// contents returns a value that is equal for artifacts with the same content.
func contents(list []a2a.Artifact) (out []any) {
	for _, a := range list {
		out = append(out, []any{a.Name, a.Description, opt.PartsDigest(a.Parts)})
	}
	return out
}

func digestOf(of ...any) string { return "sha256:" + a2a.DataPart(of).Digest() }
