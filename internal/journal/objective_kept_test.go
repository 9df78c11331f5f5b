package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Kept returns all that a new attempt at an objective needs.
func TestKept(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		m := userMessage(o.MessageID, "Ship it, please")
		o.Digest = m.Digest()
		given := []opt.PlanSpec{{Name: "Plan 0", Tasks: []opt.TaskSpec{{Name: "Task 0"}, {Name: "Task 1"}}}}
		s := &scribe{t: t, j: open(), objective: o, source: o.ID}
		s.record(opt.Opening{Objective: o, Message: &m, Plans: given}.Event(), planAdded(o, 0, 2), said(o.ID, "", "m-1", opt.Noted),
			opt.Event{Kind: opt.CommandAnswered, Answer: &opt.CommandAnswer{CommandID: "c-1"}})
		plan := s.as(s.plan(0), s.j)
		plan.record(
			s.moved(0, 0, opt.TaskWorking), s.piece(0, 0, "a", "one", false), s.piece(0, 0, "a", "two", true),
			said(s.task(0, 0), "", "m-2", opt.Noted), said(o.ID, s.task(0, 0), "m-3", opt.Noted),
			said(s.task(0, 0), "", "m-4", opt.Accepted), said(s.task(0, 0), "", "m-5", opt.TooLate), said(s.task(0, 1), "", "m-6", opt.Noted),
			s.moved(0, 0, opt.TaskCompleted),
		)
		want := opt.Kept{
			Request: &m, Given: given, Recorded: map[string]int64{o.ID: 4, s.plan(0): 9},
			Answered: []string{"c-1"}, Heard: []string{opt.Letter{Principal: "ann", Key: "m-1"}.ID()},
		}
		whole := test.Value(s.j.Objective(t.Context(), tenant, o.ID))(t)
		want.Objective = *whole
		first, second := whole.Plans[0].Tasks[0], whole.Plans[0].Tasks[1]
		first.Artifacts = []a2a.Artifact{{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("onetwo")}}}
		first.Notes = []a2a.Message{noteOf("ann", "m-2"), noteOf("ann", "m-3")}
		second.Notes = []a2a.Message{noteOf("ann", "m-6")}
		test.Equal(t, "kept", want, test.Value(s.j.Kept(t.Context(), tenant, o.ID))(t), cmpopts.EquateEmpty())
	})
}

// A task keeps the notes of all its attempts, as the machine of its plan does.
func TestKept_notesOfFormerAttempts(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		s := begin(t, open(), o)
		again := *planAdded(o, 0, 2).Plan.Tasks[0]
		again.Run = 2
		s.record(
			planAdded(o, 0, 2), said(s.task(0, 0), "", "m-1", opt.Noted), said(o.ID, s.task(0, 0), "m-2", opt.Noted), said(s.task(0, 1), "", "m-3", opt.Noted),
			s.moved(0, 0, opt.TaskFailed), opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "failed"},
			opt.Event{Kind: opt.PlanRetried, PlanID: s.plan(0), Attempt: 2, Tasks: []*opt.Task{&again}},
			said(again.A2AID(), "", "m-1", opt.Noted), // a repeat, which the machine has taken in once
			said(again.A2AID(), "", "m-4", opt.Noted), said(o.ID, again.A2AID(), "m-5", opt.Noted),
		)
		got := test.Value(s.j.Kept(t.Context(), tenant, o.ID))(t).Objective.Plans[0].Tasks[0].Notes
		test.Equal(t, "notes", []string{"m-1", "m-2", "m-4", "m-5"}, ids(got))
	})
}

// An objective that was created without a message has no request.
func TestKept_withoutMessage(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		o.MessageID = ""
		s := &scribe{t: t, j: open(), objective: o, source: o.ID}
		s.record(opt.Opening{Objective: o}.Event(), said(o.ID, "", "m-1", opt.Noted))
		if got, err := s.j.Kept(t.Context(), tenant, o.ID); err != nil || got.Request != nil || got.Given != nil {
			t.Errorf("%v, %v, %v", got.Request, got.Given, err)
		}
	})
}

// The request of an objective that waited to be started is the message that has started it, also
// its latest attempt.
func TestKept_begunByAMessage(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		o.MessageID = ""
		s := &scribe{t: t, j: open(), objective: o, source: o.ID}
		begins := func(taskID, messageID, who string) opt.Event {
			e := said(taskID, "", messageID, opt.Noted)
			e.Reason, e.Principal = opt.Begins, who
			return e
		}
		s.record(opt.Opening{Objective: o}.Event(), begins(o.ID, "m-1", "bob"), said(o.ID, "", "m-2", opt.Noted))
		check := func(messageID, who string) {
			t.Helper()
			got := test.Value(s.j.Kept(t.Context(), tenant, o.ID))(t)
			test.Equal(t, "the request and its sender", []any{messageID, who}, []any{got.Request.MessageID, got.Starter})
		}
		check("m-1", "bob")
		second := opt.RootID(o.ID, 2)
		s.record(opt.Event{Kind: opt.ObjectiveRetried, From: "failed", To: "submitted", Attempt: 2, TaskID: second}, begins(second, "m-3", "carol"))
		check("m-3", "carol")
	})
}

// Links returns the links of open tasks.
func TestLinks(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 4))
		link := func(m int, to string, follow bool) opt.Event {
			return opt.Event{Kind: opt.TaskLinked, PlanID: s.plan(0), TaskID: s.task(0, m), Link: to, Follow: follow}
		}
		check := func(tenant string, want ...string) {
			t.Helper()
			test.Equal(t, "links", want, test.Value(s.j.Links(t.Context(), tenant, s.objective.ID))(t), cmpopts.EquateEmpty())
		}
		check(tenant)
		s.record(link(0, "a", true), link(1, "b", true), link(2, "c", false))
		check(tenant, "a", "b")
		check("globex")
		s.record(s.moved(0, 0, opt.TaskWorking), s.moved(0, 0, opt.TaskCompleted))
		check(tenant, "b")
		fails(t, "a link of a task that is not there", journal.ErrEarly)(s.j.Record(t.Context(), s.as("x", s.j).batch(link(9, "d", true))))
	})
}

// noteOf returns a note as executors get it: with its author.
func noteOf(author, messageID string) a2a.Message {
	m := userMessage(messageID, "about "+messageID)
	m.Metadata = m.Metadata.With(opt.KeyAuthor, author)
	return m
}
