package sim

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// A run is one run of a workflow: a machine, the driver that runs it in Temporal, too, and all
// that is under way for it. It is the host of the driver.
type run struct {
	w             *world
	id, objective string // workflow id, and whose rows its events change; "" for a context
	m             host
	driver        *drive.Driver
	former        *run // of the same workflow that ended before it began
	before        *run // that it has taken the place of in a reset, and the same until then
	since         int  // the number of tasks until then
	parent        *run // that began it and gets its result; of a plan
	result        int  // the call of parent that gets it
	attempt       int  // of a plan
	began         int64
	fresh         bool // its first workflow task was not run, and begins the work
	wake          bool // its first workflow task was not run
	restores      bool // it has not read its objective from the journal yet
	restored      bool // it has read that
	ended         bool
	terminated    bool // by an operator
	canceled      bool // it was asked to stop
	reset         bool // an operator has reset it, and it has not run since
	setBack       bool // likewise, and it has not begun an epoch since
	size          drive.Size

	arrived    []arrival
	calls      map[int]func(any) // that wait for something, by number
	made       int               // calls so far
	activities []*activity
	timers     []*sleep
	records    []*recording
	again      map[string]bool // activities that begin again
	checked    map[string]bool // activities that were wanted, and whose begin had to wait for an epoch to be recorded
	held       int64           // since when it begins nothing, to continue as new; 0 for not

	task    *task // that runs now
	queue   []arrival
	shadow  bool   // it only repeats the tasks of another run
	lost    bool   // likewise, with the worker that ran the first of them
	initial []byte // the first state, for replay
	history []*task
	undo    []func()   // take back the facts of this run
	facts   *planFacts // before its first task, of a plan
	unsent  map[int]op // of a run that repeats: the ops without an answer, by call
}

// An arrival is a signal, or the result of a call.
type arrival struct {
	in    machine.Input // of a signal
	call  int
	value any
}

// A task is a workflow task: what the run got in it, and what it did.
type task struct {
	now      int64
	fresh    bool
	arrived  []arrival
	canceled bool
	reset    bool          // it is the first one after a reset
	prompt   bool          // the journal answers at once
	deaf     bool          // but the message with what it records then is lost
	sent     drive.Receipt // of the message with what it records then
	size     drive.Size
	done     []string

	facts   *planFacts      // after it, of a plan
	undo    int             // how many facts the run had after it
	checked map[string]bool // activities, after it
	attempt int             // at the objective, after it
}

// copied returns a task with arrivals that share no memory with those of t.
func (t *task) copied() *task {
	c := *t
	c.arrived = nil
	for _, a := range t.arrived {
		c.arrived = append(c.arrived, a.copied())
	}
	return &c
}

// An activity is a running activity.
type activity struct {
	machine.Activity
	call    int
	ride    []opt.Batch
	taken   bool              // by a worker, which has recorded ride
	refused *opt.RewoundError // how the journal has refused that
	again   bool              // it has begun before
	work    opt.Work          // of a task
	attempt int               // at the round of the task
	asked   bool              // it was asked to stop
	unsure  bool              // one worker was lost with it

	returned *opt.Outcome // with which it ends
	watches  bool         // its task waits at a gate
	collects bool         // it takes in work elsewhere
	question opt.StandingQuestion
	spends   bool // tokens
	request  *op  // to a context, which begins if it is not there
}

// reads reports whether a only looks something up.
func (a *activity) reads() bool {
	return slices.Contains([]machine.ActivityKind{machine.LoadKept, machine.WatchTask, machine.LookUp, machine.CheckPlan, machine.AskContext, machine.CallRoll}, a.Kind)
}

// ends reports whether a does no work itself: it cancels or watches that elsewhere, or returns
// an outcome.
func (a *activity) ends() bool { return a.work.Cancel || a.returned != nil || a.watches }

// works reports whether a is work for which its objective needs its turn.
func (a *activity) works() bool { return !a.reads() && !a.asked && !a.ends() }

// mayWait reports whether a worker may send a back, since it waits for a quota.
func (a *activity) mayWait() bool {
	return (a.Kind == machine.RunTask || a.question.Counts) && !a.taken && !a.unsure
}

// A sleep is a timer that runs.
type sleep struct {
	machine.Timer
	call int
}

// A recording is an activity that records.
type recording struct {
	batches []opt.Batch
	again   bool // it is repeated until the journal answers
	report  *op  // a message that it sends then; nil for none
	call    int
}

