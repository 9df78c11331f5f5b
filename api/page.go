package api

import (
	"context"
	"net/http"
	"strings"

	"longhaul/api/service"
	"longhaul/api/wire"
)

// pagePath is the path of pages that are not of A2A.
const pagePath = "/v1"

// pageRoutes is their table. Their operations are in pageTable.
var pageRoutes = routeTable{
	{http.MethodGet, "a2a/tasks/{id}", "GetTaskRecord"},
	{http.MethodGet, "runs/{id}", "GetRun"},
	{http.MethodGet, "tasks/{id}/deliveries", "ListDeliveries"},
	{http.MethodPost, "tasks/{id}/deliveries/{config}/{event}/redeliver", "Redeliver"},
	{http.MethodGet, "interrupts", "ListInterrupts"},
	{http.MethodPost, "interrupts/{id}/answer", "AnswerInterrupt"},
	{http.MethodGet, "objectives/{id}/decisions", "ListDecisions"},
	{http.MethodGet, "schedules", "ListSchedules"},
	{http.MethodPost, "schedules", "CreateSchedule"},
	{http.MethodGet, "schedules/{id}", "GetSchedule"},
	{http.MethodPatch, "schedules/{id}", "UpdateSchedule"},
	{http.MethodDelete, "schedules/{id}", "DeleteSchedule"},
	{http.MethodPost, "schedules/{id}/trigger", "TriggerSchedule"},
	{http.MethodPost, "schedules/{id}/backfill", "BackfillSchedule"},
}

// codecRoutes are the routes of the codec for Temporal's UI and its command, which fix
// the ends of the paths. They are served if payloads are encrypted.
var codecRoutes = routeTable{
	{http.MethodPost, "codec/encode", "EncodePayloads"},
	{http.MethodPost, "codec/decode", "DecodePayloads"},
}

// samplePath is the path of the seams below pagePath.
const samplePath = "host/sample/a2a/tasks"

// seamRoutes are the routes of the seams for the OpenWOP conformance suite. They are
// served only on request, and are not in the description of the API.
var seamRoutes = routeTable{
	{http.MethodPost, samplePath + "/start", "StartSample"},
	{http.MethodPost, samplePath + "/push-config", "CreateSamplePush"},
	{http.MethodGet, samplePath + "/{id}", "GetTaskRecord"},
}

// pageTable returns the operations of pages: one line each.
func pageTable(s *service.Service) []*operation {
	return []*operation{
		pageOperation("GetTaskRecord", pageReply(wire.ReadID, s.GetTaskRecord, wire.TaskRecord)),
		pageOperation("StartSample", pageReply(wire.ReadSample, s.StartSample, wire.SampleStarted)),
		pageOperation("CreateSamplePush", pageReply(wire.ReadSamplePush, s.CreateSamplePush, wire.SamplePush)),
		pageOperation("EncodePayloads", pageReply(wire.ReadPayloads, s.EncodePayloads, wire.WritePayloads)),
		pageOperation("DecodePayloads", pageReply(wire.ReadPayloads, s.DecodePayloads, wire.WritePayloads)),
		pageOperation("GetRun", pageReply(wire.ReadID, s.GetRun, wire.Run)),
		pageOperation("ListDeliveries", pageReply(wire.ReadID, s.ListDeliveries, wire.Deliveries)),
		pageOperation("Redeliver", pageReply(wire.ReadDelivery, s.Redeliver, wire.Delivery)),
		pageOperation("ListInterrupts", pageReply(wire.ReadInterruptList, s.ListInterrupts, wire.InterruptPage)),
		pageOperation("AnswerInterrupt", pageReply(wire.ReadAnswer, s.AnswerInterrupt, wire.Answered)),
		pageOperation("ListDecisions", pageReply(wire.ReadDecisionList, s.ListDecisions, wire.DecisionPage)),
		pageOperation("ListSchedules", pageReply(wire.Nothing, s.ListSchedules, wire.ScheduleList)),
		pageOperation("CreateSchedule", pageReply(wire.ReadCreateSchedule, s.CreateSchedule, wire.Schedule)),
		pageOperation("GetSchedule", pageReply(wire.ReadID, s.GetSchedule, wire.Schedule)),
		pageOperation("UpdateSchedule", pageReply(wire.ReadUpdateSchedule, s.UpdateSchedule, wire.Schedule)),
		pageOperation("DeleteSchedule", pageReply(wire.ReadID, s.DeleteSchedule, wire.WriteNothing)),
		pageOperation("TriggerSchedule", pageReply(wire.ReadTrigger, s.TriggerSchedule, wire.Triggered)),
		pageOperation("BackfillSchedule", pageReply(wire.ReadBackfill, s.BackfillSchedule, wire.Backfilled)),
	}
}

func pageOperation(name string, run run) *operation {
	return &operation{names: map[wire.Version]string{wire.V10: name}, run: run}
}

// pageReply is reply for a page, which has no extensions.
func pageReply[P, R any](read func(*wire.Reader) P, handle func(context.Context, *service.Call, P) (R, error), write func(wire.Version, R) any) run {
	return answering(func(c *service.Call, r *wire.Reader) (P, error) {
		return wire.Params(c, r, read, func([]string) error { return nil })
	}, handle, write)
}

// pageBinding is the binding of pages: plain HTTP like rest, but without versions, and with
// faults in a flat envelope.
type pageBinding struct {
	routes     routeTable
	operations map[string]*operation
	maxBody    int64
}

// read checks a request in the order in which failures take precedence.
func (b pageBinding) read(w http.ResponseWriter, r *http.Request) (q request, err error) {
	q.version = wire.V10
	m, ok := b.find(r)
	if !ok {
		return q, &service.Fault{Kind: service.UnknownMethod, Message: "Not found"}
	}
	to, status, err := m.routeFor(w, r)
	if err != nil {
		q.status = status
		return q, err
	}
	q.method, q.operation = to.method, b.operations[to.method]
	q.params, q.status, err = paramsOf(w, r, m.params, b.maxBody)
	return q, err
}

func (b pageBinding) find(r *http.Request) (match, bool) {
	return b.routes.find(strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), pagePath+"/"), "/"))
}

func (pageBinding) result(_ request, value any) ([]byte, error) { return wire.Marshal(value) }

func (pageBinding) failure(q request, f *service.Fault) ([]byte, error) {
	return wire.Marshal(wire.Flat(f, statusOf(q, f)))
}

func (pageBinding) media(*http.Request) string { return mediaJSON }

func (pageBinding) refusal(q request, _ *http.Request, f *service.Fault, body []byte) (status int, media string, content []byte) {
	return statusOf(q, f), mediaJSON, body
}
