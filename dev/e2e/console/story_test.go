package console_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// From a request to its result: the plan before the start, the drawing that follows the
// work, the question in the inbox, and the end.
func testStory(t *testing.T, o *office) {
	b := o.enter(t, "ann")
	b.open("/console/")
	b.click("link", "New objective")
	b.fill("What should be done", "Write notes about tea")
	b.click("button", "Show the plan")
	b.sees("Draft", "Approve the notes", "Publish the notes?", "Publish")
	b.click("button", "Start")
	b.at("/console/objectives/")
	b.sees("Write notes about tea", "working")
	marked := b.marked()
	b.clickFirst("link", "Publish the notes?") // once the draft is done, without a reload
	b.at("/console/inbox/")
	if !marked {
		t.Error("the page of the objective was loaded again while it was watched")
	}
	b.sees("Tea is **hot**.", "Waits since", "ann")

	b.click("link", "All questions")
	b.click("link", "Publish the notes?")
	b.click("button", "Accept")
	b.sees("Accepted by ann")
	b.click("link", "Look at it again")
	b.sees("As it was decided on", "Tea is **hot**.")
	b.click("link", "Write notes about tea")
	b.at("/console/objectives/")
	b.sees("completed")
	b.misses("Waits for anyone")
}

// marked marks the document, so that a test notices when it is replaced by another, and
// waits until the page shows a state that it did not show before.
func (b *tab) marked() (same bool) {
	b.t.Helper()
	test.OK(b.t, test.Err(eval[any](b, `document.documentElement.dataset.mark = "1"; null`)))
	b.sees("Waits for anyone")
	same, err := eval[bool](b, `document.documentElement.dataset.mark === "1"`)
	return same && err == nil
}

// The object of a gate is shown beside its former version, and can be changed by hand.
func testRefine(t *testing.T, o *office) {
	gate := o.begin(t, "Write notes about refining")
	b := o.enter(t, "bob")
	b.open("/console/inbox/" + gate)
	b.click("link", "Show as Markdown")
	b.sees("Tea is hot.")
	b.submit("Send back…", "What should be better", "Say how it tastes.", "Send back")
	b.at("/console/inbox/")
	b.sees("Sent back to be made better by bob")
	b.open("/console/inbox")
	b.click("link", "Publish the notes? (2nd time)")
	b.sees("Changes since then", "Mind: Say how it tastes.")

	b.submit("Ask…", "Your question, which decides nothing", "Is it green tea?", "Ask")
	b.sees("Said here", "Is it green tea?", "Your answer")

	b.submit("Change and accept…", "The text", "Tea is lukewarm.", "Accept the changed text")
	b.click("link", "Look at it again")
	b.sees("by bob", "As it was accepted", "Tea is lukewarm.", "Tea is **hot**.")
	b.look("gate-edited")
}

// submit opens a form that is folded, fills in its field and presses its button.
func (b *tab) submit(form, field, text, button string) {
	b.t.Helper()
	b.click("DisclosureTriangle", form)
	b.fill(field, text)
	b.click("button", button)
}

// begin starts an objective of ann from a text and returns the gate at which it waits.
func (o *office) begin(t *testing.T, text string) (gate string) {
	t.Helper()
	waiting, err := o.as("ann").Send(t.Context(), harness.Message{ID: strings.ReplaceAll(text, " ", "-"), Text: text, Wait: true})
	if err != nil || waiting.Gate == nil {
		t.Fatalf("%s does not wait at a gate: %+v, %v", text, waiting, err)
	}
	return waiting.Gate.ID
}

// A gate that expires while people look at it says so, and takes no late answer.
func testExpiry(t *testing.T, o *office) {
	b := o.enter(t, "bob") // before the time begins
	gate := o.begin(t, "An urgent question")
	b.open("/console/inbox/" + gate)
	b.sees("Is it urgent?", "it is rejected")
	b.sees("since no answer came in time")
	b.misses("Your answer")
}

// Of two people who answer at once one decides. The other sees who was first, and keeps
// the text.
func testRivals(t *testing.T, o *office) {
	gate := o.begin(t, "Write notes about rivals")
	a, b := o.enter(t, "ann"), o.enter(t, "bob")
	b.allow("status of 409")
	for _, tab := range []*tab{a, b} {
		tab.open("/console/inbox/" + gate)
		tab.sees("Your answer")
	}
	b.click("DisclosureTriangle", "Reject…")
	b.fill("Why (optional)", "Too short.")
	stop := b.holdRefresh()
	a.click("button", "Accept")
	a.sees("Accepted by ann")
	b.click("button", "Reject")
	b.sees("Accepted by ann", "was not used", "Too short.")
	stop()
	b.run(fmt.Sprintf(setHidden, false)) // it would be fetched now, without the reason and the text
	b.sees("Accepted by ann", "was not used", "Too short.")
	b.look("gate-beaten")
}

