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
	s.Decide(opt.Refine)
	s.Rest()
	return id
}

// What is sent back is made again by another A2A task, which gets the remark, and
// then the gate opens again with it.
func TestGates_refine(t *testing.T) {
	tell(t, func(s *sim.Story) {
		id := refined(s)
		tasks := s.Objective(id).Plans[0].Tasks
		outline, gate := tasks[1], tasks[2]
		s.Expect(tasks[0].Run == 0, "search was made again, though nobody sent it back")
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
	tell(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		s.Decide(opt.Refine)
		s.Settle()
		running := s.Activities()
		s.Expect(len(running) == 1, "%v run", running)
		w := s.Work(running[0])
		s.Expect(len(w.Refined) == 1 && w.Refined[0].Remark() == "better", "the executor is told %v", w.Refined)
		last := w.Messages[len(w.Messages)-1]
		s.Expect(last.Text() == "better" || last.Parts[len(last.Parts)-1].Text != nil, "the last message is %q", last.Text())
	})
}

// What a person has edited is what later tasks get, also those that name the task
// that made it first.
func TestGates_editAccept(t *testing.T) {
	tell(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "outline", "!gate", "draft", "review")
		plan.Tasks[3].Uses = []string{"task-0"}
		s.Open(given(plan))
		s.Rest()
		s.Decide(opt.EditAccept)
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
	tell(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		s.Decide(opt.Refine)
		s.Settle()
		s.Send(status(id, opt.ObjectiveCanceled))
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCanceled && o.Plans[0].Tasks[1].State == opt.TaskCanceled, "%s, the gate %s", o.Status, o.Plans[0].Tasks[1].State)
	})
}
