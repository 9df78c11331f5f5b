package rehearse

import (
	"encoding/json"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// A part is one of the two machines, and how its work is done.
type part interface {
	drive.Machine
	source() drive.Source
	message(machine.Signal) machine.Input
	perform(machine.Activity) (end machine.Input, takes time.Duration)
	child(machine.Child) part
	report() *opt.Report
}

type objectivePart struct {
	m *machine.Objective
	w *world
}

func (p objectivePart) Handle(now a2a.Time, in machine.Input) []opt.Event { return p.m.Handle(now, in) }
func (p objectivePart) Wants() machine.Wants                              { return p.m.Wants() }

func (p objectivePart) source() drive.Source { return drive.OfObjective(&p.m.State) }
func (p objectivePart) report() *opt.Report  { return nil }

func (p objectivePart) message(s machine.Signal) machine.Input {
	return copied(p.m.State.Message(s.To))
}

func (p objectivePart) child(c machine.Child) part {
	return planPart{&machine.Plan{State: copied(p.m.State.ChildState(c.PlanID))}, p.w}
}

// perform makes the plans, in no time.
func (p objectivePart) perform(a machine.Activity) (machine.Input, time.Duration) {
	made := p.w.plan(p.m.State.Objective, p.m.State.Asked())
	return machine.Made{Key: a.Key, Plans: made.Plans, Planner: made.Planner, Reason: made.Reason, Failure: made.Failure}, 0
}

type planPart struct {
	m *machine.Plan
	w *world
}

func (p planPart) Handle(now a2a.Time, in machine.Input) []opt.Event { return p.m.Handle(now, in) }
func (p planPart) Wants() machine.Wants                              { return p.m.Wants() }

func (p planPart) source() drive.Source                 { return drive.OfPlan(&p.m.State) }
func (p planPart) report() *opt.Report                  { return new(copied(p.m.State.Report)) }
func (p planPart) message(machine.Signal) machine.Input { return copied(p.m.Message()) }
func (p planPart) child(machine.Child) part             { panic("a plan has no children") }

// perform does a task as it is assumed to go.
func (p planPart) perform(a machine.Activity) (machine.Input, time.Duration) {
	t := p.m.State.Plan.Task(a.Of)
	is := p.w.of(t)
	if a.Kind == machine.LookUp {
		found := machine.Looked{Key: a.Key}
		if is.Stands {
			found.By = p.w.standing(p.m.State.QuestionOf(a, p.w.now))
		}
		return found, 0
	}
	work := p.m.State.WorkOf(a)
	takes, in := is.Takes.At(p.w.draw()), machine.Ended{Key: a.Key}
	most := t.MayTake(p.m.State.Plan.Limits)
	switch {
	case takes > most && !is.whole:
		p.w.overran[t.ID], takes = true, most
		in.Failed = &machine.Failure{Code: opt.ReasonTimeout, Message: "The task takes longer than it may.", TimedOut: true}
	case work.Attempt <= is.Fails:
		in.Failed = &machine.Failure{Code: "failed", Message: "The attempt fails, as it is assumed to."}
	default:
		is.Verdict = is.verdictOn(work)
		in.Outcome = is.outcome(t, p.w.draw)
	}
	return in, takes
}

// verdictOn returns the verdict of a check: the assumed one, unless its executor cannot judge what it is about.
func (is Work) verdictOn(work opt.Work) opt.Action {
	var in struct {
		Of []string `json:"of"`
	}
	if work.Executor != opt.CheckExecutor || json.Unmarshal(work.Input, &in) != nil {
		return is.Verdict
	}
	if _, _, whole := opt.Contents(work.Object(in.Of)); !whole {
		return opt.Ask
	}
	return is.Verdict
}

// outcome returns how an attempt at a task ends.
func (is Work) outcome(t *opt.Task, draw func() float64) opt.Outcome {
	out := opt.Outcome{State: is.Ends, Try: 1}
	if used := (opt.Usage{Output: is.Tokens.At(draw()), Cost: is.Cost.At(draw())}); !used.IsZero() {
		out.Usage = &used
	}
	if out.State != opt.TaskCompleted {
		out.Code, out.Message = string(out.State), t.Name+" ends so, as it is assumed to."
		return out
	}
	made := a2a.TextPart("What " + t.Name + " makes")
	if t.Check {
		made = a2a.DataPart(map[string]string{"verdict": string(is.Verdict), "reason": "As it is assumed."})
	}
	out.Artifacts = []a2a.Artifact{{ArtifactID: opt.ArtifactID(t.ID, "result"), Name: t.Name, Parts: []a2a.Part{made}}}
	return out
}

// copied returns a value that shares no memory with v: it goes through JSON, as between workflows.
func copied[T any](v T) T {
	var out T
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err) // machines have only what histories have
	}
	return out
}
