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

// TaskStates is what a plan keeps of the work on its tasks, by their ids.
type TaskStates struct {
	Work    map[string]*Work     `json:"work,omitempty"`    // under way
	Memos   map[string]opt.Memo  `json:"memos,omitempty"`   // of executors
	Spent   map[string]opt.Usage `json:"spent,omitempty"`   // what they have used
	Limited bool                 `json:"limited,omitempty"` // an executor has a budget for the objective
	Clocks  map[string]Clock     `json:"clocks,omitempty"`  // of attempts under way
	Ran     int64                `json:"ran,omitempty"`     // milliseconds of others, less than a second, which no event counts
}

// use counts what a task has used.
func (k *TaskStates) use(taskID string, u opt.Usage) {
	k.Spent = made(k.Spent)
	k.Spent[taskID] = k.Spent[taskID].Plus(u)
}

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
	Streamed  []string       `json:"streamed,omitempty"`  // ids of artifacts that its earlier legs have streamed
	Elsewhere *opt.Elsewhere `json:"elsewhere,omitempty"` // the leg is an activity on another queue
	Watches   int            `json:"watches,omitempty"`   // how often its heartbeats were read
	Beat      string         `json:"beat,omitempty"`      // digest of the latest one
	Woken     bool           `json:"woken,omitempty"`     // a callback has arrived since the leg began
	Noted     bool           `json:"noted,omitempty"`     // likewise a note
	Hears     bool           `json:"hears,omitempty"`     // a note ends the wait
	Returned  *opt.Outcome   `json:"returned,omitempty"`  // by a callback or an activity elsewhere: the next leg ends with it
	Returning bool           `json:"returning,omitempty"` // that leg runs
	Callbacks []string       `json:"callbacks,omitempty"` // ids of the latest ones, to know repeats
	Said      string         `json:"said,omitempty"`      // the latest text about the work
	Parked    string         `json:"parked,omitempty"`    // the text of the latest park
	Canceling bool           `json:"canceling,omitempty"` // the leg cancels the work elsewhere
	AtGate    bool           `json:"atGate,omitempty"`    // the legs watch work elsewhere while the task waits at a gate
	Opens     bool           `json:"opens,omitempty"`     // the activity looks for a standing decision about the gate that is about to open
	Asked     *opt.Gate      `json:"asked,omitempty"`     // with Opens: the gate of the executor; nil for that of the task itself
	After     int64          `json:"after,omitempty"`     // with Opens: the event before the activity, which may look for one again later
	Needs     opt.Usage      `json:"needs,omitzero"`      // of the next leg, which have not been counted
	Held      bool           `json:"held,omitempty"`      // the next step, or with Opens the gate, waits for room in the budget
	Quota     bool           `json:"quota,omitempty"`     // a quota holds the activity back, as clients know
	Collects  bool           `json:"collects,omitempty"`  // the activity takes in work elsewhere, and needs no more of what quotas count
	Overspent string         `json:"overspent,omitempty"` // with Canceling: why the task fails after that
}

// A job is one task of a plan with the work on it. It changes nothing else, and sees the plan
// through home alone.
type job struct {
	task *opt.Task
	kept *TaskStates
	plan home
}

// A home is what a job sees of its plan.
type home interface {
	facts() facts
	leaf(*opt.Task) bool       // whether the root task shows its artifacts as its own
	show(artifactID string)    // notes that it does
	apply(opt.Event)           // changes the task, and records that
	applyUnrecorded(opt.Event) // changes the task alone
	record(opt.Event)          // records what changes no task

	// openGate opens the gate of an executor, or nil for that of the task itself. by is the
	// result of the search for a standing decision about it, nil before that.
	openGate(t *opt.Task, asked *opt.Gate, by *opt.StandingUse)
}

// facts are what a job needs of its plan.
type facts struct {
	now               a2a.Time
	n                 int64 // of the latest event
	contextID, rootID string
	rules             int
	limits            opt.Limits
	spending          spending
}

// The defaults for tasks.
const (
	TaskAttempts = 3           // of one round
	retryWait    = time.Second // before the second attempt, twice as long before each one after that
	retryMaxWait = time.Minute // between two attempts, unless a task asks for longer
)

// retryTimer begins the keys of timers. The rest is the key of the activity that
// waits for the timer.
const retryTimer = "retry:"

