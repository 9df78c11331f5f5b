package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"longhaul/activities"
)

// A control waits until the test opens a door, a point with a name. The answer of the test says
// how to continue.
type control struct{ url string }

// await waits until a door is open, and returns what the test wants to be done then.
func (c control) await(ctx context.Context, door, who string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/"+door, strings.NewReader(who))
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("wait at door %s: %w", door, err)
	}
	defer res.Body.Close()
	behind, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("door %s: %s", door, res.Status)
	}
	return string(behind), err
}

// door returns the door in a script that begins with "await <door>", and the rest
// of it; ok is false for any other script.
func door(script string) (name, rest string, ok bool) {
	first, rest, _ := strings.Cut(script, ";")
	name, ok = strings.CutPrefix(first, "await ")
	return strings.TrimSpace(name), strings.TrimSpace(rest), ok
}

// A waitingExecutor waits at the door in a task's description. Then it runs the script that the
// test gives for the door, or else the rest of the description.
type waitingExecutor struct {
	activities.Executor
	control control
}

func (p waitingExecutor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	name, rest, ok := door(w.Description)
	if !ok {
		return p.Executor.Execute(ctx, w, out)
	}
	script, err := p.control.await(ctx, name, w.Key)
	if err != nil {
		return activities.Outcome{}, err
	}
	if w.Description = rest; script != "" {
		w.Description = script
	}
	return p.Executor.Execute(ctx, w, out)
}

// A waitingPlanner waits at the door in an objective's description. The door has
// a list of plans, "fail" for an error, or nothing for the plans of the wrapped
// planner.
type waitingPlanner struct {
	activities.Planner
	control control
}

func (p waitingPlanner) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	name, _, ok := door(r.Description)
	if !ok {
		return p.Planner.Plan(ctx, r)
	}
	behind, err := p.control.await(ctx, name, r.ObjectiveID)
	switch {
	case err != nil:
		return activities.Planned{}, err
	case behind == "":
		return p.Planner.Plan(ctx, r)
	case behind == "fail":
		return activities.Planned{}, fmt.Errorf("%w: told to fail", activities.ErrNoPlan)
	}
	var planned activities.Planned
	return planned, json.Unmarshal([]byte(behind), &planned.Plans)
}
