package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/worktime"
)

// A gate wants one timer, for its next step. People see its summary in Temporal's
// timeline.
func TestPlan_Wants_steps(t *testing.T) {
	o := &opt.Objective{ID: objectiveID, Attempt: 1}
	gate := &opt.Gate{Kind: opt.Approval, Title: "Approve\n" + strings.Repeat("é", 60) + "?", Actions: []opt.Action{opt.Accept}, Ladder: []opt.Step{{Kind: opt.Remind, After: 1}, {Kind: opt.Expire, After: 2}}}
	plan := test.Value(o.NewPlan(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t", Ask: gate}}}, a2a.AtMillis(1)))(t)
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: *plan, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
	m.Handle(a2a.AtMillis(1), machine.Opened{})
	m.Handle(a2a.AtMillis(1), machine.Begin{})
	id := plan.Tasks[0].ID + ":1"
	title := "Approve " + strings.Repeat("é", 44) + "…"
	want := func(timers ...machine.Timer) {
		t.Helper()
		test.Equal(t, "timers", timers, m.Wants().Timers)
	}
	want(machine.Timer{Key: "gate:" + id + ":1", At: a2a.AtMillis(1001), Summary: title + ": remind, step 1 of 2"})
	m.Handle(a2a.AtMillis(1001), machine.Elapsed{Key: "gate:" + id + ":1"})
	second := machine.Timer{Key: "gate:" + id + ":2", At: a2a.AtMillis(2001), Summary: title + ": expire (reject), step 2 of 2"}
	want(second)
	m.Handle(a2a.AtMillis(1500), machine.Elapsed{Key: "gate:" + id + ":1"}) // again
	want(second)
	m.Handle(a2a.AtMillis(2001), machine.Elapsed{Key: second.Key})
	want()
}

// A step counts by the calendar of its gate under earlier rules, which knew no other.
func TestPlan_calendarOfStep(t *testing.T) {
	always, sunday := &worktime.Calendar{Offsets: []worktime.Offset{{}}}, &worktime.Calendar{Offsets: []worktime.Offset{{}}}
	for day := range 7 {
		always.Week = append(always.Week, worktime.Interval{Day: day, To: 24 * 60})
	}
	sunday.Week = always.Week[:1]
	const hour, days = 3600, 3 * 24 * 3600 // from Thursday, 1970-01-01, to the first Sunday
	for rules, after := range map[int]int64{machine.Rules: days + hour - 1, 27: hour} {
		b := newBudgeted(t, "{}", &opt.Task{})
		b.m.State.Rules = rules
		b.end(opt.Outcome{State: opt.TaskInputRequired, Gate: &opt.Gate{
			Kind: opt.Approval, Actions: []opt.Action{opt.Accept, opt.Reject}, Title: "Go?", Calendar: always, Ladder: []opt.Step{{Kind: opt.Expire, After: hour, Works: true, Calendar: sunday}},
		}})
		test.Is(t, fmt.Sprintf("rules %d: seconds until it expires", rules), after, b.gate(0).Ladder[0].After)
	}
}
