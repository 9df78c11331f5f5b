package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"longhaul/opt"
	"longhaul/opt/access"
)

// A Recorder writes batches of events to the journal, all or none of them.
// Recording a batch again changes nothing.
type Recorder interface {
	Record(ctx context.Context, batches ...opt.Batch) error
}

// Stuck notes where clients see it that the events of an objective are not taken. A repeat
// changes nothing.
type Stuck interface {
	Stuck(ctx context.Context, objectiveID string, s opt.Stuck) error
}

// A KeptReader reads what the journal keeps of an objective whose attempt has
// ended. If the journal does not have it, the error wraps opt.ErrUnknown.
type KeptReader interface {
	Kept(ctx context.Context, tenant, objectiveID string) (opt.Kept, error)
}

// Standing finds the standing decision that decides about a gate which is about to open, and counts its
// use. A repeat for the same gate is the same use. The zero value says that there is none.
type Standing interface {
	Decide(ctx context.Context, q opt.StandingQuestion) (opt.StandingUse, error)
}

// A Reporter sends the report of a plan to its objective. The error wraps opt.ErrEnded if the
// workflow of the objective has ended.
type Reporter interface {
	Report(ctx context.Context, objectiveID, planID string, r opt.Report) error
	Gone(ctx context.Context, planID string) (bool, error) // whether its workflow was stopped, or Temporal does not have it
	Ask(ctx context.Context, a Asking) error
}

// Asking is a request of an objective to its context, whose workflow begins if it does not run.
type Asking struct {
	Tenant    string          `json:"tenant"`
	ContextID string          `json:"contextId"`
	Request   json.RawMessage `json:"request"`
}

// A Floor is the root tasks of the objectives that are open in a context: those that have begun, and those that wait for
// their first turn.
type Floor struct {
	Begun   []string `json:"begun,omitempty"`
	Waiting []string `json:"waiting,omitempty"`
}

// A FloorReader reads the floor of a context from the journal.
type FloorReader interface {
	Floor(ctx context.Context, tenant, contextID string) (begun, waiting []string, err error)
}

// Callbacks makes the callback URLs of tasks.
type Callbacks interface {
	URLs(w Work) (callback, wake string)
}

// Config says what the activities work with.
type Config struct {
	Executors  map[string]Executor
	Default    string // the executor of tasks that name none; "" fails them
	Planner    Planner
	Recorder   Recorder
	Stuck      Stuck // nil notes it only in the log
	Kept       KeptReader
	Standing   Standing                       // nil: people decide at each gate
	Blobs      Blobs                          // nil leaves large contents in histories
	Purger     Purger                         // nil for a worker that cannot purge
	Tasks      TaskReader                     // that may be linked to plan tasks
	Watch      func(objectiveID string) Watch // of what Tasks reads
	Links      LinkReader                     // nil for a worker that does not look for cycles of links
	Heartbeats HeartbeatReader
	Reporter   Reporter                           // nil leaves reports to plans, and requests to contexts to other workers
	Floors     FloorReader                        // nil leaves them to other workers
	Push       *Push                              // nil for a worker that delivers nothing
	Callbacks  Callbacks                          // nil for a worker that does not know the URL of the API
	Limits     map[string]int                     // tasks that run at a time, by kind of executor; others have no limit
	Quotas     access.Quotas                      // of tenants
	Usage      Usage                              // nil: what work has used limits no task
	Slots      Lender                             // nil: tasks that wait because of a limit keep their slots
	StopAfter  time.Duration                      // how long running tasks may continue when the worker stops
	Fence      func(token []byte) <-chan struct{} // is closed when others may take the worker for lost, and do its tasks; nil: never
	Observer   Observer                           // nil observes nothing
	Log        *zap.Logger                        // nil discards logs
}

// Activities are the activities of a worker. Workflows name them by method.
type Activities struct {
	cfg      Config
	pusher   *pusher // nil for a worker that delivers nothing
	stuck    stuckObjectives
	finished outcomeCache
	rounds   rounds
	limiter  *limiter
}

