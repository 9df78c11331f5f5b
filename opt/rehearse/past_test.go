package rehearse_test

import (
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// Runs with other tasks are left out, and the time of a task has all its attempts.
func TestPastOf(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	likely := rehearsed(t, book, rehearse.Assumptions{})
	at := func(n int) rehearse.PastTask {
		return rehearse.PastTask{Ended: a2a.At(begin.Add(time.Duration(n) * time.Hour))}
	}
	tasks := map[string]rehearse.PastTask{"1-0": at(1), "1-1": at(2), "1-2": at(4), "1-3": at(7), "1-4": at(8)}
	other := map[string]rehearse.PastTask{"1-0": at(1)}
	past, used := likely.PastOf([]rehearse.PastRun{{Began: a2a.At(begin), Tasks: tasks}, {Tasks: other}})
	if used != 1 {
		t.Fatalf("%d runs were used, want 1", used)
	}
	got := rehearsed(t, book, rehearse.Assumptions{Past: past, Runs: used})
	if took := 8 * time.Hour; got.Took.Likely != took || got.Status != opt.ObjectiveCompleted || got.Past != 1 {
		t.Errorf("got\n%s", lines(got))
	}
}
