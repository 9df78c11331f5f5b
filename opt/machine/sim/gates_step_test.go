package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine/sim"
)

// laddered opens an objective whose second task is a gate with a ladder, and
// lets it open.
func laddered(s *sim.Story, who *opt.Responders, ladder ...opt.Step) (id string) {
	plan := sim.PlanOf("plan", "outline", "!gate", "draft")
	plan.Tasks[1].Ask.Responders, plan.Tasks[1].Ask.Ladder = who, ladder
	id = s.Open(given(plan))
	s.Settle()
	s.End(s.Activities()[0], sim.Completed(s.Activities()[0], s.Work(s.Activities()[0]).TaskID))
	s.Settle()
	return id
}

// after lets hours pass, and then takes the due steps.
func after(s *sim.Story, hours int64) {
	s.Wait(hours * 3600_000)
	s.Settle()
}

const hour = 3600

// A gate is shown with its next step until the last one is taken, which closes it.
func TestGateSteps_runToTheEnd(t *testing.T) {
	play(t, func(s *sim.Story) {
		who := &opt.Responders{Principals: []string{"alice"}}
		id := laddered(s, who, opt.Step{Kind: opt.Remind, After: hour}, opt.Step{Kind: opt.Escalate, After: 2 * hour, To: &opt.Responders{Principals: []string{"bob"}}},
			opt.Step{Kind: opt.Expire, After: 48 * hour})
		task := func() *opt.Task { return s.Objective(id).Plans[0].Tasks[1] }
		var got []string
		for _, hours := range []int64{0, 1, 1, 45} {
			after(s, hours)
			next, _ := task().Gate.NextStep()
			got = append(got, next.String()+" for "+strings.Join(task().Gate.Responders.Principals, ", "))
		}
		test.Equal(t, "next steps", []string{"remind for alice", "escalate for alice", "expire (reject) for alice, bob", "expire (reject) for alice, bob"}, got)
		s.Expect(task().Gate.ExpiresAt == s.In(hour*1000), "it expires at %v", task().Gate.ExpiresAt)
		after(s, 1)
		s.Rest()
		s.Expect(task().State == opt.TaskFailed && task().Reason == opt.ReasonTimeout, "the task is %s (%s)", task().State, task().Reason)
		s.Expect(s.Objective(id).Failure == "No answer came within 2 days.", "the objective says %q", s.Objective(id).Failure)
		s.Expect(s.Objective(id).Status == opt.ObjectiveFailed && s.Objective(id).Reason == opt.ReasonTimeout, "the objective is %s (%s)", s.Objective(id).Status, s.Objective(id).Reason)
	})
}

// An approval expires into accept only if its ladder says so.
func TestGateSteps_expireAccepts(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := laddered(s, nil, opt.Step{Kind: opt.Expire, After: hour, Action: opt.Accept})
		after(s, 1)
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// After a step that no worker could take in time, as much working time is left for the next one as before, of
// those who are asked then.
func TestGateSteps_lateAtWork(t *testing.T) {
	play(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "outline", "!gate", "draft")
		plan.Tasks[1].Ask.Calendar, plan.Tasks[1].Ask.Ladder = sim.FirstHalf.Calendar(), []opt.Step{
			{Kind: opt.Remind, After: hour, Works: true}, {Kind: opt.Reassign, After: 2 * hour, Works: true, To: &opt.Responders{Principals: []string{"bob"}}},
			{Kind: opt.Expire, After: 3 * hour, Works: true, Calendar: sim.SecondHalf.Calendar()},
		}
		id := s.Open(given(plan)) // on the 9th at 01:46:40
		s.Settle()
		s.End(s.Activities()[0], sim.Completed(s.Activities()[0], s.Work(s.Activities()[0]).TaskID))
		s.Settle()
		expect := func(steps ...string) {
			t.Helper()
			g := *s.Objective(id).Plans[0].Tasks[1].Gate
			for _, want := range steps {
				next, _ := g.NextStep()
				got := string(next.Kind) + next.At.Time().UTC().Format(" 02 15:04")
				s.Expect(got == want, "the next step is %s, want %s", got, want)
				g.Taken++
			}
		}
		expect("remind 09 03:30", "reassign 09 05:30", "expire 10 02:00")
		s.Wait(22 * hour * 1000)
		s.Settle()
		expect("reassign 10 01:30", "expire 10 03:00") // the reminder comes at 23:46
		s.Wait(3 * hour * 1000)
		s.Settle()
		expect("expire 10 04:46") // bob is asked at 02:46
		s.Wait(24 * hour * 1000)
		s.Rest()
		s.Expect(s.Objective(id).Reason == opt.ReasonTimeout, "the objective is %s (%s)", s.Objective(id).Status, s.Objective(id).Reason)
	})
}