// New returns activities that work with cfg.
func New(cfg Config) *Activities {
	cfg.Log = cmp.Or(cfg.Log, zap.NewNop())
	if cfg.Observer == nil {
		cfg.Observer = unobserved{}
	}
	cfg.Executors = observeExecutors(cfg.Executors, cfg.Observer)
	return &Activities{
		cfg: cfg, pusher: newPusher(cfg), stuck: newStuckObjectives(cfg), finished: newOutcomeCache(), limiter: newLimiter(cfg),
	}
}

// ErrNoPlan is wrapped by the error of a planner that cannot make a plan for a request. It is
// final.
var ErrNoPlan = errors.New("no plan")

// Record writes batches to the journal. A second run changes nothing. Events that the
// journal refuses for good are a final error; others are repeated, since a journal with a gap
// takes them once that is closed, and a newer program may know their kind.
func (a *Activities) Record(ctx context.Context, batches []opt.Batch) error {
	err := a.cfg.Recorder.Record(ctx, batches...)
	if rewound, ok := errors.AsType[*opt.RewoundError](err); ok {
		return temporal.NewNonRetryableApplicationError("The journal has other events: "+rewound.Error(), RewoundError, nil, rewound)
	}
	if len(batches) > 0 {
		a.stuck.note(ctx, batches[0].ObjectiveID, err)
	}
	return err
}

// Reporting is what Report records, and what it sends then.
type Reporting struct {
	Batches     []opt.Batch `json:"batches"`
	ObjectiveID string      `json:"objectiveId"`
	PlanID      string      `json:"planId"`
	Report      opt.Report  `json:"report"`
}

// A Receipt says how a report was received. It stands in histories.
type Receipt string

// The receipts.
const (
	Unknown Receipt = "" // it may be lost: the plan sends it again
	Taken   Receipt = "taken"
	Gone    Receipt = "gone" // the workflow of the objective has ended
)

// Report writes batches to the journal, as Record does, and then sends the report of the plan to its
// objective: the plan need not wake up for that. A second run records nothing new and sends the
// report again, which its number says.
func (a *Activities) Report(ctx context.Context, in Reporting) (Receipt, error) {
	if err := a.Record(ctx, in.Batches); err != nil || a.cfg.Reporter == nil {
		return Unknown, err
	}
	err := a.cfg.Reporter.Report(ctx, in.ObjectiveID, in.PlanID, in.Report)
	switch {
	case err == nil:
		return Taken, nil
	case errors.Is(err, opt.ErrEnded):
		return Gone, nil
	}
	a.cfg.Log.Warn("Temporal did not take the report of a plan, which sends it again", zap.String("plan", in.PlanID), zap.Error(err))
	return Unknown, nil
}

// Check reports whether the workflow of a plan was stopped by an operator, or is not there. A worker that cannot
// know says no: the reconciler asks again.
func (a *Activities) Check(ctx context.Context, planID string) (gone bool, err error) {
	if a.cfg.Reporter == nil {
		return false, nil
	}
	return a.cfg.Reporter.Gone(ctx, planID)
}

// Ask sends a request to a context. A second run sends it again, which its number says.
func (a *Activities) Ask(ctx context.Context, in Asking) error {
	if a.cfg.Reporter == nil {
		return errOtherWorker
	}
	return a.cfg.Reporter.Ask(ctx, in)
}

// FloorOf reads the floor of a context. Of in, the request is not needed.
func (a *Activities) FloorOf(ctx context.Context, in Asking) (f Floor, err error) {
	if a.cfg.Floors == nil {
		return f, errOtherWorker
	}
	f.Begun, f.Waiting, err = a.cfg.Floors.Floor(ctx, in.Tenant, in.ContextID)
	return f, err
}

