package read

import (
	"context"
	"slices"
	"strconv"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// EventListParams are the params of a list of events.
type EventListParams struct {
	ObjectiveID string
	TaskID      string // a plan task, with or without its attempt: only events about it; "" for all
	Limit       int
	PageToken   string
}

// An EventPage is a page of the events of an objective.
type EventPage struct {
	Events []shown.Recorded // the latest first
	Next   string           // token of the next page, with earlier events; "" for none
}

// An eventReader reads at most limit events of an objective that come after one.
type eventReader interface {
	Events(ctx context.Context, objectiveID string, after int64, limit int) ([]shown.Recorded, error)
}

// Events lists the events of an objective.
type Events struct {
	Journal eventReader
	Read    Reader
	Pages   *call.Pages

	courses courses
}

// eventWindows bounds how many events a page may pass over to find some to show, eventWindow at
// a time. A page
// may then be short, or empty, and have a next one.
const (
	eventWindows = 20
	eventWindow  = 100
)

// ListEvents returns a page of the events of an objective, the latest first. They have no
// content: messages, artifacts and objects are left out. Events without information for
// people are left out, too.
func (s *Events) ListEvents(ctx context.Context, c *call.Call, p EventListParams) (EventPage, error) {
	var page EventPage
	missing := call.Missing("OBJECTIVE_NOT_FOUND", "Objective", p.ObjectiveID)
	v, err := s.Read.Task(ctx, c, p.ObjectiveID, shown.TaskWant{})
	if call.Is(err, call.TaskNotFound) || err == nil && v.ObjectiveID != p.ObjectiveID {
		return page, missing
	}
	if err != nil {
		return page, err
	}
	list := call.PageOf{Kind: "events", Tenant: c.Tenant, Filter: []string{p.ObjectiveID, p.TaskID}}
	cursor, err := s.Pages.Cursor(ctx, list, p.PageToken)
	if err != nil {
		return page, err
	}
	before := v.Seq + 1
	if cursor.ID != "" {
		if before, err = strconv.ParseInt(cursor.ID, 10, 64); err != nil {
			return page, call.ErrPageToken
		}
	}
	if page.Events, before, err = s.earlier(ctx, p, before); err != nil || before <= 1 {
		return page, err
	}
	page.Next, err = s.Pages.Token(ctx, list, shown.Cursor{ID: strconv.FormatInt(before, 10)})
	return page, err
}

// earlier returns the events before a number that p asks for, the latest first, and the
// number before which the next page begins.
func (s *Events) earlier(ctx context.Context, p EventListParams, before int64) (out []shown.Recorded, rest int64, err error) {
	for range eventWindows {
		after := max(0, before-1-eventWindow)
		window, err := s.Journal.Events(ctx, p.ObjectiveID, after, int(before-1-after))
		if err != nil {
			return nil, 0, err
		}
		for _, e := range slices.Backward(window) {
			if e.Seq >= before || !isForPeople(e.Event) || !isAbout(e.Event, p.TaskID) {
				continue
			}
			if len(out) == p.Limit {
				return out, out[len(out)-1].Seq, nil
			}
			out = append(out, shown.Recorded{Seq: e.Seq, Event: withoutContent(e.Event)})
		}
		if before = after + 1; before <= 1 {
			return out, before, nil
		}
	}
	return out, before, nil
}

// isForPeople reports whether e informs people. Later pieces of an artifact,
// moves of a root task, which follow the objective, and the bookkeeping of changes have
// none.
func isForPeople(e opt.Event) bool {
	switch e.Kind {
	case opt.ArtifactAdded:
		return e.Chunk != nil && !e.Chunk.Append && e.PlanID != ""
	case opt.TaskMoved:
		return e.PlanID != ""
	case opt.ExchangeAdded, opt.TaskProgressed: // the message is an event, too, and the task shows its progress
		return false
	case opt.UsageAdded: // the objective and its tasks show the sum
		return false
	case opt.CommandAnswered:
		return e.Answer != nil && e.Answer.Refusal != nil
	case opt.ObjectiveChanged:
		return !e.Change.Empty()
	}
	return true
}

// isAbout reports whether e is about a plan task, in any attempt; "" is for all.
func isAbout(e opt.Event, taskID string) bool {
	if taskID == "" {
		return true
	}
	want, _ := opt.ParseID(taskID)
	ids := []string{e.TaskID, e.ForTask}
	for _, o := range e.Order {
		ids = append(ids, o.ID)
	}
	for _, id := range ids {
		if ref, ok := opt.ParseID(id); ok && ref.TaskID != "" && ref.TaskID == want.TaskID {
			return true
		}
	}
	return slices.ContainsFunc(e.Tasks, func(t *opt.Task) bool { return t.ID == want.TaskID })
}

// withoutContent returns e without content. The text of a failure stays: the task shows it.
func withoutContent(e opt.Event) opt.Event {
	out := opt.Event{
		N: e.N, Kind: e.Kind, At: e.At, PlanID: e.PlanID, TaskID: e.TaskID, From: e.From, To: e.To, Reason: e.Reason, Cause: e.Cause,
		Round: e.Round, Try: e.Try, Attempt: e.Attempt, Leg: e.Leg, Replaces: e.Replaces, Order: e.Order, Link: e.Link, Revision: e.Revision,
		Principal: e.Principal, ForTask: e.ForTask, Verdict: e.Verdict, Answer: e.Answer, Decision: e.Decision, Step: e.Step, Waited: e.Waited,
	}
	if e.Gate != nil {
		out.Gate = &opt.Gate{Kind: e.Gate.Kind, ID: e.Gate.ID, TaskID: e.Gate.TaskID, Title: e.Gate.Title}
	}
	if e.Chunk != nil {
		out.Chunk = &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: e.Chunk.Artifact.ArtifactID, Name: e.Chunk.Artifact.Name}}
	}
	for _, t := range e.Tasks {
		out.Tasks = append(out.Tasks, &opt.Task{ID: t.ID, Index: t.Index, Name: t.Name})
	}
	if e.To == string(opt.TaskFailed) || e.To == string(opt.TaskRejected) || e.Kind == opt.ObjectiveStopping || e.Kind == opt.TaskTried {
		out.Status = e.Status
	}
	return out
}
