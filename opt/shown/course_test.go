package shown_test

import (
	"fmt"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// at returns a time some seconds after the beginning.
func at(seconds int) a2a.Time {
	return a2a.At(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second))
}

func courseOf(events ...opt.Event) *shown.Course {
	c := &shown.Course{}
	for i, e := range events {
		c.Add(shown.Recorded{Seq: int64(i + 1), Event: e})
	}
	return c
}

func TestCourse(t *testing.T) {
	objective := opt.NewObjectiveID([16]byte{1})
	plan := opt.PlanID(objective, 1)
	first, second := opt.TaskID(plan, 0), opt.TaskID(plan, 1)
	move := func(s int, task string, to opt.TaskState, attempt int) opt.Event {
		return opt.Event{Kind: opt.TaskMoved, At: at(s), PlanID: plan, TaskID: task, To: string(to), Attempt: attempt}
	}
	step := move(20, second, opt.TaskInputRequired, 0)
	step.Step = "remind"
	c := courseOf(
		opt.Event{Kind: opt.ObjectiveOpened, At: at(0)},
		opt.Event{Kind: opt.PlanStarted, At: at(1), PlanID: plan},
		move(2, first, opt.TaskWorking, 1),
		opt.Event{Kind: opt.TaskTried, At: at(5), PlanID: plan, TaskID: first, To: string(opt.TaskWorking), Attempt: 2},
		move(6, second, opt.TaskWorking, 1),
		move(8, first, opt.TaskCompleted, 2),
		move(10, second, opt.TaskInputRequired, 0), step,
		move(30, second, opt.TaskWorking, 1),
		move(32, second, opt.TaskFailed, 1),
		opt.Event{Kind: opt.TaskMoved, At: at(33), TaskID: objective, To: string(opt.TaskFailed)},
		opt.Event{Kind: opt.ObjectiveMoved, At: at(33), To: string(opt.ObjectiveFailed)},
	)
	want := map[string][]shown.Span{
		first: {
			{Kind: shown.LooksWorking, From: at(2), Until: at(5), Attempt: 1, End: shown.LooksFailed},
			{Kind: shown.LooksWorking, From: at(5), Until: at(8), Attempt: 2, End: shown.LooksCompleted},
		},
		second: {
			{Kind: shown.LooksWorking, From: at(6), Until: at(10), Attempt: 1},
			{Kind: shown.LooksWaiting, From: at(10), Until: at(30)},
			{Kind: shown.LooksWorking, From: at(30), Until: at(32), Attempt: 1, End: shown.LooksFailed},
		},
	}
	test.Equal(t, "spans", want, c.Tasks)
	if !c.Begun.Equal(at(0)) || !c.Ended.Equal(at(33)) || !c.Plans[plan].Equal(at(1)) || c.Seq != 12 {
		t.Errorf("the course is %+v", c)
	}
	if working, waiting := c.Total(shown.LooksWorking, at(40)), c.Total(shown.LooksWaiting, at(40)); working != 10_000 || waiting != 20_000 {
		t.Errorf("it has worked for %d ms, and waited for %d ms", working, waiting)
	}
}

// A span that lasts counts until now. Work that an operator has ended, and tasks that are
// reset, end theirs.
func TestCourse_ends(t *testing.T) {
	objective := opt.NewObjectiveID([16]byte{1})
	plan := opt.PlanID(objective, 1)
	task := opt.TaskID(plan, 0)
	begun := []opt.Event{{Kind: opt.TaskMoved, At: at(0), PlanID: plan, TaskID: task, To: string(opt.TaskInputRequired)}}
	test.Is(t, "a wait that lasts counts ms", 7000, courseOf(begun...).Total(shown.LooksWaiting, at(7)))
	for name, end := range map[string]opt.Event{
		"a terminated plan":      {Kind: opt.PlanMoved, At: at(3), PlanID: plan, To: string(opt.PlanFailed), Reason: opt.Terminated},
		"a terminated objective": {Kind: opt.ObjectiveMoved, At: at(3), To: string(opt.ObjectiveFailed), Reason: opt.Terminated},
		"a new attempt":          {Kind: opt.PlanRetried, At: at(3), PlanID: plan, Tasks: []*opt.Task{{ID: task}}},
	} {
		c := courseOf(append(begun, end)...)
		if spans := c.Tasks[task]; len(spans) != 1 || !spans[0].Until.Equal(at(3)) {
			t.Errorf("%s: %+v", name, spans)
		}
	}
}

// A task that has waited for a worker shows that, also between two legs of an attempt. What comes late changes nothing.
func TestCourse_untaken(t *testing.T) {
	plan := opt.PlanID(opt.NewObjectiveID([16]byte{1}), 1)
	task := opt.TaskID(plan, 0)
	taken := func(s, waited int) opt.Event {
		return opt.Event{Kind: opt.TaskTaken, At: at(s), PlanID: plan, TaskID: task, Attempt: 1, Waited: int64(waited) * 1000}
	}
	c := courseOf(
		taken(1, 1),
		opt.Event{Kind: opt.TaskMoved, At: at(2), PlanID: plan, TaskID: task, To: string(opt.TaskWorking), Attempt: 1},
		taken(1, 1), // by a clock that is slow
		taken(6, 5), taken(20, 4),
		opt.Event{Kind: opt.TaskMoved, At: at(22), PlanID: plan, TaskID: task, To: string(opt.TaskCompleted), Attempt: 1},
		taken(30, 1),
	)
	want := []shown.Span{
		{Kind: shown.LooksPending, From: at(2), Until: at(6), Attempt: 1, Untaken: true},
		{Kind: shown.LooksWorking, From: at(6), Until: at(16), Attempt: 1},
		{Kind: shown.LooksPending, From: at(16), Until: at(20), Attempt: 1, Untaken: true},
		{Kind: shown.LooksWorking, From: at(20), Until: at(22), Attempt: 1, End: shown.LooksCompleted},
	}
	test.Equal(t, "spans", want, c.Tasks[task])
}

// A task that a quota holds back waits, from when it says so until it says that it works, or has ended.
func TestCourse_held(t *testing.T) {
	plan := opt.PlanID(opt.NewObjectiveID([16]byte{1}), 1)
	task := opt.TaskID(plan, 0)
	move := func(s int, kind opt.EventKind, reason string) opt.Event {
		said := a2a.AgentMessage("c", task, ":progress", fmt.Sprint("Since ", s))
		return opt.Event{Kind: kind, At: at(s), PlanID: plan, TaskID: task, To: string(opt.TaskWorking), Reason: reason, Attempt: 1, Status: said}
	}
	c := courseOf(
		move(0, opt.TaskMoved, ""), move(1, opt.TaskMoved, opt.HeldByQuota), move(5, opt.TaskMoved, opt.HeldByQuota),
		move(9, opt.TaskProgressed, ""), move(10, opt.TaskProgressed, ""),
	)
	want := []shown.Span{
		{Kind: shown.LooksWorking, From: at(0), Until: at(1), Attempt: 1},
		{Kind: shown.LooksPending, From: at(1), Until: at(9), Attempt: 1, Text: "Since 5"},
		{Kind: shown.LooksWorking, From: at(9), Attempt: 1},
	}
	test.Equal(t, "spans", want, c.Tasks[task])
}
