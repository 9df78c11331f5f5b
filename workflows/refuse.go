package workflows

import (
	"fmt"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"longhaul/opt/machine"
)

// newerRules is the panic of a workflow whose run has later rules, of this version, than this program
// knows. Its workflow task fails, and another worker gets it, until a newer one takes it.
type newerRules int

// String is the text of the failure.
func (n newerRules) String() string {
	return fmt.Sprintf("this worker knows the rules up to version %d, and the run has version %d: a newer worker must take it", machine.Rules, int(n))
}

// checkRules panics with [newerRules] if a run has later rules than this program knows.
func checkRules(n int) {
	if n > machine.Rules {
		panic(newerRules(n))
	}
}

// Refusals returns what calls note with each run that a worker leaves to a newer one.
func Refusals(note func(runID string)) interceptor.WorkerInterceptor { return &refusals{note: note} }

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
		if _, refused := p.(newerRules); refused {
			r.note(workflow.GetInfo(ctx).WorkflowExecution.RunID)
		}
		if p != nil {
			panic(p)
		}
	}()
	return r.Next.ExecuteWorkflow(ctx, in)
}
