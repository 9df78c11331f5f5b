package executortest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/activities"
)

// A Player runs a round of a task as the plan does: leg after leg, each with the memo
// that the task has left, but without the waits between them. Every leg gets its work
// from JSON, and its outcome must pass [CheckOutcome].
type Player struct {
	Executor activities.Executor

	// Parked is called when the task parks, and may make the event happen that the task
	// waits for. A returned outcome takes the place of the outcome of a callback or an activity
	// elsewhere, and ends the round. nil begins the next leg.
	Parked func(w activities.Work, parked activities.Outcome) *activities.Outcome

	Twice bool // runs each leg twice and loses its first result, as in a crash between effect and record
	Legs  int  // at most; 0 means 300
}

// A Played is a round that has ended.
type Played struct {
	Outcome   activities.Outcome // of the last leg
	Artifacts []a2a.Artifact     // of all legs, streamed or returned; one replaces an earlier one with its id
	Work      activities.Work    // of the last leg, with the latest memo
	Legs      int

	streamed []string // ids of artifacts that a leg has streamed
	lost     string   // id of one whose pieces Chunk has replaced in a later leg
}

// Play runs w until an outcome ends the round or ctx is done.
func (p Player) Play(ctx context.Context, w activities.Work) (Played, error) {
	most := cmp.Or(p.Legs, 300)
	played := Played{Work: w}
	for {
		if played.Legs == most {
			return played, fmt.Errorf("the task still parks after %d legs", most)
		}
		o, err := p.leg(ctx, &played)
		if err != nil {
			return played, fmt.Errorf("leg %d: %w", played.Legs-1, err)
		}
		if o.Park == nil || o.Gate != nil {
			return played, nil
		}
		if p.Parked != nil {
			if outcome := p.Parked(clone(played.Work), o); outcome != nil {
				played.addOutcome(*outcome, nil)
				return played, CheckOutcome(*outcome, nil)
			}
		}
		if o.Park.Elsewhere != nil {
			return played, errors.New("the task waits for an activity elsewhere: set Player.Parked to return its outcome")
		}
		if ctx.Err() != nil {
			return played, ctx.Err()
		}
		played.Work.Leg++
	}
}

// An attemptError is an error of Execute.
type attemptError struct{ cause error }

// Error implements error.
func (e *attemptError) Error() string { return "Execute: " + e.cause.Error() }

// Unwrap returns the error of Execute.
func (e *attemptError) Unwrap() error { return e.cause }

// leg runs one leg and keeps its memo and its artifacts.
func (p Player) leg(ctx context.Context, played *Played) (activities.Outcome, error) {
	runs := 1
	if p.Twice {
		runs = 2
	}
	played.Legs++
	w := clone(played.Work)
	w.Try = max(w.Try, 1)
	for {
		out := &Stream{}
		o, err := p.Executor.Execute(ctx, clone(w), out)
		if err != nil {
			return o, &attemptError{err}
		}
		if err := CheckOutcome(o, out); err != nil {
			return o, err
		}
		if runs--; runs > 0 {
			w.Try++
			continue
		}
		played.addOutcome(o, out)
		return o, nil
	}
}

// addOutcome stores the memo and the artifacts of an outcome, and the artifacts of its stream.
func (p *Played) addOutcome(o activities.Outcome, s *Stream) {
	p.Outcome = o
	if o.Memo != nil {
		p.Work.Memo = o.Memo
	}
	list := o.Artifacts
	if s != nil {
		p.addStream(s.Pieces())
		list = slices.Concat(s.Artifacts(), o.Artifacts)
	}
	for _, a := range list {
		i := slices.IndexFunc(p.Artifacts, func(b a2a.Artifact) bool { return a.ArtifactID == b.ArtifactID })
		if i < 0 {
			p.Artifacts = append(p.Artifacts, a)
			continue
		}
		p.Artifacts[i] = a
	}
}

// addStream notes what a leg has streamed.
func (p *Played) addStream(pieces []Piece) {
	earlier := slices.Clip(p.streamed)
	var own []string
	for _, piece := range pieces {
		id := piece.Artifact.ArtifactID
		if !piece.Replaces && slices.Contains(earlier, id) && !slices.Contains(own, id) {
			p.lost = id
		}
		own = append(own, id)
	}
	p.streamed = append(earlier, own...)
}

// visibleText returns all that clients see of a round, as text.
func (p Played) visibleText() string {
	o := p.Outcome
	o.Artifacts, o.Memo, o.Usage = nil, nil, nil
	return string(text([]any{o, p.Artifacts}))
}

// key returns the idempotency key of a round.
func key(w activities.Work) string { return fmt.Sprintf("%s:%d", w.TaskID, w.Round) }

// clone returns a copy of w that shares nothing with it, as one that came
// through Temporal.
func clone(w activities.Work) activities.Work {
	var c activities.Work
	if err := json.Unmarshal(text(w), &c); err != nil {
		panic(err) // Work is made for JSON
	}
	return c
}

func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
