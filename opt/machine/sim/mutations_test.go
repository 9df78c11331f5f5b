package sim_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/internal/test"
)

var mutate = flag.Bool("mutations", false, "break the rules of the machines one after another, and expect the schedules to notice")

// A mutation is one wrong rule: it replaces a text in a file of package machine.
type mutation struct{ name, file, from, to string }

var mutations = []mutation{
	{"tasks begin while their plan is being told to pause", "plan.go", "m.pause(d.Paused, opt.PausedByObjective)", "_ = d.Paused"},
	{"a plan that hears of a pause in a command begins at the next directive", "objective_state.go", " || d.Paused) && s.pauses()", ") && s.pauses()"},
	{"a pause is answered before the plans have confirmed", "command.go", "if confirm {", "if false {"},
	{"a plan confirms no directive", "plan_state.go", "s.Known.Directive >= s.Directive.Echo", "true"},
	{"a directive that was overtaken counts", "plan.go", "if d.N <= s.Directive.N {", "if false {"},
	{"a report that was overtaken counts", "objective_plans.go", " || !report.After(*p.Report) ||", " ||"},
	{"a command that comes again is applied again", "command.go", "return s.Answered[id] || waits", "return waits"},
	{"a plan applies a command each time it is told", "plan.go", "if in.Command != nil && (s.Answer == nil || s.Answer.CommandID != in.Command.ID) {", "if in.Command != nil {"},
	{"a retry begins what has lost its question", "objective_command.go", "s.Rules < rulesReplaced || ", "true || "},
	{"a retry leaves out what came in the place of a question", "../plan_order.go", `p.Reason == "" && slices`, "slices"},
	{"a retry leaves out what was skipped after the question was replaced", "../plan_order.go", " && p.UpdatedAt.Millis() <= b.UpdatedAt.Millis()", ""},
	{"what a retry knows of answers is lost", "objective.go", "s.Answered[id] = true", "_ = id"},
	{"a fork runs what it has taken over", "../task.go", "t.Artifacts = TaskCompleted,", "t.Artifacts = TaskPending,"},
	{"a fork takes over a decision", "../fork/fork.go", " && t.Ask == nil && t.Gates == 0", ""},
	{"a fork takes over a task that was changed", "../fork/digest.go", "t.Name, t.Description,", "t.Description,"},
	{"a fork takes over what was not completed", "../fork/fork.go", "t.State == opt.TaskCompleted && t.Ask", "t.State.Ended() && t.Ask"},
	{"a fork repeats what has begun", "../fork/fork.go", "len(begun) > 0 && !c.Repeat", "false"},
	{"notes of a fork do not name their author", "../task.go", "With(KeyAuthor, e.Principal)", "With(KeyPlanner, e.Principal)"},
	{"a gate of a fork names a decision about another object", "../task.go", "if o.ObjectDigest == digest {", "if true {"},
	{"a gate of a fork names who has only voted", "../decision_head.go", "!d.Closed || d.ByHand", "d.ByHand"},
	{"a fork keeps a decision against its playbook", "../gate.go", "return g.Keep && g.Kind", "return g.Kind"},
	{"a fork keeps a decision at a gate that asks something else", "../gate.go", " && o.Terms == g.Terms()", ""},
	{"a fork keeps a decision of those who may not decide", "../gate.go", "return g.Responders.Allow(v.DecidedBy, v.Groups, requesters...) }\n\treturn g.Keep", "return true }\n\treturn g.Keep"},
	{"a fork keeps a decision from after its event", "../fork/decided.go", " && !later", ""},
	{"a fork keeps the decision of a deputy", "../fork/decided.go", " || v.For != nil", ""},
	{"a fork keeps a decision that a reset has taken back", "../fork/decided.go", "\t\ts.setBack(e.PlanID)\n", ""},
	{"a fork keeps a decision after work by hand", "plan_state.go", "first && byServer && ", "first && (byServer || true) && "},
	{"a fork keeps a decision again", "plan_state.go", "t.Gates == 0 && s.Plan.Run <= 1 && s.Epoch <= 1", "true"},
	{"what a fork has taken over counts as begun by hand", "../plan_rollup.go", " && t.Taken == nil", ""},
	{"a letter that comes again is judged again", "objective.go", "if s.Seen[key] {", "if false {"},
	{"a letter to a plan that comes again is judged again", "plan_gate.go", "if m.State.Seen[key] {", "if false {"},
	{"the revision rises by two", "objective_command.go", "m.State.Objective.Revision + 1", "m.State.Objective.Revision + 2"},
	{"a refused command is applied", "plan_command.go", "answer.Refusal = opt.RefusalOf(err)\n\t\treturn answer", "answer.Refusal = opt.RefusalOf(err)"},
	{"an objective works without its turn", "turn.go", "return !t.Shared || t.Held", "return true"},
	{"an objective that cannot continue keeps its turn", "objective_state.go", "\tcase s.resting():\n\t\treturn WantRest\n", ""},
	{"an objective that has ended keeps its turn", "objective_state.go", "case s.Forgotten, s.Objective.Settled():", "case s.Forgotten:"},
	{"a plan keeps its permission while it waits", "plan_state.go", "s.Yielded = s.Directive.Permission", "return false"},
	{"a plan begins tasks without permission", "plan_state.go", "return !d.Shared || d.Permission > s.Yielded", "return !d.Shared || true"},
	{"a plan that was reset keeps its permission", "plan_state.go", "s.Epoch > 1 && d.PlanEpoch != s.Epoch", "false"},
	{"an objective that was begun again answers a reset plan with a number of before", "objective_plans.go", "d.N = above(l.Directive.N, m.now)", ""},
	{"the last that came has the next turn", "context.go", "s.Holder, *next = (*next)[0], (*next)[1:]", "s.Holder, *next = (*next)[len(*next)-1], (*next)[:len(*next)-1]"},
	{"an objective takes itself for alone when its context was ended", "turn.go", "case in.Gone && t.Want != WantLeave && rules >= rulesRoll:", "case false:"},
	{"an objective that works denies it in the roll", "objective_turn.go", "n, runs := t.N, works(s)", "n, runs := t.N, false"},
	{"a context that was reset gives the turn without a roll", "context.go", "\tcase Rewound:\n\t\tm.callRoll()\n", "\tcase Rewound:\n"},
	{"an objective that waits for an ended context never asks again", "objective_turn.go", "if awaitsTurn(s) {\n\t\tt.N++", "if awaitsTurn(s) && false {\n\t\tt.N++"},
	{"a context that continues as new sends the rest of its roll", "context.go", "< mostSignals && !m.leaves", "< mostSignals"},
	{"a context gives up an objective that is about to begin", "context.go", "joinTries = 5", "joinTries = 1"},
	{"a context forgets who began before others came", "context.go", "if id == entering || known != nil && known.Attempt >= attempt {", "if id != \"\" || known != nil {"},
	{"a retry that begins alone is taken for the attempt before", "context.go", "known.Attempt >= attempt", "known.Attempt < 100"},
	{"notes are not passed on", "objective_state.go", "d.Notes = len(s.Notes)", "d.Notes = 0"},
	{"notes that come before a delivery count as delivered", "link.go", "l.Noted = in.Notes", "l.Noted = l.Directive.Notes"},
	{"a plan takes in notes twice", "plan.go", "m.onNotes(in.Notes[len(in.Notes)-fresh:], ", "m.onNotes(in.Notes, "},
	{"a note reaches tasks that were approved before it", "plan_state.go", "if n, all := s.covered(&s.Plan, t, s.Directive.Covered); !all {", "if n, all := s.covered(&s.Plan, t, s.Directive.Covered); false && !all {"},
	{"a note reaches a plan that follows an approval before it", "objective_state.go", "d.Covered = max(d.Covered, covered(o, p))", "d.Covered = 0"},
	{"an approval does not show a later note", "plan_gate.go", "m.job(t).extend(t.Gate.WithNote(exchanged(l, m.now)))", "_ = l"},
	{"a plan is not asked to report its end", "objective_state.go", "d.ReportEnd || s.leaves(l)", "false"},
	{"a run hands over before its plans know", "link.go", "(l.Gone || !d.ReportEnd || l.Delivered < d.N)", "(!d.ReportEnd || l.Delivered < d.N)"},
	{"a plan that was replaced goes on", "objective_plans.go", "m.addPlans(plans, old)", "m.addPlans(plans, nil)"},
	{"an attempt follows on the one before at once", "job.go", "w.Waiting, w.Due = true, a2a.At(j.plan.facts().now.Time().Add(wait))", "w.Waiting, w.Running = false, true"},
	{"a failed attempt is attempted again for ever", "job.go", "last := w.Attempt >= cmp.Or(t.Attempts, TaskAttempts)", "last := w.Attempt >= 100*cmp.Or(t.Attempts, TaskAttempts)"},
	{"what is canceled works on", "plan.go", "\tfor _, t := range m.State.Plan.Doomed() {\n\t\tany = m.job(t).cancel(opt.Event{}) || any\n\t}\n", ""},
	{"a plan begins before it is recorded", "link.go", "N: d.N, After: l.After}", "N: d.N}"},
	{"a former attempt is read before its end is recorded", "objective.go", ", After: s.Ended}", "}"},
	{"a pause that is repeated is answered too early", "command.go", "&& len(m.state.unconfirmed()) > 0:", "&& false:"},
	{"tasks begin before all that has arrived was taken in", "plan.go", "(begin || opened && m.State.opens()) && m", "(begin || opened || true) && m"},
	{"a report is lost that arrives with the news of the start", "objective_plans.go", "if p.Over() || report.Attempt", "if !l.Begun || p.Over() || report.Attempt"},
	{"a plan whose former run is there is not begun again", "objective_plans.go", "l.RetryAt = a2a.Time{}\n\t\t\t}", "}"},
	{"what was sent back is not made again", "plan_gate.go", "\tm.apply(reopening(&m.State.Plan, t, t.Gate.Sources, reply, remarked(message, reply)))\n", ""},
	{"a task that waits for what it has sent back takes a slot", "../task.go", "t.State == TaskWorking && !t.Awaits()", "t.State == TaskWorking"},
	{"later tasks get what a person has replaced", "plan_object.go", "if e := r.editOf(b); e != nil {", "if e := r.editOf(b); e != nil && false {"},
	{"a step that is late does not move those after it", "../gate_step.go", "out.Late += max(0, at.Millis()-g.after(s).Millis())", "_ = at"},
	{"anyone decides at a gate", "plan_state.go", "reply.Action != opt.Ask && reply.For == nil && !t.Gate.Responders.Allow", "false && !t.Gate.Responders.Allow"},
	{"a lost plan stays open", "objective_lost.go", "\t\tl.doubt()\n", ""},
	{"a retry uses the key of a check again", "objective_command.go", ", Doubts: l.Doubts}", "}"},
	{"a plan is lost because a reconciler says so", "objective_lost.go", "case !p.Over() && s.Rules >= rulesCheck:", "case false:"},
	{"a check of an earlier run counts", "objective_lost.go", "!l.Doubted || l.check() != in.Key", "false"},
	{"a plan that is gone stays open", "objective_lost.go", "case in.Gone:", "case false:"},
	{"a plan that is there is gone", "objective_lost.go", "case in.Gone:", "default:"},
	{"a plan that an ended objective finds again runs on", "objective_lost.go", "case s.Objective.Status.Ended() && s.Rules >= rulesAlone:", "case false:"},
	{"a plan that was reset after its end and then lost stays open", "objective_lost.go", "case p.Reason != opt.Terminated:", "case false:"},
	{"a machine gets signals that it cannot handle", "input.go", "ok && !in.complete()", "ok && !in.complete() && false"},
	{"an objective with work by hand cannot be closed", "objective.go", "case p.Started, p.Status == opt.PlanWorking:", "case p.Started:"},
	{"a run that was reset continues in the same epoch", "drive/driver.go", "d.rec.reset = d.host.Reset() || d.rec.reset", "_ = d.host.Reset()"},
	{"an objective that was reset begins plans again that run", "objective_plans.go", "if m.State.Rules >= rulesFound && l.Try < beginTries || m.State.Epoch > 1 && !l.Found {", "if false {"},
	{"an objective takes over only the first run of a plan that it finds", "objective_plans.go", "m.State.Rules >= rulesFound && l.Try < beginTries || ", ""},
	{"a run of a plan holds up the attempt after it", "plan.go", " || d.Run > s.Plan.Run && s.Rules >= rulesFound", ""},
	{"a plan that was reset changes its later attempt", "sim/journal.go", "return p != nil && p.Run > attempt", "return p != nil && p.Run > attempt && e.Kind == opt.SourceRewound"},
	{"an objective that was reset takes a plan over too late", "rewind.go", "if !l.RetryAt.IsZero() {", "if false {"},
	{"an objective that was reset keeps a turn that it had", "rewind.go", "\t\ts.loseTurn()\n", ""},
	{"a plan that has found no objective reports no more", "plan_state.go", "s.Alone && s.Rules < rulesEnds", "s.Alone"},
	{"a plan that was reset leaves its end to its result", "plan_state.go", " || s.Epoch > 1 && s.Rules >= rulesEnds", ""},
	{"a plan that was reset after its end waits for its objective", "plan.go", "if !s.Directive.Over || s.Rules", "if true || s.Rules"},
	{"an attempt is counted when its last leg has stopped", "job_leg.go", "ended := j.task", "ended := false && j.task"},
	{"an objective that was alone before a reset asks nobody for the turn", "rewind.go", "if s.Rules >= rulesAsks {", "if false {"},
	{"an objective that was alone before a reset takes a former turn for its own", "turn.go", "if rewound {", "if false {"},
	{"an objective that was reset rests though a plan may work", "objective_state.go", "(given || l.isUnsure(s.Epoch))", "given"},
	{"a planner works on after a reset without the turn", "objective_state.go", "k := s.Making; k != nil && k.Begun", "k := s.Making; false"},
	{"the end of a plan counts that does not know of the reset", "link.go", "(!l.Begun || l.Start != nil) && (report", "!l.Begun && (report"},
	{"a report for an earlier run that had the epoch counts", "link.go", " || report.Directive < l.First", ""},
	{"a plan counts messages for an earlier run of its objective", "plan.go", "if d.Epoch > s.Above {", "if false {"},
	{"a plan has a message again after a reset of its objective", "plan_gate.go", "if again && ", "if false && "},
	{"a reset objective sends no messages that its plan has counted", "objective_state.go", "case l.Unheard: ", "case false: "},
	{"a retry of a rewound objective numbers directives as before", "objective_command.go", "l.renumber(m.now)", "_ = s"},
	{"a plan that begins again leaves what it had recorded", "objective_state.go", "Rewind: s.Epoch > 1, ", ""},
	{"a rewound objective waits for an answer that its plan has given", "plan.go", "s.Known.Answer = nil", "_ = s"},
	{"a plan that an earlier run has started works in a pause", "objective_state.go", "begun || l.Unheard || d.Command", "begun || d.Command"},
	{"a plan that begins again records its first events before it sets its rows back", "drive/driver.go", "len(d.rec.pending) > 0 && !w.Rewind", "len(d.rec.pending) > 0"},
	{"a plan that is forgotten records for ever", "drive/recorder.go", "e.Source == r.source && e.Unknown:", "false:"},
	{"a former attempt at a plan is taken over", "plan.go", "if d.Run > s.Plan.Run {", "if false {"},
	{"a plan of another attempt at the objective is taken over", "plan.go", "d.Imprint != \"\" && d.Imprint != s.Imprint ||", ""},
	{"what a retry has read before a reset counts", "rewind.go", "if s.Loading {", "if false {"},
	{"a reset objective that the journal has refused keeps its turn", "objective_state.go", "case s.Forgotten, s.Objective.Settled():", "case s.Objective.Settled():"},
	{"an objective that was reset to before a retry continues", "objective.go", "\tcase Forgotten:\n\t\tm.State.Forgotten = true\n", ""},
	{"the run of a retry that was reset continues what it has read", "objective.go", "rules >= rulesReads && ", "false && "},
	{"a reset objective waits for a result that it will not get", "objective_plans.go", "s.Epoch > 1 && s.Rules >= rulesReads)", "false)"},
	{"a reset objective waits for the turn of a retry that it refused", "turn.go", "case retried:", "case false:"},
	{"an open gate of a plan that was set back opens again", "rewind.go", "\t\t\t\t\tt.Gate = e.Gate\n", ""},
	{"inputs are handled before a reset", "drive/driver.go", "if d.rec.reset {", "if d.rec.rewinds = d.rec.rewinds || d.rec.reset; false {"},
	{"gates of a plan that was set back count twice", "rewind.go", "t.Gates-- // it opens again", "_ = t"},
	{"a plan in a later epoch leaves its end to its objective", "plan_state.go", "&& s.Epoch <= 1 }", "}"},
	{"a report that Temporal has not taken counts as delivered", "drive/work.go", "if r == Taken || r == Gone {", "if r != Refused {"},
	{"first events count as recorded though the journal has not answered", "drive/work.go", "if is.Err == nil {", "if true {"},
	{"work begins with the first events of a plan", "plan_state.go", "!slices.ContainsFunc(s.Plan.Ready(), other)", "(true || !slices.ContainsFunc(s.Plan.Ready(), other))"},
	{"an objective in a later epoch leaves its end to its worker", "objective_state.go", "s.Objective.Attempt <= 1 && s.Epoch <= 1 && done", "s.Objective.Attempt <= 1 && done"},
	{"a retry leaves its end to its worker", "objective_state.go", "&& s.Objective.Attempt <= 1 ", ""},
	{"an objective that was restored leaves its end to its worker", "objective_state.go", "return s.Opened && s", "return s"},
	{"what an objective says after its end is left to its worker", "objective_state.go", "&& done < s.End", ""},
	{"a plan does not follow its objective into another epoch", "plan_state.go", "s.Above, s.Rewind = d.Epoch, true", "s.Above = d.Epoch"},
	{"an objective that is closed keeps its turn", "objective.go", "s.Turn = TurnState{Shared: true, Want: WantTurn, N: at, Delivered: at}", "_ = at"},
	{"what waits for people is moved before them", "../plan_order.go", "case r.was[t.ID][g.ID] && !r.now[t.ID][g.ID]:", "case false:"},
	{"people are asked before what they were to see", "../plan_order.go", "case r.was[g.ID][t.ID] && !r.now[g.ID][t.ID]:", "case false:"},
	{"a task that has begun gets another order", "../plan_order.go", "case t.State != TaskPending:", "case false:"},
	{"a result reaches a task past an approval", "../plan_order.go", ", r.checkResults(t)", ""},
	{"an approval shows less than before", "../plan_order.go", ", r.checkShown(t)", ""},
	{"a task begins before a task whose result its input names", "../plan_order.go", "cmp.Or(r.checkUses(t), ", "cmp.Or("},
	{"the same order is another one", "../plan_order.go", "t.Dependencies == nil || !sameTasks(t.Dependencies, deps)", "true"},
	{"a standing decision decides after another order", "plan_command.go", "\t\t\tm.State.Reordered = true\n", ""},
	{"a plan of earlier rules gets another order", "plan_command.go", "m.State.Rules < rulesReorder", "false"},
	{"another order is recorded and not kept", "../plan.go", "t.Dependencies = o.Dependencies", "_ = t"},
	{"a principal decides twice", "plan_state.go", "reply.Action != opt.Ask && t.Gate.Voted(reply.DecidedBy)", "false"},
	{"a deputy decides where the absent one may not", "../gate.go", "g.Responders.Allow(s.Principal, s.Groups, requesters...) && ", ""},
	{"a deputy that has a part in the work decides", "../responders.go", "others.Allow(deputy, nil, requesters...) && ", ""},
	{"who has a part in the work names the deputy", "../responders.go", `(s.MadeBy == "" || others.Allow(s.MadeBy, nil, requesters...))`, "true"},
	{"a seat has two votes", "../gate.go", "v.DecidedBy == principal || v.seat() == principal", "v.DecidedBy == principal"},
	{"one accepts for several", "plan_gate.go", "if !t.Gate.Decides(reply.Action) {", "if false {"},
	{"who has shaped the work is recorded with the next event", "objective.go", "if s.Shaped && s.Rules", "if false && s.Rules"},
	{"the requester decides", "../responders.go", "r.NotRequester && (", "false && ("},
	{"one rejects where rejections are counted", "../gate.go", "a == Reject && g.Responders.NoVeto", "false"},
	{"a vote is lost", "plan_gate.go", "append(slices.Clone(gate.Votes), ", "append(slices.Clone(gate.Votes[:0]), "},
	{"an action that is not offered counts", "plan_state.go", "t.Gate.Kind != opt.Clarification && !t.Gate.Allows(reply.Action), ", ""},
	{"a reply to a former gate counts", "plan_state.go", "t.Gate == nil || t.Gate.ID != reply.GateID:", "t.Gate == nil:"},
	{"a comment is lost", "plan_gate.go", "(t == to || !l.Comment) {", "(t != to || !l.Comment) {"},
	{"refine is offered though no task can make the object again", "plan_object.go", "if len(gate.Sources) == 0 {", "if false {"},
	{"one edits for several", "plan_object.go", " || gate.Responders.Several() {", " {"},
	{"work by hand takes the place of a decision", "admit.go", "(ended || guarded(t) && !stops(to))", "ended"},
	{"a decision about something else counts", "plan_state.go", "case reply.ObjectDigest != \"\" && reply.ObjectDigest != t.Gate.ObjectDigest:", "case false:"},
	{"a reply leaves no record", "plan_gate.go", "e.Decision = m.State.decided(target, reply, e.Verdict, opt.Decision{ReplyDigest: opt.PartsDigest(l.Message.Parts)})", "_ = target"},
	{"each record is the first in its chain", "plan_state.go", "return s.Chain.Add(d)", "chain := opt.Chain{}\n\treturn chain.Add(d)"},
	{"a step of a gate is taken at once", "job.go", "At: next.At,", ""},
	{"a step of a gate is taken twice", "../gate_step.go", "out.Taken++\n", "_ = 0\n"},
	{"any timer of a gate takes the next step", "plan_gate.go", "ok && stepKey(t.Gate) == key", "ok && (stepKey(t.Gate) == key || strings.HasPrefix(key, gateTimer))"},
	{"a step of a gate is left out", "../gate_step.go", "out.Taken++\n", "out.Taken = min(g.Taken+2, len(g.Ladder)-1)\n"},
	{"a holiday counts as a working day", "../worktime/worktime.go", "works := !c.isHoliday(day)", "works := true"},
	{"working time passes at night", "../gate_step.go", "s.Works && c != nil {", "false {"},
	{"a step has the calendar of the one before", "../gate_step.go", "; c != nil {\n\t\t\treturn c", "; false {\n\t\t\treturn c"},
	{"working time passes at night after a late step", "plan_gate.go", "return t.Ask\n", "return nil\n"},
	{"a step does not wait for a late one before it", "../gate_step.go", "before, now = planned, next", "before, now = planned, planned"},
	{"earlier rules know calendars of steps", "plan_state.go", "gate.Clocked(at, s.Rules >= rulesClocks)", "gate.Clocked(at, true)"},
	{"a gate has no timer", "job.go", "to.Timers = append(to.Timers, timer)", "_ = timer"},
	{"an approval that expires is accepted", "../gate_step.go", "next.Action = Reject", "next.Action = Accept"},
	{"an expiry leaves the gate open", "plan_gate.go", "if next.Kind == opt.Expire {", "if next.Kind == opt.Expire && false {"},
	{"an escalation leaves out those before", "../gate_step.go", "g.Responders.Joined(s.To)", "g.Responders.Replaced(s.To)"},
	{"votes count after a reassignment", "../gate_step.go", "!out.Responders.names(v.seat(), v.Groups)", "false"},
	{"a reassignment adds to those before", "../gate_step.go", "out.Responders = g.Responders.Replaced(s.To)", "out.Responders = g.Responders.Joined(s.To)"},
	{"a leg begins before its wait is over", "job_leg.go", "w.Due = a2a.At(f.now.Time().Add(wait))", "_ = wait"},
	{"a callback before the park is lost", "job_leg.go", "w.Woken = w.Running", "w.Woken = false"},
	{"a leg begins before its wait is over for a note that it did not ask for", "job_leg.go", "if w.Hears && w.Waiting", "if w.Waiting"},
	{"what a leg has used is recorded twice", "job_leg.go", "\t\tj.plan.record(e)", "\t\tj.plan.record(e)\n\t\tj.plan.record(e)"},
	{"what a leg has used is not recorded", "job_leg.go", "\t\tj.plan.record(e)", ""},
	{"a step begins though the budget is spent", "job_leg.go", "if facts.spending.fits(w.needs(), opt.Usage{}, facts.now) {", "if true {"},
	{"a raise releases more than it covers", "job_leg.go", "fits(j.work().needs(), due(jobs), facts.now)", "fits(j.work().needs(), opt.Usage{}, facts.now)"},
	{"each task asks about the budget", "job_leg.go", " || slices.ContainsFunc(held, func(j job) bool { return j.task.Gate != nil })", ""},
	{"no one asks about the budget", "job_leg.go", "\tfirst.ask(e)\n", ""},
	{"a budget is raised above what the operator allows", "spending.go", "raised.Or(b.SpendLimit).Within(b.Most)", "raised.Or(b.SpendLimit)"},
	{"a message has more than the operator allows", "../usage.go", "\tb.Most = playbook.Most\n", ""},
	{"plans of clients escape the budget of the playbook", "objective_plans.go", "p.Budget = budgetIn(&s.Objective, p.Budget)", "p.Budget = budgetIn(&opt.Objective{}, p.Budget)"},
	{"a plan is given for ever what nothing limits", "share.go", " || p.limits[k] == unlimited {", " {"},
	{"a plan does not know what others have used", "share.go", "tellSpent(d, s, p)", "_ = s"},
	{"plans at the same time do not share the budget", "share.go", "case begins:", "case false:"},
	{"a plan spends what others have reserved", "spending.go", "s.all(at).Plus(s.state.Directive.Reserved)", "s.all(at)"},
	{"each of the plans that begin gets all of the budget", "share.go", "of.plans = append(of.plans, sharerOf(s, l, p))", "of.plans = append(of.plans, &sharer{link: l, plan: p})"},
	{"a rest is given on before its plan has confirmed that", "share.go", "return p.link.Unheard || p.plan.Report.Directive < p.link.Directive.Echo", "return false"},
	{"a plan that is retried has all of the budget", "share.go", "return l.Shares && !p.Over()", "return !p.Over()"},
	{"a plan that is short gets nothing", "share.go", "given[k] = max(p.room[k], p.spent[k]) +", "_ ="},
	{"a plan keeps its rest", "share.go", "to = most.without(k, max(want, (most.rest(k)+1)/2))", "_ = most"},
	{"a rest goes to and fro between plans that are short", "share.go", "other.needs()[k] > 0", "false"},
	{"a plan that is short asks for no raise", "share.go", "\t\tto = of.leave(p, short[:i])\n", ""},
	{"plans at the same time ask for raises", "spending.go", "return !s.state.Directive.Wait || s.state.Alone", "return true"},
	{"leave to ask goes to others before the gate is answered", "share.go", "case other.asks(false), ", "case "},
	{"a plan that asks about its own budget keeps others from asking", "share.go", " && !of.busy(other):", ":"},
	{"a plan forgets what its attempts have used", "objective_command.go", "Before: l.Before.Plus(spent)", "Before: l.Before"},
	{"a restored plan forgets what its attempts have used", "objective.go", "Before: kept.UsedBy[p.ID]", ""},
	{"a plan exceeds its own budget", "spending.go", "list = append(list, purse{own, ofPlan, used, used, true, true})", "_, _ = own, used"},
	{"a gate about the budget of a plan raises the other", "spending.go", "return &s.state.RaisedOwn, own", "return &s.state.Raised, own"},
	{"a plan does not report that it is short", "directive.go", " && a.Short == b.Short", ""},
	{"what a plan has used is reported with other news alone", "directive.go", " && (!b.Limited || a.Spent == b.Spent)", ""},
	{"a call is not counted", "job.go", "calls > 0 {", "calls > 100 {"},
	{"a question is not counted", "plan_gate.go", "if s.Rules >= rulesBudget {", "if false {"},
	{"a question about the budget begins a round", "../task.go", "e.Gate != nil && !e.Gate.Budget && ", "e.Gate != nil && "},
	{"a memo is lost", "job_leg.go", "k.Memos[id] = opt.Memo{Data: out.Memo, OnCancel: out.OnCancel}", "_ = id"},
	{"a callback counts twice", "job_leg.go", " || slices.Contains(w.Callbacks, c.ID)", ""},
	{"a callback for a former round counts", "job_leg.go", "!w.AtGate && w.Round == c.Round", "!w.AtGate"},
	{"a callback decides at a gate", "job_leg.go", "!w.AtGate && w.Round == c.Round", "w.Round == c.Round"},
	{"work that goes on leaves its gate open", "job_leg.go", "\tif !w.AtGate {\n\t\treturn\n\t}\n", "\treturn\n"},
	{"work elsewhere is not watched during a pause", "job.go", "!may && !w.AtGate", "!may"},
	{"an answer is lost while the work elsewhere is watched", "job.go", "w.end(), w.AtGate && t.Gate == nil", "w.end(), false"},
	{"a plan keeps its permission while it watches at a gate", "plan_state.go", "w.Waiting && !w.AtGate", "w.Waiting"},
	{"work elsewhere is not canceled while the task is parked", "job.go", "case j.cancels():", "case false:"},
	{"work elsewhere is not canceled at a gate", "plan.go", "again = m.cancelAtGates()", "again = false"},
	{"work elsewhere is not canceled after its leg was stopped", "job.go", "\tif j.cancels() {\n\t\tj.beginCanceling(opt.Event{})\n\t\treturn\n\t}\n", ""},
	{"an outcome elsewhere is lost", "job.go", "w.Returned = cmp.Or(w.Returned, &in.Outcome)", "w.Returned = cmp.Or(w.Returned, &opt.Outcome{State: opt.TaskCompleted})"},
	{"an outcome that a callback has brought is lost when the leg fails", "job.go", "return in.Failed != nil && w.Returned != nil && !w.Returning", "return false"},
	{"an outcome that a callback has brought is lost when the leg is stopped", "job.go", "stopped && (w.Returned == nil || w.Returning) &&", "stopped &&"},
	{"a command waits for its plan without a limit", "command.go", "case c.PlanID != \"\":\n\t\tm.waitNoMore()\n", ""},
	{"an overdue command that was applied counts as refused", "command.go", "r.Answer != nil && r.Answer.CommandID == c.Command.ID:", "false:"},
	{"an overdue command is never answered", "command.go", "\tif i < 0 {", "\tif true {"},
	{"a command overtakes an overdue one of its plan", "command.go", "s.overdue(c.PlanID) < 0 || expired(now, c)", "true"},
	{"something is sent or begun before its event is recorded", "drive/recorder.go", "there := r.done >= n &&", "there := r.done >= 0 &&"},
	{"a run that wants to continue as new holds up its work", "drive/leave.go", "l.now, l.timed, l.tried = size.TooLong,", "l.now, l.timed, l.tried = true,"},
	{"a run continues as new while activities run", "drive/work.go", "len(w.activities) == 0 && len(w.signals) == 0", "len(w.signals) == 0"},
	{"a run continues as new before its events are recorded", "drive/driver.go", "d.idle() && d.rec.recorded():", "d.idle():"},
	{"a workflow ends before its events are recorded", "drive/driver.go", "d.rec.recorded() || d.rec.rides", "true || d.rec.rides"},
	{"events that rode in an activity count as recorded though it failed", "drive/work.go", "e.Returned && refused == nil", "true"},
	{"an activity whose worker was lost does not begin again", "drive/work.go", "if e.Again && !c.canceled {", "if false {"},
	{"events are dropped after a failed try", "drive/recorder.go", "r.write(Recording{Batches: rec.Batches, Again: true}, nil) // no event is dropped\n\t\t\treturn", "_ = rec"},
	{"what a plan has carried is lost", "drive/work.go", "w.rec.carry(ride)", "_ = ride"},
	{"a signal that Temporal has refused counts as sent", "drive/work.go", "if r == Refused {", "if false {"},
	{"refused events are written again", "drive/recorder.go", "case e.Source == r.source:\n\t\tr.rewind(e.Epoch)", "case false:"},
	{"tasks leave their place in a list with dependencies", "../plan.go", "t.Dependencies == nil && !p.Loose || !p.Unordered()", "!p.Unordered()"},
	{"plans leave their place in a list with dependencies", "../objective.go", "p.Dependencies == nil && !o.Loose || !o.Unordered()", "!o.Unordered()"},
	{"a task overtakes those whose results one that a client has ended passes on", "../plan.go", "(p.Loose || haveEnded", "(true || haveEnded"},
	{"a plan overtakes those whose results one that was skipped passes on", "../objective.go", "(o.Loose || haveEnded", "(true || haveEnded"},
	{"a cycle through the list is accepted", "../spec.go", "return left[b] }) {\n\t\t\t\tdelete(left, n)", "return left[b] }) || true {\n\t\t\t\tdelete(left, n)"},
	{"a retry that finds nothing in the journal keeps its turn", "turn.go", "return TurnRequest{ObjectiveID: objectiveID, Want: WantLeave}", "return TurnRequest{ObjectiveID: objectiveID}"},
	{"a retry that finds nothing in the journal is waited for", "context.go", "(member == s.Holder || member.Silent)", "member == s.Holder"},
	{"an objective is removed while a client retries it", "sim/call.go", "r.kept, cs.w.facts.asked[o.ID] = cs.w.now, cs.w.now", "cs.w.facts.asked[o.ID] = cs.w.now"},
	{"a rebuild leaves out an event", "sim/rebuild.go", "\tj.recordAgain(lost)", "\tj.recordAgain(lost[1:])"},
	{"a former attempt is read from a journal that has lost it", "sim/activity.go", "a.Kind == machine.LoadKept && ws.w.journal.early", "false && ws.w.journal.early"},
	{"checks decide after people were asked", "plan_object.go", "!decides || r.forPeople(t, *gate)", "!decides || r.plan.Run > 1 || r.changed(t, *gate)"},
	{"checks send an object back for ever", "plan_object.go", "< checks.Rounds", "< 100*checks.Rounds"},
	{"checks decide about a note that none has seen", "plan_object.go", "gate.Omitted > 0 || slices.ContainsFunc(gate.Exchanges, byOthers)", "gate.Omitted > 0 && byOthers(opt.Exchange{})"},
	{"checks decide about what a client has made", "plan_object.go", "return t.ByHand || t.Link != \"\"", "return false"},
	{"a standing decision of one who may not decide counts", "../gate.go", "return g.Responders.MayStand(v.DecidedBy, v.Groups, requesters...)", "return true"},
	{"a standing decision of the requester counts", "../responders.go", " && others.Allow(principal, nil, requesters...)", ""},
	{"a standing decision with too few people behind it counts", "../gate.go", "decided = before.Decides(a)", "decided = true"},
	{"one is counted twice behind a standing decision", "../gate.go", "before.Voted(v.DecidedBy)", "false"},
	{"a standing decision decides about another object", "../gate.go", " && s.ObjectDigest == g.ObjectDigest", ""},
	{"a standing decision decides what a check has rejected", "plan_object.go", "return f.Verdict == opt.Reject || f.Digest", "return f.Digest"},
	{"a standing decision decides what a playbook leaves to people", "plan_state.go", "gate.Standing = t.Standing", "gate.Standing = \"gates\""},
	{"a standing decision decides what only people may", "plan_object.go", " && !r.forPeople(t, gate)\n", "\n"},
	{"a check counts that a client has ended", "../gate_object.go", "t.State != TaskCompleted || t.ByHand || t.Link != \"\"", "t.State != TaskCompleted"},
	{"one check decides for several", "../gate_object.go", "count[Accept] >= g.Need", "count[Accept] >= 1"},
	{"a verdict is an input of the tasks behind the gate", "../plan.go", "len(t.Artifacts) > 0 && !t.Check", "len(t.Artifacts) > 0"},
	{"what a quota holds back does not say so", "job.go", "show(j, opt.HeldByQuota, text)", "_ = text"},
	{"what has waited for a quota does not know", "job.go", "w.Quota = true", "_ = j"},
	{"a leg that needs more counts as one that takes work in", "job.go", "w.Collects = w.Leg > 0 && w.Needs == opt.Usage{} &&", "w.Collects = w.Leg > 0 &&"},
	{"a leg that takes work in waits for quotas", "job.go", "w.Collects = w.Leg > 0 &&", "w.Collects = false &&"},
	{"a human task asks without room in the quotas", "plan_gate.go", "(stands || asked == nil && countsQuestions(s))", "stands"},
	{"the wait of a task for a worker counts as time if it times out", "job_leg.go", "f.rules >= rulesTimeouts", "false"},
	{"an error of an executor counts as if Temporal had timed the task out", "job_leg.go", "(in.Failed.TimedOut || f.rules < rulesTimedOut)", "true"},
	{"what passes until a quota sends a step back counts as time", "job.go", "\trestart(j)\n", ""},
	{"an attempt that fails has taken no time", "job_leg.go", "\tlap(j, ran)\n", "\tif in.Failed == nil {\n\t\tlap(j, ran)\n\t} else {\n\t\trestart(j)\n\t}\n"},
	{"the measure of a worker is not the time of a leg", "clock.go", "c.Ran += measured", "c.Ran += now.Millis() - c.Since.Millis()"},
	{"the wait at a gate counts as time", "job_leg.go", "!w.Due.IsZero() && !w.AtGate", "!w.Due.IsZero()"},
	{"the wait between two legs takes no time", "job_leg.go", "w.Waiting && w.Leg > 0 &&", "false && w.Leg > 0 &&"},
	{"the wait for another attempt counts as time", "job_leg.go", "w.Waiting && w.Leg > 0 &&", "w.Waiting &&"},
	{"a wait that a callback ends takes no time", "job_leg.go", "\tlap(j, 0)\n\tif !w.Waiting {", "\tif !w.Waiting {"},
	{"a cancel has the wait before it take no time", "job_leg.go", "\tlap(j, 0)\n\tif w == nil ||", "\tif w == nil ||"},
	{"less than a second is lost with each task", "job_leg.go", "= sum%1000, 0", "= 0, 0"},
	{"an attempt that goes on is counted with its end alone", "job_leg.go", " && c.Ran < latestCount", ""},
	{"a reset counts what has passed since", "plan.go", "if rewound {", "if rewound && false {"},
	{"a question that has waited for a budget opens without room in the quotas", "job.go", "return nil\n\t}\n\treturn &opt.StandingUse{}", "_ = rules\n\t}\n\treturn &opt.StandingUse{}"},
	{"a link counts as begun by the run that goes on", "objective_state.go", "next.Own = false", "next.Own = true"},
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
	path = test.Value(filepath.Abs(filepath.Join("..", m.file)))(t)
	source := test.Value(os.ReadFile(path))(t)
	return string(source), path
}

// tested runs the tests of the machines, of their driver and of this package with a replaced file.
func tested(t *testing.T, path, text string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace := test.Value(json.Marshal(map[string]map[string]string{"Replace": {path: changed}}))(t)
	for name, content := range map[string][]byte{changed: []byte(text), overlay: replace} {
		test.OK(t, os.WriteFile(name, content, 0o600))
	}
	for _, tests := range [][]string{{"..", "../drive", "../..", "../../fork"}, {"-skip", "TestMutations", ".", "-shrink=false", "-schedules", "12000"}} {
		args := append([]string{"test", "-count=1", "-vet=off", "-failfast", "-overlay", overlay}, tests...)
		limited := append([]string{"-c", `ulimit -v 8000000 && exec go "$@"`, "go"}, args...) // some machines never come to rest
		if out, err := exec.CommandContext(t.Context(), "sh", limited...).CombinedOutput(); err != nil {
			return string(out), err
		}
	}
	return "", nil
}

func firstProblem(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "seed ") || strings.Contains(line, "_test.go:") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
