package console_test

import (
	"fmt"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// The inbox shows a new gate without a reload, and drops it once it was answered elsewhere.
func testInbox(t *testing.T, o *office) {
	b := o.enter(t, "ann")
	b.open("/console/inbox")
	b.misses("Print the poster?")
	id, gate := o.ask(t, "poster", harness.NewPlan("Poster", "approve Print the poster?", "say printed"))
	b.sees("Print the poster?")

	other := o.enter(t, "bob")
	other.resize(1280, 800)
	other.open("/console/inbox")
	other.reads("Print the poster?")
	test.OK(t, test.Err(o.as("ann").Send(t.Context(), harness.Reply("poster-yes", id, gate, "accept"))))
	b.misses("Print the poster?")
	id, gate = o.ask(t, "flyer", harness.NewPlan("Flyer", "approve Print the flyer?", "say printed"))
	other.sees("Print the flyer?", "Accepted by ann") // no other question takes its place
	other.reads("Print the poster?")
	test.OK(t, test.Err(o.as("ann").Send(t.Context(), harness.Reply("flyer-yes", id, gate, "accept"))))
}

// In a window of 800 px the header is one line, also with a long name, and headings of pages are alike.
func testHeader(t *testing.T, o *office) {
	b := o.enter(t, "ann")
	b.resize(800, 600)
	for _, path := range []string{"/console/", "/console/inbox", "/console/objectives"} {
		b.open(path)
		found, err := eval[string](b, `(() => {
			document.querySelector(".caller span").textContent = "caroline.smith@department.example.com";
			const h1 = document.querySelector("h1");
			return [document.querySelector("header").offsetHeight, h1.getBoundingClientRect().left, getComputedStyle(h1).fontSize].join(" ");
		})()`)
		test.OK(t, err)
		test.Is(t, path, "48 16 22px", found)
	}
}

// A view of a list is saved under a name, and a link from then on.
func testSaved(t *testing.T, o *office) {
	b := o.enter(t, "bob")
	b.open("/console/objectives?status=failed&sort=changed")
	b.click("DisclosureTriangle", "Saved views")
	b.fill("Save this view as", "What failed")
	b.click("button", "Save")
	b.look("saved")
	b.click("link", "Objectives")
	b.at("/console/objectives")
	b.click("DisclosureTriangle", "Saved views")
	b.click("link", "What failed")
	b.await(func() error {
		if query, err := eval[string](b, `location.search`); err != nil || query != "?status=failed&sort=changed" {
			return fmt.Errorf("the view is %s: %w", query, err)
		}
		return nil
	})
	b.click("DisclosureTriangle", "Saved views")
	b.click("button", "Forget What failed")
	b.misses("What failed")

	b.open("/console/inbox?show=all")
	b.click("DisclosureTriangle", "Saved views")
	b.fill("Save this view as", "All questions that wait for anyone")
	b.click("button", "Save")
	b.look("saved-questions")
}

// ask starts an objective of ann and returns its id and the id of the gate at which it waits.
func (o *office) ask(t *testing.T, id string, plan *harness.Plan) (task, gate string) {
	t.Helper()
	return o.askAs(t, "ann", id, plan)
}

// askAs is ask for another person.
func (o *office) askAs(t *testing.T, who, id string, plan *harness.Plan) (task, gate string) {
	t.Helper()
	waiting := test.Value(o.as(who).Send(t.Context(), harness.Message{ID: id, Text: id, Plan: plan, Wait: true}))(t)
	if waiting.Gate == nil {
		t.Fatalf("%s does not wait at a gate: %s", id, waiting.Raw)
	}
	return waiting.ID, waiting.Gate.ID
}