// Questions are answered in the fields that their schemas ask for.
func testQuestions(t *testing.T, o *office) {
	id, gate := o.ask(t, "questions", harness.NewPlan("Questions", "ask What color?", "say colored"))
	b := o.enter(t, "ann")
	b.open("/console/inbox/" + gate)
	b.fill("What color?", "Blue, as the sea")
	b.click("button", "Send the answers")
	b.click("link", "Look at it again")
	b.sees("by ann", "Blue, as the sea")
	b.open("/console/objectives/" + id)
	b.sees("completed")
}

// Work is changed while it runs: paused and resumed, with another task; a form that was
// opened before another change says so.
func testSteering(t *testing.T, o *office) {
	task := test.Value(o.as("ann").Send(t.Context(), harness.Message{ID: "steering", Text: "steering", Plan: harness.NewPlan("Steering", "work 4s", "approve Go on?")}))(t)
	b := o.enter(t, "ann")
	b.allow("status of 409")
	path := "/console/objectives/" + task.ID
	b.open(path)
	b.clickFirst("button", "Pause")
	b.sees("Paused: running tasks finish")
	b.clickFirst("button", "Resume")
	b.sees("Resumed.")

	b.click("link", "Steering")
	b.click("link", "Change its tasks")
	b.fill("Add a task: its name", "Sweep the floor")
	b.click("button", "Add the task")
	b.click("button", "Make this change")
	b.sees("Your changes were made.", "Sweep the floor")

	other := o.enter(t, "bob")
	other.open(path + "?plan=1")
	other.allow("status of 409")
	other.click("link", "Change its tasks")
	other.fill("Add a task: its name", "Close the door")
	other.click("button", "Add the task")
	other.sees("“Close the door” is added")
	stop := other.holdRefresh()
	b.clickFirst("button", "Pause")
	b.sees("Paused: running tasks finish")
	other.click("button", "Make this change")
	other.sees("Another change was faster", "Others have changed it meanwhile", "The objective was paused", "“Close the door” is added")
	stop()
	other.look("conflict")
	other.click("link", "Go on from the present state")
	other.click("button", "Make this change")
	other.sees("Your changes were made.")
	b.sees("Close the door")
	b.reaches(other.revision()) // the plan has the task before the objective has its revision
	b.clickFirst("DisclosureTriangle", "More")
	b.clickFirst("DisclosureTriangle", "Cancel…")
	b.clickFirst("button", "Cancel")
	b.sees("canceled")
}

// revision returns the revision of the objective that the page has been made at.
func (b *tab) revision() string {
	b.t.Helper()
	shown := test.Value(eval[string](b, `document.querySelector("#change input[name=revision]").value`))(b.t)
	return shown
}

// reaches waits until the page has been made at a revision.
func (b *tab) reaches(revision string) {
	b.t.Helper()
	b.await(func() error {
		if shown := b.revision(); shown != revision {
			return fmt.Errorf("the page is at revision %s, want %s", shown, revision)
		}
		return nil
	})
}

// Who may only read is offered no forms.
func testReader(t *testing.T, o *office) {
	id, gate := o.ask(t, "reading", harness.NewPlan("Reading", "approve May it be read?", "say read"))
	b := o.enter(t, "reader")
	for _, path := range []string{"/console/", "/console/inbox", "/console/inbox/" + gate, "/console/objectives", "/console/objectives/" + id} {
		b.open(path)
		for _, name := range b.names("button") {
			if !slices.Contains([]string{"Sign out", "Search", "Keys ?", "Copy the id", "Save", "Notify me"}, name) {
				t.Errorf("%s offers %q to one who may only read", path, name)
			}
		}
	}
}

// order has ann ask for something, and opens its page.
func (o *office) order(b *tab, text string) {
	b.t.Helper()
	task := test.Value(o.as("ann").Send(b.t.Context(), harness.Message{ID: strings.ReplaceAll(text, " ", "-"), Text: text}))(b.t)
	b.open("/console/objectives/" + task.ID)
}
