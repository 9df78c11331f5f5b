package sim_test

import (
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/sim"
)

// play plays a story and fails the test if an invariant breaks in it.
func play(t *testing.T, story func(*sim.Story)) {
	t.Helper()
	if r := sim.Play(story); r.Problem != "" {
		t.Errorf("%s\n%s", strings.Join(r.Script, "\n"), r.Problem)
	}
}

func given(plans ...opt.PlanSpec) func(*opt.Opening) {
	return func(o *opt.Opening) { o.Plans = plans }
}

// nothing changes an opening: its request is for the planner.
func nothing(*opt.Opening) {}

func status(id string, to opt.ObjectiveStatus) opt.Command {
	return opt.Command{Kind: opt.UpdateObjective, ObjectiveID: id, Status: string(to)}
}

// Defect 1: a replan that comes right after a plan's start stops it, and it ends
// skipped. At each moment of the start.
func TestDefect01_replanRightAfterStart(t *testing.T) {
	for moment := range 13 {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("old", "a", "b")))
			for range moment {
				s.Step()
			}
			c := s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
			s.Deliver()
			s.Rest()
			o := s.Objective(id)
			s.Expect(s.Answer(c) != nil && s.Answer(c).Refusal == nil, "moment %d: the replan is not answered as applied", moment)
			s.Expect(o.Status == opt.ObjectiveCompleted, "moment %d: the objective is %s (%s)", moment, o.Status, o.Reason)
			if len(o.Plans) > 1 && moment > 2 { // before that the first plans were not made
				s.Expect(o.Plans[0].Status == opt.PlanSkipped && o.Plans[0].Reason == opt.Replanned || o.Plans[0].Status == opt.PlanCompleted,
					"moment %d: the old plan is %s (%s)", moment, o.Plans[0].Status, o.Plans[0].Reason)
			}
		})
	}
}

// Defect 1: a replan that races with a resume.
func TestDefect01_replanRacesWithResume(t *testing.T) {
	for _, first := range []bool{true, false} {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("old", "a", "b")))
			s.Settle()
			s.Send(status(id, opt.ObjectiveBlocked))
			s.Settle()
			commands := []opt.Command{status(id, opt.ObjectiveWorking), {Kind: opt.Replan, ObjectiveID: id}}
			if first {
				slices.Reverse(commands)
			}
			s.Send(commands[0])
			s.Send(commands[1])
			s.Deliver()
			s.Rest()
			o := s.Objective(id)
			s.Expect(o.Status == opt.ObjectiveCompleted, "the objective is %s (%s)", o.Status, o.Reason)
			old := o.Plans[0]
			s.Expect(old.Status == opt.PlanSkipped || old.Status == opt.PlanCompleted, "the old plan is %s (%s)", old.Status, old.Reason)
		})
	}
}

// Defect 2: a pause at any moment of the start is in force once it is answered.
func TestDefect02_pauseRightAfterStart(t *testing.T) {
	for moment := range 13 {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "a", "b", "c", "d")))
			for range moment {
				s.Step()
			}
			c := s.Send(status(id, opt.ObjectiveBlocked))
			s.Rest()
			if a := s.Answer(c); moment < 3 && (a == nil || a.Refusal != nil) {
				return // it has not begun yet
			}
			o := s.Objective(id)
			s.Expect(o.Paused && o.Status == opt.ObjectiveBlocked, "moment %d: the objective is %s (%s)", moment, o.Status, o.Reason)
			s.Expect(o.Plans[0].Tasks[3].State == opt.TaskPending, "moment %d: the last task is %s", moment, o.Plans[0].Tasks[3].State)
		})
	}
}

// Defect 2: a pause that is repeated, since the plans did not confirm the first one in
// time, is answered once they have.
func TestDefect02_pauseRepeated(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a", "b")))
		s.DeliverLast()
		s.Alone(id) // the workflow of the plan is to begin, and has not
		first := status(id, opt.ObjectiveBlocked)
		first.Deadline = s.In(50)
		for _, c := range []opt.Command{first, status(id, opt.ObjectiveBlocked)} {
			s.Send(c)
			s.DeliverLast()
			s.Alone(id)
			s.Wait(100)
		}
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Plans[0].Tasks[1].State == opt.TaskPending, "the last task is %s", o.Plans[0].Tasks[1].State)
	})
}

// A plan that a client starts while the objective is paused begins no task, though its report
// comes after the next directive. At each moment of the start.
func TestPause_planStartedByClient(t *testing.T) {
	for moment := range 13 {
		play(t, func(s *sim.Story) {
			id := s.Open(nothing)
			pause := s.Send(status(id, opt.ObjectiveBlocked))
			s.Deliver()
			for range moment {
				s.Step()
			}
			for _, c := range []opt.Command{
				{Kind: opt.UpdatePlan, PlanID: opt.PlanID(id, 1), Status: string(opt.PlanWorking)},
				{Kind: opt.Replan, Deadline: s.In(-1)}, // is refused, and no command waits for the plan any more
			} {
				c.ObjectiveID = id
				s.Send(c)
				s.DeliverLast()
				s.Alone(id)
			}
			s.Rest()
			o := s.Objective(id)
			if a := s.Answer(pause); a == nil || a.Refusal != nil || len(o.Plans) == 0 {
				return
			}
			s.Expect(o.Paused && o.Plans[0].Tasks[0].State == opt.TaskPending, "moment %d: paused %v, the task is %s", moment, o.Paused, o.Plans[0].Tasks[0].State)
		})
	}
}

// A report that arrives together with the start of its plan is handled, though
// signals come first.
func TestReport_beforeTheStart(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "?ok")))
		s.DeliverLast()
		s.Alone(id)
		s.DeliverLast()            // the workflow of the plan begins
		s.Alone(opt.PlanID(id, 1)) // its report is sent with its events
		s.Alone(id)
		s.Expect(s.Objective(id).Status == opt.ObjectiveBlocked, "the objective is %s", s.Objective(id).Status)
	})
}

// Defect 3: a pause while a gate is open holds the plan after the answer. The
// question and the pause both show.
func TestDefect03_pauseWhileGateIsOpen(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "?ok", "after")))
		s.Rest()
		c := s.Send(status(id, opt.ObjectiveBlocked))
		s.Rest()
		o := s.Objective(id)
		s.Expect(s.Answer(c).Refusal == nil && o.Paused && o.Reason == opt.BlockedByInput, "the objective is %s (%s), paused %v", o.Status, o.Reason, o.Paused)
		s.Accept()
		s.Rest()
		o = s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveBlocked && o.Reason == opt.BlockedByOperator, "after the answer it is %s (%s)", o.Status, o.Reason)
		s.Expect(o.Plans[0].Tasks[1].State == opt.TaskPending, "the task after the gate is %s", o.Plans[0].Tasks[1].State)
	})
}