// late is a recording that comes late: by a worker that was taken for lost.
func (r *recording) late() op {
	return op{kind: lateRecord, batches: r.batches, report: r.report, repeat: true}
}

// A planEnd is the result of a plan.
type planEnd struct {
	report *opt.Report
	ride   []opt.Batch
}

// activityOf returns an activity that is wanted.
func (r *run) activityOf(a machine.Activity) *activity {
	wanted := &activity{Activity: a, again: r.again[a.Key] || r.w.facts.resent[r.id+a.Key]}
	if h, ok := r.m.(objectiveHost); ok && a.Kind == machine.AskContext {
		wanted.request = &op{to: h.target(machine.ToContext), in: sent(h.o.State.TurnRequest()), context: h.o.State.Objective.ContextID}
	}
	if h, ok := r.m.(planHost); ok {
		wanted.work = h.p.State.WorkOf(a)
		wanted.returned = h.returned(a)
		wanted.watches = a.Kind == machine.RunTask && h.p.State.Work[a.Of].AtGate
		wanted.collects = h.p.State.Work[a.Of].Collects
		wanted.attempt = h.p.State.Work[a.Of].Attempt
		if a.Kind == machine.LookUp {
			wanted.question = h.p.State.QuestionOf(a, a2a.AtMillis(r.w.now))
		}
	}
	return wanted
}

// drop removes an activity that has ended.
func (r *run) drop(a *activity) {
	r.activities = slices.DeleteFunc(r.activities, func(x *activity) bool { return x == a })
}

// childKey is a key of the attempt to begin a plan, which is used once.
func childKey(c machine.Child) string {
	return "child " + string(encoded([]any{c.PlanID, c.Attempt, c.Try}))
}

// copied returns an arrival that shares no memory with a.
func (a arrival) copied() arrival {
	if a.in != nil {
		a.in = sent(a.in)
	}
	switch v := a.value.(type) {
	case drive.End:
		if v.Input != nil {
			v.Input = sent(v.Input)
		}
		a.value = v
	case planEnd:
		a.value = planEnd{copied(v.report), copied(v.ride)}
	}
	return a
}

// signal has a signal arrive at r.
func (r *run) signal(in machine.Input) { r.arrived = append(r.arrived, arrival{in: in}) }

// answer has the result of a call arrive at r.
func (r *run) answer(call int, value any) {
	if !r.ended {
		r.arrived = append(r.arrived, arrival{call: call, value: value})
	}
}

func (r *run) activity(key string) *activity {
	for _, a := range r.activities {
		if a.Key == key {
			return a
		}
	}
	return nil
}

// use notes that a key is used. It may be used once.
func (r *run) use(key string) {
	key = r.id + " " + key
	switch {
	case r.shadow:
		return
	case r.w.used[key]:
		r.w.fail("keys", "%s is wanted again after it has ended", key)
	}
	r.w.used[key] = true
	r.undo = append(r.undo, func() { delete(r.w.used, key) })
}

// pauses reports whether an activity was sent back and begins again at a time.
func (r *run) pauses(key string) bool {
	return slices.ContainsFunc(r.timers, func(s *sleep) bool { return s.Summary == "Begin "+key+" again" })
}

// missing returns the key of an activity, a timer or a plan that the machine wants, and that
// does not run; "" for none.
func (r *run) missing() string {
	wants := r.m.Wants()
	for _, a := range wants.Activities {
		if !a.Stop && r.activity(a.Key) == nil && !r.pauses(a.Key) {
			return a.Key
		}
	}
	for _, t := range wants.Timers {
		if !slices.ContainsFunc(r.timers, func(s *sleep) bool { return s.Key == t.Key }) {
			return t.Key
		}
	}
	for _, c := range wants.Children {
		if !r.w.used[r.id+" "+childKey(c)] {
			return c.PlanID
		}
	}
	return ""
}

// unstopped returns how many activities of r run that are not to stop and do not cancel work
// elsewhere. One is asked to stop once an epoch that has to be recorded first is there.
func unstopped(r *run) (n int) {
	wanted := r.m.Wants().Activities
	for _, a := range r.activities {
		stays := slices.ContainsFunc(wanted, func(w machine.Activity) bool { return w.Key == a.Key && !w.Stop })
		if stays && !a.ends() && a.Kind != machine.WatchTask {
			n++
		}
	}
	return n
}