// key returns the key of the activity of w, which is never used again.
func (w *Work) key(t *opt.Task) string {
	if t.Follow {
		return fmt.Sprintf("%s:follow:%d", t.A2AID(), w.Follows)
	}
	key := fmt.Sprintf("%s:%d:%d", t.A2AID(), w.Round, w.Attempt)
	if w.Leg > 0 {
		key += fmt.Sprintf(":%d", w.Leg)
	}
	switch {
	case w.Canceling:
		key += ":cancel"
	case w.Opens:
		key += ":gate"
		if w.After > 0 {
			key += fmt.Sprintf("-%d", w.After)
		}
	}
	return key
}

func (w *Work) kind(t *opt.Task) ActivityKind {
	switch {
	case t.Follow:
		return FollowTask
	case w.Elsewhere != nil:
		return Elsewhere
	case w.Opens:
		return LookUp
	}
	return RunTask
}

// waits returns the summary of the timer of w.
func (w *Work) waits(t *opt.Task) string {
	if w.Leg > 0 {
		return "Look at " + t.Name + " again"
	}
	return "Wait before the next attempt at " + t.Name
}

// end notes that the activity of w has ended, and reports whether it was being stopped.
func (w *Work) end() (stopped bool) {
	if stopped = w.Stop; w.Quota {
		w.Said = "" // a wait after this one is shown again
	}
	w.Running, w.Stop, w.Quota = false, false, false
	return stopped
}

// gateTimer begins the keys of timers of gates. The rest is the id of the gate and
// the number of the step, from 1.
const gateTimer = "gate:"

func stepKey(g *opt.Gate) string { return fmt.Sprintf("%s%s:%d", gateTimer, g.ID, g.Taken+1) }

// maxSummary bounds the title of a gate in the summary of a timer, in bytes.
const maxSummary = 100

// stepTimer returns the timer of the step that a gate takes next; ok is false if
// there is none, or no gate. A pause does not stop it: people may answer meanwhile.
func stepTimer(g *opt.Gate) (timer Timer, ok bool) {
	if g == nil {
		return Timer{}, false
	}
	next, ok := g.NextStep()
	if !ok {
		return Timer{}, false
	}
	return Timer{Key: stepKey(g), At: next.At, Summary: fmt.Sprintf("%s: %s, step %d of %d", briefly(g), next, g.Taken+1, len(g.Ladder))}, true
}

// briefly returns the title of g, or its first question, on one line.
func briefly(g *opt.Gate) string {
	text := cmp.Or(g.Title, g.Description)
	if g.Title == "" && len(g.Questions) > 0 {
		text = g.Questions[0].Question
	}
	return cut(strings.Join(strings.Fields(cut(text, 4*maxSummary)), " "), maxSummary)
}

// work returns the work on the task, nil for none.
func (j job) work() *Work { return j.kept.Work[j.task.ID] }

func (j job) drop() { delete(j.kept.Work, j.task.ID) }

// forget drops the work on the task, which ends.
func (j job) forget() {
	j.drop()
	delete(j.kept.Memos, j.task.ID)
}

// addWants adds what the work and the gate of the task want.
func (j job) addWants(to *Wants) {
	t, w := j.task, j.work()
	if timer, ok := stepTimer(t.Gate); ok {
		to.Timers = append(to.Timers, timer)
	}
	switch {
	case w == nil:
	case w.Running:
		to.Activities = append(to.Activities, Activity{Key: w.key(t), Kind: w.kind(t), Of: t.ID, Stop: w.stops()})
		if w.watched() {
			to.Activities = append(to.Activities, Activity{Key: w.watchKey(t), Kind: WatchTask, Of: t.ID, With: w.key(t)})
		}
	case w.Waiting && !w.Due.IsZero():
		to.Timers = append(to.Timers, Timer{Key: retryTimer + w.key(t), At: w.Due, Summary: w.waits(t)})
	}
}

// handle handles an input, if it is for the job.
func (j job) handle(in Input) {
	t, w := j.task, j.work()
	if w == nil {
		return
	}
	runs := func(key string) bool { return w.Running && w.key(t) == key }
	switch in := in.(type) {
	case Ended:
		if runs(in.Key) {
			j.ended(in)
		}
	case Held:
		if runs(in.Key) {
			holdBack(j, in.Text)
		}
	case Followed:
		if runs(in.Key) {
			j.followed(in)
		}
	case Watched:
		if w.Running && w.watched() && w.watchKey(t) == in.Key {
			j.watched(in)
		}
	case Looked:
		if runs(in.Key) {
			j.looked(in.By)
		}
	case Callback:
		j.called(in.Callback)
	case Elapsed:
		if w.Waiting && retryTimer+w.key(t) == in.Key {
			w.Due = a2a.Time{}
		}
	}
}

