package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A fact is an event that a history shows as recorded, or about to be.
type fact struct {
	opt.Event
	at      time.Time // when it was recorded, as nearly as the history shows
	certain bool      // the history shows that it was recorded then
	place   int       // of its batch among those that were recorded at once
	made    bool      // it takes the place of pieces of an artifact that no history has
}

// A runLog is what the history of one run of an objective or a plan says.
type runLog struct {
	decode    payloadReader
	kind      string // of the workflow
	runID     string
	began     time.Time
	objective string
	source    string
	tenant    string
	from      int64     // events up to this one are in the histories of earlier runs
	earlier   string    // the run that this one continues
	retry     bool      // the attempts before are in runs that this history does not name
	later     string    // the run that continues this one
	closed    time.Time // zero while it runs
	stopped   bool      // by an operator
	bases     []string  // runs that an operator has reset to make this one, the oldest first
	facts     map[string][]fact
	children  map[int64]child // by the event that began them
	lost      []string        // what could not be read

	opened  []fact // follow from the input of the run alone
	first   bool   // the first workflow task was completed
	pending map[int64]*begunActivity
}

// A child is the workflow of a plan that an objective has begun.
type child struct{ planID, runID string }

// A begunActivity is an activity of a run that is not known to have ended.
type begunActivity struct {
	batches []opt.Batch
	work    *opt.Work // of Run
	at      time.Time // when it was scheduled, or when it began
}

// readRun reads a history, without the parts that cannot be read any more.
func readRun(ctx context.Context, decode payloadReader, events []*historypb.HistoryEvent) (*runLog, error) {
	r := &runLog{decode: decode, facts: map[string][]fact{}, children: map[int64]child{}, pending: map[int64]*begunActivity{}}
	for _, e := range events {
		if err := r.read(ctx, e); err != nil {
			return nil, fmt.Errorf("event %d, %s: %w", e.GetEventId(), e.GetEventType(), err)
		}
	}
	r.add(r.source, r.opened...)
	for _, a := range r.pending {
		r.addBatches(a.batches, a.at, false)
	}
	return r, nil
}

func (r *runLog) read(ctx context.Context, e *historypb.HistoryEvent) error {
	at := e.GetEventTime().AsTime()
	if s := e.GetWorkflowExecutionStartedEventAttributes(); s != nil {
		return r.begin(ctx, s, at)
	}
	if e.GetWorkflowTaskCompletedEventAttributes() != nil && !r.first {
		r.first = true
		for i := range r.opened {
			r.opened[i].at, r.opened[i].certain = at, true
		}
	}
	if f := e.GetWorkflowTaskFailedEventAttributes(); f.GetCause() == enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW {
		r.bases = append(r.bases, f.GetBaseRunId())
	}
	if m := e.GetMarkerRecordedEventAttributes(); m.GetFailure() != nil {
		for i := range r.opened { // an activity has recorded them later
			r.opened[i].certain = false
		}
	}
	if c := e.GetStartChildWorkflowExecutionInitiatedEventAttributes(); c.GetWorkflowType().GetName() == PlanWorkflow {
		r.children[e.GetEventId()] = child{planID: c.GetWorkflowId()}
	}
	if c := e.GetChildWorkflowExecutionStartedEventAttributes(); c.GetWorkflowType().GetName() == PlanWorkflow {
		r.children[c.GetInitiatedEventId()] = child{c.GetWorkflowExecution().GetWorkflowId(), c.GetWorkflowExecution().GetRunId()}
	}
	if c := e.GetStartChildWorkflowExecutionFailedEventAttributes(); c != nil {
		delete(r.children, c.GetInitiatedEventId())
	}
	if err := r.readActivity(ctx, e, at); err != nil {
		return err
	}
	return r.readEnd(ctx, e, at)
}

