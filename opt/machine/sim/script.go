package sim

import (
	"fmt"
	"slices"
	"strings"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// name shortens ids: objective 1 is O1, its second plan O1.P2, the first task of
// that O1.P2.T0.
func (w *world) name(id string) string {
	if !w.verbose {
		return id
	}
	for i := range w.n {
		unique := strings.TrimPrefix(opt.NewObjectiveID([16]byte{byte(i + 1)}), "obj-")
		short := fmt.Sprintf("O%d", i+1)
		id = strings.ReplaceAll(id, "obj-"+unique, short)
		for _, prefix := range []string{"plan-", "task-"} {
			for {
				at := strings.Index(id, prefix+unique+"-")
				if at < 0 {
					break
				}
				rest := id[at+len(prefix+unique)+1:]
				plan, task := digits(rest), ""
				rest = rest[len(plan):]
				if prefix == "task-" && strings.HasPrefix(rest, "-") {
					task = digits(rest[1:])
					rest = rest[1+len(task):]
					task = ".T" + task
				}
				id = id[:at] + short + ".P" + plan + task + rest
			}
		}
	}
	return id
}

func digits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

func (w *world) names(ids []string) string { return w.name(fmt.Sprint(ids)) }

// say describes an input in a few words.
func (w *world) say(in machine.Input) string {
	if !w.verbose {
		return ""
	}
	var out string
	switch in := in.(type) {
	case machine.Directed:
		d := in.Directive
		out = fmt.Sprintf("directive %+v, %d notes from %d", d, len(in.Notes), in.NotesFrom)
		if in.Command != nil {
			out += ", command " + in.Command.ID
		}
	case machine.Reported:
		r := in.Report
		out = "report " + reportText(r)
	case machine.ChildEnded:
		out = "end of " + in.PlanID
		if in.Report != nil {
			out += ", report " + reportText(*in.Report)
		}
	case machine.Ended:
		if in.Failed != nil {
			return fmt.Sprintf("failed %+v", *in.Failed)
		}
		return string(in.Outcome.State)
	case machine.Letter:
		out = "letter " + in.Message.MessageID
	case machine.Command:
		out = "command " + in.ID
	case machine.Made:
		out = fmt.Sprintf("%d plans %s %s", len(in.Plans), plansText(in.Plans), in.Failure)
	case machine.Loaded:
		out = "the former attempt is read"
	default:
		out = fmt.Sprintf("%T%+v", in, in)
	}
	return w.name(strings.TrimPrefix(out, "machine."))
}

func reportText(r opt.Report) string {
	out := fmt.Sprintf("%d of attempt %d upon %d: %s %s started %v closing %v asks %v yielded %d open %d", r.N, r.Attempt, r.Directive, r.Status, r.Reason, r.Started, r.Closing, r.Asks, r.Yielded, len(r.Open))
	if r.Answer != nil {
		out += " answers " + r.Answer.CommandID
	}
	return out
}

func (w *world) logEvent(r *run, e opt.Event) {
	if !w.verbose {
		return
	}
	text := string(e.Kind)
	for _, s := range []string{e.PlanID, e.TaskID, e.From, e.To, e.Reason, string(e.Verdict), string(e.Step)} {
		if s != "" {
			text += " " + s
		}
	}
	if e.Answer != nil {
		text += " " + e.Answer.CommandID
		if e.Answer.Refusal != nil {
			text += " refused: " + e.Answer.Refusal.Error()
		}
		if e.Answer.Unchanged {
			text += " unchanged"
		}
	}
	if e.Revision > 0 {
		text += fmt.Sprintf(" revision %d", e.Revision)
	}
	w.logf("    event %d of %s: %s", e.N, w.name(r.id), w.name(text))
}

func (w *world) fail(rule, format string, args ...any) {
	panic(violation{rule, fmt.Sprintf(format, args...)})
}

func (w *world) logf(format string, args ...any) {
	if w.verbose {
		w.script = append(w.script, fmt.Sprintf("%7d ms  ", w.now-epoch)+fmt.Sprintf(format, args...))
	}
}

// describe describes a command.
func describe(c opt.Command) string {
	out := string(c.Kind)
	for _, s := range []string{c.Status, c.PlanID, c.TaskID} {
		if s != "" {
			out += " " + s
		}
	}
	if c.Change != nil && c.Change.Dependencies != nil {
		out += " dependencies " + fmt.Sprint(c.Change.Dependencies)
	}
	if c.Plan != nil {
		out += " " + plansText([]opt.PlanSpec{*c.Plan})
	}
	if c.Start {
		out += " start"
	}
	if c.Seen > 0 {
		out += fmt.Sprintf(" seen %d", c.Seen)
	}
	if !c.Deadline.IsZero() {
		out += " until " + c.Deadline.String()
	}
	return out
}

// plansText describes plans.
func plansText(plans []opt.PlanSpec) string {
	var out []string
	for _, p := range plans {
		text := fmt.Sprintf("%q", p.Name)
		if p.Dependencies != nil {
			text += fmt.Sprintf(" after %v", p.Dependencies)
		}
		if p.Metadata.Bool(opt.KeyOptional) {
			text += " optional"
		}
		for _, t := range p.Tasks {
			kind := "task"
			if t.Ask != nil {
				kind = "gate"
			}
			text += fmt.Sprintf(" [%s attempts %d after %v optional %v]", kind, t.Attempts, t.Dependencies, t.Metadata.Bool(opt.KeyOptional))
		}
		out = append(out, text)
	}
	return fmt.Sprint(slices.Clip(out))
}
