package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"
)

// describe shows in Temporal's UI, as Markdown, where the plan stands.
func (r *planRun) describe() {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · %s", r.plan.Name, r.plan.Status)
	if r.plan.Reason != "" {
		fmt.Fprintf(&b, " (%s)", r.plan.Reason)
	}
	b.WriteString("\n\n")
	for _, t := range r.plan.Tasks {
		fmt.Fprintf(&b, "%d. %s · **%s**", t.Index+1, t.Name, t.State)
		if t.Gate != nil {
			fmt.Fprintf(&b, " · waits for %s: %s", t.Gate.Kind, oneLine(t.Gate.Prompt()))
		}
		b.WriteString("\n")
	}
	workflow.SetCurrentDetails(r.ctx, b.String())
}

// describe shows in Temporal's UI, as Markdown, where the objective stands.
func (r *objectiveRun) describe() {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · %s · A2A task %s is **%s**\n\n", r.o.Name, r.o.Status, r.o.RootID(), r.o.Root)
	for i, p := range r.o.Plans {
		fmt.Fprintf(&b, "%d. %s · **%s**", i+1, p.Name, p.Status)
		if p.Reason != "" {
			fmt.Fprintf(&b, " (%s)", p.Reason)
		}
		fmt.Fprintf(&b, " · `%s`\n", p.ID)
	}
	if g := r.o.Gate(); g != nil {
		fmt.Fprintf(&b, "\nWaits for %s at task `%s`: %s\n", g.Kind, g.TaskID, oneLine(g.Prompt()))
	}
	workflow.SetCurrentDetails(r.ctx, b.String())
}

// describe shows in Temporal's UI, as Markdown, whose turn it is.
func (r *contextRun) describe() {
	var b strings.Builder
	fmt.Fprintf(&b, "Context `%s` of %s\n\n", oneLine(r.in.ContextID), oneLine(r.in.Tenant))
	if r.state.Holder != "" {
		fmt.Fprintf(&b, "- has the turn: `%s`\n", r.state.Holder)
	}
	fmt.Fprintf(&b, "- can go on again: %d\n- wait for their first turn: %d\n- cannot go on: %d\n", len(r.state.Front), len(r.state.Waiting), len(r.state.Resting))
	workflow.SetCurrentDetails(r.ctx, b.String())
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
