package drive_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// A host of a run that is about to begin.
type host struct {
	drive.Host
	recorded int
}

func (h *host) Began() a2a.Time { return a2a.AtMillis(1) }

func (h *host) RecordNow(drive.Recording) drive.Recorded {
	h.recorded++
	return drive.Recorded{}
}

// The first events of a plan are recorded at once, except those of one that its rewound objective
// begins: they do not follow on what the journal has of a former run, so an epoch begins before them.
func TestDriver_Open(t *testing.T) {
	for epoch, want := range []int{1, 1, 0} {
		p := opt.Plan{ID: "plan-abcdefghijklmnopqrstuvwxyz-1", Status: opt.PlanPending, Tasks: []*opt.Task{{ID: "task-0", State: opt.TaskPending}}}
		first := machine.Directed{Directive: machine.Directive{N: 1, Stop: opt.PlanCanceled}}
		m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: p, Epoch: epoch, Rewind: epoch > 1, First: &first}}
		h := &host{}
		drive.New(h, m, drive.Source{Name: m.State.Source(), Under: m.State.Under, Rides: m.State.Rides}).Open()
		if h.recorded != want {
			t.Errorf("in epoch %d its first events are recorded %d times, want %d", epoch, h.recorded, want)
		}
	}
}
