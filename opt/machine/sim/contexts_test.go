package sim_test

import (
	"slices"
	"strings"
	"testing"

	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/sim"
)

// queue is the workflow of the context in which stories open objectives.
const queue = "context ctx-1"

// beside opens an objective that comes to a gate, and one behind it that works meanwhile. It returns both, and the activity
// of the latter.
func beside(s *sim.Story, between func()) (asks, works, key string) {
	asks = s.Open(given(sim.PlanOf("asks", "a", "?ok", "c")))
	s.Settle()
	works = s.Open(given(sim.PlanOf("works", "b")))
	s.Settle()
	between()
	first := s.Activities()[0]
	s.End(first, sim.Completed(first, s.Work(first).TaskID))
	s.Settle()
	s.Expect(len(s.Activities()) == 1 && s.Activities()[0] != first, "the other one does not work: %v", s.Activities())
	return asks, works, s.Activities()[0]
}

// list ends the activity that lists the members of the context, if it runs.
func list(s *sim.Story, begun ...string) {
	if i := slices.IndexFunc(s.Activities(), func(key string) bool { return strings.HasPrefix(key, "roll:") }); i >= 0 {
		s.End(s.Activities()[i], machine.Listed{Key: s.Activities()[i], Begun: begun})
		s.Settle()
	}
}

// alone expects that one objective works, and completes all.
func alone(s *sim.Story, key string, ids ...string) {
	s.Expect(slices.Equal(s.Activities(), []string{key}), "there is work beside %s: %v", key, s.Activities())
	s.Rest()
	for _, id := range ids {
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "%s is %s", id, s.Objective(id).Status)
	}
}

// An operator ends the workflow of a context: the one that works says so, also after one that only wants to.
func TestContext_ended(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		play(t, func(s *sim.Story) {
			asks, works, key := beside(s, func() {})
			s.Accept()
			s.Settle()
			s.Terminate(queue)
			third := s.Open(given(sim.PlanOf("third", "d")))
			s.Settle()
			begun := []string{opt.RootID(asks, 1), opt.RootID(works, 1)}
			if reversed {
				slices.Reverse(begun)
			}
			list(s, begun...)
			alone(s, key, asks, works, third)
		})
	}
}

// An operator resets a context to before it has heard that one objective waits for people and another one works.
func TestContext_reset(t *testing.T) {
	for task := range 2 {
		play(t, func(s *sim.Story) {
			asks, works, key := beside(s, func() {
				s.Long(queue)
				s.Settle()
			})
			s.Wait(100)
			s.ResetFormer(queue, task+1)
			s.Settle()
			s.Accept()
			s.Settle()
			list(s, opt.RootID(asks, 1), opt.RootID(works, 1))
			alone(s, key, asks, works)
		})
	}
}

// One that waits for an ended context asks again, though no other comes.
func TestContext_endedBeforeTurn(t *testing.T) {
	play(t, func(s *sim.Story) {
		asks, works, key := beside(s, func() {})
		s.Accept()
		s.Settle()
		s.Terminate(queue)
		alone(s, key, asks, works)
	})
}
