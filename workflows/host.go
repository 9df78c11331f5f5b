package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

var acts *activities.Activities // names activities by method; never called

// A part is how the work that one of the machines wants is begun in Temporal.
type part interface {
	// activity begins an activity, which records ride before it does anything
	// else, after tries at it. The outcome reads its result as an input.
	activity(ctx workflow.Context, a machine.Activity, ride []opt.Batch, tries drive.Tries) (workflow.Future, outcome)
	// child begins the workflow of a plan.
	child(ctx workflow.Context, c machine.Child) workflow.ChildWorkflowFuture
	// message returns the receiver of a signal, its name and its argument.
	message(s machine.Signal) (workflowID, name string, arg any)
	// describe shows the state and a remark in Temporal's UI.
	describe(ctx workflow.Context, remark string)
}

// An outcome reads the result of an activity.
type outcome func(ctx workflow.Context, f workflow.Future) machine.Input

// A host is a run of a workflow in Temporal, for its driver.
type host struct {
	*drive.Driver
	ctx    workflow.Context // stays valid when the workflow is canceled
	own    workflow.Context // canceled when the workflow is
	part   part
	events workflow.Selector

	source    string            // of the events
	skipped   []string          // names of signals that could not be read
	unread    map[string]string // why workers could not read the payloads of activities, by key
	reset     string            // the latest run that an operator has begun by a reset and that has found it out
	looks     int               // for a reset
	maxEvents int               // of history before it is long; 0: the server decides
}

func newHost(ctx workflow.Context, m drive.Machine, p part, source drive.Source, maxEvents int) *host {
	h := &host{own: ctx, part: p, source: source.Name, maxEvents: maxEvents, unread: map[string]string{}}
	h.Driver = drive.New(h, m, source)
	h.ctx, _ = workflow.NewDisconnectedContext(ctx)
	h.events = workflow.NewSelector(ctx)
	nudged := workflow.NewBufferedChannel(ctx, 1)
	h.events.AddReceive(nudged, func(ch workflow.ReceiveChannel, _ bool) { ch.Receive(h.ctx, nil) })
	workflow.Go(h.ctx, func(own workflow.Context) { // a closed channel would wake the selector again and again
		ctx.Done().Receive(own, nil)
		nudged.SendAsync(true)
	})
	return h
}

// run carries out the wants of the machine until the workflow may end, or the run is long
// enough to be continued as a new one.
func (h *host) run() (again bool) {
	for {
		switch h.Step() {
		case drive.Finish:
			return false
		case drive.Continue:
			return true
		}
		h.events.Select(h.ctx)
	}
}

// on passes each signal of a name to the machine. One that it cannot read was sent by hand,
// in Temporal's UI, and is skipped: the SDK would wait for the next one.
func on[T any](h *host, name string, read func(T) machine.Input) {
	h.events.AddReceive(workflow.GetSignalChannel(h.ctx, name), func(ch workflow.ReceiveChannel, _ bool) {
		var raw converter.RawValue
		if !ch.ReceiveAsync(&raw) {
			return // the SDK has dropped it
		}
		var v T
		err := converter.GetDefaultDataConverter().FromPayload(raw.Payload(), &v)
		in := read(v)
		if err = cmp.Or(err, machine.Check(in)); err != nil {
			h.skip(name, err)
			return
		}
		h.Put(in)
	})
}

// onRewind begins another epoch when a signal asks for it.
func onRewind(h *host) {
	h.events.AddReceive(workflow.GetSignalChannel(h.ctx, RewindSignal), func(ch workflow.ReceiveChannel, _ bool) {
		ch.ReceiveAsync(nil)
		h.Rewind()
	})
}

// skip shows that a signal was skipped, in the log, the metrics and Temporal's UI.
func (h *host) skip(name string, err error) {
	h.skipped = append(h.skipped, name)
	h.Warn("Skipped a signal that cannot be read", "signal", name, "error", err)
	workflow.GetMetricsHandler(h.ctx).Counter(skippedSignals).Inc(1)
}

