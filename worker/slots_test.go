package worker_test

import (
	"context"
	"testing"
	"testing/synctest"

	sdk "go.temporal.io/sdk/worker"

	"longhaul/internal/test"
	"longhaul/worker"
)

// A slot that is lent is free for another task; the one that comes back does not wait,
// and later tasks wait for it.
func TestSlots_lend(t *testing.T) {
	s := worker.NewSlots(1)
	reserve := func() bool { return s.TryReserveSlot(nil) != nil }
	release := func() { s.ReleaseSlot(nil) }
	if !reserve() || reserve() {
		t.Fatal("one slot was not reserved exactly once")
	}
	if s.Crowded() {
		t.Error("crowded by a task that runs")
	}
	retake := s.Lend()
	if !reserve() {
		t.Fatal("a slot that was lent is not free")
	}
	s.Lend()() // no more than one is lent
	if reserve() {
		t.Fatal("more slots were lent than there are")
	}
	retake()
	release()
	if reserve() {
		t.Fatal("a slot is free although the one that was lent was taken back")
	}
	release()
	if !reserve() {
		t.Fatal("no slot is free after all were released")
	}
}

// While more tasks wait than slots are lent, each task that ends makes room for one of
// the queue, as it would if none waited.
func TestSlots_lendOneForEachThatEnds(t *testing.T) {
	s := worker.NewSlots(2)
	reserve := func() bool { return s.TryReserveSlot(nil) != nil }
	var retake []func()
	for i := range 4 {
		if !reserve() {
			t.Fatalf("no slot for task %d", i)
		}
		retake = append(retake, s.Lend())
		if crowded := i == 3; s.Crowded() != crowded { // the two that lend no slot occupy both
			t.Errorf("crowded is %t while %d tasks wait", !crowded, i+1)
		}
	}
	if reserve() {
		t.Fatal("more slots were lent than there are")
	}
	for i, run := range retake {
		run()
		if reserve() {
			t.Fatalf("a slot is free while task %d runs and others wait", i)
		}
		s.ReleaseSlot(nil)
		if !reserve() {
			t.Fatalf("no slot is free after the end of task %d", i)
		}
		s.Lend()
	}
}

// Who waits for a slot gets the next one, or stops waiting when its context ends.
func TestSlots_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := worker.NewSlots(1)
		test.OK(t, test.Err(s.ReserveSlot(t.Context(), nil)))
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan *sdk.SlotPermit, 2)
		wait := func(ctx context.Context) {
			permit, _ := s.ReserveSlot(ctx, nil)
			got <- permit
		}
		go wait(ctx)
		synctest.Wait()
		cancel()
		if permit := <-got; permit != nil {
			t.Error("a canceled wait has got a slot")
		}
		go wait(t.Context())
		synctest.Wait()
		s.ReleaseSlot(nil)
		if permit := <-got; permit == nil {
			t.Error("no slot was got after one was released")
		}
	})
}
