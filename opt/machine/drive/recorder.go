package drive

import (
	"slices"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// A recorder gives inputs to the machine of one workflow, and writes the events that follow
// from them to the journal, and those that the results of its children carry.
//
// What a workflow task decides is final only when Temporal has accepted its
// completion. If its worker is lost, or Temporal refuses it because a signal has
// arrived, the task runs again and may decide differently, under the same event
// numbers. So an activity writes the events, since it begins after that: an
// activity of the recorder, or the next one that runs a task, in whose input the
// events ride. A batch begins at the first event that is not known to be in the
// journal, so a batch that arrives first has no gap before it.
type recorder struct {
	host    Host
	machine Machine
	inbox   []machine.Input // which the machine has not got yet

	objectiveID string
	source      string
	under       func() int            // of a plan: the latest epoch of its objective that it knows; nil for others
	rides       func(done int64) bool // whether the events after that one go with the result of the workflow; nil for never
	reports     bool                  // what writes events sends a message that waits for them, too

	last    int64       // number of the latest event
	done    int64       // of the latest one that is in the journal
	pending []opt.Event // after done
	riding  int64       // of the latest one that rides in an activity that has begun
	needed  int64       // the latest event that something to be sent waits for
	carried []opt.Batch // from children, to be written with the next batch
	writing bool        // a separate activity is under way
	repeats bool        // the first try to write has failed
	rewound bool        // the first pending event begins an epoch: nothing is sent or begun before it is recorded
	rewinds bool        // another epoch is to begin
	reset   bool        // likewise, before any input: an operator has reset the run
}

// put has the machine get an input with the others that have arrived.
func (r *recorder) put(in machine.Input) { r.inbox = append(r.inbox, in) }

// handle gives an input to the machine.
func (r *recorder) handle(in machine.Input) { r.add(r.machine.Handle(r.host.Now(), in)...) }

// handleInbox gives all inputs that were put to the machine.
func (r *recorder) handleInbox() {
	inbox := r.inbox
	r.inbox = nil
	for _, in := range inbox {
		r.handle(in)
	}
}

// rewind begins another epoch, above one that the journal has.
func (r *recorder) rewind(epoch int) {
	in := machine.Rewound{Epoch: epoch, Done: r.done, Pending: r.pending}
	if r.rewound { // again
		in.Done, in.Pending = r.pending[0].N, r.pending[1:]
	}
	r.rewinds, r.reset = false, false
	r.handle(in)
}

// add keeps events, which the machine has numbered, to be written.
func (r *recorder) add(events ...opt.Event) {
	for _, e := range events {
		if e.Kind == opt.SourceRewound {
			name, _ := opt.SplitEpoch(r.source)
			r.source, r.pending, r.done, r.riding, r.rewound = opt.InEpoch(name, e.Epoch), nil, e.N-1, 0, true
		}
		r.pending = append(r.pending, e)
		r.last = e.N
	}
}

// carry keeps events that a child has not written itself.
func (r *recorder) carry(batches []opt.Batch) { r.carried = append(r.carried, batches...) }

// has reports whether event n is in the journal. If it is not, the recorder
// writes it soon, since the caller waits for it.
func (r *recorder) has(n int64) bool {
	there := r.done >= n && len(r.carried) == 0 && !r.rewound
	if !there {
		r.needed = max(r.needed, n)
	}
	return there
}

// recorded reports whether everything is in the journal.
func (r *recorder) recorded() bool { return r.done >= r.last && len(r.carried) == 0 }

// batches returns all that is not known to be in the journal.
func (r *recorder) batches() []opt.Batch {
	out := append([]opt.Batch(nil), r.carried...)
	if len(r.pending) > 0 {
		b := opt.Batch{ObjectiveID: r.objectiveID, Source: r.source, Events: append([]opt.Event(nil), r.pending...)}
		if r.under != nil {
			b.Under = r.under()
		}
		out = append(out, b)
	}
	return out
}

// ride returns the events that may ride in an activity, or nil: moves of plans
// and tasks, usage and artifacts, if nothing waits for them.
func (r *recorder) ride() []opt.Batch {
	if r.writing || r.rewound || r.riding >= r.last || r.needed > r.done || len(r.carried) > 0 {
		return nil
	}
	if len(r.pending) == 0 || slices.ContainsFunc(r.pending, isAwaited) {
		return nil
	}
	r.riding = r.last
	return r.batches()
}

// isAwaited reports whether something may wait until e is recorded.
func isAwaited(e opt.Event) bool {
	switch e.Kind {
	case opt.TaskMoved:
		return e.Gate != nil || e.Status != nil
	case opt.PlanMoved, opt.PlanStarted, opt.ArtifactAdded, opt.TaskTried, opt.UsageAdded:
		return false
	}
	return true
}

// arrived notes that an activity in which batches rode has ended. Only an outcome
// says that they are in the journal.
func (r *recorder) arrived(batches []opt.Batch, certain bool) {
	if certain {
		r.confirm(batches)
	}
	r.riding = min(r.riding, r.done)
}

func (r *recorder) confirm(batches []opt.Batch) {
	for _, b := range batches {
		switch {
		case !r.owns(b.Source):
			r.carried = r.carried[1:]
		case b.Source == r.source: // and not an epoch before
			r.done, r.rewound = max(r.done, b.Last()), false
		}
	}
	for len(r.pending) > 0 && r.pending[0].N <= r.done {
		r.pending = r.pending[1:]
	}
}

// owns reports whether a source is the workflow, in any epoch.
func (r *recorder) owns(source string) bool {
	name, _ := opt.SplitEpoch(source)
	own, _ := opt.SplitEpoch(r.source)
	return name == own
}

// refuse handles that the journal has refused events for good. Those of a child that has
// ended are dropped: no workflow is there to say more than the journal has.
func (r *recorder) refuse(e *opt.RewoundError) {
	r.host.Warn("The journal has other events than this run", "source", e.Source, "event", e.Event, "epoch", e.Epoch)
	switch {
	case !r.owns(e.Source):
		r.carried = slices.DeleteFunc(r.carried, func(b opt.Batch) bool { return b.Source == e.Source })
	case e.Source == r.source && e.Unknown:
		r.put(machine.Forgotten{})
	case e.Source == r.source:
		r.rewind(e.Epoch)
	}
}

// forget drops all events if w asks for that, and reports whether the run ends then.
func (r *recorder) forget(w machine.Wants) bool {
	if w.Forget {
		r.pending, r.carried, r.done, r.rewound = nil, nil, r.last, false
	}
	return w.Forget && w.Done != nil
}

// advance writes the events that are not in the journal and that no running activity writes. It has
// the message of waiting sent then, if there is one, and calls received with its receipt.
func (r *recorder) advance(waiting func() *machine.Signal, received func(machine.Signal, Receipt)) {
	if r.writing || len(r.carried) == 0 && max(r.done, r.riding) >= r.last && r.needed <= r.done {
		return
	}
	r.writing = true
	r.write(r.recording(waiting), received)
}

// recording returns all that is not known to be in the journal, with the message of waiting.
func (r *recorder) recording(waiting func() *machine.Signal) Recording {
	rec := Recording{Batches: r.batches()}
	if r.reports {
		rec.Report = waiting()
	}
	return rec
}

// write writes batches, and again until they are in the journal, or it has refused them for good.
func (r *recorder) write(rec Recording, received func(machine.Signal, Receipt)) {
	r.host.Record(rec, func(is Recorded) {
		if rec.Report != nil {
			received(*rec.Report, is.Sent)
		}
		if is.Refused == nil && is.Err != nil {
			r.repeats = true
			r.write(Recording{Batches: rec.Batches, Again: true}, nil) // no event is dropped
			return
		}
		r.writing, r.repeats = false, false
		if is.Refused != nil {
			r.refuse(is.Refused)
		} else {
			r.confirm(rec.Batches)
		}
	})
}
