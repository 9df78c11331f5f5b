package cost

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// priceOf returns the price of a request. Temporal Cloud bills what begins: workflows, activities,
// timers, and the local activities of a workflow task together; each signal, each change of search
// attributes and each side effect. It writes a line of a list when a workflow begins, ends, or
// changes its search attributes.
func priceOf(req any) (p Price) {
	switch r := req.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		return Price{Visibility: 1, Actions: 1}
	case *workflowservice.SignalWorkflowExecutionRequest:
		return Price{Signals: 1, Actions: 1}
	case *workflowservice.SignalWithStartWorkflowExecutionRequest: // at the most: it may run already
		return Price{Signals: 1, Visibility: 1, Actions: 2}
	case *workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest, *workflowservice.RespondActivityTaskCanceledRequest:
		return Price{Activities: 1}
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		p.WorkflowTasks = 1
		local := false
		for _, command := range r.GetCommands() {
			local = local || command.GetRecordMarkerCommandAttributes().GetMarkerName() == "LocalActivity"
			p.add(commandPrices[command.GetCommandType()])
		}
		if local {
			p.Actions++
		}
	}
	return p
}

var commandPrices = map[enumspb.CommandType]Price{
	enumspb.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK:             {Actions: 1},
	enumspb.COMMAND_TYPE_START_TIMER:                        {Actions: 1},
	enumspb.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION:     {Visibility: 1, Actions: 1},
	enumspb.COMMAND_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION: {Signals: 1, Actions: 1},
	enumspb.COMMAND_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:  {Visibility: 1, Actions: 1},
	enumspb.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION:        {Visibility: 1},
	enumspb.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION:            {Visibility: 1},
	enumspb.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION:          {Visibility: 1},
	enumspb.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION: {Visibility: 2, Actions: 1},
}
