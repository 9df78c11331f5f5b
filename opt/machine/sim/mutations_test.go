package sim_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutate = flag.Bool("mutations", false, "break the rules of the machines one after another, and expect the schedules to notice")

// A mutation is one wrong rule: it replaces a text in a file of package machine.
type mutation struct{ name, file, from, to string }

var mutations = []mutation{
	{"tasks begin while their plan is being told to pause", "plan.go", "m.pause(d.Paused, opt.PausedByObjective)", "_ = d.Paused"},
	{"a pause is answered before the plans have confirmed", "objective_command.go", "if confirm {", "if false {"},
	{"a plan confirms no directive", "plan.go", "s.Known.Directive >= s.Directive.Echo", "true"},
	{"a directive that was overtaken counts", "plan.go", "if d.N <= s.Directive.N {", "if false {"},
	{"a report that was overtaken counts", "objective_plans.go", " || in.Report.N <= p.Report.N {", " {"},
	{"a command that comes again is applied again", "objective_command.go", "if s.Answered[c.ID] || waits ||", "if waits ||"},
	{"a plan applies a command each time it is told", "plan.go", "if in.Command != nil && (s.Answer == nil || s.Answer.CommandID != in.Command.ID) {", "if in.Command != nil {"},
	{"what a retry knows of answers is lost", "objective.go", "s.Answered[id] = true", "_ = id"},
	{"a letter that comes again is judged again", "objective.go", "if s.Seen[key] {", "if false {"},
	{"a letter to a plan that comes again is judged again", "plan_gate.go", "if m.State.Seen[key] {", "if false {"},
	{"the revision rises by two", "objective_command.go", "m.State.Objective.Revision + 1", "m.State.Objective.Revision + 2"},
	{"a refused command is applied", "plan_command.go", "answer.Refusal = opt.RefusalOf(err)\n\t\treturn answer", "answer.Refusal = opt.RefusalOf(err)"},
	{"an objective works without its turn", "objective_turn.go", "return !m.State.Turn.Shared || m.State.Turn.Held", "return true"},
	{"an objective that cannot continue keeps its turn", "objective_turn.go", "\tcase m.resting():\n\t\treturn WantRest\n", ""},
	{"an objective that has ended keeps its turn", "objective_turn.go", "\tcase s.Objective.Settled():\n\t\treturn WantLeave\n", ""},
	{"a plan keeps its permission while it waits", "plan.go", "s.Yielded = s.Directive.Permission", "return false"},
	{"a plan begins tasks without permission", "plan.go", "return !d.Shared || d.Permission > m.State.Yielded", "return !d.Shared || true"},
	{"the last that came has the next turn", "context.go", "s.Holder = (*next)[0]\n\t\t*next = (*next)[1:]", "s.Holder = (*next)[len(*next)-1]\n\t\t*next = (*next)[:len(*next)-1]"},
	{"a context gives up an objective that is about to begin", "context.go", "joinTries = 5", "joinTries = 1"},
	{"a context forgets who began before others came", "context.go", "case id == entering || m.member(id) != nil:", "case true:"},
	{"notes are not passed on", "objective_plans.go", "d.Notes = len(s.Notes)", "d.Notes = 0"},
	{"a plan takes in notes twice", "plan.go", "in.Notes[len(in.Notes)-fresh:]...", "in.Notes...)\n\t\ts.Notes = append(s.Notes, in.Notes..."},
	{"a plan is not asked to report its end", "objective_plans.go", "d.ReportEnd = d.ReportEnd || s.Leaving && l.Begun && l.Own", "d.ReportEnd = false"},
	{"a run hands over before its plans know", "objective.go", "(l.Gone || !l.Directive.ReportEnd || l.Delivered < l.Directive.N)", "(!l.Directive.ReportEnd || l.Delivered < l.Directive.N)"},
	{"a plan that was replaced goes on", "objective_plans.go", "m.addPlans(plans, old)", "m.addPlans(plans, nil)"},
	{"an attempt follows on the one before at once", "plan_tasks.go", "w.Waiting, w.Due = true, a2a.At(m.now.Time().Add(wait))", "w.Waiting, w.Running = false, true"},
	{"a failed attempt is attempted again for ever", "plan_tasks.go", "last := w.Attempt >= cmp.Or(t.Attempts, TaskAttempts)", "last := w.Attempt >= 100*cmp.Or(t.Attempts, TaskAttempts)"},
	{"what is canceled works on", "plan_tasks.go", "\tfor _, t := range m.State.Plan.Doomed() {\n\t\tany = m.cancel(t) || any\n\t}\n", ""},
	{"a plan begins before it is recorded", "objective.go", "N: l.Directive.N, After: l.After}", "N: l.Directive.N}"},
	{"a former attempt is read before its end is recorded", "objective.go", ", After: s.Ended}", "}"},
	{"a pause that is repeated is answered too early", "objective_command.go", "&& len(m.unconfirmed()) > 0:", "&& false:"},
	{"tasks begin before all that has arrived was taken in", "plan.go", "again = begin && m.tasks().beginReady() || again", "again = m.tasks().beginReady() || again"},
	{"a report is lost that arrives with the news of the start", "objective_plans.go", "if p == nil || p.Over() ||", "if p == nil || !l.Begun || p.Over() ||"},
	{"a plan whose former run is there is not begun again", "objective_plans.go", "l.RetryAt = a2a.Time{}\n\t\t\t}", "}"},
	{"what was sent back is not made again", "plan_object.go", "m.apply(opt.Event{Kind: opt.TasksReopened, Tasks: again})", "_ = again"},
	{"a task that waits for what it has sent back takes a slot", "../task.go", "t.State == TaskWorking && !t.Awaits()", "t.State == TaskWorking"},
	{"later tasks get what a person has replaced", "plan_tasks.go", "if e := m.editOf(b); e != nil {", "if e := m.editOf(b); e != nil && false {"},
	{"a step that is late does not move those after it", "../gate_step.go", "out.Late += max(0, at.Millis()-g.after(s).Millis())", "_ = at"},
	{"anyone decides at a gate", "plan_gate.go", "reply.Action != opt.Ask && !t.Gate.Responders.Allow", "false && !t.Gate.Responders.Allow"},
	{"a principal decides twice", "plan_gate.go", "reply.Action != opt.Ask && t.Gate.Voted(reply.DecidedBy)", "false"},
	{"one accepts for several", "plan_gate.go", "if !t.Gate.Decides(reply.Action) {", "if false {"},
	{"the requester decides", "../responders.go", "r.NotRequester && (", "false && ("},
	{"one rejects where rejections are counted", "../gate.go", "a == Reject && g.Responders.NoVeto", "false"},
	{"a vote is lost", "plan_gate.go", "append(slices.Clone(gate.Votes), ", "append(slices.Clone(gate.Votes[:0]), "},
	{"an action that is not offered counts", "plan_gate.go", "t.Gate.Kind != opt.Clarification && !t.Gate.Allows(reply.Action), ", ""},
	{"a reply to a former gate counts", "plan_gate.go", "t.Gate == nil || t.Gate.ID != reply.GateID:", "t.Gate == nil:"},
	{"a comment is lost", "plan_gate.go", "t.Gate.Kind == opt.Approval && text != \"\" {", "t.Gate.Kind == opt.Approval && text == \"\" {"},
	{"refine is offered though no task can make the object again", "plan_object.go", "if len(gate.Sources) == 0 {", "if false {"},
	{"one edits for several", "plan_object.go", " || gate.Responders.Several() {", " {"},
	{"work by hand takes the place of a decision", "admit.go", "c.Kind == opt.MoveTask && guarded(t)", "c.Kind == opt.MoveTask && false"},
	{"a decision about something else counts", "plan_gate.go", "case reply.ObjectDigest != \"\" && reply.ObjectDigest != t.Gate.ObjectDigest:", "case false:"},
	{"a reply leaves no record", "plan_gate.go", "e.Decision = m.decided(target, reply, e.Verdict, l.Message.Parts)", "_ = target"},
	{"each record is the first in its chain", "plan_gate.go", "return s.Chain.Add(d)", "chain := opt.Chain{}\n\treturn chain.Add(d)"},
	{"a step of a gate is taken at once", "plan_gate_step.go", "At: next.At,", ""},
	{"a step of a gate is taken twice", "../gate_step.go", "out.Taken++\n", "_ = 0\n"},
	{"any timer of a gate takes the next step", "plan_gate_step.go", "ok && stepKey(t.Gate) == key", "ok && (stepKey(t.Gate) == key || strings.HasPrefix(key, gateTimer))"},
	{"a step of a gate is left out", "../gate_step.go", "out.Taken++\n", "out.Taken = min(g.Taken+2, len(g.Ladder)-1)\n"},
	{"a gate has no timer", "plan.go", "w.Timers = append(w.Timers, timer)", "_ = timer"},
	{"an approval that expires is accepted", "../gate_step.go", "next.Action = Reject", "next.Action = Accept"},
	{"an expiry leaves the gate open", "plan_gate_step.go", "if next.Kind == opt.Expire {", "if next.Kind == opt.Expire && false {"},
	{"an escalation leaves out those before", "../gate_step.go", "g.Responders.Joined(s.To)", "g.Responders.Replaced(s.To)"},
	{"votes count after a reassignment", "../gate_step.go", "!out.Responders.names(v.DecidedBy, v.Groups)", "false"},
	{"a reassignment adds to those before", "../gate_step.go", "g.Responders.Replaced(s.To)", "g.Responders.Joined(s.To)"},
	{"a leg begins before its wait is over", "plan_legs.go", "w.Due = a2a.At(m.now.Time().Add(wait))", "_ = wait"},
	{"a callback before the park is lost", "plan_legs.go", "w.Woken = w.Running", "w.Woken = false"},
	{"a memo is lost", "plan_legs.go", "s.Memos[t.ID] = opt.Memo{Data: out.Memo, OnCancel: out.OnCancel}", "_ = t"},
	{"a callback counts twice", "plan_legs.go", " || slices.Contains(w.Callbacks, c.ID)", ""},
	{"a callback for a former round counts", "plan_legs.go", " || w.Round != c.Round", ""},
	{"work elsewhere is not canceled while the task is parked", "plan_tasks.go", "case m.legs().cancels(t):", "case false:"},
	{"work elsewhere is not canceled at a gate", "plan.go", "again = m.legs().cancelAtGates()", "again = false"},
	{"work elsewhere is not canceled after its leg was stopped", "plan_tasks.go", "\tif m.legs().cancels(t) {\n\t\tm.legs().cancel(t, w)\n\t\treturn\n\t}\n", ""},
	{"an outcome elsewhere is lost", "plan_tasks.go", "w.Returned = cmp.Or(w.Returned, &out)", "w.Returned = cmp.Or(w.Returned, &opt.Outcome{State: opt.TaskCompleted})"},
	{"an outcome that a callback has brought is lost when the leg fails", "plan_tasks.go", "case in.Failed != nil && w.Returned != nil && !w.Returning:", "case false:"},
	{"an outcome that a callback has brought is lost when the leg is stopped", "plan_tasks.go", "stopped && (w.Returned == nil || w.Returning) &&", "stopped &&"},
	{"a link counts as begun by the run that goes on", "objective_plans.go", "next.Own = false", "next.Own = true"},
}

// Each wrong rule must break a test of the machines, a named story, or an
// invariant in the usual schedules. Without -mutations, only the table is checked.
func TestMutations(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			source, path := m.source(t)
			if n := strings.Count(source, m.from); n != 1 {
				t.Fatalf("the text is in %s %d times", m.file, n)
			}
			if !*mutate {
				return
			}
			out, err := tested(t, path, strings.Replace(source, m.from, m.to, 1))
			switch {
			case strings.Contains(out, "[build failed]"):
				t.Fatalf("it does not compile:\n%s", out)
			case err == nil:
				t.Errorf("no test noticed it")
			default:
				t.Log(firstProblem(out))
			}
		})
	}
}

// source returns the text of the file with the rule, and its path.
func (m mutation) source(t *testing.T) (text, path string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", m.file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source), path
}

// tested runs the tests of this package with a replaced file.
func tested(t *testing.T, path, text string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(text), overlay: replace} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", overlay, "..")
	if out, err := own.CombinedOutput(); err != nil {
		return string(out), err
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", overlay, "-skip", "TestMutations", ".", "-shrink=false", "-schedules", "12000")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func firstProblem(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "seed ") || strings.Contains(line, "_test.go:") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