// Who is named by an escalation may answer from then on, and not before.
func TestGateSteps_escalate(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := laddered(s, &opt.Responders{Principals: []string{"alice"}}, opt.Step{Kind: opt.Escalate, After: hour, To: &opt.Responders{Principals: []string{"bob"}}})
		gate := s.Objective(id).Plans[0].Tasks[1].Gate
		early := s.DecideAt(*gate, opt.Accept, "bob")
		s.Settle()
		s.Expect(s.Verdict(id, early) == opt.NotAllowed, "before the step bob's decision is %s", s.Verdict(id, early))
		after(s, 1)
		late := s.DecideAt(*gate, opt.Accept, "bob")
		s.Settle()
		s.Expect(s.Verdict(id, late) == opt.Accepted, "after the step bob's decision is %s", s.Verdict(id, late))
	})
}

// Where everyone may answer, an escalation is only a reminder, and a reassignment
// names who may.
func TestGateSteps_everyone(t *testing.T) {
	play(t, func(s *sim.Story) {
		bob := &opt.Responders{Principals: []string{"bob"}}
		id := laddered(s, nil, opt.Step{Kind: opt.Escalate, After: hour, To: bob}, opt.Step{Kind: opt.Reassign, After: 2 * hour, To: bob})
		after(s, 1)
		gate := func() *opt.Gate { return s.Objective(id).Plans[0].Tasks[1].Gate }
		s.Expect(gate().Responders == nil && gate().Taken == 1, "after the escalation: %+v", gate())
		after(s, 1)
		refused := s.DecideAt(*gate(), opt.Accept, "alice")
		taken := s.DecideAt(*gate(), opt.Accept, "bob")
		s.Settle()
		s.Expect(s.Verdict(id, refused) == opt.NotAllowed && s.Verdict(id, taken) == opt.Accepted, "alice %s, bob %s", s.Verdict(id, refused), s.Verdict(id, taken))
	})
}

// After a reassignment the votes of those who may no longer decide do not count,
// and the others do.
func TestGateSteps_reassignDropsVotes(t *testing.T) {
	play(t, func(s *sim.Story) {
		who := &opt.Responders{Principals: []string{"alice", "bob"}, Accepts: 2}
		to := &opt.Responders{Principals: []string{"bob", "carol"}}
		for _, first := range []string{"alice", "bob"} {
			id := laddered(s, who, opt.Step{Kind: opt.Reassign, After: hour, To: to})
			gate := s.Objective(id).Plans[0].Tasks[1].Gate
			s.DecideAt(*gate, opt.Accept, first)
			s.Settle()
			after(s, 1)
			s.DecideAt(*gate, opt.Accept, "carol")
			s.Settle()
			open := s.Objective(id).Plans[0].Tasks[1].Gate != nil
			s.Expect(open == (first == "alice"), "%s and carol have accepted, open: %v", first, open)
			if open {
				s.DecideAt(*gate, opt.Accept, "bob")
			}
			s.Rest()
			s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
		}
	})
}

// An answer stops the ladder. After refine, the next gate has one from its beginning.
func TestGateSteps_refineBeginsAnew(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := laddered(s, nil, opt.Step{Kind: opt.Remind, After: hour}, opt.Step{Kind: opt.Expire, After: 2 * hour})
		after(s, 1)
		s.Decide(opt.Refine, "alice")
		s.Settle()
		after(s, 24) // the outline is being made again
		s.End(s.Activities()[0], sim.Completed(s.Activities()[0], s.Work(s.Activities()[0]).TaskID))
		s.Settle()
		g := s.Objective(id).Plans[0].Tasks[1].Gate
		s.Expect(g != nil && g.Taken == 0, "the gate is %+v", g)
		after(s, 1)
		g = s.Objective(id).Plans[0].Tasks[1].Gate
		s.Expect(g != nil && g.Taken == 1, "an hour later it is %+v", g)
	})
}

