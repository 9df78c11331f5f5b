package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A Story is a world in which a test decides the events. The invariants are
// checked in it, too.
type Story struct {
	w *world
	d director
}

// Play plays a story, and then finishes the world as [Run] does.
func Play(play func(*Story)) Result {
	w := newWorld(true)
	return w.result(func() {
		w.histories, w.replays = true, true
		d := newDirector(w)
		play(&Story{w, d})
		d.settle()
		d.finishAll(nil)
	})
}

// Open has a client open an objective, and returns its id.
func (s *Story) Open(change func(*opt.Opening)) string {
	o := s.d.clients.newOpening("ctx-1")
	id := o.Objective.ID
	o.Message = s.d.clients.message(id, id)
	change(&o)
	s.d.clients.open(o, 0)
	return id
}

// Rules has new runs begin under a version of the rules.
func (s *Story) Rules(version int) { s.w.rules = version }

// Send has a client send a command, and returns its id. It is not delivered yet.
func (s *Story) Send(c opt.Command) string {
	c.ID = cmp.Or(c.ID, s.d.clients.newCommandID())
	s.d.clients.sendThis(c)
	return c.ID
}

// Say has a client send a message to the root task, and returns its id.
func (s *Story) Say(objectiveID string, begins bool) string {
	return s.SayAs("alice", objectiveID, begins)
}

// SayAs is Say for a principal.
func (s *Story) SayAs(who, objectiveID string, begins bool) string {
	o := &s.w.journal.rows[objectiveID].objective
	l := &opt.Letter{ObjectiveID: o.ID, TaskID: o.RootID(), Principal: who, Begins: begins, Message: *s.d.clients.message(o.ID, o.RootID())}
	return s.d.clients.sendLetter(l)
}

// NoteAs has a principal send a note to a task of a plan, and returns its id.
func (s *Story) NoteAs(who, taskID string) string {
	return s.d.clients.sendLetter(s.d.clients.letterTo(taskID, who))
}

// Comment has a client send a message without a decision to the task at a gate, and
// returns its id.
func (s *Story) Comment(g opt.Gate) string {
	l := s.d.clients.letterTo(g.TaskID, "alice")
	l.Comment = true
	return s.d.clients.sendLetter(l)
}

// Accept has a client accept every gate that is open.
func (s *Story) Accept() { s.Decide(opt.Accept, "alice") }

// Decide has a client decide at every gate that is open.
func (s *Story) Decide(action opt.Action, who string) {
	for _, t := range s.w.journal.tasks() {
		if t.Gate != nil {
			s.d.clients.answerGate(t.Gate, action, who)
		}
	}
}

// DecideAt has a client decide at a gate that was open once, and returns the id of
// the message.
func (s *Story) DecideAt(g opt.Gate, action opt.Action, who string, seats ...opt.Seat) string {
	s.d.clients.answerGate(&g, action, who, seats...)
	return fmt.Sprintf("m%d", s.w.messages)
}

// Settle does everything that is possible, except ends of activities.
func (s *Story) Settle() {
	for {
		things := s.d.things()
		i := 0
		for i < len(things) && things[i].kind == anActivity {
			i++
		}
		if i == len(things) {
			return
		}
		s.d.happen(things[i], &choice{})
	}
}

// Deliver delivers all sent messages, and does nothing else.
func (s *Story) Deliver() {
	for n := len(s.w.ops); n > 0; n-- {
		s.d.deliver(0, false, false)
	}
}

// DeliverLast delivers the last sent message, and does nothing else.
func (s *Story) DeliverLast() { s.d.deliver(len(s.w.ops)-1, false, false) }

// Alone lets the workflow with an id handle its inputs, record events and have
// its timers elapse. Its messages to others are not delivered.
func (s *Story) Alone(id string) {
	own := func(t thing) bool {
		return t.run != nil && t.run.id == id && (t.kind == aTask || t.kind == aRecording || t.kind == aTimer)
	}
	for {
		things := s.d.things()
		i := slices.IndexFunc(things, own)
		if i < 0 {
			return
		}
		s.d.happen(things[i], &choice{})
	}
}

// Step does the first possible thing.
func (s *Story) Step() {
	if things := s.d.things(); len(things) > 0 {
		s.d.happen(things[0], &choice{})
	}
}

// Rest does everything that is possible; activities complete.
func (s *Story) Rest() { s.d.settle() }

// In returns the time after ms milliseconds.
func (s *Story) In(ms int64) a2a.Time { return a2a.AtMillis(s.w.now + ms) }

// Wait lets time pass.
func (s *Story) Wait(ms int64) { s.w.now += ms }

// Terminate has an operator end the workflow of an objective or a plan.
func (s *Story) Terminate(id string) { s.d.temporal.terminate(s.w.open(id)) }

// SeemsLost has a reconciler say that a plan is gone, and returns the key of the check of that.
func (s *Story) SeemsLost(planID string) string {
	ref, _ := opt.ParseID(planID)
	o := s.Objective(ref.ObjectiveID)
	s.d.temporal.planLost(o.ID, machine.PlanLost{PlanID: planID, Attempt: o.Plan(planID).Run})
	s.Settle()
	keys := slices.DeleteFunc(s.Activities(), func(key string) bool { return !strings.Contains(key, ":check:") })
	s.Expect(len(keys) == 1, "%d checks run", len(keys))
	return keys[0]
}

