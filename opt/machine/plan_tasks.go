package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// Work is the work on a task: one attempt of a round, or the wait for it.
type Work struct {
	Round   int      `json:"round"`             // begins at 1 and rises by one with each gate
	Attempt int      `json:"attempt"`           // within the round
	Running bool     `json:"running,omitempty"` // an activity does it
	Stop    bool     `json:"stop,omitempty"`    // the activity is being stopped
	Waiting bool     `json:"waiting,omitempty"` // it begins when the plan may begin tasks, not before Due
	Due     a2a.Time `json:"due,omitzero"`      // not before; zero for at once
	Follows int      `json:"follows,omitempty"` // how many Follow activities have ended
	Root    bool     `json:"root,omitempty"`    // the root task shows what the activity streams

	Leg       int            `json:"leg,omitempty"`       // within the attempt
	Elsewhere *opt.Elsewhere `json:"elsewhere,omitempty"` // the leg is an activity on another queue
	Watches   int            `json:"watches,omitempty"`   // how often its heartbeats were read
	Beat      string         `json:"beat,omitempty"`      // digest of the latest one
	Woken     bool           `json:"woken,omitempty"`     // a callback has arrived since the leg began
	Returned  *opt.Outcome   `json:"returned,omitempty"`  // by a callback or an activity elsewhere: the next leg ends with it
	Returning bool           `json:"returning,omitempty"` // that leg runs
	Callbacks []string       `json:"callbacks,omitempty"` // ids of the latest ones, to know repeats
	Said      string         `json:"said,omitempty"`      // the latest text about the work
	Parked    string         `json:"parked,omitempty"`    // the text of the latest park
	Canceling bool           `json:"canceling,omitempty"` // the leg cancels the work elsewhere
	AtGate    bool           `json:"atGate,omitempty"`    // the legs watch work elsewhere while the task waits at a gate
}

// tasks is the part of a Plan that runs tasks.
type tasks struct{ *Plan }

// The defaults for tasks.
const (
	TaskAttempts = 3           // of one round
	retryWait    = time.Second // before the second attempt, twice as long before each one after that
	retryMaxWait = time.Minute // between two attempts, unless a task asks for longer
)

// ReasonWorkerLost is the reason of a task that failed because several workers
// were lost while they ran it. It is not attempted again.
const ReasonWorkerLost = "worker-lost"

// key returns the key of the activity of w, which is never used again.
func (w *Work) key(t *opt.Task) string {
	if t.Follow {
		return fmt.Sprintf("%s:follow:%d", t.A2AID(), w.Follows)
	}
	key := fmt.Sprintf("%s:%d:%d", t.A2AID(), w.Round, w.Attempt)
	if w.Leg > 0 {
		key += fmt.Sprintf(":%d", w.Leg)
	}
	if w.Canceling {
		key += ":cancel"
	}
	return key
}

func (w *Work) kind(t *opt.Task) ActivityKind {
	switch {
	case t.Follow:
		return FollowTask
	case w.Elsewhere != nil:
		return Elsewhere
	}
	return RunTask
}

// working reports whether any activity runs.
func (m tasks) working() bool {
	return slices.ContainsFunc(m.State.Plan.Tasks, func(t *opt.Task) bool {
		w := m.State.Work[t.ID]
		return w != nil && w.Running
	})
}

// works reports whether there is work on any task that is not at a gate.
func (m tasks) works() bool {
	return slices.ContainsFunc(m.State.Plan.Tasks, func(t *opt.Task) bool {
		w := m.State.Work[t.ID]
		return w != nil && !w.AtGate
	})
}

// beginReady begins the tasks that may begin now.
func (m tasks) beginReady() bool {
	if !m.mayBegin() {
		return false
	}
	ready := m.State.Plan.Ready()
	for _, t := range ready {
		m.begin(t)
	}
	return len(ready) > 0
}