// noteUnreadable reports whether err says that a worker could not read the payloads of an
// activity, and shows it in the metrics and Temporal's UI. The log has it once for each activity.
func (h *host) noteUnreadable(key string, err error) bool {
	problem, ok := unreadable(err)
	if !ok {
		return false
	}
	if h.unread[key] == "" {
		h.Warn("A worker cannot read the payloads of an activity, which waits for one that can", "key", key, "problem", problem)
	}
	h.unread[key] = problem
	workflow.GetMetricsHandler(h.ctx).Counter(unreadablePayloads).Inc(1)
	return true
}

// unreadRemark says which activities wait since workers could not read their payloads.
func (h *host) unreadRemark() string {
	n, problem := 0, ""
	for _, key := range slices.Sorted(maps.Keys(h.unread)) {
		if h.Pauses(key) {
			n, problem = n+1, h.unread[key]
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n**%d activities wait for a worker that can read their payloads.** One could not: `%s`\n", n, problem)
}

// Names of counters.
const (
	skippedSignals     = "longhaul_skipped_signals"
	unreadablePayloads = "longhaul_unreadable_payloads"
)

// Show shows the state in Temporal's UI, and what keeps the run from its work, if something does.
func (h *host) Show(repeats bool) {
	remark := h.unreadRemark()
	switch {
	case repeats:
		remark += "\n**The journal does not take the events of this workflow.** They are written again and again; clients do not see them yet.\n"
	case len(h.skipped) > 0:
		remark += fmt.Sprintf("\n**%d signals could not be read and were skipped**, the last one: `%s`\n", len(h.skipped), h.skipped[len(h.skipped)-1])
	}
	h.part.describe(h.ctx, remark)
}

func (h *host) Warn(text string, keysAndValues ...any) {
	workflow.GetLogger(h.ctx).Warn(text, keysAndValues...)
}

func (h *host) Began() a2a.Time { return a2a.At(workflow.GetInfo(h.ctx).WorkflowStartTime) }
func (h *host) Now() a2a.Time   { return a2a.At(workflow.Now(h.ctx)) }
func (h *host) Arrived() bool   { return h.events.HasPending() }
func (h *host) Deliver()        { h.events.Select(h.ctx) }
func (h *host) Canceled() bool  { return h.own.Err() != nil }

// Reset finds out whether an operator has reset this run: then another epoch begins with
// the first workflow task that is not replayed. A marker and the id of the run that has set it
// keep later replays the same, also replays of a run that is reset again.
func (h *host) Reset() bool {
	info := workflow.GetInfo(h.ctx)
	run := info.WorkflowExecution.RunID
	if info.OriginalRunID == "" || info.OriginalRunID == run || h.reset == run {
		return false
	}
	h.looks++
	if workflow.GetVersion(h.ctx, fmt.Sprintf("reset-%d", h.looks), workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return false
	}
	found := workflow.SideEffect(h.ctx, func(ctx workflow.Context) any { return workflow.GetInfo(ctx).WorkflowExecution.RunID })
	if err := found.Get(&h.reset); err != nil {
		panic(err)
	}
	return true
}

// Temporal ends histories of 51,200 events or 50 MiB.
const (
	mostEvents = 40_000
	mostBytes  = 40 << 20
)

func (h *host) Size() drive.Size {
	info := workflow.GetInfo(h.ctx)
	n := info.GetCurrentHistoryLength()
	return drive.Size{
		Events:  n,
		Long:    info.GetContinueAsNewSuggested() || h.maxEvents > 0 && n > h.maxEvents,
		TooLong: n > mostEvents || info.GetCurrentHistorySize() > mostBytes,
	}
}

func (h *host) Sleep(t machine.Timer, elapsed func()) (cancel func()) {
	ctx, cancel := workflow.WithCancel(h.ctx)
	left := max(0, t.At.Time().Sub(workflow.Now(h.ctx)))
	h.events.AddFuture(workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: t.Summary}), func(f workflow.Future) {
		if f.Get(h.ctx, nil) == nil { // else it was canceled
			elapsed()
		}
	})
	return cancel
}

