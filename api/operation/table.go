package operation

import (
	"net/http"

	"longhaul/api/call"
	"longhaul/api/service"
	"longhaul/api/wire"
)

const (
	get    = http.MethodGet + " "
	post   = http.MethodPost + " "
	patch  = http.MethodPatch + " "
	remove = http.MethodDelete + " "
)

var (
	shapes  = may(call.CreateRuns, call.CancelRuns, call.RespondApprovals) // what a change needs depends on its status
	creates = may(call.CreateRuns)
	reads   = may(call.ReadRuns)
	hooks   = may(call.ManageWebhooks)
	times   = may(call.ManageSchedules)
	sends   = may(call.CreateRuns, call.RespondApprovals) // replies are messages, too
)

// core is A2A.
func core(p *service.Service) []*Operation {
	return []*Operation{
		{ID: "SendMessage", V03: "message/send", Scopes: sends, Routes: []string{post + "message:send"}, Text: "Send a message to new work or to a task",
			Takes: "SendMessageRequest", Gives: "SendMessageResponse", Body: reply(wire.ReadSend, p.Messages.SendMessage, wire.Sent)},
		{ID: "SendStreamingMessage", V03: "message/stream", Scopes: sends, When: Streaming, Routes: []string{post + "message:stream"}, Text: "Send a message and stream what follows",
			Takes: "SendMessageRequest", Gives: "StreamResponse", Body: streaming(wire.ReadSend, p.Messages.StreamMessage)},
		{ID: "ListTasks", V03: "tasks/list", Scopes: reads, Routes: []string{get + "tasks"}, Text: "List the caller's tasks, latest change first",
			Query: words("contextId status pageSize pageToken historyLength statusTimestampAfter includeArtifacts"),
			Gives: "ListTasksResponse", Body: reply(wire.Read, p.Tasks.ListTasks, wire.TaskPage)},
		{ID: "CancelTask", V03: "tasks/cancel", Scopes: may(call.CancelRuns), Routes: []string{post + "tasks/{id}:cancel"}, Text: "Cancel a task",
			Takes: "TaskRequest", Gives: "Task", Body: reply(wire.ReadCancel, p.TaskWork.CancelTask, wire.Task)},
		{ID: "SubscribeToTask", V03: "tasks/resubscribe", Scopes: reads, When: Streaming, Routes: []string{get + "tasks/{id}:subscribe", post + "tasks/{id}:subscribe"}, Text: "Stream what happens to a task",
			Takes: "TaskRequest", Gives: "StreamResponse", Body: streaming(wire.Read, p.Streams.Subscribe)},
		{ID: "GetTask", V03: "tasks/get", Scopes: reads, Routes: []string{get + "tasks/{id}"}, Text: "Get a task", Query: words("historyLength"),
			Gives: "Task", Body: reply(wire.Read, p.Tasks.GetTask, wire.Task)},

		{ID: "ListTaskPushNotificationConfigs", V03: "tasks/pushNotificationConfig/list", Scopes: hooks, When: Push, Routes: []string{get + "tasks/{taskId}/pushNotificationConfigs"}, Text: "List the push configs of a task",
			Query: words("pageSize pageToken"), Gives: "ListTaskPushNotificationConfigsResponse", Body: reply(wire.ReadListPushes, p.Pushes.ListPushes, wire.WritePushPage)},
		{ID: "CreateTaskPushNotificationConfig", V03: "tasks/pushNotificationConfig/set", Scopes: hooks, When: Push, Routes: []string{post + "tasks/{taskId}/pushNotificationConfigs"}, Text: "Have the states of a task pushed to a URL",
			Takes: "TaskPushNotificationConfig", Gives: "TaskPushNotificationConfig", Body: reply(wire.ReadCreatePush, p.Pushes.CreatePush, wire.WritePush)},
		{ID: "GetTaskPushNotificationConfig", V03: "tasks/pushNotificationConfig/get", Scopes: hooks, When: Push, Routes: []string{get + "tasks/{taskId}/pushNotificationConfigs/{id}"}, Text: "Get a push config, without its secrets",
			Gives: "TaskPushNotificationConfig", Body: reply(wire.ReadGetPush, p.Pushes.GetPush, wire.WritePush)},
		{ID: "DeleteTaskPushNotificationConfig", V03: "tasks/pushNotificationConfig/delete", Scopes: hooks, When: Push, Routes: []string{remove + "tasks/{taskId}/pushNotificationConfigs/{id}"}, Text: "Remove a push config",
			Gives: "Empty", Body: reply(wire.ReadDeletePush, p.Pushes.DeletePush, wire.WriteNothing)},
		{ID: "GetExtendedAgentCard", V03: "agent/getAuthenticatedExtendedCard", Scopes: call.Scopes(), Routes: []string{get + "extendedAgentCard"}, Text: "Get the agent card for authenticated callers", // with any scope: it is about no work
			Gives: "AgentCard", Body: reply(wire.Read, p.Cards.ExtendedCard, wire.Version.PureCard)},
	}
}

