package machine_test

import (
	"fmt"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// after passes time and then an input.
func (b *budgeted) after(ms int64, in machine.Input) {
	b.now += ms
	b.handle(in)
	b.handle(machine.Begin{})
}

// ends ends the leg that runs after some time, which its worker may have measured.
func (b *budgeted) ends(after, measured int64, out opt.Outcome) {
	b.Helper()
	out.Ran = measured
	b.after(after, machine.Ended{Key: b.m.Wants().Activities[0].Key, Outcome: out})
}

// ran lists the seconds that events count, and what else they count.
func (b *budgeted) ran() (list []string) {
	for _, e := range b.events {
		if u := e.Usage; e.Kind == opt.UsageAdded {
			list = append(list, fmt.Sprintf("%s %ds %d", e.TaskID[len(e.TaskID)-1:], u.Ran, u.Input))
		}
	}
	return list
}

// The time of a task is that of its legs, in attempts that fail, too, and of their waits for work elsewhere; not that for
// people, quotas, workers, and other attempts. Less than a second counts later.
func TestPlan_time(t *testing.T) {
	park := func(wait int64) opt.Outcome {
		return opt.Outcome{State: opt.TaskWorking, Memo: []byte("1"), OnCancel: true, Park: &opt.Park{Wait: wait}}
	}
	elapsed := func(b *budgeted) machine.Input { return machine.Elapsed{Key: b.m.Wants().Timers[0].Key} }
	failed := func(b *budgeted) machine.Input {
		return machine.Ended{Key: b.m.Wants().Activities[0].Key, Failed: &machine.Failure{Code: "error"}}
	}
	timeout := func(b *budgeted) machine.Input {
		return machine.Ended{Key: b.m.Wants().Activities[0].Key, Failed: &machine.Failure{Code: opt.ReasonTimeout, TimedOut: true}}
	}
	done, uses := opt.Outcome{State: opt.TaskCompleted}, park(0)
	uses.Usage = &opt.Usage{Input: 7, Ran: 99}
	for name, tt := range map[string]struct {
		story func(*budgeted)
		want  string
	}{
		"a leg":            {func(b *budgeted) { b.ends(3999, 0, done) }, "[0 3s 0]"},
		"less":             {func(b *budgeted) { b.ends(999, 0, done) }, "[]"},
		"with what it has": {func(b *budgeted) { b.ends(2000, 0, uses); b.ends(1000, 0, done) }, "[0 2s 7 0 1s 0]"},
		"attempts": {func(b *budgeted) {
			b.after(2000, failed(b))
			b.after(50_000, elapsed(b))
			b.ends(1500, 0, done)
		}, "[0 2s 0 0 1s 0]"},
		"a quota": {func(b *budgeted) {
			for range 3 {
				b.after(3_600_000, machine.Held{Key: b.m.Wants().Activities[0].Key, Text: "Waits."})
			}
			b.ends(3_600_000, 1500, done)
		}, "[0 1s 0]"},
		"a quota, then a cancel": {func(b *budgeted) {
			b.after(9000, machine.Held{Key: b.m.Wants().Activities[0].Key, Text: "Waits."})
			b.after(9000, failed(b))
		}, "[]"},
		"a timeout": {func(b *budgeted) { b.after(9_000_000, timeout(b)) }, "[0 1800s 0]"},
		"a timeout after a quota": {func(b *budgeted) {
			b.after(9000, machine.Held{Key: b.m.Wants().Activities[0].Key, Text: "Waits."})
			b.after(9_000_000, timeout(b))
		}, "[0 1800s 0]"},
		"a timeout of the executor's own after a quota": {func(b *budgeted) {
			b.after(9000, machine.Held{Key: b.m.Wants().Activities[0].Key, Text: "Waits."})
			b.after(2000, machine.Ended{Key: b.m.Wants().Activities[0].Key, Failed: &machine.Failure{Code: opt.ReasonTimeout}})
		}, "[]"},
		"a timeout of the executor's own": {func(b *budgeted) {
			b.after(2000, machine.Ended{Key: b.m.Wants().Activities[0].Key, Failed: &machine.Failure{Code: opt.ReasonTimeout}})
		}, "[0 2s 0]"},
		"a timeout of a cancel": {func(b *budgeted) {
			b.ends(0, 0, park(90_000))
			b.after(20_000, machine.Directed{Directive: machine.Directive{N: 2, Start: true, Since: 1000, Stop: opt.PlanCanceled}})
			b.after(30_000, timeout(b))
		}, "[0 50s 0]"},
		"a timeout under earlier rules": {func(b *budgeted) {
			b.m.State.Rules = 35
			b.after(9_000_000, timeout(b))
		}, "[0 9000s 0]"},
		"looks": {func(b *budgeted) {
			b.ends(1000, 5, park(20_000))
			b.after(20_000, elapsed(b))
			b.ends(1000, 5, park(30_000))
			b.after(30_000, elapsed(b))
			b.ends(1000, 5, done)
		}, "[0 50s 0]"},
		"a long look": {func(b *budgeted) {
			b.ends(0, 0, park(3_700_000))
			b.after(3_700_000, elapsed(b))
			b.ends(1000, 0, done)
		}, "[0 3700s 0 0 1s 0]"},
		"a cancel before a worker begins": {func(b *budgeted) {
			b.after(9000, machine.Ended{Key: b.m.Wants().Activities[0].Key, Failed: &machine.Failure{Canceled: true}})
		}, "[]"},
		"a cancel of a leg": {func(b *budgeted) {
			b.after(9000, machine.Ended{Key: b.m.Wants().Activities[0].Key, Failed: &machine.Failure{Canceled: true}, Outcome: opt.Outcome{Ran: 3000}})
		}, "[0 3s 0]"},
		"an end by hand before a leg has stopped": {func(b *budgeted) {
			b.ends(0, 0, park(90_000))
			b.after(20_500, elapsed(b))
			c := opt.Command{ID: "c1", Kind: opt.MoveTask, PlanID: plan(1), TaskID: task(1, 0), Status: string(opt.TaskCompleted)}
			b.after(1000, machine.Directed{Directive: machine.Directive{N: 2, Start: true, Since: 1000, Command: c.ID}, Command: &c})
			if got := fmt.Sprint(b.ran()); got != "[0 20s 0]" {
				b.Errorf("then %s is counted", got)
			}
			b.ends(1000, 500, opt.Outcome{State: opt.TaskFailed, Code: "canceled"})
		}, "[0 20s 0 0 1s 0]"},
		"a callback": {func(b *budgeted) {
			b.ends(0, 0, park(90_000))
			b.after(20_000, machine.Callback{Callback: opt.Callback{ID: "c", TaskID: task(1, 0), Round: 1, Outcome: &opt.Outcome{State: opt.TaskCompleted, Ran: 99_000}}})
			b.ends(60_000, 1000, done)
		}, "[0 21s 0]"},
		"a cancel": {func(b *budgeted) {
			b.ends(0, 0, park(90_000))
			b.after(20_000, machine.Directed{Directive: machine.Directive{N: 2, Start: true, Since: 1000, Stop: opt.PlanCanceled}})
			b.ends(60_000, 1000, opt.Outcome{State: opt.TaskFailed, Code: "canceled"})
		}, "[0 21s 0]"},
		"elsewhere": {func(b *budgeted) {
			b.ends(0, 0, opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{Elsewhere: &opt.Elsewhere{Queue: "q", Activity: "a"}}})
			b.ends(40_000, 5, done)
			b.ends(1000, 0, done)
		}, "[0 41s 0]"},
		"at a gate": {func(b *budgeted) {
			out := park(90_000)
			out.State, out.Gate = opt.TaskAuthRequired, &opt.Gate{Kind: opt.Credential, Title: "Sign in?"}
			b.ends(0, 0, out)
			b.after(90_000, elapsed(b))
			b.ends(2000, 0, done)
		}, "[0 2s 0]"},
		"people, and a measure": {func(b *budgeted) {
			b.ends(3_600_000, 2500, opt.Outcome{State: opt.TaskInputRequired, Gate: &opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}}})
			b.now += 3_600_000
			b.answer(0, opt.Reply{Action: opt.Accept})
			b.ends(3_600_000, 500, done)
		}, "[0 2s 0 0 1s 0]"},
		"a reset": {func(b *budgeted) {
			b.after(3_600_000, machine.Rewound{})
			b.ends(2000, 0, done)
		}, "[0 2s 0]"},
		"earlier rules": {func(b *budgeted) {
			b.m.State.Rules, b.m.State.Clocks = 30, nil
			b.ends(9000, 9000, done)
		}, "[]"},
	} {
		b := newBudgeted(t, "{}", &opt.Task{})
		tt.story(b)
		test.Is(t, name, tt.want, fmt.Sprint(b.ran()))
		if spent := b.m.State.Spent[task(1, 0)]; spent.Ran != 0 {
			t.Errorf("%s: it counts in budgets: %+v", name, spent)
		}
	}
}