// begin begins t: with an activity, at its gate if it is only a gate, or by hand
// if it is linked to a task that we cannot follow.
func (m tasks) begin(t *opt.Task) {
	w := &Work{Round: t.Gates + 1, Attempt: 1, Running: true, Root: m.shows(t)}
	switch {
	case t.Link != "" && !t.Follow:
		m.moveTask(t, opt.TaskWorking, opt.Event{Reason: opt.ByHand})
	case t.Awaits():
		m.openGate(t, m.formed(t))
	case t.Ask != nil:
		m.moveTask(t, opt.TaskWorking, opt.Event{})
		m.openGate(t, m.formed(t))
	case t.Follow:
		m.State.Work[t.ID] = w
		m.moveTask(t, opt.TaskWorking, opt.Event{})
	default:
		m.State.Work[t.ID] = w
		m.moveTask(t, opt.TaskWorking, opt.Event{Round: w.Round, Attempt: w.Attempt})
	}
}

// beginWaiting begins the waiting attempts and rounds that may begin.
func (m tasks) beginWaiting() bool {
	s := &m.State
	if s.Plan.Stopping != "" || s.Plan.Status.Ended() {
		return false
	}
	any, may := false, m.mayBegin() && !s.Plan.OnHold()
	for _, t := range s.Plan.Tasks {
		w := s.Work[t.ID]
		if w == nil || !w.Waiting || !w.Due.IsZero() || !may && !w.AtGate { // to watch is not new work
			continue
		}
		w.Waiting, w.Running, w.Root, any = false, true, m.shows(t), true
		w.Returning = w.Returned != nil
		if w.Attempt > 1 && w.Leg == 0 {
			m.record(opt.Event{
				Kind: opt.TaskTried, At: m.now, PlanID: s.Plan.ID, TaskID: t.A2AID(), From: string(t.State), To: string(t.State),
				Round: w.Round, Attempt: w.Attempt,
			})
		}
	}
	return any
}

// endDoomed stops the work of tasks that must end.
func (m tasks) endDoomed() bool {
	any := false
	for _, t := range m.State.Plan.Doomed() {
		any = m.cancel(t) || any
	}
	return any
}

// cancel cancels t, after its activity has ended if there is one. It reports
// whether that changed anything.
func (m tasks) cancel(t *opt.Task) bool {
	w := m.State.Work[t.ID]
	switch {
	case w != nil && (w.Canceling || w.Returning && w.Running):
		return false // it ends soon
	case w != nil && w.Running:
		changed := !w.Stop
		w.Stop = true
		return changed
	case m.legs().cancels(t):
		m.legs().cancel(t, w)
		return true
	}
	m.legs().forget(t)
	m.moveTask(t, opt.TaskCanceled, opt.Event{Reason: string(opt.TaskCanceled)})
	return true
}

// task returns the task whose work has the key, and that work; nil for none.
func (m tasks) task(key string) (*opt.Task, *Work) {
	for _, t := range m.State.Plan.Tasks {
		if w := m.State.Work[t.ID]; w != nil && w.key(t) == key {
			return t, w
		}
	}
	return nil, nil
}

// retryTimer begins the keys of timers. The rest is the key of the activity that
// waits for the timer.
const retryTimer = "retry:"

// onElapsed takes the step of a gate that is due, or lets an attempt begin whose
// wait is over.
func (m tasks) onElapsed(key string) {
	if t := m.atStep(key); t != nil {
		m.takeStep(t)
		return
	}
	if _, w := m.task(strings.TrimPrefix(key, retryTimer)); w != nil && w.Waiting {
		w.Due = a2a.Time{}
	}
}