// holdBack notes that a quota holds back the activity of the task, and says why.
func holdBack(j job, text string) {
	w := j.work()
	switch {
	case j.plan.facts().rules < rulesQuotas, w.stops(): // or the task has ended by hand
		return
	case w.AtGate: // it began under rules that have quotas of use hold it back, or waits for another quota
		w.Collects = w.Collects || j.plan.facts().rules < rulesLookAgain
		return
	}
	if w.Quota = true; j.plan.facts().rules >= rulesLookAgain {
		w.Parked = "" // the text before it is shown again
	}
	restart(j)
	show(j, opt.HeldByQuota, text)
}

// begin begins the task: with an activity, at its gate if it is only a gate, or by hand
// if it is linked to a task that we cannot follow.
func (j job) begin() {
	t := j.task
	w := &Work{Round: t.Gates + 1, Attempt: 1, Running: true, Root: j.plan.leaf(t)}
	switch {
	case t.Link != "" && !t.Follow:
		j.move(opt.TaskWorking, opt.Event{Reason: opt.ByHand})
	case t.Awaits():
		j.plan.openGate(t, nil, nil)
	case t.Ask != nil:
		j.move(opt.TaskWorking, opt.Event{})
		j.plan.openGate(t, nil, nil)
	case t.Follow:
		j.kept.Work[t.ID] = w
		j.move(opt.TaskWorking, opt.Event{})
	default:
		j.kept.Work[t.ID] = w
		j.move(opt.TaskWorking, opt.Event{Round: w.Round, Attempt: w.Attempt})
		j.holds(w)
	}
}

// resume begins a waiting attempt or round, if it may begin now. may is whether new work may.
func (j job) resume(may bool) bool {
	t, w := j.task, j.work()
	if w == nil || !w.Waiting || !w.Due.IsZero() || !may && !w.AtGate { // to watch is not new work
		return false
	}
	if newWork := !w.AtGate && w.Returned == nil; newWork && j.holds(w) {
		return true
	}
	if w.Opens {
		j.drop()
		j.plan.openGate(t, w.Asked, foundBefore(w, j.plan.facts().rules))
		return true
	}
	w.Waiting, w.Running, w.Root = false, true, j.plan.leaf(t)
	w.Returning = w.Returned != nil
	if calls := w.Needs.Calls; calls > 0 {
		used := &opt.Usage{Calls: calls}
		j.kept.use(t.ID, *used)
		j.plan.record(opt.Event{Kind: opt.UsageAdded, TaskID: t.A2AID(), Round: w.Round, Attempt: w.Attempt, Leg: w.Leg, Usage: used, Budgets: j.plan.facts().spending.shown()})
	}
	w.Collects = w.Leg > 0 && w.Needs == opt.Usage{} && j.plan.facts().rules >= rulesQuotas
	w.Needs = opt.Usage{}
	if w.Attempt > 1 && w.Leg == 0 {
		j.plan.record(opt.Event{
			Kind: opt.TaskTried, TaskID: t.A2AID(), From: string(t.State), To: string(t.State), Round: w.Round, Attempt: w.Attempt,
		})
	}
	return true
}

// foundBefore returns the result of the search for a standing decision before the gate of w was held; nil to look again.
func foundBefore(w *Work, rules int) *opt.StandingUse {
	if w.Asked == nil && rules >= rulesLookAgain { // quotas may have less room than then
		return nil
	}
	return &opt.StandingUse{}
}

// cancel cancels the task, after its activity has ended if there is one. by goes into the event
// that closes its gate. It reports whether that changed anything.
func (j job) cancel(by opt.Event) bool {
	w := j.work()
	switch {
	case w != nil && (w.Canceling || w.Returning && w.Running):
		return false // it ends soon
	case w != nil && w.Running:
		changed := !w.Stop
		w.Stop = true
		return changed
	case j.cancels():
		j.beginCanceling(by)
	default:
		j.forget()
		by.Reason = string(opt.TaskCanceled)
		j.move(opt.TaskCanceled, by)
	}
	return true
}

