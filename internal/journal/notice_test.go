package journal_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// openChannels opens a journal that makes notices for channels.
func openChannels(t *testing.T, c *clock, channels ...outbox.Channel) *journal.Journal {
	t.Helper()
	return openWith(t, journal.Config{Sync: "normal", Now: c.Now, Channels: channels, Sealer: boxOf(t, 7)})
}

// notices returns the notices about a task: channel, kind, gate and status.
func notices(t *testing.T, j *journal.Journal, taskID string) (out []string) {
	t.Helper()
	list := test.Value(j.Pushes.Deliveries(t.Context(), tenant, taskID))(t)
	for _, d := range list {
		out = append(out, fmt.Sprint(d.ConfigID, " ", d.Notice, " ", d.GateID, " ", d.Status))
	}
	return out
}

// ladder returns the events of a gate from its opening to its expiry: a vote, each
// step, and the end.
func (s *scribe) ladder() []opt.Event {
	gate := func(who ...string) *opt.Gate {
		return &opt.Gate{ID: "g1", Kind: opt.Approval, TaskID: s.task(0, 0), Title: "Publish?", Actions: []opt.Action{opt.Accept, opt.Reject},
			Object: []a2a.Part{a2a.TextPart("The outline")}, Responders: &opt.Responders{Groups: who}}
	}
	step := func(k opt.StepKind, g *opt.Gate) opt.Event {
		e := s.moved(0, 0, opt.TaskInputRequired)
		e.Gate, e.Step = g, k
		return e
	}
	expired := s.moved(0, 0, opt.TaskFailed)
	expired.Step, expired.Reason = opt.Expire, "timeout"
	return []opt.Event{
		step("", gate("editors")), step("", gate("editors")), step(opt.Remind, gate("editors")), step(opt.Escalate, gate("editors", "leads")),
		step(opt.Reassign, gate("board")), expired,
	}
}

// A notice is made when a gate opens and for each of its steps, for the channels
// whose recipients may answer then.
func TestJournal_Record_makesNotices(t *testing.T) {
	t.Parallel()
	j := openChannels(t, newClock(), outbox.Channel{Name: "all"}, outbox.Channel{Name: "editors", Groups: []string{"editors"}},
		outbox.Channel{Name: "leads", Principal: "lea", Groups: []string{"leads"}}, outbox.Channel{Name: "board", Groups: []string{"board"}},
		outbox.Channel{Name: "opened", When: []outbox.NoticeKind{outbox.Opened}}, outbox.Channel{Name: "others", Tenants: []string{"other"}})
	s := begin(t, j, newObjective())
	task := s.task(0, 0)
	s.record(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskWorking))
	again := s.batch(s.ladder()...)
	test.OK(t, j.Record(t.Context(), again))
	want := []string{
		"notice:all opened g1 due", "notice:editors opened g1 due", "notice:opened opened g1 due",
		"notice:all remind g1 due", "notice:editors remind g1 due",
		"notice:all escalate g1 due", "notice:editors escalate g1 due", "notice:leads escalate g1 due",
		"notice:all reassign g1 due", "notice:board reassign g1 due",
		"notice:all expire g1 due", "notice:board expire g1 due",
	}
	test.Equal(t, "notices", want, notices(t, j, task))
	test.OK(t, j.Record(t.Context(), again))
	test.Equal(t, "notices after a repeat", want, notices(t, j, task))
	select {
	case <-j.Pushes.PushSignal():
	default:
		t.Error("no signal")
	}
}

