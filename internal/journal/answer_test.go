package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/journal"
	"longhaul/opt"
)

func answered(id string, a opt.CommandAnswer) opt.Event {
	a.CommandID = id
	return opt.Event{Kind: opt.CommandAnswered, Answer: &a}
}

// An answer is read by the id of its command, and is among the events. The first
// one counts.
func TestAnswer(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s, other := begin(t, open(), newObjective()), begin(t, open(), newObjective())
		s.record(
			answered("c-1", opt.CommandAnswer{Digest: "d", Revision: 2, PlanID: "p"}),
			answered("c-2", opt.CommandAnswer{Refusal: &opt.Refusal{Code: opt.RefusedStale, Revision: 2}, Revision: 2}),
			answered("c-1", opt.CommandAnswer{Digest: "d", Revision: 9}),
		)
		for id, want := range map[string]*opt.CommandAnswer{
			"c-1": {CommandID: "c-1", Digest: "d", Revision: 2, PlanID: "p"},
			"c-2": {CommandID: "c-2", Refusal: &opt.Refusal{Code: opt.RefusedStale, Revision: 2}, Revision: 2},
			"c-3": nil,
		} {
			got, ok, err := s.j.Answer(t.Context(), s.objective.ID, id)
			if want == nil {
				want = &opt.CommandAnswer{}
			}
			if diff := cmp.Diff(*want, got); diff != "" || err != nil || ok != (want.CommandID != "") {
				t.Errorf("%s: %v, %v (-want +got):\n%s", id, ok, err, diff)
			}
		}
		if _, ok, err := s.j.Answer(t.Context(), other.objective.ID, "c-1"); ok || err != nil {
			t.Errorf("another objective has an answer: %v, %v", ok, err)
		}
		if events := s.events(); len(events) != 4 || events[1].Event.Answer.CommandID != "c-1" {
			t.Errorf("events are %+v", events)
		}
	})
}
