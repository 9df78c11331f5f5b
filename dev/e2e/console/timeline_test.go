package console_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// watchLong is a script that notes the tasks of the page's thread that take longer than 50 ms,
// and how often the page was made current.
const watchLong = `window.long = []; window.drawn = 0; window.frames = [];
new PerformanceObserver((list) => {
	for (const e of list.getEntries()) {
		const laid = e.styleAndLayoutStart ? e.startTime + e.duration - e.styleAndLayoutStart : 0;
		frames.push([Math.round(e.duration), "layout " + Math.round(laid), ...e.scripts.map((s) => s.invoker + " " + Math.round(s.duration) + " forced " + Math.round(s.forcedStyleAndLayoutDuration))].join(", "));
	}
}).observe({ type: "long-animation-frame" });
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
	test.OK(t, err)
	b := o.enter(t, "ann")
	b.open("/console/objectives/" + task.ID)
	b.sees("Part 9", "Step 49")
	b.run(watchLong)
	b.click("link", "Part 9") // the work continues beside the selected plan
	b.sees("Close")
	drawn := 0
	b.await(func() (err error) {
		if drawn, err = eval[int](b, "drawn"); err != nil || drawn < 40 {
			return fmt.Errorf("the timeline has changed %d times: %w", drawn, err)
		}
		return nil
	})
	long, err := eval[[]float64](b, "long")
	frames, _ := eval[[]string](b, "frames")
	t.Logf("500 tasks: those of the browser that took longer than 50 ms: %.0f of %d changes, %v; %s", long, drawn, err, strings.Join(frames, "; "))
	b.look("timeline-500")
}

// Why an objective is late, and for whom it waits, stands on its page: "/", its name, Enter and
// one click from any other.
func testLate(t *testing.T, o *office) {
	o.ask(t, "belated", harness.NewPlan("Late", "approve May it be late?", "say on"))
	b := o.enter(t, "bob")
	b.open("/console/")
	b.press("/")
	b.await(func() error {
		if there, err := eval[bool](b, `document.activeElement.closest(".find") !== null`); err != nil || !there {
			return fmt.Errorf("the search has no focus: %w", err)
		}
		return nil
	})
	call(b, input.InsertText, input.InsertTextParams{Text: "belated"})
	b.press(kb.Enter)
	b.at("/console/find")
	b.clickFirst("link", "belated")
	b.sees("Waits for anyone who may answer: May it be late?", "of it for people")
	b.click("link", "Graph") // in place, as the selection of a task
	b.await(func() error {
		if drawn, err := eval[bool](b, `location.search === "?view=graph" && !!document.getElementById("tree")`); err != nil || !drawn {
			return fmt.Errorf("the graph is not shown: %w", err)
		}
		return nil
	})
	b.open(b.path() + "?view=graph&task=1-1")
	b.sees("Input", "say on")
}
