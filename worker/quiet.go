package worker

import (
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/worker"
)

// quietAfter is how long no workflow task has to come before a process lets go of the workflows that
// it keeps: those of open gates may wait for days, and each is replayed when something arrives.
const quietAfter = 30 * time.Second

// endsWithin is how long a workflow takes to end that was let go, and to free its memory.
const endsWithin = 2 * time.Second

// quietSlots are the slots of workflow tasks. They put off a timer with each task.
type quietSlots struct {
	worker.SlotSupplier
	quiet *time.Timer
}

// newQuietSlots returns slots whose timer calls quiet.
func newQuietSlots(s worker.SlotSupplier, quiet func()) quietSlots {
	return quietSlots{s, time.AfterFunc(quietAfter, quiet)}
}

// MarkSlotUsed implements [worker.SlotSupplier].
func (s quietSlots) MarkSlotUsed(info worker.SlotMarkUsedInfo) {
	s.quiet.Reset(quietAfter)
	s.SlotSupplier.MarkSlotUsed(info)
}

// forgetWorkflows gives the memory of all workflows that wait back to the system. The SDK documents this for
// stopped workers only, but does the same as when a workflow has to make room for another one: a task that
// runs ends before, and the next one replays.
func forgetWorkflows() {
	worker.PurgeStickyWorkflowCache()
	time.Sleep(endsWithin)
	debug.FreeOSMemory()
}