// Defect 4: a retry of an objective that never had plans keeps its request and the
// plan that came with it.
func TestDefect04_retryWithoutPlans(t *testing.T) {
	for _, plans := range [][]opt.PlanSpec{nil, {sim.PlanOf("given", "a")}} {
		play(t, func(s *sim.Story) {
			s.Open(given(sim.PlanOf("first", "?wait")))
			s.Settle()
			id := s.Open(given(plans...))
			s.Settle()
			s.Send(status(id, opt.ObjectiveCanceled))
			s.Settle()
			s.Accept()
			s.Rest()
			s.Expect(s.Objective(id).Status == opt.ObjectiveCanceled, "it is %s", s.Objective(id).Status)
			s.Send(status(id, opt.ObjectiveSubmitted))
			s.Rest()
			s.Send(status(id, opt.ObjectiveWorking))
			s.Rest()
			o := s.Objective(id)
			s.Expect(o.Status == opt.ObjectiveCompleted && o.Attempt == 2 && len(o.Plans) > 0, "it is %s (%s) with %d plans", o.Status, o.Reason, len(o.Plans))
		})
	}
}

// Defect 4: failed → planning without plans asks the planner.
func TestDefect04_failedToPlanning(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(nothing)
		s.Settle()
		key := s.Activities()[0]
		s.End(key, machine.Made{Key: key, Failure: "The planner failed."})
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveFailed, "it is %s", s.Objective(id).Status)
		s.Send(status(id, opt.ObjectivePlanning))
		s.Settle()
		s.Expect(len(s.Activities()) == 1, "no planner is asked")
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "it is %s", s.Objective(id).Status)
	})
}

// Defect 5: a plan that is created on a queued message does not take the place of
// its own request.
func TestDefect05_createPlanOnQueued(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("first", "a")))
		s.Settle()
		id := s.Open(nothing)
		s.Settle()
		spec := sim.PlanOf("created", "b")
		s.Send(opt.Command{Kind: opt.CreatePlan, ObjectiveID: id, Plan: &spec})
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCompleted && len(o.Plans) == 2, "it is %s with %d plans", o.Status, len(o.Plans))
		s.Expect(o.Plans[0].Status == opt.PlanCompleted, "the plan that was created is %s (%s)", o.Plans[0].Status, o.Plans[0].Reason)
	})
}

// Defect 6: of two messages that ask an idle objective for work, one begins it and
// the other is refused, so that the API gives it its own place.
func TestDefect06_twoMessagesToIdle(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(func(o *opt.Opening) { o.Idle, o.Message = true, nil })
		s.Settle()
		first, second := s.Say(id, true), s.Say(id, true)
		s.Rest()
		verdicts := []opt.Verdict{s.Verdict(id, first), s.Verdict(id, second)}
		s.Expect(verdicts[0] == opt.Noted && verdicts[1] == opt.NotIdle, "the messages are %v", verdicts)
		s.Expect(len(s.Objective(id).Plans) > 0, "nothing was planned")
	})
}

// Defect 7: an objective with nothing to do shows that, gives its turn back and
// accepts a replan.
func TestDefect07_nothingToDo(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(func(o *opt.Opening) { o.Message = nil })
		s.Settle()
		other := s.Open(given(sim.PlanOf("other", "a")))
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveWorking && o.Reason == opt.NothingToDo, "it is %s (%s)", o.Status, o.Reason)
		s.Expect(s.Objective(other).Status == opt.ObjectiveCompleted, "the other is %s", s.Objective(other).Status)
		c := s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
		s.Rest()
		s.Expect(s.Answer(c).Refusal == nil && s.Objective(id).Status == opt.ObjectiveCompleted, "after the replan it is %s", s.Objective(id).Status)
	})
}

// Defect 8: a message to the root task reaches the later tasks of a running plan.
func TestDefect08_messageReachesLaterTasks(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a", "b")))
		s.Settle()
		m := s.Say(id, false)
		s.Settle()
		key := s.Activities()[0]
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Settle()
		work := s.Work(s.Activities()[0])
		s.Expect(work.Name == "b" && slices.ContainsFunc(work.Messages, func(x a2a.Message) bool { return x.MessageID == m }), "task %s gets %d messages", work.Name, len(work.Messages))
	})
}

// Defect 9: a replan of an objective that waits for its turn begins nothing while
// another works, and a retried one shows its place.
func TestDefect09_replanOfQueued(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("first", "a")))
		s.Settle()
		id := s.Open(given(sim.PlanOf("second", "b")))
		s.Settle()
		s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
		s.Settle()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveSubmitted && !o.QueuedAt.IsZero(), "it is %s", o.Status)
		s.Send(status(id, opt.ObjectiveCanceled))
		s.Settle()
		s.Send(status(id, opt.ObjectiveSubmitted))
		s.Settle()
		s.Send(status(id, opt.ObjectiveWorking))
		s.Settle()
		o = s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveSubmitted && !o.QueuedAt.IsZero() && o.Attempt == 2, "after the retry it is %s, attempt %d, queued %v", o.Status, o.Attempt, o.QueuedAt)
	})
}

// byHand opens an objective that waits to be started, and has a client move the task
// of its plan.
func byHand(s *sim.Story) (id string) {
	id = s.Open(func(o *opt.Opening) { o.Idle = true })
	spec := sim.PlanOf("plan", "a")
	s.Send(opt.Command{Kind: opt.CreatePlan, ObjectiveID: id, Plan: &spec})
	s.Settle()
	planID := opt.PlanID(id, 1)
	s.Send(opt.Command{Kind: opt.MoveTask, ObjectiveID: id, PlanID: planID, TaskID: opt.TaskID(planID, 0), Status: "working"})
	return id
}

// Defect 9: an objective of which a client has moved a task by hand waits for its turn
// when it is planned again or started, also out of a pause.
func TestDefect09_startByHandWaits(t *testing.T) {
	for _, pause := range []bool{false, true} {
		for _, start := range []opt.Command{{Kind: opt.Replan}, {Kind: opt.UpdateObjective, Status: "planning"}, {Kind: opt.UpdateObjective, Status: "working"}} {
			play(t, func(s *sim.Story) {
				id := byHand(s)
				if pause {
					s.Settle()
					s.Send(status(id, opt.ObjectiveBlocked))
				}
				s.Settle()
				s.Expect(!s.Objective(id).Started, "a pause starts the objective")
				s.Open(given(sim.PlanOf("first", "b")))
				s.Settle()
				start.ObjectiveID, start.ID = id, ""
				s.Send(start)
				s.Settle()
				s.Expect(len(s.Activities()) == 1, "after %s %s there is work of two objectives: %s", start.Kind, start.Status, s.Activities())
			})
		}
	}
}

