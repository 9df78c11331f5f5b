package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// onlyOnce is a Temporal in which one workflow can be started.
type onlyOnce struct {
	client.Client
	input  *commonpb.Payloads
	status enumspb.WorkflowExecutionStatus
}

func (c *onlyOnce) ExecuteWorkflow(_ context.Context, _ client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	if c.input != nil {
		return nil, &serviceerror.WorkflowExecutionAlreadyStarted{Message: "started"}
	}
	c.status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	var err error
	c.input, err = converter.GetDefaultDataConverter().ToPayloads(args...)
	return nil, err
}

func (c *onlyOnce) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: c.status}}, nil
}

// GetWorkflowHistory returns the first event.
func (c *onlyOnce) GetWorkflowHistory(context.Context, string, string, bool, enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	return &firstEvent{e: &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: c.input},
	}}}
}

type firstEvent struct{ e *historypb.HistoryEvent }

func (f *firstEvent) HasNext() bool                          { return f.e != nil }
func (f *firstEvent) Next() (*historypb.HistoryEvent, error) { e := f.e; f.e = nil; return e, nil }

// A repeat for an objective that was stopped returns its whole opening: it may not have recorded that.
func TestClient_Start_stopped(t *testing.T) {
	temporal := &onlyOnce{}
	c := workflows.NewClient(workflows.ClientConfig{Temporal: temporal, Plain: func() bool { return true }})
	first := opt.Opening{Objective: opt.Objective{ID: "obj-a", Name: "first", Digest: "d"}, Plans: []opt.PlanSpec{{Name: "p"}}}
	test.OK(t, test.Err(c.Start(t.Context(), first)))
	again := first
	again.Objective.Name, again.Plans = "second", nil
	for status, want := range map[enumspb.WorkflowExecutionStatus]opt.Opening{
		enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED: first, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT: first,
		enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED: {}, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED: {},
	} {
		temporal.status = status
		got, err := c.Start(t.Context(), again)
		test.Error(t, fmt.Sprintf("%v", status), opt.ErrEnded, err)
		test.Equal(t, status.String(), want, got)
		got, err = c.Opening(t.Context(), "obj-a")
		test.OK(t, err)
		test.Equal(t, status.String(), want, got)
	}
}

// A repeat returns the opening of the running objective. If the agent has made other
// plans of the message meanwhile, they must not be recorded: the objective began with
// the first ones.
func TestClient_Start_again(t *testing.T) {
	c := workflows.NewClient(workflows.ClientConfig{Temporal: &onlyOnce{}, Plain: func() bool { return true }})
	o := opt.Opening{Objective: opt.Objective{ID: "obj-a", Name: "first", Digest: "d"}, Plans: []opt.PlanSpec{{Name: "p"}}}
	if got, err := c.Start(t.Context(), o); err != nil || got.Found {
		t.Fatalf("the first was found: %t, %v", got.Found, err)
	}
	again, other, changed := o, o, o
	again.Objective.Name = "second"
	other.Objective.Digest = "e"
	changed.Plans = []opt.PlanSpec{{Name: "q"}}
	if got, err := c.Start(t.Context(), again); err != nil || got.Objective.Name != "first" || !got.Found {
		t.Errorf("a repeat began %q, found %t, %v", got.Objective.Name, got.Found, err)
	}
	test.Error(t, "other content", opt.ErrConflict, test.Err(c.Start(t.Context(), other)))
	got, err := c.Start(t.Context(), changed)
	test.OK(t, err)
	test.Equal(t, "plans", o.Plans, got.Plans)
}

// What a run that continues another one, or a retry, began with is in the journal. The state of the former
// says whether a repeat has other content.
func TestClient_Start_continued(t *testing.T) {
	state := &machine.ObjectiveState{Objective: opt.Objective{ID: "obj-a", Digest: "d"}}
	for name, tc := range map[string]struct {
		input  any
		digest string
		want   error
	}{
		"removed":               {&sdkpb.ExternalStorageReference{}, "d", opt.ErrEnded},
		"continued":             {workflows.ObjectiveInput{State: state}, "d", opt.ErrEnded},
		"continued, another":    {workflows.ObjectiveInput{State: state}, "e", opt.ErrConflict},
		"a retry":               {workflows.ObjectiveInput{Retry: &workflows.RetryInput{}}, "d", opt.ErrEnded},
		"in its first run, too": {workflows.ObjectiveInput{Opening: &opt.Opening{Objective: state.Objective}}, "d", nil},
	} {
		input, err := converter.GetDefaultDataConverter().ToPayloads(tc.input)
		test.OK(t, err)
		temporal := &onlyOnce{input: input, status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}
		c := workflows.NewClient(workflows.ClientConfig{Temporal: temporal, Plain: func() bool { return true }})
		got, err := c.Start(t.Context(), opt.Opening{Objective: opt.Objective{ID: "obj-a", Digest: tc.digest}})
		if !errors.Is(err, tc.want) || got.Found != (tc.want == nil) {
			t.Errorf("%s: found %t, %v, want %v", name, got.Found, err, tc.want)
		}
	}
}