// yield leaves the task to a client, who moves it: a running attempt is stopped, and its result
// is dropped.
func (j job) yield() {
	if w := j.work(); w != nil && w.Running {
		w.Stop = true
		return
	}
	j.drop()
}

// ended handles the end of the activity of the task.
func (j job) ended(in Ended) {
	t, w, out := j.task, j.work(), in.Outcome
	stopped, answered := w.end(), w.AtGate && t.Gate == nil
	e := opt.Event{Round: w.Round, Attempt: w.Attempt, Leg: w.Leg, Try: out.Try}
	lapToEnd(j, in)
	if w.Elsewhere == nil && !answered {
		j.remember(out, e)
	}
	switch {
	case w.Canceling && !t.State.Ended():
		j.endCanceled(in, e)
	case t.ByHand || t.State.Ended(): // a client has moved or ended it meanwhile
		j.drop()
	case answered: // what the leg has seen, the next one sees again
		j.answered()
	case w.returns(in):
		j.beginReturning()
	case stopped && (w.Returned == nil || w.Returning) && (in.Failed != nil || !out.State.Ended()):
		j.stopped(e)
	case in.Failed != nil:
		j.failed(*in.Failed, e)
	default:
		j.returned(out, e)
	}
}

// returns reports whether a leg that checks the outcome of work elsewhere follows on the end of an activity, and
// keeps the outcome, unless a callback has brought one.
func (w *Work) returns(in Ended) bool {
	if w.Elsewhere != nil && in.Failed == nil {
		w.Returned = cmp.Or(w.Returned, &in.Outcome)
		return true
	}
	return in.Failed != nil && w.Returned != nil && !w.Returning
}

// returned handles the outcome of an attempt.
func (j job) returned(out opt.Outcome, e opt.Event) {
	switch atGate := j.work().AtGate; {
	case out.Park != nil && (out.State == opt.TaskWorking || out.State.Waiting() && (out.Gate != nil || atGate)):
		j.park(out, e)
	case out.State == opt.TaskCompleted:
		j.complete(out.Artifacts, out.Streamed, e)
	case out.State == opt.TaskFailed || out.State == opt.TaskRejected:
		j.end(out.State, out.Code, out.Message, e)
	case out.State.Waiting() && out.Gate != nil:
		if j.plan.facts().rules >= rulesCollected {
			j.collect(out.Artifacts, out.Streamed, e)
		}
		j.leaveGate()
		j.drop()
		j.plan.openGate(j.task, out.Gate, nil)
	default:
		j.end(opt.TaskFailed, "invalid-outcome", "The task ended in a way that is not allowed.", e)
	}
}

// answered begins the next round of the task, after the leg that watches at its gate, if one runs.
func (j job) answered() {
	if w := j.work(); w != nil && w.Running {
		w.Stop = true
		return
	}
	j.kept.Work[j.task.ID] = &Work{Round: j.task.Gates + 1, Attempt: 1, Waiting: true}
}

// failed schedules the next attempt at the task, or fails it if there is none. Temporal has
// repeated an activity elsewhere as often as it may.
func (j job) failed(f Failure, e opt.Event) {
	t, w := j.task, j.work()
	last := w.Attempt >= cmp.Or(t.Attempts, TaskAttempts)
	if w.Elsewhere == nil {
		e = opt.Event{Round: w.Round, Attempt: w.Attempt}
	}
	if w.Elsewhere != nil || last || f.Code == opt.ReasonWorkerLost || slices.Contains(t.Retry.Except, f.Code) {
		j.end(opt.TaskFailed, f.Code, f.Message, e)
		return
	}
	wait := cmp.Or(time.Duration(t.Retry.Wait)*time.Second, retryWait)
	most := max(wait, retryMaxWait)
	for range w.Attempt - 1 {
		wait = min(2*wait, most)
	}
	w.Attempt++
	w.Leg, w.Streamed, w.Woken, w.Noted, w.Returning = 0, nil, false, false, false
	w.Waiting, w.Due = true, a2a.At(j.plan.facts().now.Time().Add(wait))
}

// stopped ends the task, whose activity was stopped. If it has begun work elsewhere, that is
// canceled first.
func (j job) stopped(e opt.Event) {
	if j.cancels() {
		j.beginCanceling(opt.Event{})
		return
	}
	j.end(opt.TaskCanceled, string(opt.TaskCanceled), "", e)
}

