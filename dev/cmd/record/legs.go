package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// inLegs are the shapes of work that runs in legs.
var inLegs = []shape{
	{name: "legs", specs: legged("go on 3")},
	{name: "legs-failed", specs: legged("go on 2; fail")},
	{name: "legs-used", specs: legged("go on 2 using; fail"), steps: []step{retry(opt.ObjectiveSubmitted), start}},
	{name: "legs-continued", long: true, specs: legged("go on 40")},
	{name: "parked-reported", specs: legged("park"), steps: []step{
		parked, callback(opt.Callback{ID: "c1", Text: "Half of it."}),
		callback(opt.Callback{ID: "c2", Chunk: &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "part", Parts: []a2a.Part{a2a.TextPart("one")}}}}),
		callback(opt.Callback{ID: "c3", Outcome: &opt.Outcome{State: opt.TaskCompleted}}),
	}},
	{name: "parked-woken", specs: legged("park"), steps: []step{parked, callback(opt.Callback{ID: "c1"})}},
	{name: "parked-noted", specs: legged("park until a note"), steps: append([]step{parked}, notes(1)...)},
	{name: "parked-canceled", specs: legged("park"), steps: []step{parked, cancel}},
	{name: "parked-canceled-task", specs: append(legged("park"), plan("After", "say never")), steps: []step{parked, cancelTask}},
	{name: "elsewhere", specs: legged("elsewhere")},
	{name: "timed", specs: legged("elsewhere")},
	{name: "elsewhere-reported", specs: legged("elsewhere long"), steps: []step{
		parked, callback(opt.Callback{ID: "c1", Outcome: &opt.Outcome{State: opt.TaskCompleted}}),
	}},
	{name: "elsewhere-untaken", specs: legged("elsewhere nowhere"), steps: []step{parked, cancel}},
	{name: "elsewhere-canceled", specs: legged("elsewhere long"), steps: []step{parked, cancel}},
}

// legged returns a plan with one task for the executor of these shapes.
func legged(script string) []opt.PlanSpec {
	p := plan("Legs", script)
	p.Tasks[0].Executor = "legs"
	return []opt.PlanSpec{p}
}

// legs does tasks in legs, as their descriptions say.
type legs struct{}

func (l legs) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	o, err := l.leg(w)
	if strings.Contains(w.Description, "using") {
		o.Usage = &opt.Usage{Input: 10, Output: 5, Cost: 100, Model: "main"}
	}
	return o, err
}

func (legs) leg(w activities.Work) (activities.Outcome, error) {
	var most int
	if n, _ := fmt.Sscanf(w.Description, "go on %d", &most); n == 1 {
		switch {
		case w.Leg < most:
			return activities.Continue(w.Leg + 1), nil
		case strings.HasSuffix(w.Description, "fail"):
			return activities.Failed("told-to", "It was told to fail."), nil
		}
		return activities.Completed(), nil
	}
	switch {
	case w.Cancel:
		return activities.Failed("canceled", "It was canceled elsewhere."), nil
	case strings.HasPrefix(w.Description, "elsewhere"):
		queue := elsewhereQueue
		if strings.HasSuffix(w.Description, "nowhere") {
			queue = "recorded-nowhere"
		}
		return activities.Outcome{State: opt.TaskWorking, Park: &opt.Park{Elsewhere: &opt.Elsewhere{
			Queue: queue, Activity: "Work", Input: json.RawMessage(fmt.Sprintf("%q", w.Description)), Heartbeat: 5,
		}}}, nil
	case w.Leg > 0:
		return activities.Completed(), nil
	}
	out := activities.ParkFor(time.Hour, "number 7", "Waiting for number 7.")
	out.OnCancel, out.Park.Notes = true, strings.HasSuffix(w.Description, "note")
	return out, nil
}

// elsewhereQueue is the queue of the external worker.
const elsewhereQueue = "recorded-elsewhere"

// newElsewhere returns an external worker.
func newElsewhere(temporal client.Client) sdk.Worker {
	w := sdk.New(temporal, elsewhereQueue, sdk.Options{DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(workElsewhere, activity.RegisterOptions{Name: "Work"})
	return w
}

// workElsewhere beats for some seconds, or until it is canceled.
func workElsewhere(ctx context.Context, script string) (string, error) {
	for i := 0; i < 8 || strings.HasSuffix(script, "long"); i++ {
		activity.RecordHeartbeat(ctx, map[string]string{"text": fmt.Sprintf("Beat %d.", i/4)})
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	return "done elsewhere", nil
}

// parked waits until the first task shows the text of its park or of a heartbeat.
var parked = untilTask(1, 0, func(_ string, v shown.TaskView) bool { return v.Task.Status.Message != nil })

// callback sends a callback for the first task.
func callback(c opt.Callback) step {
	return func(ctx context.Context, w work) error {
		c.TaskID, c.Round = w.task(1, 0), 1
		return w.engine.Callback(ctx, c)
	}
}
