package drive

import (
	"time"

	"longhaul/opt/machine"
)

// A leave is the end of a run that continues as new because its history is long. The next run
// gets the state of the machine and nothing else, so all that is under way has to end before.
// That must not hold up the work: a run that is about to leave begins nothing, but for a moment
// only. If it cannot leave by then, it continues, and tries again when it has nothing under way,
// or has become longer by a quarter. Only one that is too long for Temporal waits until it can.
type leave struct {
	now   bool // nothing begins
	told  bool // the machine knows
	timed bool // it is limited
	tried int  // size of the history when the latest try ended
}

// leaveFor is how long work may be held up by a run that wants to leave.
const leaveFor = time.Second

// shouldLeave reports whether the run should try to leave now.
func (d *Driver) shouldLeave() bool {
	size := d.host.Size()
	switch {
	case d.leave.now || !size.Long:
		return false
	case size.TooLong, !d.leave.told:
		return true
	case len(d.activities) == 0 && d.starting == 0:
		return size.Events > d.leave.tried
	}
	return size.Events > d.leave.tried+d.leave.tried/4
}

func (d *Driver) beginLeaving() {
	d.leave.now = true
	if !d.leave.told {
		d.leave.told = true
		d.Put(machine.Leaving{})
	}
}

// limitLeaving sees to it that a run that waits to leave does not hold up its work for long.
func (d *Driver) limitLeaving() {
	if !d.leave.now || d.leave.timed {
		return
	}
	d.leave.timed = true
	d.host.Sleep(d.pause(leaveFor, "Continue the work"), func() {
		size := d.host.Size()
		d.leave.now, d.leave.timed, d.leave.tried = size.TooLong, size.TooLong, size.Events
	})
}
