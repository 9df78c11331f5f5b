package stream

import (
	"longhaul/opt"
	"longhaul/opt/shown"
)

// rewind sets h back.
func (h *hierarchy) rewind(s *Stream, e opt.Event) {
	plans := []*opt.Plan{e.Plan}
	if o := e.Objective; o != nil {
		h.begin(o.Attempt, e.At)
		h.status, h.revision, h.paused = string(o.Status), o.Revision, o.Paused
		if out, ok := s.rewound(e); ok {
			h.moveRoot(out.Status, e.Gate)
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