// begin reads the input of the run, and works out the events that follow from it
// alone: the run has recorded them without an activity in its history.
func (r *runLog) begin(ctx context.Context, s *historypb.WorkflowExecutionStartedEventAttributes, at time.Time) error {
	r.kind, r.earlier, r.runID, r.began = s.GetWorkflowType().GetName(), s.GetContinuedExecutionRunId(), s.GetOriginalExecutionRunId(), at
	switch r.kind {
	case ObjectiveWorkflow:
		var in ObjectiveInput
		if err := r.value(ctx, s.GetInput(), &in, "the input of the objective"); err != nil {
			return err
		}
		r.beginObjective(in, at)
	case PlanWorkflow:
		var in PlanInput
		if err := r.value(ctx, s.GetInput(), &in, "the input of a plan"); err != nil {
			return err
		}
		p := machine.Plan{State: in.State}
		r.objective, r.source, r.tenant, r.from = in.State.Plan.ObjectiveID, in.State.Source(), in.State.Tenant, in.State.N
		if events := p.Handle(a2a.At(at), machine.Opened{}); !in.Going && !p.Wants().Rewind { // else it records them in another epoch
			r.opens(events, at)
		}
	}
	return nil
}

func (r *runLog) beginObjective(in ObjectiveInput, at time.Time) {
	switch {
	case in.Opening != nil:
		o := in.Opening.Objective
		r.objective, r.source, r.tenant = o.ID, o.ID, o.Tenant
		events := machine.NewObjective(*in.Opening, in.IdleFor, rulesOf(in.Rules)).Handle(a2a.At(at), machine.Opened{})
		r.add(r.source, fact{Event: events[0], at: at, certain: true}) // the API has recorded it
		r.opens(events[1:], at)
	case in.State != nil:
		o := in.State.Objective
		r.objective, r.source, r.tenant, r.from = o.ID, o.ID, o.Tenant, in.State.N
	case in.Retry != nil:
		r.objective, r.source, r.tenant, r.retry = in.Retry.ObjectiveID, in.Retry.ObjectiveID, in.Retry.Tenant, true
	}
}

func (r *runLog) opens(events []opt.Event, at time.Time) {
	for _, e := range events {
		r.opened = append(r.opened, fact{Event: e, at: at})
	}
}

// readActivity reads the beginning or the end of an activity that records.
func (r *runLog) readActivity(ctx context.Context, e *historypb.HistoryEvent, at time.Time) error {
	if s := e.GetActivityTaskScheduledEventAttributes(); s != nil {
		a := &begunActivity{at: at}
		switch s.GetActivityType().GetName() {
		case recordActivity:
			if err := r.value(ctx, s.GetInput(), &a.batches, "events"); err != nil {
				return err
			}
		case reportActivity:
			var in activities.Reporting
			if err := r.value(ctx, s.GetInput(), &in, "events"); err != nil {
				return err
			}
			a.batches = in.Batches
		case runActivity:
			var in activities.RunInput
			if err := r.value(ctx, s.GetInput(), &in, "the input of a task"); err != nil {
				return err
			}
			a.batches, a.work = in.Ride, &in.Work
		default:
			return nil
		}
		r.pending[e.GetEventId()] = a
	}
	if s := e.GetActivityTaskStartedEventAttributes(); s != nil {
		if a := r.pending[s.GetScheduledEventId()]; a != nil {
			a.at = at
		}
	}
	if s := e.GetActivityTaskFailedEventAttributes(); s.GetFailure().GetApplicationFailureInfo().GetType() == activities.RewoundError {
		delete(r.pending, s.GetScheduledEventId()) // the journal has refused them
	}
	s := e.GetActivityTaskCompletedEventAttributes()
	a := r.pending[s.GetScheduledEventId()]
	if a == nil {
		return nil
	}
	delete(r.pending, s.GetScheduledEventId())
	if a.work == nil {
		r.addBatches(a.batches, at, true)
		return nil
	}
	var out opt.Outcome
	if err := r.value(ctx, s.GetResult(), &out, "the outcome of a task"); err != nil {
		return err
	}
	if out.Refused == nil {
		r.addBatches(a.batches, a.at, true) // before the work began
	}
	r.addStreamed(a.work, out, at)
	return nil
}