// errOtherWorker has Temporal repeat an activity, until it comes to a worker that can do it.
var errOtherWorker = errors.New("another worker has to do this")

// A KeptRequest says what Load reads.
type KeptRequest struct {
	Tenant      string `json:"tenant"`
	ObjectiveID string `json:"objectiveId"`
	Source      string `json:"source,omitempty"`
	After       int64  `json:"after,omitempty"` // event of Source that the journal has had; 0 for a run that begins
}

// Load reads from the journal an objective that is about to be retried. It
// changes nothing. While the journal lacks an event that it has had, since an older copy of it
// was restored, Load fails and may be tried again.
func (a *Activities) Load(ctx context.Context, r KeptRequest) (opt.Kept, error) {
	kept, err := a.cfg.Kept.Kept(ctx, r.Tenant, r.ObjectiveID)
	if err == nil && kept.Recorded[r.Source] < r.After {
		err = fmt.Errorf("the journal has lost event %d of %s, until it is rebuilt", r.After, r.Source)
	}
	if errors.Is(err, opt.ErrUnknown) && r.After == 0 {
		return kept, temporal.NewNonRetryableApplicationError(err.Error(), JournalError, nil)
	}
	return kept, err
}

// LookUp looks for a standing decision about a gate that is about to open. Where there is none, a gate that counts for
// quotas of questions is sent back while one is used up.
func (a *Activities) LookUp(ctx context.Context, q opt.StandingQuestion) (use opt.StandingUse, err error) {
	if a.cfg.Standing != nil {
		use, err = a.cfg.Standing.Decide(ctx, q)
	}
	if err != nil || use.ID != "" || !q.Counts {
		return use, err
	}
	return use, a.limiter.spent(ctx, q.Tenant, q.ContextID, "questions")
}

// Plan asks the planner for plans. A second run asks again. Its usage is that of the runs before,
// too, and the detail of an error.
func (a *Activities) Plan(ctx context.Context, r Request) (planned Planned, err error) {
	ctx, end := fenced(ctx, a.cfg.Fence)
	defer end(&err)
	defer a.recoverPanic(ctx, "planner", false, &err)
	beats := sendHeartbeats(ctx)
	defer beats.stop()
	spent := beats.spentBefore(ctx)
	if r.Message != nil {
		whole := *r.Message
		if whole.Parts, err = a.contents(r.ObjectiveID).attach(ctx, whole.Parts); err != nil {
			return Planned{}, err
		}
		r.Message = &whole
	}
	within, cancel := untilStopped(ctx, a.cfg.StopAfter)
	defer cancel()
	planned, err = a.cfg.Planner.Plan(within, r)
	if planned.Usage = sumOf(spent, planned.Usage); err == nil {
		return planned, nil
	}
	beats.spend(ctx, planned.Usage)
	if isStopping(ctx) {
		return Planned{}, errStopped()
	}
	return Planned{}, planFailure(err, planned.Usage)
}

// RunInput is what Run is asked to do.
type RunInput struct {
	Work  Work        `json:"work"`
	Ride  []opt.Batch `json:"ride,omitempty"`  // to be recorded before the work begins
	Tries int         `json:"tries,omitempty"` // of this attempt that may have begun, besides those that Temporal counts

	Collects bool `json:"collects,omitempty"` // the leg takes in work elsewhere, and needs no more of what quotas count
	Held     bool `json:"held,omitempty"`     // clients know that it waits for a quota

	Returned *Outcome `json:"returned,omitempty"` // the outcome of a callback or an activity elsewhere, in place of one of the executor
}

