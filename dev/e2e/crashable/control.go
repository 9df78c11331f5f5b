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

// A control asks the test for doors, which the test opens. The answer says what
// to do then.
type control struct{ url string }

// knock waits until a door is open and returns what to do then.
func (c control) knock(ctx context.Context, door, who string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/"+door, strings.NewReader(who))
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("knock at %s: %w", door, err)
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

// A patient executor waits at the door in a task's description, and then does
// what the door says, or else the rest of the description.
type patient struct {
	activities.Executor
	control control
}

func (p patient) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	name, rest, ok := door(w.Description)
	if !ok {
		return p.Executor.Execute(ctx, w, out)
	}
	script, err := p.control.knock(ctx, name, w.Key)
	if err != nil {
		return activities.Outcome{}, err
	}
	if w.Description = rest; script != "" {
		w.Description = script
	}
	return p.Executor.Execute(ctx, w, out)
}

// A patientPlanner waits at the door in an objective's description. The door has
// a list of plans, "fail" for an error, or nothing for the plans of the wrapped
// planner.
type patientPlanner struct {
	activities.Planner
	control control
}

func (p patientPlanner) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	name, _, ok := door(r.Description)
	if !ok {
		return p.Planner.Plan(ctx, r)
	}
	behind, err := p.control.knock(ctx, name, r.ObjectiveID)
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