// Defect 9: an objective that was paused while it waited for its turn does not begin
// with the turn, and leaves it to others.
func TestDefect09_pausedInTheQueue(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("first", "a")))
		s.Settle()
		id := s.Open(given(sim.PlanOf("second", "b")))
		s.Settle()
		spec := sim.PlanOf("by hand", "c")
		s.Send(opt.Command{Kind: opt.CreatePlan, ObjectiveID: id, Plan: &spec})
		s.Settle()
		planID := opt.PlanID(id, 1)
		s.Send(opt.Command{Kind: opt.MoveTask, ObjectiveID: id, PlanID: planID, TaskID: opt.TaskID(planID, 0), Status: "working"})
		s.Settle()
		s.Send(status(id, opt.ObjectiveBlocked))
		s.Settle()
		third := s.Open(given(sim.PlanOf("third", "d")))
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Paused && !o.Started && o.Status == opt.ObjectiveBlocked, "it is %s (%s), started %v", o.Status, o.Reason, o.Started)
		s.Expect(s.Objective(third).Status == opt.ObjectiveCompleted, "the third is %s", s.Objective(third).Status)
		s.Send(status(id, opt.ObjectiveWorking))
		s.Rest()
		s.Expect(s.Objective(id).Started, "it was resumed, and not started")
	})
}

// Defect: an objective whose workflow an operator had ended never closed if a client had worked on
// a plan of it by hand.
func TestLost_workByHand(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := byHand(s)
		s.Settle()
		s.Terminate(id)
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveFailed && o.Plans[0].Reason == opt.Terminated, "it is %s, its plan %s (%s)", o.Status, o.Plans[0].Status, o.Plans[0].Reason)
	})
}

// An objective whose workflow an operator has ended leaves its place to the next one of its context,
// and may be retried.
func TestLost_placeAndRetry(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a")))
		s.Settle()
		next := s.Open(given(sim.PlanOf("next", "b")))
		s.Settle()
		s.Expect(s.Objective(next).Status == opt.ObjectiveSubmitted, "the next one is %s, before its turn", s.Objective(next).Status)
		s.Terminate(id)
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveFailed && o.Reason == opt.Terminated && o.Plans[0].Tasks[0].State.Ended(), "it is %s (%s)", o.Status, o.Reason)
		s.Expect(s.Objective(next).Status == opt.ObjectiveCompleted, "the next one is %s", s.Objective(next).Status)
		for _, to := range []opt.ObjectiveStatus{opt.ObjectiveSubmitted, opt.ObjectiveWorking} {
			s.Send(status(id, to))
			s.Rest()
		}
		o = s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCompleted && o.Attempt == 2, "after the retry it is %s, attempt %d", o.Status, o.Attempt)
	})
}

// An operator resets the workflow of an objective at each moment to each of its workflow tasks: its
// plans work on, also with a note that came later and a gate, and it ends.
func TestReset_objective(t *testing.T) {
	for _, plans := range [][]opt.PlanSpec{{sim.PlanOf("plan", "a", "b")}, {sim.PlanOf("first", "a"), sim.PlanOf("second", "?ok", "b")}} {
		for at := range 6 * 40 {
			moment, task := at%40, at/40+1
			play(t, func(s *sim.Story) {
				id := s.Open(given(plans...))
				for i := range moment {
					if s.Step(); i == 8 {
						s.Say(id, false)
					}
				}
				s.Reset(id, task)
				for range 3 {
					s.Rest()
					s.Accept()
				}
				o := s.Objective(id)
				s.Expect(o.Status == opt.ObjectiveCompleted, "reset at moment %d to task %d, it is %s (%s)", moment, task, o.Status, o.Reason)
			})
		}
	}
}

// Defect: an objective that was reset to before it knew that its plan had begun took it over too late,
// and its work was done twice.
func TestReset_planHasBegun(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a")))
		s.DeliverLast()
		s.Alone(id)
		m := s.Say(id, false)
		s.DeliverLast()
		s.Alone(id)
		s.Expect(s.Verdict(id, m) == opt.Noted, "the note is not recorded")
		s.Settle()
		key := s.Activities()[0]
		s.Reset(id, 2)
		s.DeliverLast() // its plan cannot begin
		s.Settle()
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Settle()
		s.Wait(2000)
		s.Settle()
		again := slices.ContainsFunc(s.Activities(), func(key string) bool { return s.Work(key).TaskID != "" })
		s.Expect(!again, "the work is done again: %v", s.Activities())
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "it is %s", s.Objective(id).Status)
	})
}

// An operator resets the workflow of a plan at each moment to each of its workflow tasks: its work is
// done again from there, and its objective ends. A vote that was not recorded counts once.
func TestReset_plan(t *testing.T) {
	spec := sim.PlanOf("plan", "a", "?ok", "b")
	spec.Tasks[1].Ask.Responders = &opt.Responders{Principals: []string{"alice", "bob"}, Accepts: 2}
	for at := range 4 * 30 {
		moment, task := at%30, at/30+1
		play(t, func(s *sim.Story) {
			id := s.Open(given(spec))
			for i := range moment {
				if s.Step(); i == 16 {
					s.Decide(opt.Accept, "alice")
				}
			}
			s.Reset(opt.PlanID(id, 1), task)
			for range 3 {
				s.Rest()
				s.Decide(opt.Accept, "alice")
				s.Decide(opt.Accept, "bob")
			}
			o := s.Objective(id)
			s.Expect(o.Status == opt.ObjectiveCompleted, "reset at moment %d to task %d, it is %s (%s)", moment, task, o.Status, o.Reason)
		})
	}
}

// Defect: a plan whose objective was reset to before it, and did not make it again, tried to record
// its events for ever.
func TestReset_forgottenPlan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(nothing)
		s.Settle()
		plan := opt.PlanID(id, 1)
		s.EndPlanning(sim.PlanOf("plan", "a", "b"))
		s.Settle()
		s.Long(plan) // so that its end does not go with its result
		s.Settle()
		s.Cancel(id, "alice")
		s.Reset(id, 1)
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCanceled && len(o.Plans) == 0, "it is %s with %d plans", o.Status, len(o.Plans))
	})
}

// Defect: an objective that was reset to when it had the turn worked while another had it.
func TestReset_turn(t *testing.T) {
	for task := range 8 {
		play(t, func(s *sim.Story) {
			id := s.Open(nothing)
			s.Settle()
			other := s.Open(given(sim.PlanOf("other", "b")))
			s.Settle()
			s.EndPlanning(sim.PlanOf("plan", "?ok", "a"))
			s.Settle()
			s.Expect(len(s.Activities()) == 1, "the other one does not work: %v", s.Activities())
			s.Reset(id, task+1)
			s.Settle()
			works := slices.DeleteFunc(s.Activities(), func(key string) bool { return strings.HasSuffix(key, ":plan:1") }) // that is being stopped
			s.Expect(len(works) == 1, "reset to task %d, there is work of two objectives: %v", task+1, works)
			for range 2 {
				s.Rest()
				s.Accept()
			}
			s.Rest()
			for _, id := range []string{id, other} {
				s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "reset to task %d, it is %s", task+1, s.Objective(id).Status)
			}
		})
	}
}