// Reset has an operator reset the workflow of an objective or a plan to the end of its n-th workflow task,
// if it runs, or an operator has ended it, and it has had that many.
func (s *Story) Reset(id string, n int) {
	if r := s.w.latest[id]; r != nil && (!r.ended || r.terminated) && len(r.history) > 0 && n <= len(r.history) {
		s.d.operator.reset(r, n, 0)
	}
}

// ResetEnded is Reset of a workflow that has ended by itself.
func (s *Story) ResetEnded(id string, n int) {
	r := s.w.latest[id]
	s.Expect(r.ended && n <= len(r.history), "%s runs, or has had fewer tasks", id)
	s.d.operator.reset(r, n, 0)
}

// ResetAgain has an operator reset the run that was reset last, rather than the one that took its place.
func (s *Story) ResetAgain(id string) {
	r := s.w.latest[id]
	s.d.operator.resetFrom(r.before, r, r.since, 0)
}

// ResetFormer has an operator reset the run of a plan before the one that runs, which ends without a word to its objective,
// to the end of its n-th workflow task.
func (s *Story) ResetFormer(id string, n int) { s.d.operator.former(s.w.open(id), n) }

// Long makes the history of a workflow so long that its run should continue as new.
func (s *Story) Long(id string) {
	r := s.w.open(id)
	r.size.Long, r.wake = true, true
}

// Cancel delivers a client's cancellation of an objective.
func (s *Story) Cancel(id, who string) {
	s.w.open(id).signal(machine.Canceled{Principal: who})
}

// Activities lists the keys of running activities.
func (s *Story) Activities() []string {
	var out []string
	for _, r := range s.w.runs {
		for _, a := range r.activities {
			out = append(out, a.Key)
		}
	}
	return out
}

// Work returns the input of the executor of an activity.
func (s *Story) Work(key string) opt.Work {
	for _, r := range s.w.runs {
		if a := r.activity(key); a != nil {
			return a.work
		}
	}
	return opt.Work{}
}

// End ends an activity with an input in place of its usual end.
func (s *Story) End(key string, in machine.Input) {
	for _, r := range s.w.runs {
		if a := r.activity(key); a != nil {
			if len(a.ride) > 0 && !a.taken {
				s.d.workers.take(r, a, &choice{})
			}
			s.d.workers.over(r, a, in)
			return
		}
	}
	s.w.fail("story", "nothing is under way as %s", key)
}

// EndPlanning ends the work of the planner with plans.
func (s *Story) EndPlanning(plans ...opt.PlanSpec) {
	keys := s.Activities()
	i := slices.IndexFunc(keys, func(key string) bool { return strings.Contains(key, ":plan:") })
	s.Expect(i >= 0, "no planner works: %v", keys)
	s.End(keys[i], machine.Made{Key: keys[i], Plans: plans})
}

// Objective returns an objective from the journal.
func (s *Story) Objective(id string) opt.Objective { return s.w.journal.rows[id].objective }

// Answer returns the answer to a command, nil if there is none.
func (s *Story) Answer(id string) *opt.CommandAnswer {
	if a, ok := s.w.journal.answers[id]; ok {
		return &a
	}
	return nil
}

// Verdict returns the verdict on a message, "" if there is none yet.
func (s *Story) Verdict(objectiveID, messageID string) opt.Verdict {
	if v := s.w.journal.letters[objectiveID+" "+messageID]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Expect ends the story as failed if holds is false.
func (s *Story) Expect(holds bool, format string, args ...any) {
	if !holds {
		s.w.fail("story", format, args...)
	}
}

// PlanOf returns a spec of a plan with tasks of these names. A name that begins
// with "?" is a gate, one that begins with "!" a gate about the results before it.
func PlanOf(name string, tasks ...string) opt.PlanSpec {
	p := opt.PlanSpec{Name: name}
	for _, t := range tasks {
		spec := opt.TaskSpec{Name: t}
		if t[0] == '!' {
			spec.Ask = aboutResults(t, opt.AllResults)
		}
		if t[0] == '?' {
			spec.Ask = &opt.Gate{Kind: opt.Approval, Title: t, Actions: []opt.Action{opt.Accept, opt.Reject}}
		}
		p.Tasks = append(p.Tasks, spec)
	}
	return p
}

// Completed returns the end of an attempt with one artifact.
func Completed(key, taskID string) machine.Input {
	return machine.Ended{Key: key, Outcome: opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{
		{ArtifactID: opt.ArtifactID(taskID, "out"), Parts: []a2a.Part{a2a.TextPart("made")}},
	}}}
}

// Waiting returns the end of an attempt that opens a gate.
func Waiting(key string, gate opt.Gate) machine.Input {
	return machine.Ended{Key: key, Outcome: opt.Outcome{State: gate.State(), Gate: &gate}}
}

// Parked returns the end of a leg after which the task continues later.
func Parked(key string, park opt.Park, memo string, onCancel bool) machine.Input {
	return machine.Ended{Key: key, Outcome: opt.Outcome{State: opt.TaskWorking, Park: &park, Memo: encoded(memo), OnCancel: onCancel}}
}

// Callback delivers a callback for a task.
func (s *Story) Callback(c opt.Callback) { s.d.clients.callBack(c) }

// Said returns the latest text about the work on a task, as its plan has it.
func (s *Story) Said(taskID string) string {
	ref, _ := opt.ParseID(taskID)
	if h, ok := s.w.latest[ref.PlanID].m.(planHost); ok && h.p.State.Work[ref.TaskID] != nil {
		return h.p.State.Work[ref.TaskID].Said
	}
	return ""
}
