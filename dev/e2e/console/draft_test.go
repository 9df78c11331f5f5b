package console_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// One person changes a plan that runs, in its graph: an optional task is skipped, a plan gets another
// one before it, a task is added, and another one is put between two. By single forms, each sent by itself, the
// first three took 15 clicks.
func testChanging(t *testing.T, o *office) {
	plan := func(name string, after []string, tasks ...harness.PlanTask) *harness.Plan {
		return &harness.Plan{Name: name, Dependencies: after, Tasks: tasks}
	}
	say := harness.PlanTask{Name: "Say it", Description: "say done"}
	task, err := o.as("ann").Send(t.Context(), harness.Message{ID: "changing", Text: "changing", Plans: []*harness.Plan{
		plan("Cook", []string{}, harness.PlanTask{Name: "Taste", Description: "approve Is it salty?"},
			harness.PlanTask{Name: "Decorate", Description: "say parsley", Metadata: harness.Optional()}, say),
		plan("Serve", []string{"plan-0"}, say),
		plan("Clean up", []string{"plan-0"}, harness.PlanTask{Name: "Wash"}, harness.PlanTask{Name: "Dry"}, harness.PlanTask{Name: "Store"}),
	}})
	test.OK(t, err)
	b := &countedVisit{tab: o.enter(t, "ann")}
	b.resize(1280, 900)
	b.open("/console/")
	b.click("link", "Objectives")
	b.click("link", "changing")
	b.sees("Waits for anyone")
	b.click("link", "Change the plans")
	b.sees("Your changes, not made yet")
	b.drag("n2", "n3")
	b.sees("Plan “Clean up” waits for “Cook”, “Serve”")
	b.dragOnto("n3-2", "3-0", "3-1")
	b.sees("“Store” comes between “Wash” and “Dry”, no longer after “Dry”")
	b.click("link", "Decorate: pending, optional")
	b.sees("Skip it")
	b.press("x")
	b.sees("“Decorate” is skipped")
	b.press("n")
	b.writes("Garnish with mint")
	b.press(kb.Enter)
	b.sees("“Garnish with mint” is added to plan “Cook”, after “Decorate”", "Make these 4 changes")
	b.look("draft")
	b.publish("draft")
	b.resize(1280, 900)
	b.click("button", "Make these 4 changes")
	b.sees("Your changes were made.")
	t.Logf("a plan is changed in four ways: %d clicks, %d keys, %d texts", b.clicks, b.keys, b.texts)
	if b.clicks > 7 || b.keys > 3 {
		t.Error("that is more than it was")
	}
	p, err := o.as("ann").Objective(t.Context(), task.ID)
	if err != nil || len(p.Plans) != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	if after := p.Plans[2].Tasks; len(after[1].Dependencies) != 1 || after[1].Dependencies[0] != after[2].ID {
		t.Errorf("Dry waits for %v", after[1].Dependencies)
	}
	b.keyboard()
}

// keyboard links a plan to another one with keys alone, and takes that out again.
func (c *countedVisit) keyboard() {
	c.t.Helper()
	c.click("link", "Change the plans")
	c.sees("None yet")
	c.run(`document.getElementById("n2").focus(); null`)
	c.tab.press("w")
	c.sees("Serve comes first.")
	c.refreshed()
	c.sees("Serve comes first.")
	for range 2 { // its task, and the next plan
		c.tab.press(kb.ArrowRight)
	}
	c.tab.press("w")
	c.sees("Plan “Clean up” waits for “Cook”, no longer for “Serve”")
	c.tab.press("u")
	c.sees("None yet")
	c.moves()
}

// moves makes a chain of three plans, and moves the last one in it, with keys alone.
func (c *countedVisit) moves() {
	c.t.Helper()
	focus := func(id string) { c.run(fmt.Sprintf("document.getElementById(%q).focus(); null", id)) }
	focus("n1")
	c.tab.press("w")
	focus("n3")
	c.tab.press("w")
	c.sees("Plan “Clean up” waits for “Serve”, no longer for “Cook”")
	c.tab.press("e")
	c.sees("Plan “Clean up” comes before “Serve”", "Make these 2 changes")
	focus("n3-1")
	c.tab.press("e")
	c.sees("“Dry” comes before “Store”", "Make these 3 changes")
}

// writes writes into the field with the focus, once it has it.
func (c *countedVisit) writes(text string) {
	c.t.Helper()
	c.texts++
	c.await(func() error {
		if there, err := eval[bool](c.tab, `document.activeElement.id === "draft-name"`); err != nil || !there {
			return fmt.Errorf("the field has no focus: %w", err)
		}
		return nil
	})
	call(c.tab, input.InsertText, input.InsertTextParams{Text: text})
}

// drag moves the mouse from one plan of the graph to another with its button down.
func (c *countedVisit) drag(from, to string) {
	c.t.Helper()
	c.dragTo(from, inBlock(to))
}

// dragOnto drags a task onto the line between two others.
func (c *countedVisit) dragOnto(id, after, before string) {
	c.t.Helper()
	c.run(fmt.Sprintf(`document.getElementById(%q).scrollIntoView({block: "center", inline: "center"}); null`, "n"+before))
	c.dragTo(id, fmt.Sprintf(`(() => {
		const edge = document.querySelector('.edge[data-after=%q][data-before=%q]'), at = edge.ownerSVGElement.getBoundingClientRect();
		const middle = edge.getPointAtLength(edge.getTotalLength() / 3);
		return [at.x + middle.x, at.y + middle.y];
	})()`, after, before))
}

// inBlock is a script that returns where a block of the graph is.
func inBlock(id string) string {
	return fmt.Sprintf(`(() => { const r = document.getElementById(%q).getBoundingClientRect(); return [r.x + 40, r.y + 12]; })()`, id)
}

// dragTo drags a block of the graph to the place that a script returns.
func (c *countedVisit) dragTo(from, to string) {
	c.t.Helper()
	c.clicks++
	place := func(script string) (at []float64) {
		c.await(func() (err error) {
			at, err = eval[[]float64](c.tab, script)
			if err == nil && len(at) != 2 {
				err = errors.New("it has no place")
			}
			return err
		})
		return at
	}
	a, b := place(inBlock(from)), place(to)
	c.mouse(chromedp.MousePressed, a[0], a[1])
	for i := range 5 {
		part := float64(i+1) / 5
		c.mouse(chromedp.MouseMoved, a[0]+(b[0]-a[0])*part, a[1]+(b[1]-a[1])*part)
	}
	c.mouse(chromedp.MouseReleased, b[0], b[1])
}
