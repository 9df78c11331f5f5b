// Assumed is Longhaul in one process with an executor whose tasks go as their input says: as a
// rehearsal assumes that they do.
package main

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"time"

	"longhaul"
	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/dev/temporald"
	"longhaul/opt"
)

func main() {
	longhaul.Main(longhaul.Program{Embed: temporald.Embed, Executors: map[string]longhaul.Executor{"assumed": executor{}}})
}

// A course is how a task goes.
type course struct {
	Takes   int           `json:"takes"` // milliseconds, of one attempt
	Fails   int           `json:"fails"` // so many attempts
	Ends    opt.TaskState `json:"ends"`
	Verdict opt.Action    `json:"verdict"` // of a check
	Cost    opt.Money     `json:"cost"`
	Varies  float64       `json:"varies"` // spread of the times and costs, as the deviation of their logarithms
}

// about returns a random value around n.
func (c course) about(n float64) float64 { return n * math.Exp(c.Varies*rand.NormFloat64()) }

type executor struct{}

// Execute implements [activities.Executor].
func (executor) Execute(ctx context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var is course
	if err := json.Unmarshal(w.Input, &is); err != nil {
		return activities.Outcome{}, err
	}
	if err := activities.Sleep(ctx, time.Duration(is.about(float64(is.Takes))*float64(time.Millisecond))); err != nil {
		return activities.Outcome{}, err
	}
	if w.Attempt <= is.Fails {
		return activities.Outcome{}, &activities.Error{Code: "failed", Message: "The attempt fails, as it is assumed to."}
	}
	out := activities.Failed(string(is.Ends), w.Name+" ends so, as it is assumed to.")
	if out.State = is.Ends; out.State == opt.TaskCompleted {
		made := a2a.TextPart("What " + w.Name + " makes")
		if is.Verdict != "" {
			made = a2a.DataPart(map[string]string{"verdict": string(is.Verdict), "reason": "As it is assumed."})
		}
		out = activities.Completed(a2a.Artifact{ArtifactID: "result", Name: w.Name, Parts: []a2a.Part{made}})
	}
	if is.Cost > 0 {
		out.Usage = &opt.Usage{Cost: opt.Money(is.about(float64(is.Cost)))}
	}
	return out, nil
}