// extension is the Objective-Plan-Task extension.
func extension(p *service.Service) []*Operation {
	return ofOPT(
		&Operation{ID: "objectives/create", Scopes: creates, Body: reply(wire.Read, p.Maker.CreateObjective, wire.NewObjective)},
		&Operation{ID: "objectives/get", Scopes: reads, Body: reply(wire.Read, p.Objectives.GetObjective, wire.Objective)},
		&Operation{ID: "objectives/list", Scopes: reads, Body: reply(wire.Read, p.Objectives.ListObjectives, wire.ObjectivePage)},
		&Operation{ID: "objectives/update", Scopes: shapes, Body: reply(wire.Read, p.Work.UpdateObjective, wire.Objective)},
		&Operation{ID: "objectives/replan", Scopes: may(call.CreateRuns, call.CancelRuns), Body: reply(wire.Read, p.Work.Replan, wire.Objective)},
		&Operation{ID: "objectives/fork", Scopes: may(call.CreateRuns, call.ReadRuns), Body: reply(wire.Read, p.Forks.ForkObjective, wire.NewObjective)},
		&Operation{ID: "plans/create", Scopes: creates, Body: reply(wire.Read, p.Work.CreatePlan, wire.NewPlan)},
		&Operation{ID: "plans/get", Scopes: reads, Body: reply(wire.Read, p.Objectives.GetPlan, wire.Plan)},
		&Operation{ID: "plans/update", Scopes: shapes, Body: reply(wire.ReadUpdatePlan, p.Work.UpdatePlan, wire.Plan)},
		&Operation{ID: "plans/addTasks", Scopes: creates, Body: reply(wire.ReadAddTasks, p.Work.AddTasks, wire.Plan)},
		&Operation{ID: "tasks/link", Scopes: creates, Body: reply(wire.Read, p.TaskWork.LinkTask, wire.LinkedTask)},
		&Operation{ID: "tasks/updateStatus", Scopes: shapes, Body: reply(wire.Read, p.TaskWork.UpdateTaskStatus, wire.MovedTask)},
	)
}

// decided has the pages about who decides at gates beforehand, or in place of others. They are methods of
// JSON-RPC, too: what the other pages show or do to work, its clients have by A2A and the extension, but these
// rules last beyond any work.
func decided(p *service.Service) []*Operation {
	return ofPages(
		&Operation{ID: "ListStanding", V03: "standing/list", Scopes: reads, Routes: []string{get + "standing"}, Text: "List standing decisions, the newest first, and those that the caller's answers propose",
			Gives: "StandingList", Body: reply(wire.Read, p.Standing.List, wire.Same)},
		&Operation{ID: "MakeStanding", V03: "standing/make", Scopes: may(call.RespondApprovals), Routes: []string{post + "standing"}, Text: "Decide about gates of a playbook beforehand",
			Takes: "NewStanding", Gives: "Standing", Body: reply(wire.Read, p.Standing.Make, wire.Same)},
		&Operation{ID: "GetStanding", V03: "standing/get", Scopes: reads, Routes: []string{get + "standing/{id}"}, Text: "Get a standing decision with the gates that it was used for",
			Gives: "Standing", Body: reply(wire.Read, p.Standing.Get, wire.Same)},
		&Operation{ID: "ApproveStanding", V03: "standing/approve", Scopes: may(call.RespondApprovals), Routes: []string{post + "standing/{id}/approve"}, Text: "Be behind a standing decision, too",
			Gives: "Standing", Body: reply(wire.Read, p.Standing.Approve, wire.Same)},
		&Operation{ID: "RevokeStanding", V03: "standing/revoke", Scopes: may(call.RespondApprovals), Routes: []string{post + "standing/{id}/revoke"}, Text: "Revoke a standing decision at once",
			Gives: "Standing", Body: reply(wire.Read, p.Standing.Revoke, wire.Same)},

		&Operation{ID: "ListAbsences", V03: "absences/list", Scopes: reads, Routes: []string{get + "absences"}, Text: "List absences with their deputies, those that end last first",
			Gives: "AbsenceList", Body: reply(wire.Read, p.Absences.List, wire.Same)},
		&Operation{ID: "AddAbsence", V03: "absences/add", Scopes: may(call.RespondApprovals, call.ManageAbsences), Routes: []string{post + "absences"}, Text: "Be absent for a time in which a deputy may decide at gates",
			Takes: "NewAbsence", Gives: "Absence", Body: reply(wire.Read, p.Absences.Add, wire.Same)},
		&Operation{ID: "EndAbsence", V03: "absences/end", Scopes: may(call.RespondApprovals, call.ManageAbsences), Routes: []string{post + "absences/{id}/end"}, Text: "End an absence at once",
			Gives: "Absence", Body: reply(wire.Read, p.Absences.End, wire.Same)},
	)
}

