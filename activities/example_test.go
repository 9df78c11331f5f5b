package activities_test

import (
	"context"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/opt"
)

// shout is an executor that answers in capitals after a person has agreed.
type shout struct{}

func (shout) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	switch {
	case w.Description == "":
		return activities.Rejected("empty", "There is nothing to shout."), nil
	case len(w.Replies) == 0:
		return activities.WaitFor(opt.Gate{Kind: opt.Approval, Title: "Shout it?", Actions: []opt.Action{opt.Accept, opt.Reject}}), nil
	case w.Replies[0].Action == opt.Reject:
		return activities.Failed("approval_rejected", "The approval was rejected."), nil
	}
	text := a2a.TextPart(strings.ToUpper(w.Description))
	return activities.Completed(a2a.Artifact{ArtifactID: "shout", Name: w.Name, Parts: []a2a.Part{text}}), nil
}

// A task that waits for a decision runs again, as a new round, after the
// decision.
func ExampleExecutor() {
	work := activities.Work{Name: "Greet", Description: "hello"}
	for range 2 {
		out, err := shout{}.Execute(context.Background(), work, &executortest.Stream{})
		if err != nil {
			fmt.Println(err)
			return
		}
		if out.Gate == nil {
			fmt.Println(out.State, out.Artifacts[0].Text())
			return
		}
		fmt.Println(out.State, out.Gate.Title)
		work.Replies = append(work.Replies, opt.Reply{Action: opt.Accept})
	}
	// Output:
	// input-required Shout it?
	// completed HELLO
}

// An error fails the attempt. The "retry.except" of a task may name its code.
func ExampleError() {
	err := fmt.Errorf("call 10.0.0.7: %w", &activities.Error{Code: "rate-limited", Message: "The service is busy."})
	fmt.Println(err)
	// Output: call 10.0.0.7: rate-limited: The service is busy.
}
