package sim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/opt"
	"longhaul/opt/machine/sim"
)

// refined opens an objective whose gate is about the results of "outline", and
// sends them back once.
func refined(s *sim.Story) (id string) {
	id = s.Open(given(sim.PlanOf("plan", "search", "outline", "!gate", "draft")))
	s.Rest()
	s.Decide(opt.Refine, "alice")
	s.Rest()
	return id
}

// An object that is sent back is made again by another A2A task, which gets the remark.
// Then the gate opens again with the new object.
func TestGates_refine(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := refined(s)
		tasks := s.Objective(id).Plans[0].Tasks
		outline, gate := tasks[1], tasks[2]
		s.Expect(tasks[0].Run == 0, "search was made again, though it was not sent back")
		s.Expect(outline.Run == 2 && outline.State == opt.TaskCompleted, "outline is %s in attempt %d", outline.State, outline.Run)
		s.Expect(len(outline.Refined) == 1 && outline.Refined[0].Remark() == "better", "outline got %v", outline.Refined)
		s.Expect(gate.State == opt.TaskInputRequired && gate.Run == 0, "the gate is %s in attempt %d", gate.State, gate.Run)
		if gate.Gate == nil || gate.Gate.ID != opt.GateID(gate.ID, 2) {
			t.Errorf("the open gate is %+v, want the second one of %s", gate.Gate, gate.ID)
			return
		}
		if diff := cmp.Diff(outline.Artifacts[0].Parts, gate.Gate.Object); diff != "" {
			t.Errorf("the object of the second gate is not the new outline (-want +got):\n%s", diff)
		}
		s.Accept()
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// The task that makes an object again gets the remark in its work.
func TestGates_refineTellsTheExecutor(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		s.Decide(opt.Refine, "alice")
		s.Settle()
		running := s.Activities()
		s.Expect(len(running) == 1, "%v run", running)
		w := s.Work(running[0])
		s.Expect(len(w.Refined) == 1 && w.Refined[0].Remark() == "better", "the executor is told %v", w.Refined)
		last := w.Messages[len(w.Messages)-1]
		s.Expect(last.Text() == "better" || last.Parts[len(last.Parts)-1].Text != nil, "the last message is %q", last.Text())
	})
}

// Later tasks get the edited object, also those that name the task
// that made it first.
func TestGates_editAccept(t *testing.T) {
	play(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "outline", "!gate", "draft", "review")
		plan.Tasks[3].Uses = []string{"task-0"}
		s.Open(given(plan))
		s.Rest()
		s.Decide(opt.EditAccept, "alice")
		s.Settle()
		for _, want := range []int{1, 2} { // results of draft, then of review
			w := s.Work(s.Activities()[0])
			s.Expect(len(w.Results) == want, "%s gets %d results", w.Name, len(w.Results))
			last := w.Results[want-1].Artifacts[0]
			s.Expect(last.Text() == "edited", "%s gets %q", w.Name, last.Text())
			s.End(s.Activities()[0], sim.Completed(s.Activities()[0], w.TaskID))
			s.Settle()
		}
	})
}

// A plan that is canceled while something is made again ends.
func TestGates_canceledWhileSentBack(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		s.Decide(opt.Refine, "alice")
		s.Settle()
		s.Send(status(id, opt.ObjectiveCanceled))
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCanceled && o.Plans[0].Tasks[1].State == opt.TaskCanceled, "%s, the gate %s", o.Status, o.Plans[0].Tasks[1].State)
	})
}

// Only named principals decide, as many as the gate needs; one principal counts once.
func TestGates_responders(t *testing.T) {
	two := &opt.Responders{Principals: []string{"bob", "carol"}, Groups: []string{"editors"}, NotRequester: true, Accepts: 2}
	lenient := &opt.Responders{Accepts: 2, NoVeto: true}
	type step struct {
		who    string
		action opt.Action
		want   opt.Verdict
	}
	for name, tt := range map[string]struct {
		who   *opt.Responders
		steps []step
		ends  opt.ObjectiveStatus
	}{
		"two accept": {two, []step{{"alice", opt.Accept, opt.NotAllowed}, {"dave", opt.Accept, opt.NotAllowed}, {"bob", opt.Accept, opt.Accepted},
			{"bob", opt.Accept, opt.HasVoted}, {"carol", opt.Accept, opt.Accepted}}, opt.ObjectiveCompleted},
		"veto":              {two, []step{{"bob", opt.Accept, opt.Accepted}, {"carol", opt.Reject, opt.Accepted}}, opt.ObjectiveFailed},
		"without veto":      {lenient, []step{{"bob", opt.Reject, opt.Accepted}, {"alice", opt.Accept, opt.Accepted}, {"carol", opt.Accept, opt.Accepted}}, opt.ObjectiveCompleted},
		"rejected by two":   {lenient, []step{{"bob", opt.Reject, opt.Accepted}, {"alice", opt.Accept, opt.Accepted}, {"carol", opt.Reject, opt.Accepted}}, opt.ObjectiveFailed},
		"one of two edits":  {two, []step{{"bob", opt.EditAccept, opt.NotOffered}}, opt.ObjectiveBlocked},
		"not the requester": {&opt.Responders{NotRequester: true}, []step{{"alice", opt.Accept, opt.NotAllowed}, {"bob", opt.Accept, opt.Accepted}}, opt.ObjectiveCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				plan := sim.PlanOf("plan", "outline", "!gate")
				plan.Tasks[1].Ask.Responders = tt.who
				id := s.Open(given(plan))
				s.Rest()
				gate := s.Objective(id).Plans[0].Tasks[1].Gate
				for i, step := range tt.steps {
					m := s.DecideAt(id, *gate, step.action, step.who)
					s.Rest()
					s.Expect(s.Verdict(id, m) == step.want, "step %d, %s by %s: %s, want %s", i, step.action, step.who, s.Verdict(id, m), step.want)
				}
				s.Expect(s.Objective(id).Status == tt.ends, "the objective is %s, want %s", s.Objective(id).Status, tt.ends)
			})
		})
	}
}

