package console_test

import (
	"fmt"
	"testing"

	"longhaul/dev/e2e/harness"
)

// watchLong is a script that notes the tasks of the page's thread that take longer than 50 ms,
// and how often the page was made current.
const watchLong = `window.long = []; window.drawn = 0;
new PerformanceObserver((list) => { for (const e of list.getEntries()) long.push(e.duration); }).observe({ type: "longtask" });
new MutationObserver(() => drawn++).observe(document.getElementById("main"), { subtree: true, childList: true, attributes: true });
null`

// A timeline with 500 tasks stays current while they run. The log says how many tasks of the
// browser took longer than 50 ms meanwhile.
func testTimeline(t *testing.T, o *office) {
	var plans []*harness.Plan
	for p := range 10 {
		plan := &harness.Plan{Name: fmt.Sprint("Part ", p), Dependencies: []string{}}
		for n := range 50 {
			plan.Tasks = append(plan.Tasks, harness.PlanTask{Name: fmt.Sprint("Step ", n), Description: "work 300ms\nsay done"})
		}
		plans = append(plans, plan)
	}
	task, err := o.as("ann").Send(t.Context(), harness.Message{ID: "timeline", Text: "timeline", Plans: plans})
	if err != nil {
		t.Fatal(err)
	}
	b := o.enter(t, "ann")
	b.open("/console/objectives/" + task.ID)
	b.sees("Part 9", "Step 49")
	b.run(watchLong)
	b.click("link", "Part 9") // the work continues beside the selected plan
	b.sees("Close")
	b.await(func() error {
		if drawn, err := eval[int](b, "drawn"); err != nil || drawn < 20 {
			return fmt.Errorf("the timeline has changed %d times: %w", drawn, err)
		}
		return nil
	})
	long, err := eval[[]float64](b, "long")
	t.Logf("500 tasks: those of the browser that took longer than 50 ms: %.0f, %v", long, err)
	b.look("timeline-500")
}
