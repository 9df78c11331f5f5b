package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// asking returns e with a message that asks for a scope.
func asking(e opt.Event, scope any) opt.Event {
	e.Message.Metadata = e.Message.Metadata.With(opt.KeyHistoryScope, scope)
	return e
}

// scoped reads the history of a task, and to which tasks its messages belong.
func (s *scribe) scoped(id string, want shown.TaskWant) (messages, tasks []string) {
	s.t.Helper()
	v := test.Value(s.j.Task(s.t.Context(), tenant, id, want))(s.t)
	for _, m := range v.Task.History {
		tasks = append(tasks, m.TaskID)
	}
	return ids(v.Task.History), tasks
}

// talk records a conversation with two plans, each with two tasks.
func talk(t *testing.T, j *journal.Journal) *scribe {
	t.Helper()
	s := begin(t, j, newObjective())
	s.record(planAdded(s.objective, 0, 2), planAdded(s.objective, 1, 2))
	root, first := s.objective.ID, s.task(0, 0)
	g := gate(first, opt.Approval, 1)
	waits := s.rootMoved(opt.TaskInputRequired)
	waits.Gate, waits.Status = g, g.Message(s.objective.ContextID, root)
	s.record(
		said(root, "", "m-root", opt.Noted), s.moved(0, 0, opt.TaskWorking), s.waits(0, 0, g), waits,
		said(first, "", "m-late", opt.NotWaiting), said(root, first, "m-1", opt.Accepted),
		s.moved(0, 0, opt.TaskWorking), s.rootMoved(opt.TaskWorking),
		said(s.task(0, 1), "", "m-2", opt.Noted), said(s.task(1, 0), "", "m-3", opt.Noted),
	)
	return s
}

func TestHistory_scope(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := talk(t, open())
		root, g := s.objective.ID, opt.GateID(s.task(0, 0), 1)
		all := []string{"m-open", "m-root", g, "m-1", "m-2", "m-3"}
		for _, tt := range []struct {
			id    string
			scope shown.HistoryScope
			want  []string
		}{
			{root, "", []string{"m-open", "m-root", g, "m-1"}},
			{root, shown.ScopeTask, []string{"m-open", "m-root", g, "m-1"}},
			{root, shown.ScopePlan, []string{"m-open", "m-root", g, "m-1", "m-2"}}, // its first task is active
			{root, shown.ScopeObjective, all},
			{s.task(0, 0), shown.ScopeTask, []string{g, "m-1"}},
			{s.task(0, 0), shown.ScopePlan, []string{g, "m-1", "m-2"}},
			{s.task(0, 1), shown.ScopePlan, []string{g, "m-1", "m-2"}},
			{s.task(1, 1), shown.ScopePlan, []string{"m-3"}},
			{s.task(1, 1), shown.ScopeTask, nil},
			{s.task(1, 1), shown.ScopeObjective, all},
		} {
			got, tasks := s.scoped(tt.id, shown.TaskWant{History: -1, Scope: tt.scope})
			test.Equal(t, fmt.Sprintf("%s of %s", tt.scope, tt.id), tt.want, got)
			if (tt.scope == shown.ScopePlan || tt.scope == shown.ScopeObjective) && slices.Contains(tasks, "") {
				t.Errorf("%s of %s: messages of %q", tt.scope, tt.id, tasks)
			}
			for n := range len(tt.want) + 2 {
				if some, _ := s.scoped(tt.id, shown.TaskWant{History: n, Scope: tt.scope}); !slices.Equal(some, tt.want[max(0, len(tt.want)-n):]) {
					t.Errorf("the last %d of %v are %v", n, tt.want, some)
				}
			}
		}
		_, tasks := s.scoped(s.task(1, 1), shown.TaskWant{History: -1, Scope: shown.ScopeObjective})
		test.Equal(t, "whose messages they are", []string{root, root, s.task(0, 0), root, s.task(0, 1), s.task(1, 0)}, tasks)
	})
}

// The scope in a message applies until another message names one. The scope in
// the message that began the work applies to all tasks.
func TestHistory_stickyScope(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := talk(t, j)
		length := func(id string, scope shown.HistoryScope) int {
			list, _ := s.scoped(id, shown.TaskWant{History: -1, Scope: scope})
			return len(list)
		}
		task, other := s.task(0, 0), s.task(0, 1)
		check := func(when string, ofTask, ofOther shown.HistoryScope) {
			t.Helper()
			if got, want := length(task, ""), length(task, ofTask); got != want {
				t.Errorf("%s: %d messages of the task, want %d", when, got, want)
			}
			if got, want := length(other, ""), length(other, ofOther); got != want {
				t.Errorf("%s: %d messages of the other task, want %d", when, got, want)
			}
		}
		check("at first", shown.ScopeTask, shown.ScopeTask)
		s.record(asking(said(task, "", "s-1", opt.Noted), "plan"))
		check("asked for the plan", shown.ScopePlan, shown.ScopeTask)
		s.record(asking(said(s.objective.ID, task, "s-2", opt.Accepted), "objective"))
		check("asked at the root task", shown.ScopeObjective, shown.ScopeTask)
		s.record(asking(said(task, "", "s-3", opt.NotOffered), "task"))
		check("asked in vain", shown.ScopeObjective, shown.ScopeTask)
		s.record(asking(said(task, "", "s-4", opt.Noted), "everything"), asking(said(task, "", "s-5", opt.Noted), 5))
		check("asked for no scope", shown.ScopeObjective, shown.ScopeTask)
		text := said(task, "", "s-6", opt.Noted)
		text.Message.Parts = []a2a.Part{a2a.TextPart(opt.KeyHistoryScope + ": task")}
		s.record(text)
		check("talked about", shown.ScopeObjective, shown.ScopeTask)
		s.record(asking(said(task, "", "s-7", opt.Noted), "task"))
		check("asked for the task", shown.ScopeTask, shown.ScopeTask)

		o := newObjective()
		m := userMessage("m-open", "Ship it")
		m.Metadata = m.Metadata.With(opt.KeyHistoryScope, "objective")
		s = &scribe{t: t, j: j, objective: o, source: o.ID}
		s.record(opt.Opening{Objective: o, Message: &m}.Event(), planAdded(o, 0, 2), said(s.task(0, 0), "", "m-1", opt.Noted))
		task, other = s.task(0, 0), s.task(0, 1)
		check("begun with it", shown.ScopeObjective, shown.ScopeObjective)
		s.record(asking(said(other, "", "m-2", opt.Noted), "task"))
		check("asked for less", shown.ScopeObjective, shown.ScopeTask)
	})
}
