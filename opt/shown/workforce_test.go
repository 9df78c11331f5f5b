package shown_test

import (
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt/shown"
)

// A task that has begun may wait for a worker if it is not known that one has taken it, and if others have waited for
// as long. Without workers each one waits.
func TestWorkforce_WaitOf(t *testing.T) {
	const now = 1_000_000
	at := func(ago int64) a2a.Time { return a2a.AtMillis(now - ago) }
	busy := shown.QueueLoad{Of: "tasks", Waiting: 1200, Oldest: time.Minute, Workers: 2}
	for name, tt := range map[string]struct {
		queue shown.QueueLoad
		spans []shown.Span
		want  string // the beginning
	}{
		"as long as others":      {busy, []shown.Span{{From: at(60_000)}}, "Waits for a worker of the queue of tasks, where 1,200 tasks wait for up to 1 min, or has just got one"},
		"one":                    {shown.QueueLoad{Of: "tasks", Waiting: 1, Workers: 1}, []shown.Span{{From: at(0)}}, "Waits for a worker of the queue of tasks, where 1 task waits for up to 0 ms"},
		"by the clock of others": {busy, []shown.Span{{From: at(64_000)}}, "Waits for a worker of"},
		"for longer":             {busy, []shown.Span{{From: at(66_000)}}, ""},
		"taken":                  {busy, []shown.Span{{Untaken: true, From: at(30_000), Until: at(20_000)}, {From: at(20_000)}}, ""},
		"taken before":           {busy, []shown.Span{{Untaken: true, From: at(30_000), Until: at(20_000)}, {From: at(20_000), Until: at(10_000)}, {From: at(10_000)}}, "Waits for a worker of"},
		"not begun":              {busy, nil, ""},
		"nothing waits":          {shown.QueueLoad{Of: "tasks", Workers: 1}, []shown.Span{{From: at(0)}}, ""},
		"no workers":             {shown.QueueLoad{Of: "tasks"}, nil, "Waits for a worker, and none runs tasks now"},
	} {
		got := shown.Workforce{Queues: []shown.QueueLoad{tt.queue}}.WaitOf(tt.spans, a2a.AtMillis(now))
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	test.Is(t, "without an answer", "", (shown.Workforce{}).WaitOf([]shown.Span{{From: at(0)}}, a2a.AtMillis(now)))
}