// An objective that was reset to before it had its turn does not take that for its own while another has it.
func TestReset_formerTurn(t *testing.T) {
	for at := range 3 * 2 {
		task, rules := at/2+1, machine.Rules-at%2 // under earlier rules it does not ask before it hears of the others
		play(t, func(s *sim.Story) {
			s.Rules(rules)
			id := s.Open(given(sim.PlanOf("plan", "?ok", "a")))
			s.Settle()
			other := s.Open(given(sim.PlanOf("other", "b")))
			s.Settle()
			s.Accept()
			s.Settle()
			s.Wait(100)
			s.Reset(id, task)
			s.Settle()
			s.Expect(len(s.Activities()) == 1, "rules %d, reset to task %d, there is work of two objectives: %v", rules, task, s.Activities())
			s.Rest()
			for _, id := range []string{id, other} {
				s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "rules %d, reset to task %d, it is %s", rules, task, s.Objective(id).Status)
			}
		})
	}
}

// Defect: an objective that was reset twice to before it shared its context, and had heard of that in between,
// left it without a word: others waited behind it for ever.
func TestReset_turnTwice(t *testing.T) {
	for task := range 2 {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "a", "c")))
			s.Settle()
			s.Reset(id, task+1)
			s.Settle()
			other := s.Open(given(sim.PlanOf("other", "b")))
			s.Settle()
			s.Wait(100)
			s.ResetAgain(id)
			s.Settle()
			s.Expect(len(s.Activities()) == 1, "reset to task %d, there is work of two objectives: %v", task+1, s.Activities())
			s.Rest()
			for _, id := range []string{id, other} {
				s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "reset to task %d, %s is %s", task+1, id, s.Objective(id).Status)
			}
		})
	}
}

// Defect: a plan that was reset to before it had yielded its permission worked with that beside another objective, which
// had the turn by then.
func TestReset_permission(t *testing.T) {
	for at := range 2 * 4 {
		task, alone := at/2, at%2 == 0 // whether it is alone until it waits
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "a", "?ok", "c")))
			s.Settle()
			open := func() string { return s.Open(given(sim.PlanOf("other", "b"))) }
			other := ""
			if !alone {
				other = open()
				s.Settle()
			}
			key := s.Activities()[0]
			s.End(key, sim.Completed(key, s.Work(key).TaskID))
			s.Settle()
			if alone {
				other = open()
				s.Settle()
			}
			s.Expect(len(s.Activities()) == 1 && s.Activities()[0] != key, "the other one does not work: %v", s.Activities())
			s.Wait(100)
			s.Reset(opt.PlanID(id, 1), task)
			s.Rest()
			s.Accept()
			s.Rest()
			for _, id := range []string{id, other} {
				s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "reset to task %d, %s is %s", task, id, s.Objective(id).Status)
			}
		})
	}
}

// Defect: a plan that was reset twice took what it had heard under the number of its epoch for news, until the journal had refused that.
func TestReset_permissionTwice(t *testing.T) {
	for task := range 3 {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "a", "?ok", "c")))
			s.Settle()
			other := s.Open(given(sim.PlanOf("other", "b")))
			s.Settle()
			s.Wait(100)
			s.Reset(opt.PlanID(id, 1), task)
			s.Settle()
			key := s.Activities()[0]
			s.End(key, sim.Completed(key, s.Work(key).TaskID))
			s.Settle()
			s.Wait(100)
			s.Reset(opt.PlanID(id, 1), 0)
			s.Rest()
			s.Accept()
			s.Rest()
			for _, id := range []string{id, other} {
				s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "reset to task %d, %s is %s", task, id, s.Objective(id).Status)
			}
		})
	}
}

// Defect: a plan that was reset after its end, while its objective had given the turn back, was shown as one that has failed.
func TestReset_permissionOver(t *testing.T) {
	for task := range 3 {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "a", "x"), sim.PlanOf("next", "?ok", "c")))
			s.Settle()
			s.Open(given(sim.PlanOf("other", "b", "d")))
			s.Settle()
			for len(s.Activities()) > 0 {
				key := s.Activities()[0]
				s.End(key, sim.Completed(key, s.Work(key).TaskID))
				s.Settle()
			}
			s.Wait(100)
			s.ResetEnded(opt.PlanID(id, 1), task)
			s.Rest()
			s.Accept()
			s.Rest()
			p := s.Objective(id).Plans[0]
			s.Expect(p.Status == opt.PlanCompleted, "reset to task %d, the plan is %s (%s)", task, p.Status, p.Reason)
		})
	}
}

// Defect: a plan that had found its objective terminated sent no more reports, also when that was reset and had sent it a directive.
func TestReset_terminatedObjective(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a", "?ok")))
		s.Settle()
		key := s.Activities()[0]
		s.Terminate(id)
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Alone(opt.PlanID(id, 1)) // its report finds no objective
		s.Reset(id, 1)
		s.Rest()
		s.Accept()
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "it is %s", s.Objective(id).Status)
	})
}

// Defect: a plan that was reset after it had reported its end waited for ever for the end of a pause: its objective directs
// it no more.
func TestReset_endedPlanOfAPausedObjective(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a"), sim.PlanOf("next", "?ok")))
		s.Settle()
		s.Long(id) // so that its plan reports its end by signal
		s.Settle()
		plan, key := opt.PlanID(id, 1), s.Activities()[0]
		s.Send(status(id, opt.ObjectiveBlocked))
		s.Settle()
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		for range 2 { // its report arrives, which it does not know yet
			s.Step()
		}
		s.Reset(plan, 0)
		s.Rest()
		s.Send(status(id, opt.ObjectiveWorking))
		s.Rest()
		s.Accept()
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCompleted, "it is %s", o.Status)
		s.Expect(o.Plans[0].Status.Ended(), "its plan is %s (%s)", o.Plans[0].Status, o.Plans[0].Reason)
	})
}

// What a retried run had done before it was reset is recorded after the run in its place has ended: the next attempt
// continues from that.
func TestReset_retryIsRecordedLate(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(nothing)
		s.Settle()
		s.Cancel(id, "alice")
		s.Rest()
		s.Send(status(id, opt.ObjectiveSubmitted))
		s.Settle()
		s.Send(status(id, opt.ObjectiveWorking))
		s.Deliver()
		s.Step() // its events are not recorded yet
		s.Reset(id, 0)
		s.Step()
		s.DeliverLast() // it leaves its context, and ends
		s.Step()
		s.Deliver()
		s.Rest()
		s.Send(status(id, opt.ObjectiveSubmitted))
		s.Rest()
	})
}

// Defect: an objective waited for ever for the result of a plan that it had begun again after a reset, when an operator
// reset the former run of that, which took the place of the later one and gave its result to no run.
func TestReset_formerRunOfAPlan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a")))
		plan := opt.PlanID(id, 1)
		s.Settle()
		s.Reset(id, 1)
		key := s.Activities()[0]
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Alone(plan)
		s.Settle()
		s.ResetFormer(plan, 1)
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "it is %s", s.Objective(id).Status)
	})
}

