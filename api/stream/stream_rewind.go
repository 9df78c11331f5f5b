package stream

import (
	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// rewind sets h back.
func (h *hierarchy) rewind(s *Stream, e opt.Event) {
	plans := []*opt.Plan{e.Plan}
	if o := e.Objective; o != nil {
		if h.attempt != max(o.Attempt, 1) {
			h.begin(o.Attempt, e.At)
		}
		h.status, h.revision, h.paused = string(o.Status), o.Revision, o.Paused
		if out, ok := s.rewound(e); ok {
			h.rewindRoot(s, out.Status, e)
		}
		plans = o.Plans
		var kept planStates
		for _, p := range plans {
			if known := h.work.plan(p.ID); known != nil {
				kept = append(kept, known)
			}
		}
		h.work = kept
	}
	for _, p := range plans {
		h.plans[p.ID] = string(p.Status)
		was := h.work.plan(p.ID)
		switch now := newWork([]*opt.Plan{p}); {
		case was == nil:
			h.work = append(h.work, now...)
		case e.Plan != nil || p.Tasks != nil:
			*was = opt.Plan{ID: was.ID, Name: was.Name, Status: p.Status, Tasks: now[0].Tasks}
		}
	}
	h.progress = shown.ProgressOf(h.work)
}

// rewindRoot sets the root task back. What the update says of that is not in the status that the journal keeps
// of the task: a task whose state is the same keeps what it says, too.
func (h *hierarchy) rewindRoot(s *Stream, u *a2a.StatusUpdate, e opt.Event) {
	switch {
	case e.Gate != nil:
	case u.Status.State == h.root.State && h.asks == "":
		u.Status.Message = h.root.Message
	default:
		u.Status.Message = nil
		if failure := e.Head.Failure; failure != "" && u.Status.State.Terminal() {
			u.Status.Message = a2a.AgentMessage(s.contextID, s.taskID, ":status", failure)
		}
	}
	h.moveRoot(u, e.Gate)
}