// A change by hand takes the place of no decision that a gate reserves for some.
func TestGates_respondersByHand(t *testing.T) {
	play(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "outline", "!gate", "draft")
		plan.Tasks[1].Ask.Responders = &opt.Responders{Principals: []string{"bob"}}
		id := s.Open(given(plan))
		s.Rest()
		p := s.Objective(id).Plans[0]
		for _, c := range []opt.Command{
			{Kind: opt.MoveTask, TaskID: p.Tasks[1].ID, Status: string(opt.TaskCompleted)},
			{Kind: opt.MoveTask, TaskID: p.Tasks[1].ID, Status: string(opt.TaskWorking)},
			{Kind: opt.UpdatePlan, Status: string(opt.PlanCompleted)},
			{Kind: opt.UpdatePlan, Status: string(opt.PlanSkipped)}, // plans that depend on it would begin
		} {
			c.ObjectiveID, c.PlanID = id, p.ID
			sent := s.Send(c)
			s.Rest()
			s.Expect(s.Answer(sent) != nil && s.Answer(sent).Refusal != nil, "%s %s is not refused", c.Kind, c.Status)
		}
		s.Decide(opt.Accept, "bob")
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// A decision about something else than the gate shows is refused, and decides
// nothing.
func TestGates_objectDigest(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		shown := *s.Objective(id).Plans[0].Tasks[1].Gate
		other := shown
		other.ObjectDigest = "sha256:00"
		refused := s.DecideAt(id, other, opt.Accept, "alice")
		s.Rest()
		s.Expect(s.Verdict(id, refused) == opt.OtherThing, "the verdict is %s", s.Verdict(id, refused))
		s.Expect(s.Objective(id).Status == opt.ObjectiveBlocked, "the objective is %s", s.Objective(id).Status)
		s.DecideAt(id, shown, opt.Accept, "alice")
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// A decision at a gate that has closed does not count at the next gate of the task.
func TestGates_formerGate(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		former := *s.Objective(id).Plans[0].Tasks[1].Gate
		s.Decide(opt.Refine, "alice")
		s.Rest()
		former.ObjectDigest = ""
		late := s.DecideAt(id, former, opt.Accept, "alice")
		s.Rest()
		s.Expect(s.Verdict(id, late) == opt.NotWaiting, "the verdict is %q", s.Verdict(id, late))
		s.Expect(s.Objective(id).Status == opt.ObjectiveBlocked, "the objective is %s", s.Objective(id).Status)
	})
}

// A message without a decision is kept in the gate, which stays open.
func TestGates_comment(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		m := s.Comment(id, *s.Objective(id).Plans[0].Tasks[1].Gate)
		s.Rest()
		gate := s.Objective(id).Plans[0].Tasks[1].Gate
		s.Expect(gate != nil && len(gate.Exchanges) == 1 && gate.Exchanges[0].MessageID == m, "the gate is %+v", gate)
	})
}

// A gate whose object no task can make again does not offer to refine it.
func TestGates_offersRefine(t *testing.T) {
	for name, tt := range map[string]struct {
		tasks []string
		want  bool
	}{
		"with a task that made it": {[]string{"outline", "!gate"}, true},
		"without one":              {[]string{"!gate"}, false},
	} {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", tt.tasks...)))
			s.Rest()
			gate := s.Objective(id).Plans[0].Tasks[len(tt.tasks)-1].Gate
			s.Expect(gate.Allows(opt.Refine) == tt.want, "%s: the gate offers %v", name, gate.Actions)
		})
	}
}
