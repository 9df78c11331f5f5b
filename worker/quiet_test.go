package worker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"longhaul/worker"
)

// Half a minute after the last workflow task, and once, a worker lets go of its workflows.
func TestQuietSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan time.Time, 10)
		s := worker.NewQuietSlots(worker.NewSlots(1), func() { let <- time.Now() })
		for range 3 {
			time.Sleep(20 * time.Second)
			s.MarkSlotUsed(nil)
		}
		last := time.Now()
		time.Sleep(time.Hour)
		s.MarkSlotUsed(nil)
		again := time.Now()
		time.Sleep(time.Hour)
		for _, task := range []time.Time{last, again} {
			if after := (<-let).Sub(task); after != 30*time.Second {
				t.Errorf("let go %v after the last task", after)
			}
		}
		if len(let) > 0 {
			t.Errorf("let go %d times more", len(let))
		}
	})
}
