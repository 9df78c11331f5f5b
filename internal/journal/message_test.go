package journal_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// said returns the event of a client's message to a task, for another task.
func said(taskID, forTask, messageID string, v opt.Verdict) opt.Event {
	m := userMessage(messageID, "about "+messageID)
	return opt.Event{Kind: opt.MessageAdded, TaskID: taskID, ForTask: forTask, Message: &m, Principal: "ann", Verdict: v}
}

func ids(messages []a2a.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.MessageID)
	}
	return out
}

// TestHistory follows a conversation: a client's message is in the history of its
// task, an agent's message after it was replaced as the status.
func TestHistory(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 2))
		root, task := s.objective.ID, s.task(0, 0)
		check := func(when string, ofRoot, ofTask []string) {
			t.Helper()
			test.Equal(t, when+", history of the root task", ofRoot, ids(s.view(root).Task.History))
			test.Equal(t, when+", history of the task", ofTask, ids(s.view(task).Task.History))
		}
		g := gate(task, opt.Approval, 1)
		rootWaits := s.rootMoved(opt.TaskInputRequired)
		rootWaits.Gate, rootWaits.Status = g, g.Message(s.objective.ContextID, root)
		s.record(s.moved(0, 0, opt.TaskWorking), s.waits(0, 0, g), rootWaits)
		check("waiting", []string{"m-open"}, nil)

		s.record(s.waits(0, 0, g))
		check("the same said again", []string{"m-open"}, nil)

		s.record(
			said(root, task, "m-wrong", opt.NotOffered),
			said(root, task, "m-1", opt.Accepted),
			said(task, "", "m-2", opt.Noted),
			said(task, "", "m-2", opt.Noted),
			said(s.task(0, 1), "", "m-3", opt.Noted),
			said(task, "", "m-late", opt.NotWaiting),
		)
		check("answered", []string{"m-open", "m-1"}, []string{"m-1", "m-2"})

		s.record(s.moved(0, 0, opt.TaskWorking), s.rootMoved(opt.TaskWorking))
		check("working again", []string{"m-open", g.ID, "m-1"}, []string{g.ID, "m-1", "m-2"})

		s.record(s.waits(0, 0, g), rootWaits)
		check("back at the same gate", []string{"m-open", "m-1"}, []string{"m-1", "m-2"})

		end := s.moved(0, 0, opt.TaskFailed)
		end.Status = agentMessage("end", "It broke.")
		s.record(end)
		check("ended", []string{"m-open", "m-1"}, []string{g.ID, "m-1", "m-2"})
	})
}

func TestJudgement(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 2))
		g := gate(s.task(0, 0), opt.Approval, 1)
		s.record(s.waits(0, 0, g), s.moved(0, 0, opt.TaskWorking)) // puts the gate's message in the history
		again := said(s.task(0, 0), "", "m-1", opt.NotWaiting)
		again.Message.Parts = []a2a.Part{a2a.TextPart("other content")}
		s.record(
			said(s.task(0, 0), "", "m-1", opt.Accepted),
			again,
			said(s.task(0, 0), "", "m-2", opt.NotOffered),
			said(s.task(0, 0), "", "m-both", opt.Noted),
			said(s.task(0, 1), "", "m-both", opt.NotWaiting),
			said(s.objective.ID, "", "m-open", opt.Noted),
		)
		digest := func(id string) string { return userMessage(id, "about "+id).Digest() }
		for _, tt := range []struct {
			principal, id string
			want          shown.Judgement
		}{
			{"ann", "m-1", shown.Judgement{Seq: 5, TaskID: s.task(0, 0), Verdict: opt.Accepted, Digest: digest("m-1")}},
			{"ann", "m-2", shown.Judgement{Seq: 7, TaskID: s.task(0, 0), Verdict: opt.NotOffered, Digest: digest("m-2")}},
			{"ann", "m-both", shown.Judgement{Seq: 9, TaskID: s.task(0, 1), Verdict: opt.NotWaiting, Digest: digest("m-both")}},
			{"ann", "m-open", shown.Judgement{Seq: 10, TaskID: s.objective.ID, Verdict: opt.Noted, Digest: digest("m-open")}},
			{"bob", "m-1", shown.Judgement{}},
			{"ann", "m-9", shown.Judgement{}},
			{"", g.ID, shown.Judgement{}}, // the agent said that
		} {
			got, ok, err := s.j.Judgement(t.Context(), s.objective.ID, tt.principal, tt.id)
			if err != nil || got != tt.want || ok != (tt.want != shown.Judgement{}) {
				t.Errorf("%s of %s: %+v, %v, %v, want %+v", tt.id, tt.principal, got, ok, err, tt.want)
			}
		}
		test.Equal(t, "history", []string{"m-open", "m-open"}, ids(s.view(s.objective.ID).Task.History))
	})
}
