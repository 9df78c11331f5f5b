package worker

import (
	"context"
	"sync"

	"go.temporal.io/sdk/worker"
)

// slots are the places for running activities. Unlike those of the SDK they can be
// lent: a task that waits because its executor has reached its limit needs no place,
// so the worker may take another task meanwhile. At most as many are lent as there are
// slots, so that one worker does not take tasks that others could run.
type slots struct {
	most int

	mu    sync.Mutex
	used  int
	lent  int
	freed chan struct{} // closed, and replaced, when a slot becomes free
}

// slots of the SDK that our workers do not limit on purpose.
const (
	workflowSlots = 1000 // as the SDK has it
	localSlots    = 1000
	otherSlots    = 1 // for features of the SDK that are not used
)

func newSlots(most int) *slots { return &slots{most: most, freed: make(chan struct{})} }

// tuner returns a tuner that has s for activities.
func (s *slots) tuner() worker.WorkerTuner {
	fixed := func(n int) worker.SlotSupplier {
		supplier, err := worker.NewFixedSizeSlotSupplier(n)
		if err != nil {
			panic(err) // n is above 0
		}
		return supplier
	}
	tuner, err := worker.NewCompositeTuner(worker.CompositeTunerOptions{
		WorkflowSlotSupplier: fixed(workflowSlots), ActivitySlotSupplier: s, LocalActivitySlotSupplier: fixed(localSlots),
		NexusSlotSupplier: fixed(otherSlots), SessionActivitySlotSupplier: fixed(otherSlots),
	})
	if err != nil {
		panic(err) // it has all suppliers
	}
	return tuner
}

// Lend frees the slot of a task that waits. retake takes a slot back, without waiting
// for one: a task that may run must not hold up others of its executor. So for a
// moment more slots may be used than there are.
func (s *slots) Lend() (retake func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lent == s.most {
		return func() {}
	}
	s.lent++
	s.free()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lent--
		s.used++
	}
}

// free frees one slot. s.mu is held.
func (s *slots) free() {
	s.used--
	close(s.freed)
	s.freed = make(chan struct{})
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
	if s.used >= s.most {
		return nil
	}
	s.used++
	return &worker.SlotPermit{}
}

// MarkSlotUsed implements [worker.SlotSupplier].
func (s *slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot implements [worker.SlotSupplier].
func (s *slots) ReleaseSlot(worker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free()
}

// MaxSlots implements [worker.SlotSupplier].
func (s *slots) MaxSlots() int { return s.most }