// complete keeps and shows artifacts, then completes the task.
func (j job) complete(artifacts []a2a.Artifact, streamed []string, e opt.Event) {
	j.collect(artifacts, streamed, e)
	j.forget()
	j.move(opt.TaskCompleted, e)
}

// collect keeps and shows artifacts that the task has made. The journal has those that were
// streamed.
func (j job) collect(artifacts []a2a.Artifact, streamed []string, e opt.Event) {
	for _, a := range artifacts {
		added := opt.Event{
			Kind: opt.ArtifactAdded, TaskID: j.task.A2AID(), Round: e.Round, Attempt: e.Attempt, Leg: e.Leg, Try: e.Try,
			Chunk: &opt.Chunk{Artifact: a, Last: true},
		}
		add, shows := j.plan.apply, j.plan.leaf(j.task)
		if slices.Contains(streamed, a.ArtifactID) {
			add, shows = j.plan.applyUnrecorded, j.work().Root
		}
		if shows {
			added.RootID = j.plan.facts().rootID
		}
		add(added)
		if shows {
			j.plan.show(a.ArtifactID)
		}
	}
}

// end ends the task in a state, with a reason code and a text for clients.
func (j job) end(to opt.TaskState, reason, text string, e opt.Event) {
	j.forget()
	e.Reason = reason
	if text != "" {
		e.Status = j.say(":status", text)
	}
	j.move(to, e)
}

// followed ends the task with the result of its linked task, or follows that
// further if it has not ended.
func (j job) followed(in Followed) {
	t, w := j.task, j.work()
	stopped := w.end()
	switch {
	case t.ByHand || t.State.Ended():
		j.drop()
	case stopped && !in.State.Ended():
		j.end(opt.TaskCanceled, string(opt.TaskCanceled), "", opt.Event{})
	case in.State == opt.TaskCompleted:
		j.complete(in.Artifacts, nil, opt.Event{})
	case in.State.Ended():
		j.end(in.State, cmp.Or(in.Code, opt.ReasonLinked), in.Message, opt.Event{})
	default:
		w.Follows++
		w.Running = true
	}
}

// lookUp looks for a standing decision about the gate of the task, and whether quotas have room for it, in place of
// opening it.
func (j job) lookUp(asked *opt.Gate) {
	if j.task.Awaits() { // no more
		j.move(opt.TaskWorking, opt.Event{})
	}
	w := &Work{Round: j.task.Gates + 1, Attempt: 1, Running: true, Opens: true, Asked: asked}
	if facts := j.plan.facts(); facts.rules >= rulesLookAgain {
		w.After = facts.n
	}
	j.kept.Work[j.task.ID] = w
}

// looked opens the gate of the task, unless the standing decision that was found decides.
func (j job) looked(by opt.StandingUse) {
	t, w := j.task, j.work()
	j.drop()
	switch stopped := w.end(); {
	case t.ByHand || t.State.Ended(): // a client has moved or ended it meanwhile
	case stopped:
		j.stopped(opt.Event{})
	default:
		j.plan.openGate(t, w.Asked, &by)
	}
}

// move moves the task; e has further members of the event.
func (j job) move(to opt.TaskState, e opt.Event) {
	e.Kind, e.TaskID, e.From, e.To = opt.TaskMoved, j.task.A2AID(), string(j.task.State), string(to)
	j.plan.apply(e)
}

func (j job) say(suffix, text string) *a2a.Message {
	return a2a.AgentMessage(j.plan.facts().contextID, j.task.A2AID(), suffix, text)
}

// renew shows the gate of the task with other members, by a step or without one.
func (j job) renew(gate opt.Gate, step opt.StepKind) {
	j.move(j.task.State, opt.Event{Reason: j.task.Reason, Gate: &gate, Status: gate.Message(j.plan.facts().contextID, j.task.A2AID()), Step: step})
}

// extend shows an exchange at the gate of the task. The event has the exchange alone: it must not
// be recorded again with each one that comes after it.
func (j job) extend(by *opt.Gate) {
	t := j.task
	j.plan.apply(opt.Event{Kind: opt.ExchangeAdded, TaskID: t.A2AID(), From: string(t.State), To: string(t.State), Reason: t.Reason, Gate: by})
}
