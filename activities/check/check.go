// Package check has the checks of objects that need no program of their own: a JSON Schema and
// conditions in CEL, the Common Expression Language. A check returns a verdict, which the approval
// after it counts ([opt.Finding]).
package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/condition"
	"longhaul/internal/schema"
	"longhaul/opt"
)

// Kind is the kind of tasks that the executor runs.
const Kind = opt.CheckExecutor

// An Input is the input of a task: a schema or a condition.
type Input struct {
	Of     []string        `json:"of"` // whose results are the object, as in [opt.Piece.Results]
	Schema json.RawMessage `json:"schema,omitempty"`
	Holds  string          `json:"holds,omitempty"`  // a condition
	Else   opt.Action      `json:"else,omitempty"`   // the verdict if it does not hold; "" for reject
	Reason string          `json:"reason,omitempty"` // for that verdict; "" names the condition
}

// Valid returns why no task can have in as its input, nil if one can.
func (in Input) Valid() error {
	switch {
	case (in.Schema == nil) == (in.Holds == ""):
		return errors.New("a check has either a schema or a condition that holds")
	case in.Schema != nil:
		_, err := schema.Parse(in.Schema)
		return err
	}
	return condition.Valid(in.Holds)
}

// An Executor runs checks. It may be used from any goroutine.
type Executor struct{}

// Execute implements [activities.Executor].
func (Executor) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var in Input
	if err := activities.ReadInput(w, &in); err != nil || in.Valid() != nil {
		return activities.Rejected("bad-input", "The input of a check must have a schema or a condition."), nil
	}
	verdict, reason := in.judge(w.Object(in.Of))
	said := a2a.DataPart(map[string]string{"verdict": string(verdict), "reason": reason})
	return activities.Completed(a2a.Artifact{ArtifactID: "verdict", Name: w.Name, Parts: []a2a.Part{said}}), nil
}

// judge returns the verdict on an object. One that cannot be judged is for people.
func (in Input) judge(parts []a2a.Part) (verdict opt.Action, reason string) {
	data, text, whole := opt.Contents(parts)
	if !whole {
		return opt.Ask, "The object has nothing, or parts that no condition sees."
	}
	if in.Schema != nil {
		s, err := schema.Parse(in.Schema)
		if err == nil {
			err = s.Check(data)
		}
		if err != nil {
			return opt.Reject, err.Error()
		}
		return opt.Accept, ""
	}
	switch holds, err := condition.Holds(in.Holds, data, text); {
	case err != nil:
		return opt.Ask, err.Error()
	case holds:
		return opt.Accept, ""
	}
	return cmp.Or(in.Else, opt.Reject), cmp.Or(in.Reason, "It is not so that "+in.Holds)
}