// Only of an objective that was stopped its opening is needed: that of others may be gone from where large contents are.
func TestClient_Opening_removed(t *testing.T) {
	input, err := converter.GetDefaultDataConverter().ToPayloads(&sdkpb.ExternalStorageReference{})
	test.OK(t, err)
	for status, want := range map[enumspb.WorkflowExecutionStatus]error{
		enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING: nil, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED: nil, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED: opt.ErrUnknown,
	} {
		c := workflows.NewClient(workflows.ClientConfig{Temporal: &onlyOnce{input: input, status: status}})
		if _, err := c.Opening(t.Context(), "obj-a"); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", status, err, want)
		}
	}
}

// With its own key a repeat may have another message id. It is recorded with the
// id from the first attempt. Older inputs have the digest of the whole message.
func TestClient_Start_againWithAnotherMessageID(t *testing.T) {
	said := func(id string) *a2a.Message {
		return &a2a.Message{MessageID: id, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("go")}}
	}
	for name, tc := range map[string]struct {
		stored, id string
		err        error
	}{
		"same content":         {said("m-1").ContentDigest(), "m-2", nil},
		"older input":          {said("m-1").Digest(), "m-1", nil},
		"older input, another": {said("m-1").Digest(), "m-2", opt.ErrConflict},
	} {
		c := workflows.NewClient(workflows.ClientConfig{Temporal: &onlyOnce{}, Plain: func() bool { return true }})
		first := opt.Opening{Objective: opt.Objective{ID: "obj-a", MessageID: "m-1", Digest: tc.stored}, Message: said("m-1")}
		test.OK(t, test.Err(c.Start(t.Context(), first)))
		again := opt.Opening{Objective: opt.Objective{ID: "obj-a", MessageID: tc.id, Digest: said(tc.id).ContentDigest()}, Message: said(tc.id)}
		got, err := c.Start(t.Context(), again)
		if !errors.Is(err, tc.err) || err == nil && (got.Message.MessageID != "m-1" || got.Objective.MessageID != "m-1") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// failing is a Temporal that refuses all signals with an error.
type failing struct {
	client.Client
	err error
}

func (c failing) SignalWorkflow(context.Context, string, string, string, any) error { return c.err }

func (c failing) CancelWorkflow(context.Context, string, string) error { return errCanceled }

var errCanceled = errors.New("canceled in the way of an operator")

// A run that takes no more signals is canceled all the same, and so is one for a caller without
// a name.
func TestClient_Cancel_withoutSignal(t *testing.T) {
	for name, tc := range map[string]struct {
		principal string
		err, want error
	}{
		"too many signals": {"ann", &serviceerror.InvalidArgument{Message: "exceeded workflow execution limit for signal events"}, errCanceled},
		"no principal":     {"", nil, errCanceled},
		"signaled":         {"ann", nil, nil},
		"ended":            {"ann", &serviceerror.NotFound{Message: "ended"}, opt.ErrEnded},
		"unavailable":      {"ann", &serviceerror.Unavailable{Message: "down"}, opt.ErrUnavailable},
	} {
		err := workflows.NewClient(workflows.ClientConfig{Temporal: failing{err: tc.err}}).Cancel(t.Context(), "obj-a", tc.principal, "")
		if !errors.Is(err, tc.want) || tc.want != errCanceled && errors.Is(err, errCanceled) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// A caller may repeat what failed because of our connection to Temporal, also while an
// operator has yet to mend our credentials.
func TestClient_Command_fails(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want error // that the error wraps; nil for one that stays after a repeat
	}{
		"unavailable":       {&serviceerror.Unavailable{Message: "down"}, opt.ErrUnavailable},
		"permission denied": {&serviceerror.PermissionDenied{Message: "denied"}, opt.ErrUnavailable},
		"no namespace":      {&serviceerror.NamespaceNotFound{Message: "removed"}, opt.ErrUnavailable},
		"no workflow":       {&serviceerror.NotFound{Message: "ended"}, opt.ErrEnded},
		"invalid":           {&serviceerror.InvalidArgument{Message: "too long"}, nil},
	} {
		err := workflows.NewClient(workflows.ClientConfig{Temporal: failing{err: tc.err}}).Command(t.Context(), opt.Command{ObjectiveID: "obj-a"})
		for _, known := range []error{opt.ErrUnavailable, opt.ErrEnded} {
			if got, want := errors.Is(err, known), known == tc.want; err == nil || got != want {
				t.Errorf("%s: error %v wraps %v: %v, want %v", name, err, known, got, want)
			}
		}
	}
}
