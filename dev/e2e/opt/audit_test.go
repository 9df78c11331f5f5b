package opt_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// audit checks every objective of all tests: the model must accept its events,
// and its tasks must have run as the events say.
func (s *service) audit(t *testing.T) {
	t.Helper()
	runs := test.Value(s.runs())(t)
	byObjective := map[string]map[string]harness.Round{}
	for key, r := range runs {
		id := objectiveOf(key)
		if byObjective[id] == nil {
			byObjective[id] = map[string]harness.Round{}
		}
		byObjective[id][key] = r
	}
	all, err := s.c.Objectives(t.Context())
	test.OK(t, err)
	tasks := 0
	for _, o := range all {
		st := newStory()
		test.OK(t, s.readStory(t.Context(), o.ID, st))
		st.wrong = append(st.wrong, st.ran(byObjective[o.ID])...)
		for _, err := range st.wrong {
			t.Errorf("%s (%s): %v", o.ID, o.Name, err)
		}
		delete(byObjective, o.ID)
		tasks += len(st.began)
	}
	for id := range byObjective {
		t.Errorf("tasks of %s were run, which is not there", id)
	}
	t.Logf("%d objectives, %d tasks dispatched, %d rounds of them run", len(all), tasks, len(runs))
}

// readStory reads the events of an objective into a story.
func (s *service) readStory(ctx context.Context, id string, st *story) error {
	events, err := s.journal.Events(ctx, id, 0, 0)
	st.tell(events)
	return err
}

// ran lists wrong runs of the tasks of a story. Each dispatched task runs once, and again
// for each answer; another attempt runs only after one that failed, and another try of an
// attempt only if an event says so, since Temporal treated the worker as lost. Nothing
// else runs.
func (s *story) ran(runs map[string]harness.Round) (wrong []error) {
	for key, r := range runs {
		task, round, err := harness.SplitKey(key)
		switch {
		case err != nil:
			wrong = append(wrong, err)
			continue
		case !s.began[task]:
			wrong = append(wrong, fmt.Errorf("%s was run, and never dispatched", key))
		case round > 1+s.replies[task]:
			wrong = append(wrong, fmt.Errorf("%s was run, after %d replies", key, s.replies[task]))
		}
		var last *harness.Attempt
		for _, a := range r {
			allowed := last == nil || last.What == "error"
			if last != nil && a.N == last.N {
				try := fmt.Sprintf("%s:%d", key, a.N)
				allowed = s.tries[try] > 0
				s.tries[try]--
			}
			if !allowed {
				wrong = append(wrong, fmt.Errorf("%s: attempt %d began after %+v", key, a.N, last))
			}
			last = a
		}
	}
	for _, p := range s.ordered() {
		for _, t := range p.Tasks {
			id := t.A2AID()
			last := runs[fmt.Sprintf("%s:%d", id, 1+s.replies[id])]
			if t.State != opt.TaskCompleted || s.hands[id] || t.Ask != nil || t.Link != "" {
				continue
			}
			if a := last.Last(); a == nil || a.What != "end" {
				wrong = append(wrong, fmt.Errorf("%s is completed, and was not run to the end: %v", id, strings.Join(runKeys(runs), " ")))
			}
		}
	}
	return wrong
}

func runKeys(runs map[string]harness.Round) (keys []string) {
	for key := range runs {
		keys = append(keys, key)
	}
	return keys
}