// readEnd reads the end of the run, and the events in its result.
func (r *runLog) readEnd(ctx context.Context, e *historypb.HistoryEvent, at time.Time) error {
	switch {
	case e.GetWorkflowExecutionCompletedEventAttributes() != nil, e.GetWorkflowExecutionFailedEventAttributes() != nil, e.GetWorkflowExecutionCanceledEventAttributes() != nil:
	case e.GetWorkflowExecutionContinuedAsNewEventAttributes() != nil:
		r.later = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	case e.GetWorkflowExecutionTerminatedEventAttributes() != nil, e.GetWorkflowExecutionTimedOutEventAttributes() != nil:
		r.stopped = true
	default:
		return nil
	}
	r.closed = at
	var ended struct { // of a plan, or of an objective
		Ride []opt.Batch `json:"ride"`
		Last []opt.Batch `json:"last"`
	}
	if err := r.value(ctx, resultOfEnd(e), &ended, "the last events"); err != nil {
		return err
	}
	r.addBatches(ended.Ride, at, false)
	r.addBatches(ended.Last, at, false)
	return nil
}

func (r *runLog) addBatches(batches []opt.Batch, at time.Time, certain bool) {
	for place, b := range batches {
		for _, e := range b.Events {
			r.add(b.Source, fact{Event: e, at: at, place: place, certain: certain})
		}
	}
}

func (r *runLog) add(source string, facts ...fact) {
	if len(facts) > 0 {
		r.facts[source] = append(r.facts[source], facts...)
	}
}

// addStreamed adds an event for each artifact that a task has streamed: the history
// has the artifact in the outcome, and not its pieces.
func (r *runLog) addStreamed(w *opt.Work, out opt.Outcome, at time.Time) {
	done := *w
	done.Try = max(out.Try, 1)
	for n, id := range out.Streamed {
		for _, artifact := range out.Artifacts {
			if artifact.ArtifactID != id {
				continue
			}
			r.add(activities.SourceOf(done), fact{made: true, certain: true, at: at, Event: opt.Event{
				N: int64(n + 1), Kind: opt.ArtifactAdded, At: a2a.At(at), PlanID: w.PlanID, TaskID: w.TaskID, RootID: w.RootID,
				Round: w.Round, Attempt: w.Attempt, Leg: w.Leg, Try: done.Try, Chunk: &opt.Chunk{Artifact: artifact, Last: true},
			}})
			break
		}
	}
}

// value reads the first payload into v. It notes a payload that only the journal had
// and that is lost.
func (r *runLog) value(ctx context.Context, p *commonpb.Payloads, v any, what string) error {
	if len(p.GetPayloads()) == 0 {
		return nil
	}
	err := r.decode.read(ctx, p.GetPayloads()[0], v)
	if errors.Is(err, opt.ErrUnknown) {
		r.lost = append(r.lost, what+" was so large that only the journal had it")
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

// Names of activities in histories.
const (
	recordActivity = "Record"
	reportActivity = "Report"
	runActivity    = "Run"
)

// A payloadReader reads payloads of histories, those that are stored as blobs too.
type payloadReader struct {
	data   converter.DataConverter
	stored blobDriver // without blobs, none were stored
}

func (r payloadReader) read(ctx context.Context, p *commonpb.Payload, v any) error {
	p, err := r.whole(ctx, p)
	if err != nil {
		return err
	}
	return r.data.FromPayload(p, v)
}

// whole returns the payload behind a reference, or p if it is none.
func (r payloadReader) whole(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	var ref sdkpb.ExternalStorageReference
	name := string(ref.ProtoReflect().Descriptor().FullName())
	if string(p.GetMetadata()[converter.MetadataMessageType]) != name {
		return p, nil
	}
	if err := protojson.Unmarshal(p.GetData(), &ref); err != nil {
		return nil, fmt.Errorf("read a reference: %w", err)
	}
	if r.stored.blobs == nil || ref.GetDriverName() != blobDriverName {
		return nil, fmt.Errorf("payload of %s: %w", ref.GetDriverName(), opt.ErrUnknown)
	}
	return r.stored.read(ctx, ref.GetClaimData()[blobObjective], ref.GetClaimData()[blobID])
}
