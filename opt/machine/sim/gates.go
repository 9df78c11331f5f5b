package sim

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// beforeReply notes what is about to be sent back.
func (w checks) beforeReply(r *run, in machine.Letter) {
	h, ok := r.m.(planHost)
	if !ok || in.Reply == nil || in.Reply.Action != opt.Refine {
		return
	}
	t := h.State.Plan.Task(in.TaskID)
	if t == nil || t.Gate == nil || t.Gate.ID != in.Reply.GateID {
		return
	}
	made := []string{}
	for _, id := range t.Gate.Sources {
		made = append(made, h.State.Plan.Task(id).A2AID())
	}
	w.facts.sentBack[t.A2AID()] = made
}

// gateIsNew: a gate shows the present results of the tasks that it is about; after
// they were sent back, these are made by a later attempt.
func (w checks) gateIsNew(r *run, e opt.Event) {
	h, ok := r.m.(planHost)
	if !ok || e.Kind != opt.TaskMoved || e.Gate == nil || len(e.Gate.Sources) == 0 {
		return
	}
	var parts []a2a.Part
	for _, id := range e.Gate.Sources {
		t := h.State.Plan.Task(id)
		if slices.Contains(w.facts.sentBack[e.TaskID], t.A2AID()) {
			w.fail("gates", "%s opens with what was sent back", w.name(e.Gate.ID))
		}
		if !t.State.Ended() {
			w.fail("gates", "%s opens before %s has ended", w.name(e.Gate.ID), w.name(t.ID))
		}
		for _, a := range t.Artifacts {
			parts = append(parts, a.Parts...)
		}
	}
	if !slices.ContainsFunc(h.State.Plan.Tasks, func(t *opt.Task) bool { return t.Ask != nil && len(t.Artifacts) > 0 }) {
		w.same(e.Gate.ID, e.Gate.Object, parts)
	}
}