// onEnded handles the end of an attempt at a task.
func (m tasks) onEnded(in Ended) {
	t, w := m.task(in.Key)
	if t == nil || !w.Running {
		return
	}
	stopped := w.Stop
	w.Running, w.Stop = false, false
	out := in.Outcome
	e := opt.Event{Round: w.Round, Attempt: w.Attempt, Leg: w.Leg, Try: out.Try}
	answered := w.AtGate && t.Gate == nil
	if w.Elsewhere == nil && !answered {
		m.legs().remember(t, out)
	}
	switch {
	case w.Canceling && !t.State.Ended():
		m.legs().endCanceled(t, in, e)
	case t.ByHand || t.State.Ended(): // a client has moved or ended it meanwhile
		delete(m.State.Work, t.ID)
	case answered: // what the leg has seen, the next one sees again
		m.nextRound(t)
	case w.Elsewhere != nil && in.Failed == nil:
		w.Returned = cmp.Or(w.Returned, &out)
		m.legs().beginReturning(t, w)
	case in.Failed != nil && w.Returned != nil && !w.Returning:
		m.legs().beginReturning(t, w)
	case stopped && (w.Returned == nil || w.Returning) && (in.Failed != nil || !out.State.Ended()):
		m.stopped(t, w, e)
	case in.Failed != nil && w.Elsewhere != nil: // Temporal has repeated it as often as it may
		m.end(t, opt.TaskFailed, in.Failed.Code, in.Failed.Message, e)
	case in.Failed != nil:
		m.failAttempt(t, w, *in.Failed)
	case out.Park != nil && (out.State == opt.TaskWorking || out.State.Waiting() && (out.Gate != nil || w.AtGate)):
		m.legs().park(t, w, out, e)
	case out.State == opt.TaskCompleted:
		m.complete(t, out.Artifacts, out.Streamed, e)
	case out.State == opt.TaskFailed || out.State == opt.TaskRejected:
		m.end(t, out.State, out.Code, out.Message, e)
	case out.State.Waiting() && out.Gate != nil:
		m.legs().leaveGate(t, w)
		delete(m.State.Work, t.ID)
		m.legs().openForExecutor(t, *out.Gate)
	default:
		m.end(t, opt.TaskFailed, "invalid-outcome", "The task ended in a way that is not allowed.", e)
	}
}

// nextRound begins the next round of t, after the leg that watches at its gate, if one runs.
func (m tasks) nextRound(t *opt.Task) {
	if w := m.State.Work[t.ID]; w != nil && w.Running {
		w.Stop = true
		return
	}
	m.State.Work[t.ID] = &Work{Round: t.Gates + 1, Attempt: 1, Waiting: true}
}

// failAttempt schedules the next attempt at t, or fails t if there is none.
func (m tasks) failAttempt(t *opt.Task, w *Work, f Failure) {
	last := w.Attempt >= cmp.Or(t.Attempts, TaskAttempts)
	if last || f.Code == ReasonWorkerLost || slices.Contains(t.Retry.Except, f.Code) {
		m.end(t, opt.TaskFailed, f.Code, f.Message, opt.Event{Round: w.Round, Attempt: w.Attempt})
		return
	}
	wait := cmp.Or(time.Duration(t.Retry.Wait)*time.Second, retryWait)
	most := max(wait, retryMaxWait)
	for range w.Attempt - 1 {
		wait = min(2*wait, most)
	}
	w.Attempt++
	w.Leg, w.Woken, w.Returning = 0, false, false
	w.Waiting, w.Due = true, a2a.At(m.now.Time().Add(wait))
}

// stopped ends t, whose activity was stopped. If t has begun work elsewhere, that is
// canceled first.
func (m tasks) stopped(t *opt.Task, w *Work, e opt.Event) {
	if m.legs().cancels(t) {
		m.legs().cancel(t, w)
		return
	}
	m.end(t, opt.TaskCanceled, string(opt.TaskCanceled), "", e)
}

// complete keeps and shows the artifacts of t, then completes it.
func (m tasks) complete(t *opt.Task, artifacts []a2a.Artifact, streamed []string, e opt.Event) {
	m.collect(t, artifacts, streamed, e)
	m.legs().forget(t)
	m.moveTask(t, opt.TaskCompleted, e)
}

