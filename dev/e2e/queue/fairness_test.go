package queue_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/worker"
	"longhaul/workflows"
)

// The fairness key of a tenant reaches plans, tasks and deliveries: Temporal hands it
// on from what starts a workflow.
func TestFairness(t *testing.T) {
	site := harness.NewSite(t, harness.Dev)
	site.Start(harness.Temporal)
	temporal := test.Value(workflows.Dial(workflows.DialConfig{Addr: site.TemporalAddr, Namespace: "default", Local: true, Log: log.NewStructuredLogger(slog.New(slog.DiscardHandler)), Adjust: patient}))(t)
	t.Cleanup(temporal.Close)
	j, err := journal.Open(t.Context(), journal.Config{})
	test.OK(t, err)
	t.Cleanup(func() { _ = j.Close() })
	keys := make(probe, 1)
	w := worker.New(worker.Config{Temporal: temporal, Activities: activities.Config{
		Executors: map[string]activities.Executor{"probe": keys}, Default: "probe", Planner: &planner.Playbooks{}, Recorder: j, Kept: j, Purger: j,
		Tasks: j, Watch: func(id string) activities.Watch { return j.Watch(id) },
	}})
	test.OK(t, w.Start())
	t.Cleanup(w.Stop)

	id, at := opt.NewObjectiveID([16]byte{1}), a2a.At(time.Now())
	request := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}
	opening := opt.Opening{
		Objective: opt.Objective{
			ID: id, ContextID: id, Tenant: "acme", Principal: "p", Name: "fair", Status: opt.ObjectiveSubmitted,
			Root: opt.TaskSubmitted, CreatedAt: at, UpdatedAt: at, Revision: 1, Attempt: 1, MessageID: "m",
		},
		Message: &request,
		Plans:   []opt.PlanSpec{{Name: "plan", Tasks: []opt.TaskSpec{{Name: "task"}}}},
	}
	engine := workflows.NewClient(workflows.ClientConfig{Temporal: temporal})
	test.OK(t, test.Err(engine.Start(t.Context(), opening)))
	test.OK(t, engine.Push(t.Context(), outbox.PushKey{TaskID: id, ConfigID: "config", Tenant: "acme"}))
	select {
	case got := <-keys:
		test.Is(t, "the fairness key of the task", "acme", got)
	case <-time.After(time.Minute):
		t.Fatal("the task does not run")
	}
	for _, workflowID := range []string{id, opt.PlanID(id, 1), "push-" + id + "-config"} {
		found, err := temporal.DescribeWorkflowExecution(t.Context(), workflowID, "")
		if got := found.GetWorkflowExecutionInfo().GetPriority().GetFairnessKey(); got != "acme" || err != nil {
			t.Errorf("the fairness key of %s is %q, %v; want the tenant", workflowID, got, err)
		}
	}
}

// patient has activities wait in their queue. Those that Temporal hands to the
// worker of the workflow at once pass no queue, and show no key.
func patient(options *client.Options) {
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, o ...grpc.CallOption) error {
			if done, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
				for _, c := range done.GetCommands() {
					if a := c.GetScheduleActivityTaskCommandAttributes(); a != nil {
						a.RequestEagerExecution = false
					}
				}
			}
			return next(ctx, method, req, reply, cc, o...)
		}))
}

// A probe is an executor that reports the fairness keys of its activities.
type probe chan string

func (p probe) Execute(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
	p <- activity.GetInfo(ctx).Priority.FairnessKey
	return activities.Completed(), nil
}