// pages is plain HTTP below /v1.
func pages(p *service.Service) []*Operation {
	return ofPages(
		&Operation{ID: "GetTaskRecord", Scopes: reads, Routes: []string{get + "a2a/tasks/{id}"}, Text: "Get the durable record of a task, without content",
			Gives: "TaskRecord", Body: reply(wire.Read, p.Records.GetTaskRecord, wire.Same)},
		&Operation{ID: "GetRun", Scopes: reads, Routes: []string{get + "runs/{id}"}, Text: "Get an objective as a run", Gives: "Run", Body: reply(wire.Read, p.Records.GetRun, wire.Same)},

		&Operation{ID: "ListDeliveries", Scopes: hooks, Routes: []string{get + "tasks/{id}/deliveries"}, Text: "List the deliveries of a task's states to its push configs, with the latest attempts",
			Gives: "DeliveryList", Body: reply(wire.Read, p.Deliveries.ListDeliveries, wire.Deliveries)},
		&Operation{ID: "Redeliver", Scopes: hooks, Routes: []string{post + "tasks/{id}/deliveries/{config}/{event}/redeliver"}, Text: "Have a state delivered again",
			Gives: "Delivery", Body: reply(wire.Read, p.Deliveries.Redeliver, wire.Delivery)},

		&Operation{ID: "ListInterrupts", Scopes: reads, Routes: []string{get + "interrupts"}, Text: "List the tasks that wait for people, the longest wait first",
			Query: words("kind objectiveId contextId mine pageSize pageToken"), Gives: "InterruptPage", Body: reply(wire.Read, p.Gates.ListInterrupts, wire.InterruptPage)},
		&Operation{ID: "AnswerInterrupt", Scopes: may(call.RespondApprovals), Routes: []string{post + "interrupts/{id}/answer"}, Text: "Answer a task that waits for a person",
			Takes: "GateAnswer", Gives: "Answered", Body: reply(wire.ReadAnswer, p.Gates.AnswerInterrupt, wire.Same)},
		&Operation{ID: "ListDecisions", Scopes: reads, Routes: []string{get + "objectives/{id}/decisions"}, Text: "List the decisions at the gates of an objective, as hash chains",
			Query: words("pageSize pageToken"), Gives: "DecisionPage", Body: reply(wire.Read, p.Decisions.ListDecisions, wire.Same)},

		&Operation{ID: "CompareObjectives", Scopes: reads, Routes: []string{get + "objectives/{id}/compare"}, Text: "Show two objectives side by side, such as one and a fork of it",
			Query: words("with"), Gives: "Comparison", Body: reply(wire.Read, p.Compared.CompareObjectives, wire.Same)},

		&Operation{ID: "ListCosts", Scopes: may(call.ReadRuns, call.ReadCosts), Routes: []string{get + "costs"}, Text: "List what contexts or models of the tenant have cost, or all tenants, the highest first",
			Query: words("by since until pageSize"), Gives: "CostList", Body: reply(wire.Read, p.Costs.ListCosts, wire.CostList)},

		&Operation{ID: "ListQuotas", Scopes: reads, Routes: []string{get + "quotas"}, Text: "List what work has used of the quotas of the tenant, and of a context, the one nearest to its limit first",
			Query: words("contextId"), Gives: "QuotaList", Body: reply(wire.Read, p.Used.ListQuotas, wire.QuotaList)},

		&Operation{ID: "ListSchedules", Scopes: reads, Routes: []string{get + "schedules"}, Text: "List schedules, each with its next times and its latest run",
			Gives: "ScheduleList", Body: reply(wire.Read, p.Schedules.ListSchedules, wire.ScheduleList)},
		&Operation{ID: "CreateSchedule", Scopes: times, Routes: []string{post + "schedules"}, Text: "Have objectives started at times",
			Takes: "NewSchedule", Gives: "Schedule", Body: reply(wire.Read, p.Schedules.CreateSchedule, wire.Schedule)},
		&Operation{ID: "GetSchedule", Scopes: reads, Routes: []string{get + "schedules/{id}"}, Text: "Get a schedule with its next times and its latest runs",
			Gives: "Schedule", Body: reply(wire.Read, p.Schedules.GetSchedule, wire.Schedule)},
		&Operation{ID: "UpdateSchedule", Scopes: times, Routes: []string{patch + "schedules/{id}"}, Text: "Change, pause or resume a schedule",
			Takes: "ScheduleChange", Gives: "Schedule", Body: reply(wire.Read, p.Schedules.UpdateSchedule, wire.Schedule)},
		&Operation{ID: "DeleteSchedule", Scopes: times, Routes: []string{remove + "schedules/{id}"}, Text: "Delete a schedule; objectives that it has started continue",
			Gives: "Deleted", Body: reply(wire.Read, p.Schedules.DeleteSchedule, wire.Same)},
		&Operation{ID: "TriggerSchedule", Scopes: times, Routes: []string{post + "schedules/{id}/trigger"}, Text: "Start an objective of a schedule now",
			Takes: "TriggerRequest", Gives: "Triggered", Body: reply(wire.Read, p.Schedules.TriggerSchedule, wire.Same)},
		&Operation{ID: "BackfillSchedule", Scopes: times, Routes: []string{post + "schedules/{id}/backfill"}, Text: "Start the objectives of a schedule for times that have passed",
			Takes: "BackfillRequest", Gives: "Backfilled", Body: reply(wire.Read, p.Schedules.BackfillSchedule, wire.Backfilled)},

		// Temporal's UI and its command fix the ends of these paths.
		&Operation{ID: "EncodePayloads", Scopes: may(call.ReadPayloads), When: Codec, Routes: []string{post + "codec/encode"}, Body: reply(wire.Read, p.Payloads.EncodePayloads, wire.Same)},
		&Operation{ID: "DecodePayloads", Scopes: may(call.ReadPayloads), When: Codec, Routes: []string{post + "codec/decode"}, Body: reply(wire.Read, p.Payloads.DecodePayloads, wire.Same)},

		&Operation{ID: "StartSample", Scopes: creates, When: Seams, Routes: []string{post + "host/sample/a2a/tasks/start"}, Body: reply(wire.Read, p.Samples.StartSample, wire.Same)},
		&Operation{ID: "CreateSamplePush", Scopes: hooks, When: Seams, Routes: []string{post + "host/sample/a2a/tasks/push-config"}, Body: reply(wire.ReadSamplePush, p.Samples.CreateSamplePush, wire.SamplePush)},
		&Operation{ID: "GetSampleRecord", Scopes: reads, When: Seams, Routes: []string{get + "host/sample/a2a/tasks/{id}"}, Body: reply(wire.Read, p.Records.GetTaskRecord, wire.Same)},
	)
}

// inner is what our own pages and URLs call beside the other operations. They have their own
// parameters.
var inner = []*Operation{
	{ID: "GetOverview", Family: Inner, Scopes: reads},
	{ID: "PreviewObjective", Family: Inner, Scopes: creates},
	{ID: "RehearseObjective", Family: Inner, Scopes: creates},
	{ID: "GetInterrupt", Family: Inner, Scopes: reads},
	{ID: "ShowInterrupt", Family: Inner, Scopes: may(call.RespondApprovals)}, // of an answer link
	{ID: "ListEvents", Family: Inner, Scopes: reads},
	{ID: "ReadContent", Family: Inner, Scopes: reads},
	{ID: "ReceiveCallback", Family: Inner, Scopes: creates},
}

// ofOPT completes lines of the extension: they have one name in both versions.
func ofOPT(list ...*Operation) []*Operation {
	for _, o := range list {
		o.Family, o.V03 = OPT, o.ID
	}
	return list
}

func ofPages(list ...*Operation) []*Operation {
	for _, o := range list {
		o.Family = Page
	}
	return list
}
