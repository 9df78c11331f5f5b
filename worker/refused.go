package worker

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"longhaul/workflows"
)

// refusals calls note with each run that the workflows leave to a newer worker.
type refusals struct {
	interceptor.WorkerInterceptorBase
	note func(runID string)
}

// InterceptWorkflow implements [interceptor.WorkerInterceptor].
func (r *refusals) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	i := &refusing{note: r.note}
	i.Next = next
	return i
}

type refusing struct {
	interceptor.WorkflowInboundInterceptorBase
	note func(runID string)
}

// ExecuteWorkflow implements [interceptor.WorkflowInboundInterceptor].
func (r *refusing) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	defer func() {
		p := recover()
		if _, refused := p.(workflows.NewerRules); refused {
			r.note(workflow.GetInfo(ctx).WorkflowExecution.RunID)
		}
		if p != nil {
			panic(p)
		}
	}()
	return r.Next.ExecuteWorkflow(ctx, in)
}