// Defect: an objective that was reset to before a retry, which had ended, left its context without a word:
// others waited behind it for ever.
func TestReset_turnOfAnEndedRetry(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Rules(8) // the workflow ends when its end is recorded
		id := s.Open(nothing)
		s.Settle()
		fail := func() {
			key := s.Activities()[0]
			s.End(key, machine.Made{Key: key, Failure: "The planner failed."})
			for s.Objective(id).Status != opt.ObjectiveFailed { // that is recorded, and its workflow does not know it yet
				s.Step()
			}
		}
		fail()
		s.Send(status(id, opt.ObjectivePlanning))
		s.DeliverLast()
		s.Alone(id)
		s.Step() // it reads the former attempt
		s.Settle()
		other := s.Open(given(sim.PlanOf("other", "b")))
		fail()
		s.Reset(id, 1)
		s.Rest()
		s.Expect(s.Objective(other).Status == opt.ObjectiveCompleted, "the other one is %s", s.Objective(other).Status)
	})
}

// Defect: a plan that was reset after its end, and ended by an operator then, was shown as open for ever.
func TestReset_lostAfterItsEnd(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Rules(5) // the plan's workflow ends when it knows that its report was delivered
		id := s.Open(given(sim.PlanOf("plan", "a"), sim.PlanOf("next", "?ok")))
		s.Settle()
		first := opt.PlanID(id, 1)
		s.Long(id) // so that its plan reports its end by signal
		s.Settle()
		key := s.Activities()[0]
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Alone(first)
		s.Deliver()
		s.Alone(id)
		s.Reset(first, 1)
		s.Alone(first)
		shown := func(want opt.PlanStatus) {
			is := s.Objective(id).Plans[0].Status
			s.Expect(is == want, "it is %s, not %s", is, want)
		}
		shown(opt.PlanWorking)
		s.Terminate(first)
		s.Settle()
		shown(opt.PlanCompleted)
	})
}

// An operator resets the workflow of an objective at each moment of a retry, and after it, to each of
// its workflow tasks. A reset takes no retry back: either the retry continues, or the objective is
// terminated and may be retried again.
func TestReset_aroundARetry(t *testing.T) {
	terminated := 0
	for at := range 8 * 6 {
		moment, task := at%8, at/8+1
		play(t, func(s *sim.Story) {
			s.Rules(8) // the workflow ends when its end is recorded
			id := s.Open(given(sim.PlanOf("plan", "a", "?ok")))
			s.Settle()
			key := s.Activities()[0]
			s.End(key, machine.Ended{Key: key, Failed: &machine.Failure{Code: opt.ReasonWorkerLost}})
			for range 4 { // its end is recorded, and its workflow does not know that yet
				s.Step()
			}
			s.Send(status(id, opt.ObjectivePlanning))
			s.DeliverLast()
			for range moment {
				s.Step()
			}
			s.Reset(id, task)
			s.Rest()
			if o := s.Objective(id); o.Reason == opt.Terminated {
				terminated++
			}
			for range 4 {
				if s.Objective(id).Status == opt.ObjectiveFailed {
					s.Send(status(id, opt.ObjectivePlanning))
				}
				s.Rest()
				s.Accept()
			}
			s.Rest()
			o := s.Objective(id)
			s.Expect(o.Status == opt.ObjectiveCompleted, "reset at moment %d to task %d, it is %s (%s), attempt %d", moment, task, o.Status, o.Reason, o.Attempt)
		})
	}
	if t.Logf("%d were terminated", terminated); terminated == 0 {
		t.Error("no reset was to before the retry")
	}
}

// Defect: the run of a retry that an operator has reset to before it had read the journal took the attempt that it has
// begun for the one before: a planner that worked was forgotten, and one that waited for its turn never began.
func TestReset_retryReadsAgain(t *testing.T) {
	terminated := 0
	for _, to := range []opt.ObjectiveStatus{opt.ObjectivePlanning, opt.ObjectiveSubmitted} {
		for at := range 2 * 20 {
			moment, shared := at/2, at%2 > 0
			play(t, func(s *sim.Story) {
				id := s.Open(nothing)
				s.Settle()
				key := s.Activities()[0]
				s.End(key, machine.Made{Key: key, Failure: "The planner failed."})
				s.Settle()
				if shared {
					s.Open(given(sim.PlanOf("other", "b")))
					s.Settle()
				}
				s.Send(status(id, to))
				s.DeliverLast()
				for range moment {
					s.Step()
				}
				s.Reset(id, 0)
				s.Rest()
				if s.Objective(id).Reason == opt.Terminated {
					terminated++
				}
				for range 4 {
					switch s.Objective(id).Status {
					case opt.ObjectiveFailed:
						s.Send(status(id, to))
					case opt.ObjectiveSubmitted:
						s.Send(status(id, opt.ObjectiveWorking))
					}
					s.Rest()
				}
				o := s.Objective(id)
				s.Expect(o.Status == opt.ObjectiveCompleted, "retried as %s and reset after %d steps, it is %s (%s), attempt %d", to, moment, o.Status, o.Reason, o.Attempt)
			})
		}
	}
	if t.Logf("%d were terminated", terminated); terminated == 0 {
		t.Error("no reset was to before a retry that had begun")
	}
}

// Defect: an objective that an operator had ended, and reset after its plan had ended by itself, waited for ever for the
// result of that.
func TestReset_resultOfAPlanIsLost(t *testing.T) {
	for task := range 4 {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "a")))
			s.Settle()
			first := opt.PlanID(id, 1)
			s.Terminate(id)
			key := s.Activities()[0]
			s.End(key, sim.Completed(key, s.Work(key).TaskID))
			s.Alone(first)
			s.Reset(id, task)
			s.Rest()
			o := s.Objective(id)
			s.Expect(o.Status.Ended(), "reset to task %d, it is %s (%s)", task, o.Status, o.Reason)
		})
	}
}

// Defect: a plan that an operator has reset after its end, and whose objective was retried before the journal
// knew that, changed the tasks of its later attempt, or held that up until it counted as terminated.
func TestReset_planBeforeItsRetry(t *testing.T) {
	for at := range 8 * 3 {
		moment, task := at%8, at/8+1
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "?ok", "a")))
			s.Settle()
			first := opt.PlanID(id, 1)
			s.Long(id) // so that its plan reports its end by signal
			s.Settle()
			s.Accept()
			s.Settle()
			key := s.Activities()[0]
			s.End(key, machine.Ended{Key: key, Failed: &machine.Failure{Code: opt.ReasonWorkerLost}})
			for s.Objective(id).Plans[0].Status != opt.PlanFailed { // its workflow does not know that its report was delivered
				s.Step()
			}
			s.Alone(id)
			s.DeliverLast()
			s.Reset(first, task)
			s.Send(status(id, opt.ObjectivePlanning))
			s.DeliverLast()
			for range moment {
				s.Step()
			}
			s.Alone(first)
			s.Alone(id)
			for _, key := range s.Activities() {
				if strings.HasPrefix(key, "task-") {
					s.End(key, sim.Completed(key, s.Work(key).TaskID))
				}
			}
			s.Alone(first)
			for range 4 {
				s.Rest()
				s.Expect(s.Objective(id).Reason != opt.Terminated, "reset to task %d, retried %d steps before the plan begins its epoch, it is terminated", task, moment)
				if s.Objective(id).Status == opt.ObjectiveFailed { // the journal showed its plan as open
					s.Send(status(id, opt.ObjectivePlanning))
				}
				s.Accept()
			}
			s.Rest()
			o := s.Objective(id)
			s.Expect(o.Status == opt.ObjectiveCompleted, "reset to task %d, retried %d steps before the plan begins its epoch, it is %s (%s)", task, moment, o.Status, o.Reason)
		})
	}
}