// Notices are made for the channels that are there when a gate opens. Changes of the task at a gate
// and root tasks make none.
func TestJournal_SetChannels(t *testing.T) {
	t.Parallel()
	j := openChannels(t, newClock(), outbox.Channel{Name: "old"}, outbox.Channel{Name: "both"})
	s := begin(t, j, newObjective())
	task := s.task(0, 0)
	s.record(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskWorking))
	j.SetChannels([]outbox.Channel{{Name: "both"}, {Name: "new"}})
	s.record(s.atGate(task, "g1"), s.atGate(s.objective.RootID(), "g1"), s.atGate(task, "g1"), s.moved(0, 0, opt.TaskWorking), s.moved(0, 0, opt.TaskCanceled))
	test.Equal(t, "notices of the root task", []string(nil), notices(t, j, s.objective.RootID()))
	test.Equal(t, "notices", []string{"notice:both opened g1 due", "notice:new opened g1 due"}, notices(t, j, task))
}

// A principal who requested the work, or has shaped it, gets no notice of a gate that the requester may not
// answer.
func TestJournal_Record_notRequester(t *testing.T) {
	t.Parallel()
	j := openChannels(t, newClock(), outbox.Channel{Name: "ann", Principal: "ann"}, outbox.Channel{Name: "bob", Principal: "bob"}, outbox.Channel{Name: "carol", Principal: "carol"})
	s := begin(t, j, newObjective()) // by ann
	note, head := said(s.objective.ID, "", "m-1", opt.Noted), *s.objective.Head()
	head.Shapers = []string{"carol"}
	note.Head = &head
	s.record(note)
	e := s.atGate(s.task(0, 0), "g1")
	e.Gate.Responders = &opt.Responders{NotRequester: true}
	s.record(planAdded(s.objective, 0, 1), e)
	test.Equal(t, "notices", []string{"notice:bob opened g1 due"}, notices(t, j, s.task(0, 0)))
}

// Notices of a channel come in their order, each with the gate as it was then. They
// are delivered, and delivered again, by the rules of deliveries.
func TestJournal_NextNotice(t *testing.T) {
	t.Parallel()
	c := newClock()
	j := openChannels(t, c, outbox.Channel{Name: "all"})
	s := begin(t, j, newObjective())
	task := s.task(0, 0)
	s.record(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskWorking))
	s.record(s.ladder()...)
	id := outbox.Channel{Name: "all"}.ConfigID()
	test.Equal(t, "due", []outbox.PushKey{{TaskID: task, ConfigID: id, N: 9, Tenant: tenant}}, test.Value(j.Pushes.PushesDue(t.Context(), 10))(t))
	var got []string
	for range 5 {
		n, d, ok, err := j.Pushes.NextNotice(t.Context(), task, "all")
		if err != nil || !ok {
			t.Fatalf("next: %v, %v", ok, err)
		}
		got = append(got, fmt.Sprint(n.Kind, " ", n.Gate.Title, " ", string(n.Gate.ArtifactData), " ", n.Gate.Responders.Groups, " ", n.TaskName, ", ", n.Objective, " of ", n.Principal, " in ", n.Tenant))
		for i, status := range []outbox.DeliveryStatus{outbox.DeliveryDue, outbox.DeliveryDone} {
			d.Tries = i
			p := outbox.PushConfig{TaskID: d.TaskID, ID: d.ConfigID}
			if out, err := j.Pushes.NoteDelivery(t.Context(), p, d, outbox.DeliveryAttempt{At: at(100), Error: "refused"}, status); out != status || err != nil {
				t.Fatalf("note: %s, %v", out, err)
			}
		}
	}
	const rest = " Task 0, Ship it of ann in acme"
	want := []string{
		`opened Publish? "The outline" [editors]` + rest, `remind Publish? "The outline" [editors]` + rest,
		`escalate Publish? "The outline" [editors leads]` + rest, `reassign Publish? "The outline" [board]` + rest,
		`expire Publish? "The outline" [board]` + rest,
	}
	test.Equal(t, "notices", want, got)
	if _, _, ok, err := j.Pushes.NextNotice(t.Context(), task, "all"); ok || err != nil {
		t.Errorf("after the last one: %v, %v", ok, err)
	}
	test.Fails(t, "another tenant had a notice delivered again", "", j.Pushes.Redeliver(t.Context(), "other", task, id, 9))
	test.OK(t, j.Pushes.Redeliver(t.Context(), tenant, task, id, 9))
	if n, _, ok, err := j.Pushes.NextNotice(t.Context(), task, "all"); !ok || n.Kind != "expire" || err != nil {
		t.Errorf("again: %v, %v, %v", n.Kind, ok, err)
	}
}