func (h *host) Begin(c machine.Child, begun func(ok bool), ended func(*opt.Report, []opt.Batch)) {
	future := h.part.child(h.ctx, c)
	h.events.AddFuture(future.GetChildWorkflowExecution(), func(f workflow.Future) {
		err := f.Get(h.ctx, nil)
		begun(err == nil)
		if err != nil {
			return
		}
		h.events.AddFuture(future, func(f workflow.Future) {
			var result PlanResult
			if err := f.Get(h.ctx, &result); err != nil {
				var ok bool
				if result, ok = ResultOf(err); !ok {
					ended(nil, nil)
					return
				}
			}
			ended(&result.Report, result.Ride)
		})
	})
}

func (h *host) Send(s machine.Signal, sent func(drive.Receipt)) {
	workflowID, name, arg := h.part.message(s)
	h.events.AddFuture(workflow.SignalExternalWorkflow(h.ctx, workflowID, "", name, arg), func(f workflow.Future) {
		err := f.Get(h.ctx, nil)
		var gone *temporal.UnknownExternalWorkflowExecutionError
		switch {
		case err == nil:
			sent(drive.Taken)
		case errors.As(err, &gone):
			sent(drive.Gone)
		default:
			h.Warn("Temporal refused a signal; it is sent again", "receiver", s.To, "error", err)
			sent(drive.Refused)
		}
	})
}

func (h *host) Run(a machine.Activity, ride []opt.Batch, tries drive.Tries, ended func(drive.End)) (cancel func()) {
	ctx, cancel := workflow.WithCancel(h.ctx)
	future, read := h.part.activity(ctx, a, ride, tries)
	h.events.AddFuture(future, func(f workflow.Future) {
		err := f.Get(h.ctx, nil)
		e := drive.End{Input: read(h.ctx, f), Returned: err == nil}
		if h.noteUnreadable(a.Key, err) || a.Kind != machine.Elsewhere { // the types of errors elsewhere are not ours
			e.Again, e.Tries, e.Pause = beginsAgain(err, tries, len(ride) > 0)
			e.Held = heldBy(err)
		}
		ended(e)
	})
	return cancel
}

// Record tries to write at first on the queue of tasks, if a worker is free within a second,
// and then on the queue for records, until a try succeeds.
func (h *host) Record(r drive.Recording, done func(drive.Recorded)) {
	options := workflow.ActivityOptions{
		ScheduleToStartTimeout: time.Second,
		StartToCloseTimeout:    2 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                "Record what happened",
	}
	if r.Again {
		options = workflow.ActivityOptions{
			TaskQueue:           RecordQueue,
			StartToCloseTimeout: 5 * time.Second,
			RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second},
			Summary:             "Record what happened",
		}
	}
	activity, input := h.recording(r)
	h.events.AddFuture(workflow.ExecuteActivity(workflow.WithActivityOptions(h.ctx, options), activity, input), func(f workflow.Future) {
		is := h.recorded(r, f)
		is.Refused = refusedBy(is.Err)
		done(is)
	})
}

// How long the journal alone, and with a signal, may take within a workflow task, which must be short.
const (
	recordNowLimit = 80 * time.Millisecond
	reportNowLimit = time.Second
)

func (h *host) RecordNow(r drive.Recording) drive.Recorded {
	limit := recordNowLimit
	if r.Report != nil {
		limit = reportNowLimit
	}
	local := workflow.WithLocalActivityOptions(h.ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: limit,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	activity, input := h.recording(r)
	return h.recorded(r, workflow.ExecuteLocalActivity(local, activity, input)) // the SDK does not encode the details of its errors
}

// recording returns the activity that records, and sends a report if there is one, and its input.
func (h *host) recording(r drive.Recording) (activity, input any) {
	if r.Report == nil {
		return acts.Record, r.Batches
	}
	to, _, message := h.part.message(*r.Report)
	reported := message.(machine.Reported)
	return acts.Report, activities.Reporting{Batches: r.Batches, ObjectiveID: to, PlanID: reported.PlanID, Report: reported.Report}
}

// recorded reads the result of that activity.
func (h *host) recorded(r drive.Recording, f workflow.Future) (is drive.Recorded) {
	var sent activities.Receipt
	if r.Report == nil {
		is.Err = f.Get(h.ctx, nil)
	} else {
		is.Err = f.Get(h.ctx, &sent)
	}
	is.Sent = drive.Receipt(sent)
	return is
}