// Defect 14: an objective whose only plan a client has worked on by hand, paused and
// skipped is not shown as blocked by that pause.
func TestDefect14_skippedByHand(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := byHand(s)
		planID := opt.PlanID(id, 1)
		s.Settle()
		for _, status := range []opt.PlanStatus{opt.PlanBlocked, opt.PlanSkipped} {
			s.Send(opt.Command{Kind: opt.UpdatePlan, ObjectiveID: id, PlanID: planID, Status: string(status)})
			s.Settle()
		}
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveWorking && o.Reason == opt.ByHand, "the objective is %s (%s)", o.Status, o.Reason)
	})
}

// Defect 10: at the limit of plans a replan works, since what it replaces does not
// count; beyond the limit the answer is an error.
func TestDefect10_limitOfPlans(t *testing.T) {
	plans := make([]opt.PlanSpec, 10)
	for i := range plans {
		plans[i] = sim.PlanOf("plan", "a")
	}
	play(t, func(s *sim.Story) {
		id := s.Open(given(plans...))
		s.Settle()
		another := sim.PlanOf("another", "b")
		refused := s.Send(opt.Command{Kind: opt.CreatePlan, ObjectiveID: id, Plan: &another})
		c := s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
		s.Settle()
		key := s.Activities()[slices.IndexFunc(s.Activities(), func(k string) bool { return strings.Contains(k, ":plan:") })]
		s.End(key, machine.Made{Key: key, Plans: []opt.PlanSpec{another}})
		s.Rest()
		o := s.Objective(id)
		s.Expect(s.Answer(refused).Refusal != nil, "the eleventh plan is not refused")
		s.Expect(s.Answer(c).Refusal == nil && len(o.Plans) == 11 && o.Plans[9].Status == opt.PlanSkipped, "after the replan there are %d plans", len(o.Plans))
	})
}

// Defect 11: a command that is repeated under its id is applied once, also when it
// retries an objective whose workflow has ended twice.
func TestDefect11_repeatedCommand(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "?wait")))
		s.Rest()
		add := opt.Command{ID: "add", Kind: opt.AddTasks, ObjectiveID: id, PlanID: opt.PlanID(id, 1), Tasks: []opt.TaskSpec{{Name: "more"}}}
		s.Send(add)
		s.Send(add)
		s.Rest()
		s.Send(add)
		s.Rest()
		o := s.Objective(id)
		s.Expect(len(o.Plans[0].Tasks) == 2 && o.Revision == 2, "there are %d tasks at revision %d", len(o.Plans[0].Tasks), o.Revision)
		s.Send(status(id, opt.ObjectiveCanceled))
		s.Rest()
		again := status(id, opt.ObjectiveSubmitted)
		again.ID = "again"
		s.Send(again)
		s.Send(again)
		s.Rest()
		s.Expect(s.Objective(id).Attempt == 2, "it is at attempt %d", s.Objective(id).Attempt)
	})
}

// Defect 12: plans in list order get the results of the plan before.
func TestDefect12_resultsOfThePlanBefore(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("one", "a"), sim.PlanOf("two", "b")))
		s.Settle()
		key := s.Activities()[0]
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Settle()
		work := s.Work(s.Activities()[0])
		s.Expect(work.Name == "b" && len(work.Results) == 1, "task %s gets %d results", work.Name, len(work.Results))
	})
}

// Defect 14: after a failed replan the old plans continue and the reason is
// shown; after a replan its planner is shown.
func TestDefect14_explanations(t *testing.T) {
	for _, failure := range []string{"", "The planner is broken."} {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("old", "a", "b")))
			s.Settle()
			s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
			s.Settle()
			key := s.Activities()[slices.IndexFunc(s.Activities(), func(k string) bool { return strings.Contains(k, ":plan:") })]
			made := machine.Made{Key: key, Failure: failure}
			if failure == "" {
				made.Plans, made.Planner, made.Reason = []opt.PlanSpec{sim.PlanOf("new", "c")}, "the planner", "since it was asked"
			}
			s.End(key, made)
			s.Rest()
			o := s.Objective(id)
			planner, _ := o.Metadata.String(opt.KeyPlanner)
			reason, _ := o.Metadata.String(opt.KeyReason)
			s.Expect(o.Status == opt.ObjectiveCompleted, "it is %s (%s)", o.Status, o.Reason)
			s.Expect(planner == made.Planner && strings.Contains(reason, made.Reason+failure), "planner %q, reason %q", planner, reason)
		})
	}
}

// Defect 14: plans that are stopped have a reason.
func TestDefect14_canceledPlan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a")))
		s.Settle()
		s.Send(status(id, opt.ObjectiveCompleted))
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCompleted && o.Plans[0].Reason == opt.ObjectiveEnded, "it is %s, its plan %s (%s)", o.Status, o.Plans[0].Status, o.Plans[0].Reason)
	})
}

// A failed optional plan that a client retries while its objective continues has ids of
// its own for the second attempt.
func TestRetry_planOfAnObjectiveThatGoesOn(t *testing.T) {
	play(t, func(s *sim.Story) {
		first := sim.PlanOf("first", "a")
		first.Metadata, first.Tasks[0].Attempts = a2a.Metadata{}.With(opt.KeyOptional, true), 1
		id := s.Open(given(first, sim.PlanOf("second", "?wait")))
		s.Settle()
		key := s.Activities()[0]
		s.End(key, machine.Ended{Key: key, Failed: &machine.Failure{Code: "failed", Message: "No."}})
		s.Settle()
		s.Expect(s.Objective(id).Plans[0].Status == opt.PlanFailed, "the first plan is %s", s.Objective(id).Plans[0].Status)
		s.Send(opt.Command{Kind: opt.UpdatePlan, ObjectiveID: id, PlanID: opt.PlanID(id, 1), Status: string(opt.PlanWorking)})
		s.Rest()
		s.Expect(s.Objective(id).Plans[0].Status == opt.PlanCompleted, "the retried plan is %s", s.Objective(id).Plans[0].Status)
	})
}