// A channel of cards gets every change of a gate that it shows, also once others answer there,
// and how the gate was closed. It does not get a gate that it has never shown.
func TestJournal_Record_cards(t *testing.T) {
	t.Parallel()
	j := openChannels(t, newClock(), outbox.Channel{Name: "cards", Groups: []string{"editors"}, Cards: true}, outbox.Channel{Name: "board", Groups: []string{"board"}, Cards: true},
		outbox.Channel{Name: "ends", When: []outbox.NoticeKind{outbox.Decided}})
	s := begin(t, j, newObjective())
	task := s.task(0, 0)
	s.record(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskWorking))
	list := s.ladder()
	list[len(list)-1].Step = ""
	for i := range list {
		list[i].From = string(opt.TaskInputRequired)
	}
	s.record(list...)
	test.Equal(t, "notices", []string{
		"notice:cards opened g1 due", "notice:cards changed g1 due", "notice:cards remind g1 due", "notice:cards escalate g1 due",
		"notice:board reassign g1 due", "notice:cards reassign g1 due", "notice:board decided g1 due", "notice:cards decided g1 due", "notice:ends decided g1 due",
	}, notices(t, j, task))
	_, d, ok, err := j.Pushes.NextNotice(t.Context(), task, "cards")
	if err != nil || !ok || d.Card != "" {
		t.Fatalf("the first notice: %+v, %v, %v", d, ok, err)
	}
	d.Card = "C1/17.1"
	config := outbox.PushConfig{TaskID: task, ID: d.ConfigID}
	test.Value(j.Pushes.NoteDelivery(t.Context(), config, d, outbox.DeliveryAttempt{N: 1, At: d.At}, outbox.DeliveryDone))(t)
	if _, d, ok, err = j.Pushes.NextNotice(t.Context(), task, "cards"); err != nil || !ok || d.Card != "C1/17.1" || d.Notice != outbox.Changed {
		t.Errorf("the second notice: %+v, %v, %v", d, ok, err)
	}
	if _, d, _, _ = j.Pushes.NextNotice(t.Context(), task, "board"); d.Card != "" {
		t.Errorf("the card of another channel: %+v", d)
	}
}

// A notice says who has closed a gate, without the answers: these are for readers of the work.
func TestJournal_Record_noticeAnswers(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"with the answer": false, "after it": true} {
		j := openChannels(t, newClock(), outbox.Channel{Name: "ends", When: []outbox.NoticeKind{outbox.Decided}})
		s := begin(t, j, newObjective())
		g := gate(s.task(0, 0), opt.Clarification, 1)
		s.record(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskWorking), s.waits(0, 0, g))
		var chain opt.Chain
		answered := s.decided(&chain, 0, 0, "ann", opt.Accepted)
		answered.Reply.Answers = []opt.Answer{{ID: "key", Answer: json.RawMessage(`"hunter2"`)}}
		ends := s.moved(0, 0, opt.TaskCanceled)
		ends.From = string(opt.TaskInputRequired)
		if before {
			s.record(answered)
		} else {
			ends.Reply, ends.Decision = answered.Reply, answered.Decision
		}
		s.record(ends)
		n, _, ok, err := j.Pushes.NextNotice(t.Context(), s.task(0, 0), "ends")
		if err != nil || !ok || n.Decided == nil || n.Decided.DecidedBy != "ann" || n.Decided.Answers != nil {
			t.Errorf("%s: %+v, %v, %v", name, n.Decided, ok, err)
		}
		if d := s.view(s.task(0, 0)).Decided; d == nil || len(d.Answers) != 1 {
			t.Errorf("%s, the task: %+v", name, d)
		}
	}
}
