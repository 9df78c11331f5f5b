package workflows

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"
)

// Context gives the turn in a context to one objective at a time, in the order
// in which they came. It is there only while more than one wants it: the first
// objective of a context begins without asking, and is told once others come.
func Context(ctx workflow.Context, in ContextInput) error {
	r := setupContext(ctx, in)
	for {
		r.grant()
		r.describe()
		switch settled := r.calls == 0 && !r.events.HasPending(); {
		case settled && r.state.empty():
			return nil
		case settled && r.long():
			in := r.in
			in.State = r.state
			return workflow.NewContinueAsNewError(r.ctx, Context, in)
		}
		r.wait()
	}
}

// contextEvents is how long a Context's history may get, well below what Temporal
// suggests: much can arrive before the run has ended.
const contextEvents = 3000

// A contextRun is one run of a Context workflow.
type contextRun struct {
	run
	in    ContextInput
	state *ContextState
	calls int // that are out: what comes of them must reach this run
}

func setupContext(ctx workflow.Context, in ContextInput) *contextRun {
	r := &contextRun{in: in, state: in.State}
	if r.state == nil {
		r.state = &ContextState{}
	}
	r.maxEvents = contextEvents
	if in.MaxEvents > 0 {
		r.maxEvents = min(in.MaxEvents, contextEvents)
	}
	r.start(ctx)
	on(&r.run, EnterSignal, r.enter)
	on(&r.run, SlotSignal, r.slot)
	return r
}

// enter lets an objective wait for its turn, behind those that are known to have
// begun.
func (r *contextRun) enter(e Enter) {
	for _, id := range e.Behind {
		if id != e.ObjectiveID && !r.state.has(id) {
			r.join(id)
		}
	}
	if !r.state.has(e.ObjectiveID) {
		r.state.Waiting = append(r.state.Waiting, e.ObjectiveID)
	}
}

// join makes a member of an objective that began when it was alone. It has the
// turn if nobody has; else it is taken for one that rests, and asks in time.
func (r *contextRun) join(id string) {
	held := r.state.Holder == ""
	if held {
		r.state.Holder = id
	} else {
		r.state.Resting = append(r.state.Resting, id)
	}
	r.call(id, JoinSignal, Join{Tenant: r.in.Tenant, Held: held}, func() { r.state.remove(id) })
}

// slot hears what a member does with its turn.
func (r *contextRun) slot(s Slot) {
	switch s.Do {
	case releaseSlot:
		if r.state.Holder == s.ObjectiveID {
			r.state.Holder = ""
			r.state.Resting = append(r.state.Resting, s.ObjectiveID)
		}
	case askSlot:
		switch {
		case r.state.Holder == s.ObjectiveID: // it was taken for one that works, and waits
			r.turn(s.ObjectiveID, grantTries)
		case !slices.Contains(r.state.Front, s.ObjectiveID):
			r.state.remove(s.ObjectiveID)
			r.state.Front = append(r.state.Front, s.ObjectiveID)
		}
	case leaveSlot:
		r.state.remove(s.ObjectiveID)
	}
}

// grant gives the turn to the next, if nobody has it: to one that had it before
// and was held up, else to the one that has waited longest.
func (r *contextRun) grant() {
	if r.state.Holder != "" {
		return
	}
	next := &r.state.Front
	if len(*next) == 0 {
		next = &r.state.Waiting
	}
	if len(*next) == 0 {
		return
	}
	r.state.Holder = (*next)[0]
	*next = (*next)[1:]
	r.turn(r.state.Holder, grantTries)
}

// An objective enters before it is started, so that none is ever left outside.
// One that is not there after grantTries seconds never was: its start failed.
const grantTries = 20

// turn tells an objective that it has the turn.
func (r *contextRun) turn(id string, tries int) {
	r.call(id, TurnSignal, nil, func() {
		switch {
		case r.state.Holder != id: // it has left meanwhile
		case tries > 1:
			r.calls++
			r.events.AddFuture(workflow.NewTimer(r.ctx, time.Second), func(workflow.Future) {
				r.calls--
				if r.state.Holder == id {
					r.turn(id, tries-1)
				}
			})
		default:
			r.state.remove(id)
		}
	})
}

// call signals an objective; gone is called if it is not there.
func (r *contextRun) call(id, signal string, arg any, gone func()) {
	r.calls++
	r.events.AddFuture(workflow.SignalExternalWorkflow(r.ctx, id, "", signal, arg), func(f workflow.Future) {
		r.calls--
		if f.Get(r.ctx, nil) != nil {
			gone()
		}
	})
}

// A ContextState is what a Context carries from run to run: each member is in
// one place.
type ContextState struct {
	Holder  string   `json:"holder,omitempty"`  // has the turn
	Front   []string `json:"front,omitempty"`   // had it, can go on, and come first
	Waiting []string `json:"waiting,omitempty"` // in the order in which they came
	Resting []string `json:"resting,omitempty"` // had it, and cannot go on
}

func (s *ContextState) empty() bool {
	return s.Holder == "" && len(s.Front)+len(s.Waiting)+len(s.Resting) == 0
}

func (s *ContextState) has(id string) bool {
	return s.Holder == id || slices.Contains(s.Front, id) || slices.Contains(s.Waiting, id) || slices.Contains(s.Resting, id)
}

func (s *ContextState) remove(id string) {
	if s.Holder == id {
		s.Holder = ""
	}
	for _, list := range []*[]string{&s.Front, &s.Waiting, &s.Resting} {
		if i := slices.Index(*list, id); i >= 0 {
			*list = slices.Delete(*list, i, i+1)
		}
	}
}

// contextWorkflowID returns the id of the workflow of a context. What clients
// call their contexts may be anything of any length.
func contextWorkflowID(tenant, contextID string) string {
	sum := sha256.Sum256([]byte(tenant + "\x00" + contextID))
	return "ctx-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}
