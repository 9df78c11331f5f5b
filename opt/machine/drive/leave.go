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
	host Host
	work *work

	now   bool // nothing begins
	told  bool // the machine knows
	timed bool // it is limited
	tried int  // size of the history when the latest try ended
}

// leaveFor is how long work may be held up by a run that wants to leave.
const leaveFor = time.Second

// should reports whether the run should try to leave now.
func (l *leave) should() bool {
	size := l.host.Size()
	switch {
	case l.now || !size.Long:
		return false
	case size.TooLong, !l.told:
		return true
	case len(l.work.activities) == 0 && l.work.starting == 0:
		return size.Events > l.tried
	}
	return size.Events > l.tried+l.tried/4
}

func (l *leave) begin() {
	l.now = true
	if !l.told {
		l.told = true
		l.work.rec.put(machine.Leaving{})
	}
}

// limit sees to it that a run that waits to leave does not hold up its work for long.
func (l *leave) limit() {
	if !l.now || l.timed {
		return
	}
	l.timed = true
	l.host.Sleep(pause(l.host, leaveFor, "Continue the work"), func() {
		size := l.host.Size()
		l.now, l.timed, l.tried = size.TooLong, size.TooLong, size.Events
	})
}