// Steps are taken while a plan is paused, and none after a cancel.
func TestGateSteps_pausedAndCanceled(t *testing.T) {
	play(t, func(s *sim.Story) {
		ladder := []opt.Step{{Kind: opt.Remind, After: hour}, {Kind: opt.Expire, After: 2 * hour}}
		paused, canceled := laddered(s, nil, ladder...), ""
		s.Send(status(paused, opt.ObjectiveBlocked))
		after(s, 1)
		after(s, 1)
		s.Rest()
		s.Expect(s.Objective(paused).Plans[0].Tasks[1].Reason == opt.ReasonTimeout, "the paused task is %+v", s.Objective(paused).Plans[0].Tasks[1])
		canceled = laddered(s, nil, ladder...)
		s.Send(status(canceled, opt.ObjectiveCanceled))
		s.Settle()
		after(s, 2)
		s.Expect(s.Objective(canceled).Plans[0].Tasks[1].State == opt.TaskCanceled, "the canceled task is %+v", s.Objective(canceled).Plans[0].Tasks[1])
	})
}

// A step that is past due is taken, and those after it keep their distance.
func TestGateSteps_pastDue(t *testing.T) {
	play(t, func(s *sim.Story) {
		to := &opt.Responders{Principals: []string{"bob"}}
		id := laddered(s, to, opt.Step{Kind: opt.Remind, After: hour}, opt.Step{Kind: opt.Escalate, After: 3 * hour, To: to}, opt.Step{Kind: opt.Expire, After: 4 * hour})
		gate := func() *opt.Gate { return s.Objective(id).Plans[0].Tasks[1].Gate }
		for _, tt := range []struct {
			wait  int64
			taken int
		}{{24, 1}, {1, 1}, {1, 2}} {
			after(s, tt.wait)
			s.Expect(gate() != nil && gate().Taken == tt.taken, "after %d hours more the gate is %+v", tt.wait, gate())
		}
		after(s, 1)
		s.Expect(gate() == nil, "the gate is %+v", gate())
	})
}

// The expiry of an approval that an executor asks for is a reply to the executor;
// other questions fail their task.
func TestGateSteps_executor(t *testing.T) {
	for _, tt := range []struct {
		gate opt.Gate
		want []opt.Action
	}{
		{opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept}, Ladder: []opt.Step{{Kind: opt.Expire, After: hour}}}, []opt.Action{opt.Reject}},
		{opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept}, Ladder: []opt.Step{{Kind: opt.Expire, After: hour, Action: opt.Accept}}}, []opt.Action{opt.Accept}},
		{opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "q", Question: "Why?"}}, Ladder: []opt.Step{{Kind: opt.Expire, After: hour}}}, nil},
		{opt.Gate{Kind: opt.Credential, Title: "Log in.", Ladder: []opt.Step{{Kind: opt.Expire, After: hour}}}, nil},
	} {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", "outline")))
			s.Settle()
			s.End(s.Activities()[0], sim.Waiting(s.Activities()[0], tt.gate))
			s.Settle()
			after(s, 1)
			var got []opt.Action
			for _, key := range s.Activities() {
				for _, r := range s.Work(key).Replies {
					got = append(got, r.Action)
					s.Expect(r.DecidedBy == opt.ByTimer && r.Feedback == opt.ReasonTimeout, "the reply is %+v", r)
				}
			}
			test.Equal(t, fmt.Sprintf("%s: replies", tt.gate.Kind), tt.want, got)
			s.Rest()
			task := s.Objective(id).Plans[0].Tasks[0]
			s.Expect(tt.want != nil || task.State == opt.TaskFailed && task.Reason == opt.ReasonTimeout, "%s: the task is %+v", tt.gate.Kind, task)
		})
	}
}

// A limit on the time at gates counts where no ladder is set.
func TestGateSteps_limit(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(func(o *opt.Opening) {
			given(sim.PlanOf("plan", "?gate"))(o)
			o.Objective.Limits.GateTimeout = hour
		})
		s.Settle()
		g := s.Objective(id).Plans[0].Tasks[0].Gate
		s.Expect(g.ExpiresAt == s.In(hour*1000), "it expires at %v", g.ExpiresAt)
		after(s, 1)
		s.Expect(s.Objective(id).Plans[0].Tasks[0].Reason == opt.ReasonTimeout, "the task is %+v", s.Objective(id).Plans[0].Tasks[0])
	})
}