// collect keeps and shows artifacts that t has made. The journal has those that were
// streamed.
func (m tasks) collect(t *opt.Task, artifacts []a2a.Artifact, streamed []string, e opt.Event) {
	s := &m.State
	w := s.Work[t.ID]
	for _, a := range artifacts {
		inStream := slices.Contains(streamed, a.ArtifactID)
		rootID := ""
		if inStream && w.Root || !inStream && m.shows(t) {
			rootID = s.RootID
		}
		added := opt.Event{
			Kind: opt.ArtifactAdded, TaskID: t.A2AID(), RootID: rootID, Round: e.Round, Attempt: e.Attempt, Leg: e.Leg, Try: e.Try,
			Chunk: &opt.Chunk{Artifact: a, Last: true},
		}
		if inStream {
			m.applyUnrecorded(added) // the journal has it
		} else {
			m.apply(added)
		}
		if rootID != "" && !slices.Contains(s.Shown, a.ArtifactID) {
			s.Shown = append(s.Shown, a.ArtifactID)
		}
	}
}

// applyUnrecorded changes the plan without an event.
func (m tasks) applyUnrecorded(e opt.Event) {
	e.At = m.now
	if err := m.State.Plan.Apply(e); err != nil {
		panic(err)
	}
}

// end ends t in a state, with a reason code and a text for clients.
func (m tasks) end(t *opt.Task, to opt.TaskState, reason, text string, e opt.Event) {
	m.legs().forget(t)
	e.Reason = reason
	if text != "" {
		e.Status = m.say(t, ":status", text)
	}
	m.moveTask(t, to, e)
}

// onFollowed ends a task with the result of its linked task, or follows that
// further if it has not ended.
func (m tasks) onFollowed(in Followed) {
	t, w := m.task(in.Key)
	if t == nil || !w.Running {
		return
	}
	stopped := w.Stop
	w.Running, w.Stop = false, false
	switch {
	case t.ByHand || t.State.Ended():
		delete(m.State.Work, t.ID)
	case stopped && !in.State.Ended():
		m.end(t, opt.TaskCanceled, string(opt.TaskCanceled), "", opt.Event{})
	case in.State == opt.TaskCompleted:
		m.complete(t, in.Artifacts, nil, opt.Event{})
	case in.State.Ended():
		m.end(t, in.State, cmp.Or(in.Code, opt.ReasonLinked), in.Message, opt.Event{})
	default:
		w.Follows++
		w.Running = true
	}
}

// moveTask moves t; e has further members of the event.
func (m tasks) moveTask(t *opt.Task, to opt.TaskState, e opt.Event) {
	e.Kind, e.TaskID, e.From, e.To = opt.TaskMoved, t.A2AID(), string(t.State), string(to)
	m.apply(e)
}

// say returns an agent's message about t. Its id ends in suffix, which is used
// once.
func (m tasks) say(t *opt.Task, suffix, text string) *a2a.Message {
	return &a2a.Message{
		MessageID: t.A2AID() + suffix, ContextID: m.State.ContextID, TaskID: t.A2AID(), Role: a2a.RoleAgent,
		Parts: []a2a.Part{a2a.TextPart(text)},
	}
}

// shows reports whether the root task shows t's artifacts as its own.
func (m tasks) shows(t *opt.Task) bool { return m.State.Directive.Leaf && m.State.Plan.Leaf(t) }

// results lists the artifacts of the tasks before t, or of the plans before its
// plan, and of the tasks that its input names.
func (m tasks) results(t *opt.Task) []opt.Result {
	p := &m.State.Plan
	before := p.Inputs(t)
	if len(before) == 0 && len(m.State.Inputs) > 0 {
		return []opt.Result{{Artifacts: m.State.Inputs}}
	}
	for _, id := range t.Uses {
		if b := p.Task(id); b != nil && !slices.Contains(before, b) {
			before = append(before, b)
		}
	}
	var out []opt.Result
	for _, b := range before {
		if e := m.editOf(b); e != nil {
			if !slices.Contains(before, e) {
				out = append(out, opt.Result{TaskID: b.ID, Name: b.Name, Artifacts: e.Artifacts})
			}
			continue
		}
		if len(b.Artifacts) > 0 {
			out = append(out, opt.Result{TaskID: b.ID, Name: b.Name, Artifacts: b.Artifacts})
		}
	}
	return out
}
