package worker

import (
	"context"
	"sync"

	"go.temporal.io/sdk/worker"
)

// slots are the rights to run activities. Unlike the SDK's they can be
// lent: a task that waits because its executor has reached its limit needs no slot,
// so the worker may take another task meanwhile. At most as many are lent as there are
// slots, so that one worker does not take tasks that others could run. If more tasks
// wait, one lends its slot as soon as another takes its own back: the worker takes one
// task for each that ends, and Temporal chooses it among the tasks of all tenants.
type slots struct {
	most int

	mu      sync.Mutex
	taken   int           // slots of the SDK
	waiting int           // tasks that wait, and may lend their slots
	freed   chan struct{} // closed, and replaced, when a slot becomes free
}

// Slots of the SDK that operators do not set. A workflow task that a worker has taken must end within
// three seconds; those in Temporal's queue may wait. So a worker takes no more than it can do in that
// time: with a thousand at a time, a long queue had it do tasks whose time was over.
const (
	workflowSlots = 64
	localSlots    = 1000
	otherSlots    = 1 // for features of the SDK that are not used
)

func newSlots(most int) *slots { return &slots{most: most, freed: make(chan struct{})} }

// fixedSlots returns n slots.
func fixedSlots(n int) worker.SlotSupplier {
	supplier, err := worker.NewFixedSizeSlotSupplier(n)
	if err != nil {
		panic(err) // n is above 0
	}
	return supplier
}

// tuner returns a tuner that has s for activities, and others for workflow tasks.
func (s *slots) tuner(workflows worker.SlotSupplier) worker.WorkerTuner {
	tuner, err := worker.NewCompositeTuner(worker.CompositeTunerOptions{
		WorkflowSlotSupplier: workflows, ActivitySlotSupplier: s, LocalActivitySlotSupplier: fixedSlots(localSlots),
		NexusSlotSupplier: fixedSlots(otherSlots), SessionActivitySlotSupplier: fixedSlots(otherSlots),
	})
	if err != nil {
		panic(err) // it has all suppliers
	}
	return tuner
}

// Lend frees the slot of a task that waits. retake takes a slot again at once, even if none is
// free, since a task with a permit must not delay others of its executor. For a moment more
// slots may be in use than there are.
func (s *slots) Lend() (retake func()) {
	s.add(0, 1)
	return func() { s.add(0, -1) }
}

// Crowded reports whether no slot is free since more tasks wait than may lend theirs.
func (s *slots) Crowded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting > s.most && s.used() >= s.most
}

// used returns how many slots are in use. s.mu is held.
func (s *slots) used() int { return s.taken - min(s.waiting, s.most) }

// add adds to the numbers of slots that are taken and of tasks that wait.
func (s *slots) add(taken, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.used()
	s.taken += taken
	s.waiting += waiting
	if s.used() < before {
		close(s.freed)
		s.freed = make(chan struct{})
	}
}

// ReserveSlot implements [worker.SlotSupplier].
func (s *slots) ReserveSlot(ctx context.Context, info worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	for {
		s.mu.Lock()
		freed := s.freed
		s.mu.Unlock()
		if permit := s.TryReserveSlot(info); permit != nil {
			return permit, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-freed:
		}
	}
}

// TryReserveSlot implements [worker.SlotSupplier].
func (s *slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used() >= s.most {
		return nil
	}
	s.taken++
	return &worker.SlotPermit{}
}

// MarkSlotUsed implements [worker.SlotSupplier].
func (s *slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot implements [worker.SlotSupplier].
func (s *slots) ReleaseSlot(worker.SlotReleaseInfo) { s.add(-1, 0) }

// MaxSlots implements [worker.SlotSupplier].
func (s *slots) MaxSlots() int { return s.most }