// Run lets an executor do a task. A second run, after a lost worker, does it again
// with the same key. If this worker has done it, and Temporal has lost the outcome, it
// returns that outcome. If this worker still does it, since Temporal has taken it for lost, the
// earlier run ends first.
func (a *Activities) Run(ctx context.Context, in RunInput) (out Outcome, err error) {
	ctx, end := fenced(ctx, a.cfg.Fence)
	defer end(&err)
	beats := sendHeartbeats(ctx)
	defer beats.stop()
	key := a.finished.key(ctx, in)
	ctx, leave, err := a.rounds.enter(ctx, key)
	if err != nil {
		return Outcome{}, err
	}
	defer leave()
	try := in.Tries + try(ctx)
	out, ok := a.finished.outcome(key, in.Work, try)
	if ok {
		Log(withLog(ctx, in.Work), a.cfg.Log).Info("Returned the outcome of an earlier run, which Temporal did not receive")
	} else {
		if out, err = a.runTry(ctx, beats, in, try); err != nil {
			return Outcome{}, err
		}
		out.Ran = max(out.Ran, 1) // also of one that does nothing
	}
	a.finished.remember(key, in.Work, try, out) // not deferred: a run that panics has no outcome
	return out, nil
}

// runTry does one try at an attempt: it records what rides, runs the task and returns the
// outcome. beats are sent from its beginning: without them Temporal would start a second run of
// the task while the journal is slow, and both runs would do the work.
func (a *Activities) runTry(ctx context.Context, beats *heartbeats, in RunInput, try int) (out Outcome, err error) {
	w, refused, err := a.prepareRun(ctx, in)
	defer func() { out.Refused = refused }()
	switch {
	case errors.Is(err, errContentLost):
		return Failed("content-lost", "A large content that the task works with is lost: only the journal had it."), nil
	case err != nil:
		return Outcome{}, err
	}
	kind := cmp.Or(w.Executor, a.cfg.Default)
	executor, ok := a.cfg.Executors[kind]
	switch {
	case in.Returned != nil:
		executor = returnedOutcome{*in.Returned}
	case kind == "":
		return Failed("unknown-executor", "The task names no executor, and the worker has no default."), nil
	case !ok:
		return Failed("unknown-executor", fmt.Sprintf("No worker here runs tasks of kind %q.", kind)), nil
	}
	if w.Input, err = fillInput(w); err != nil {
		return Failed("invalid-input", fmt.Sprintf("The input of the task cannot be filled in: %v.", err)), nil
	}
	if a.cfg.Callbacks != nil {
		w.CallbackURL, w.WakeURL = a.cfg.Callbacks.URLs(w)
	}
	if in.Returned == nil {
		release, err := a.limiter.acquire(ctx, beats, kind, in)
		if err != nil {
			return Outcome{}, err
		}
		defer release()
	}
	in.Work = w
	began := time.Now()
	out, err = a.execute(ctx, beats, executor, in, try)
	out.Ran = time.Since(began).Milliseconds()
	return out, ranFor(ctx, err, out.Ran)
}

var errContentLost = errors.New("a large content is lost")

// prepareRun records what rides and adds the large contents to the work. It returns the error of ctx
// if Temporal has timed this run out. If the journal refuses for good what rides, the task runs all
// the same.
func (a *Activities) prepareRun(ctx context.Context, in RunInput) (w Work, refused *opt.RewoundError, err error) {
	if len(in.Ride) > 0 {
		err := a.cfg.Recorder.Record(ctx, in.Ride...)
		if err != nil && !errors.As(err, &refused) {
			return Work{}, nil, journalError(ctx, err)
		}
	}
	w, err = a.contents(in.Work.ObjectiveID).attachWork(ctx, in.Work)
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return Work{}, refused, errContentLost
	case err != nil:
		return Work{}, nil, journalError(ctx, err)
	}
	return w, refused, ctx.Err()
}

// contents returns the large contents of an objective.
func (a *Activities) contents(objectiveID string) contents { return contents{a.cfg.Blobs, objectiveID} }

