package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/opt"
)

// describe shows the state of the plan and a remark in Temporal's UI, as Markdown.
func (p *planPart) describe(ctx workflow.Context, remark string) {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · %s", p.m.State.Plan.Name, p.m.State.Plan.Status)
	if p.m.State.Plan.Reason != "" {
		fmt.Fprintf(&b, " (%s)", p.m.State.Plan.Reason)
	}
	b.WriteString("\n\n")
	for _, t := range p.m.State.Plan.Tasks {
		fmt.Fprintf(&b, "%d. %s · **%s**", t.Index+1, t.Name, t.State)
		if t.Gate != nil {
			fmt.Fprintf(&b, " · waits for %s: %s · %s", t.Gate.Kind, oneLine(t.Gate.Prompt()), howToAnswer(t.Gate))
			if next, ok := t.Gate.NextStep(); ok {
				fmt.Fprintf(&b, " · next: %s at %s", next, minute(next.At))
			}
		}
		b.WriteString("\n")
	}
	for _, t := range p.m.State.Plan.Waiting() {
		b.WriteString(objectText(t.Name, t.Gate))
	}
	workflow.SetCurrentDetails(ctx, b.String()+remark)
}

// mostDescribed bounds the text of an object in Temporal's UI, in bytes.
const mostDescribed = 4 << 10

// objectText returns the object of a gate as a quotation, so that text of an executor
// is not taken for ours.
func objectText(name string, g *opt.Gate) string {
	var b strings.Builder
	for _, p := range g.Object {
		switch {
		case p.Text != nil:
			b.WriteString(*p.Text)
		case p.Data != nil:
			b.Write(p.Data)
		case p.Ref != nil:
			fmt.Fprintf(&b, "(%s of %d bytes) %s", p.Ref.Member, p.Ref.Size, p.Filename)
		default:
			fmt.Fprintf(&b, "(a file) %s", p.Filename)
		}
		b.WriteString("\n")
	}
	text := strings.TrimSpace(b.String())
	if len(text) > mostDescribed {
		text = strings.ToValidUTF8(text[:mostDescribed], "") + "…"
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("\nTo be decided on at %q:\n\n> %s\n", name, strings.ReplaceAll(text, "\n", "\n> "))
}

// describe shows the state of the objective and a remark in Temporal's UI, as Markdown.
func (o *objectivePart) describe(ctx workflow.Context, remark string) {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · %s · A2A task %s is **%s**\n\n", o.m.State.Objective.Name, o.m.State.Objective.Status, o.m.State.Objective.RootID(), o.m.State.Objective.Root)
	for i, plan := range o.m.State.Objective.Plans {
		fmt.Fprintf(&b, "%d. %s · **%s**", i+1, plan.Name, plan.Status)
		if plan.Reason != "" {
			fmt.Fprintf(&b, " (%s)", plan.Reason)
		}
		fmt.Fprintf(&b, " · `%s`\n", plan.ID)
	}
	if g := o.m.State.Objective.Gate(); g != nil {
		fmt.Fprintf(&b, "\nWaits for %s at task `%s`: %s\n\n%s\n", g.Kind, g.TaskID, oneLine(g.Prompt()), howToAnswer(g))
		if !g.ExpiresAt.IsZero() {
			fmt.Fprintf(&b, "\nExpires at %s\n", minute(g.ExpiresAt))
		}
	}
	workflow.SetCurrentDetails(ctx, b.String()+remark)
	o.show(ctx)
}

// describe shows the queue of the context and a remark in Temporal's UI, as Markdown.
func (c *contextPart) describe(ctx workflow.Context, remark string) {
	var b strings.Builder
	fmt.Fprintf(&b, "Context `%s` of %s\n\n", oneLine(c.m.State.ContextID), oneLine(c.m.State.Tenant))
	if c.m.State.Holder != nil {
		fmt.Fprintf(&b, "- has the turn: `%s`\n", c.m.State.Holder.ID)
	}
	fmt.Fprintf(&b, "- can continue: %d\n- wait for their first turn: %d\n- cannot continue: %d\n", len(c.m.State.Front), len(c.m.State.Waiting), len(c.m.State.Resting))
	workflow.SetCurrentDetails(ctx, b.String()+remark)
}

// howToAnswer returns the commands that answer a gate.
func howToAnswer(g *opt.Gate) string {
	switch g.Kind {
	case opt.Clarification:
		return "answer: `longhaul answer " + g.TaskID + " TEXT`"
	case opt.Credential:
		if len(g.Actions) == 0 {
			return "continues once it has been authorized elsewhere"
		}
	}
	var commands []string
	for _, a := range g.Actions {
		commands = append(commands, "`longhaul answer "+g.TaskID+" "+string(a)+"`")
	}
	return "answer: " + strings.Join(commands, " or ")
}

func minute(at a2a.Time) string { return at.Time().UTC().Format("2006-01-02 15:04 UTC") }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