// Each attempt at a plan that seems to be gone is checked under a key of its own.
func TestLost_checkedBeforeARetry(t *testing.T) {
	play(t, func(s *sim.Story) {
		first := sim.PlanOf("first", "a")
		first.Metadata, first.Tasks[0].Attempts = a2a.Metadata{}.With(opt.KeyOptional, true), 1
		id := s.Open(given(first, sim.PlanOf("second", "?wait")))
		s.Settle()
		work, plan := s.Activities()[0], opt.PlanID(id, 1)
		check := func() {
			key := s.SeemsLost(plan)
			s.End(key, machine.Checked{Key: key})
			s.Settle()
		}
		check()
		s.End(work, machine.Ended{Key: work, Failed: &machine.Failure{Code: "failed", Message: "No."}})
		s.Settle()
		s.Send(opt.Command{Kind: opt.UpdatePlan, ObjectiveID: id, PlanID: plan, Status: string(opt.PlanWorking)})
		for s.Settle(); s.Objective(id).Plans[0].Status == opt.PlanFailed; s.Settle() {
			s.Step() // it reads the former attempt
		}
		check()
		s.Rest()
		s.Expect(s.Objective(id).Plans[0].Status == opt.PlanCompleted, "the retried plan is %s", s.Objective(id).Plans[0].Status)
	})
}

// Defect: a run that an objective began since a plan seemed lost never ended if the plan, which was reset after the end of
// the objective, was reset again by then.
func TestLost_runsAfterTheEnd(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a")))
		s.Settle()
		s.Long(id) // so that its plan reports its end by signal
		s.Settle()
		plan, key := opt.PlanID(id, 1), s.Activities()[0]
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		for range 2 { // its report arrives, which it does not know yet
			s.Step()
		}
		s.Reset(plan, 1)
		s.Alone(id)
		s.Deliver()
		s.Alone(plan)
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCompleted && o.Plans[0].Status == opt.PlanWorking, "the objective is %s, its plan %s", o.Status, o.Plans[0].Status)
		key = s.SeemsLost(plan)
		s.End(key, machine.Checked{Key: key})
		s.Rest()
		p := s.Objective(id).Plans[0]
		s.Expect(p.Status.Ended() && p.Reason == string(opt.ObjectiveCanceled), "the plan is %s, %s", p.Status, p.Reason)
	})
}

// Defect: a plan without workers held up all later commands, also a replan. Others continue once its
// command is overdue; the command is answered when it is known whether the plan has applied it.
func TestCommand_planWithoutWorkers(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("old", "a")))
		for range 2 {
			s.DeliverLast()
			s.Alone(id) // no worker runs the workflow of the plan
		}
		send := func(c opt.Command) string {
			s.Wait(100)
			c.ObjectiveID, c.Deadline = id, s.In(8000)
			name := s.Send(c)
			s.DeliverLast()
			s.Alone(id)
			return name
		}
		add := opt.Command{Kind: opt.AddTasks, PlanID: opt.PlanID(id, 1), Tasks: []opt.TaskSpec{{Name: "more"}}}
		first, second, third := send(add), send(opt.Command{Kind: opt.CreatePlan, Plan: new(sim.PlanOf("other", "b"))}), send(add)
		s.Expect(s.Answer(second) == nil, "a command was answered out of turn")
		s.Wait(7801)
		s.Alone(id)
		s.Expect(s.Answer(second) != nil && s.Answer(second).Refusal == nil, "a plan without workers holds up the others")
		s.Wait(200)
		s.Alone(id)
		s.Expect(s.Answer(third) != nil && s.Answer(third).Refusal != nil, "a command for the plan waits without a limit")
		s.Expect(s.Answer(first) == nil, "the first command is answered, though nobody knows whether it is applied")
		replan := send(opt.Command{Kind: opt.Replan})
		s.Rest()
		a, tasks := s.Answer(first), len(s.Objective(id).Plans[0].Tasks)
		s.Expect(a != nil && a.Refusal != nil && tasks == 1, "the first command: %v, %d tasks", a, tasks)
		s.Expect(s.Answer(replan) != nil, "the replan is not answered")
	})
}

// Defect: an objective whose history was long began no plan until its planner had ended. A plan
// that is ready begins within a second.
func TestLeave_holdsBackNoPlan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(nothing)
		s.Settle()
		s.Long(id)
		s.Alone(id)
		s.Send(opt.Command{Kind: opt.CreatePlan, ObjectiveID: id, Plan: new(sim.PlanOf("other", "b")), Start: true})
		s.Settle()
		s.Expect(len(s.Activities()) == 1, "the run does not leave: %v", s.Activities())
		s.Wait(1000)
		s.Settle()
		s.Expect(len(s.Activities()) == 2, "beside the planner, the plan does not work: %v", s.Activities())
	})
}

// A replan overtakes a command whose plan has not answered, also before its deadline.
func TestCommand_replanOvertakes(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("old", "a")))
		s.Settle()
		c := s.Send(opt.Command{Kind: opt.AddTasks, ObjectiveID: id, PlanID: opt.PlanID(id, 1), Tasks: []opt.TaskSpec{{Name: "more"}}})
		s.DeliverLast()
		s.Alone(id)
		s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
		s.DeliverLast()
		s.Alone(id)
		s.Expect(slices.ContainsFunc(s.Activities(), func(key string) bool { return strings.Contains(key, ":plan:") }), "no planner works: %v", s.Activities())
		s.Rest()
		s.Expect(s.Answer(c) != nil, "the command is not answered")
	})
}

// An end overtakes a command whose plan has no workers, also before the deadline of that command:
// the objective stops at once, and the command is answered when the plan runs again, and stops.
func TestCommand_endOvertakes(t *testing.T) {
	ends := map[string]func(s *sim.Story, id string){
		string(opt.ObjectiveCanceled): func(s *sim.Story, id string) { s.Cancel(id, "bob") },
		string(opt.ObjectiveFailed): func(s *sim.Story, id string) {
			s.Send(status(id, opt.ObjectiveFailed))
			s.DeliverLast()
		},
	}
	for as, end := range ends {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("old", "a")))
			for range 2 {
				s.DeliverLast()
				s.Alone(id) // no worker runs the workflow of the plan
			}
			c := s.Send(opt.Command{
				Kind: opt.AddTasks, ObjectiveID: id, PlanID: opt.PlanID(id, 1), Tasks: []opt.TaskSpec{{Name: "more"}}, Deadline: s.In(8000),
			})
			s.DeliverLast()
			s.Alone(id)
			end(s, id)
			s.Alone(id)
			s.Expect(s.Objective(id).Stopping == as && s.Answer(c) == nil, "it waits for a plan without workers: %s, stopping %q, answer %v", s.Objective(id).Status, s.Objective(id).Stopping, s.Answer(c))
			s.Rest()
			o := s.Objective(id)
			s.Expect(string(o.Status) == as && o.Plans[0].Status.Ended(), "it is %s, its plan %s", o.Status, o.Plans[0].Status)
			s.Expect(s.Answer(c) != nil, "the command is not answered")
		})
	}
}