// execute runs one try at an attempt and records what it streams.
func (a *Activities) execute(ctx context.Context, beats *heartbeats, executor Executor, in RunInput, try int) (out Outcome, err error) {
	w := in.Work
	ctx = withLog(ctx, w)
	defer a.recoverPanic(ctx, w.Executor, true, &err)
	w.Try = try
	stream := newStream(ctx, a.cfg.Recorder, a.contents(w.ObjectiveID), w, try)
	stream.log = Log(ctx, a.cfg.Log)
	began := time.Now()
	beats.show(func() Progress {
		return Progress{Task: w.Name, Attempt: w.Attempt, Pieces: stream.pieces(), Since: began}
	})
	defer stream.stop()
	if err := beginAgain(ctx, stream, try); err != nil {
		return Outcome{}, err
	}
	if in.Held {
		stream.Progress("The quota has room again.", 0)
	}
	within, cancel := untilStopped(ctx, a.cfg.StopAfter)
	defer cancel()
	out, err = executor.Execute(within, w, stream)
	if err != nil {
		return Outcome{}, executionError(ctx, err)
	}
	if out.Gate != nil {
		if problem := CheckGate(out.Gate); problem != nil {
			out = Failed("invalid-gate", fmt.Sprintf("The task opened an invalid gate: %v.", problem))
		}
	}
	if out.Code != "" && !opt.IsPlainID(out.Code) {
		out.Code = ReasonFailed // it is shown and copied
	}
	if out, err = stream.finish(ctx, out); err != nil {
		return Outcome{}, journalError(ctx, err)
	}
	return out, nil
}

// executionError returns the error of an attempt whose executor returns err.
func executionError(ctx context.Context, err error) error {
	switch {
	case isStopping(ctx):
		return errStopped()
	case ctx.Err() != nil:
		return ctx.Err() // Temporal takes this error as a cancellation
	case errors.As(err, new(*recordError)): // which the executor has passed on
		return journalError(ctx, err)
	}
	return finalFailure(err)
}

// beginAgain records that a task begins again, if this is not its first try. An error says that the task must
// not run: its outcome could not be recorded, either, or another worker may have it meanwhile.
func beginAgain(ctx context.Context, s *stream, try int) error {
	if try <= 1 {
		s.taken(untaken(ctx))
		return nil
	}
	if err := s.begin(ctx); errors.Is(err, opt.ErrUnavailable) {
		return journalError(ctx, err)
	}
	return ctx.Err()
}

// Deliver makes one attempt at the earliest delivery of a config that is due. A
// second run, after a lost worker, makes the attempt again: receivers get each
// state at least once, under the same delivery id.
func (a *Activities) Deliver(ctx context.Context, r DeliverRequest) (out Delivered, err error) {
	if a.cfg.Push == nil {
		return out, temporal.NewNonRetryableApplicationError("This worker delivers nothing.", NoPushError, nil)
	}
	defer a.recoverPanic(ctx, "delivery", false, &err)
	return a.pusher.deliver(ctx, r)
}

// WatchHeartbeats returns the next text or chunk for clients from the heartbeats of an
// activity elsewhere, or an empty heartbeat after some minutes without one. It changes
// nothing, so a second run is harmless.
func (a *Activities) WatchHeartbeats(ctx context.Context, w Watching) (out opt.Beat, err error) {
	defer a.recoverPanic(ctx, "heartbeats", false, &err)
	defer sendHeartbeats(ctx).stop()
	return watchHeartbeat(ctx, a.cfg.Heartbeats, w)
}

// recoverPanic turns a panic in an executor or a planner into an error without
// details for clients; the log has the details. A final one is not repeated by
// Temporal.
func (a *Activities) recoverPanic(ctx context.Context, who string, final bool, err *error) {
	if p := recover(); p != nil {
		Log(ctx, a.cfg.Log).Error("Recovered a panic", zap.String("in", who), zap.Any("panic", p), zap.Stack("stack"))
		*err = temporal.NewApplicationErrorWithOptions("The task stopped unexpectedly.", PanicError, temporal.ApplicationErrorOptions{NonRetryable: final})
	}
}