// A task that is added with dependencies leaves the others at their place in the list:
// each begins after the one before it, with its result.
func TestOrder_tasksKeepTheirPlace(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a", "b", "c")))
		s.Settle()
		s.Send(opt.Command{Kind: opt.AddTasks, ObjectiveID: id, PlanID: opt.PlanID(id, 1), Tasks: []opt.TaskSpec{
			{Name: "d", Dependencies: []string{"task-1"}}, {Name: "e", Dependencies: []string{}}, {Name: "f"},
		}})
		runInTurn(s, "a e", "b f", "c d")
	})
}

// ordered has a client put the last of the tasks a, b and c before b, and returns the id of the command.
func ordered(s *sim.Story, id string) string {
	planID := opt.PlanID(id, 1)
	first, second, third := opt.TaskID(planID, 0), opt.TaskID(planID, 1), opt.TaskID(planID, 2)
	return s.Send(opt.Command{Kind: opt.OrderTasks, ObjectiveID: id, PlanID: planID, Order: []opt.TaskOrder{
		{ID: second, Dependencies: []string{third}}, {ID: third, Dependencies: []string{first}},
	}})
}

// A plan that is retried with its objective keeps the order that a client has made.
func TestOrder_retried(t *testing.T) {
	play(t, func(s *sim.Story) {
		spec := sim.PlanOf("plan", "a", "b", "c")
		spec.Tasks[2].Attempts = 1
		id := s.Open(given(spec))
		s.Settle()
		c := ordered(s, id)
		s.Settle()
		s.Expect(s.Answer(c) != nil && s.Answer(c).Refusal == nil, "the order is not taken: %v", s.Answer(c))
		key := s.Activities()[0]
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Settle()
		key = s.Activities()[0]
		s.Expect(s.Work(key).Name == "c", "%s runs, not c", s.Work(key).Name)
		s.End(key, machine.Ended{Key: key, Failed: &machine.Failure{Code: "failed", Message: "No."}})
		s.Settle()
		for _, to := range []opt.ObjectiveStatus{opt.ObjectiveSubmitted, opt.ObjectiveWorking} {
			s.Send(status(id, to))
			s.Settle()
		}
		for _, want := range []string{"c", "b"} {
			keys := s.Activities()
			s.Expect(len(keys) == 1 && s.Work(keys[0]).Name == want, "%v run, want %s", keys, want)
			s.End(keys[0], sim.Completed(keys[0], s.Work(keys[0]).TaskID))
			s.Settle()
		}
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "it is %s", s.Objective(id).Status)
	})
}

// A plan that is reset, also to before a client has put its tasks into another order, gets that order again: it is
// shown and kept by the work that follows.
func TestReset_ordered(t *testing.T) {
	for at := range 4 * 30 {
		moment, task := at%30, at/30+1
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "a", "b", "c")))
			s.Settle()
			ordered(s, id)
			for range moment {
				s.Step()
			}
			s.Reset(opt.PlanID(id, 1), task)
			s.Rest()
			o := s.Objective(id)
			b := o.Plans[0].Before(o.Plans[0].Tasks[1])
			s.Expect(len(b) == 1 && b[0].Name == "c", "reset at moment %d to task %d, b waits for %v", moment, task, b)
			s.Expect(o.Status == opt.ObjectiveCompleted, "reset at moment %d to task %d, it is %s (%s)", moment, task, o.Status, o.Reason)
		})
	}
}

// The same for plans.
func TestOrder_plansKeepTheirPlace(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("A", "a"), sim.PlanOf("B", "b"), sim.PlanOf("C", "c")))
		s.Settle()
		added := []opt.PlanSpec{sim.PlanOf("D", "d"), sim.PlanOf("E", "e"), sim.PlanOf("F", "f")}
		added[0].Dependencies, added[1].Dependencies = []string{opt.PlanID(id, 2)}, []string{}
		for i := range added {
			s.Send(opt.Command{Kind: opt.CreatePlan, ObjectiveID: id, Plan: &added[i]})
			s.Settle()
		}
		runInTurn(s, "a e", "b f", "c d")
	})
}

// Defect: what depends on a task or a plan that a client has ended early began without the
// results that it passes on.
func TestOrder_endedByHand(t *testing.T) {
	play(t, func(s *sim.Story) {
		spec := sim.PlanOf("plan", "a", "b", "c")
		spec.Tasks[2].Dependencies = []string{"task-1"}
		id := s.Open(given(spec))
		s.Settle()
		planID := opt.PlanID(id, 1)
		s.Send(opt.Command{Kind: opt.MoveTask, ObjectiveID: id, PlanID: planID, TaskID: opt.TaskID(planID, 1), Status: string(opt.TaskCompleted)})
		runInTurn(s, "a", "c")
	})
	play(t, func(s *sim.Story) {
		specs := []opt.PlanSpec{sim.PlanOf("A", "a"), sim.PlanOf("B", "b"), sim.PlanOf("C", "c")}
		specs[1].Dependencies = []string{"plan-0"}
		id := s.Open(given(specs...))
		s.Settle()
		s.Send(opt.Command{Kind: opt.UpdatePlan, ObjectiveID: id, PlanID: opt.PlanID(id, 2), Status: string(opt.PlanSkipped)})
		runInTurn(s, "a", "c")
	})
}

// runInTurn expects tasks with these names at work together, one group after another. All
// but the first ones get one result.
func runInTurn(s *sim.Story, groups ...string) {
	for i, want := range groups {
		s.Settle()
		var names []string
		for _, key := range s.Activities() {
			work := s.Work(key)
			names = append(names, work.Name)
			s.Expect(len(work.Results) == min(i, 1), "task %s gets %d results", work.Name, len(work.Results))
			s.End(key, sim.Completed(key, work.TaskID))
		}
		slices.Sort(names)
		s.Expect(strings.Join(names, " ") == want, "the tasks %s work, not %s", names, want)
	}
}

// Defect: the time that a task took before the leg in which a client ended it was lost, when a retry of the objective found
// the plan before that leg had stopped.
func TestRetry_timeOfAStoppedTask(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "a")))
		s.Settle()
		s.Long(id)
		s.Settle()
		key := s.Activities()[0]
		taskID := s.Work(key).TaskID
		s.End(key, sim.Parked(key, opt.Park{Wait: 60_000}, "", false))
		s.Settle()
		s.Wait(3000)
		s.Callback(opt.Callback{ID: "c", TaskID: taskID, Round: 1})
		s.Settle()
		s.Send(opt.Command{Kind: opt.MoveTask, ObjectiveID: id, PlanID: opt.PlanID(id, 1), TaskID: taskID, Status: string(opt.TaskFailed)})
		s.Settle()
		s.Send(status(id, opt.ObjectiveSubmitted))
		s.Settle()
		s.Rest()
	})
}
