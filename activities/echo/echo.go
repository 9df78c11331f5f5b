// Package echo is an executor for demos, tests and benchmarks: its tasks do what
// their description says, without a model or a network, and the same each time.
// It is also an example of an executor.
//
// A description is a list of commands, one per line or separated by ";", which docs/executors.md
// lists. Without a "say" the answer is the description, the input and the names of the tasks before
// it. Text that is no command is echoed.
package echo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// Executor is the echo executor. Its zero value is ready.
type Executor struct{}

// Execute implements [activities.Executor]. It has no side effects, so a second
// run is harmless.
func (Executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	r := run{work: w, out: out, replies: w.Replies}
	for _, c := range parse(script(w)) {
		if outcome, err := r.runCommand(ctx, c); err != nil || outcome != nil {
			return *cmp.Or(outcome, &activities.Outcome{}), err
		}
	}
	return r.result(), nil
}

// script returns what the task is to do.
func script(w activities.Work) string {
	return cmp.Or(w.Description, w.Name)
}

// A run is one execution: it does commands in order and passes gates that have
// their answer.
type run struct {
	work    activities.Work
	out     activities.Stream
	replies []opt.Reply // not used up yet
	texts   []string
	sayOnly bool // answer only with what "say" commands say
}

// runCommand runs one command. A non-nil outcome ends the run.
func (r *run) runCommand(ctx context.Context, c command) (*activities.Outcome, error) {
	switch c.verb {
	case "work":
		return nil, activities.Sleep(ctx, c.duration)
	case "fail":
		return r.fail(c)
	case "panic":
		panic("echo was told to")
	case "stream":
		return nil, r.stream(ctx, c)
	case "write":
		return nil, r.writeArticle(ctx, c)
	case "approve", "ask":
		return r.gate(c), nil
	case "say":
		r.texts = append(r.texts, c.text)
	case "heed":
		r.heed(c)
	case "pass":
		r.sayOnly = true
	}
	return nil, nil
}

// heed says what people have asked to be better.
func (r *run) heed(c command) {
	for _, reply := range r.work.Refined {
		r.texts = append(r.texts, c.text+" "+reply.Remark())
	}
}

func (r *run) fail(c command) (*activities.Outcome, error) {
	text := fmt.Sprintf("told to fail on attempt %d of %d", r.work.Attempt, c.count)
	switch {
	case c.count == 0:
		return new(activities.Failed("told-to", "The task was told to fail.")), nil
	case r.work.Attempt > c.count:
		return nil, nil
	case c.text != "":
		return nil, &activities.Error{Code: c.text, Message: text}
	}
	return nil, errors.New(text)
}

func (r *run) stream(ctx context.Context, c command) error {
	r.sayOnly = true
	for i := range c.count {
		if i > 0 {
			if err := activities.Sleep(ctx, c.duration); err != nil {
				return err
			}
		}
		piece := a2a.Artifact{ArtifactID: "stream", Name: "stream", Parts: []a2a.Part{a2a.TextPart(fmt.Sprintf("piece %d of %d\n", i+1, c.count))}}
		if err := r.out.Chunk(ctx, piece, i == c.count-1); err != nil {
			return err
		}
	}
	return nil
}

// gate opens a gate, or uses the reply if there is one.
func (r *run) gate(c command) *activities.Outcome {
	if len(r.replies) == 0 {
		return new(activities.WaitFor(c.gate()))
	}
	reply := r.replies[0]
	r.replies = r.replies[1:]
	switch {
	case reply.Action == opt.Reject && reply.DecidedBy == opt.ByTimer:
		return new(activities.Failed(opt.ReasonTimeout, "No answer came in time."))
	case reply.Action == opt.Reject:
		return new(activities.Failed("approval_rejected", strings.TrimSpace("The approval was rejected. "+reply.Feedback)))
	case len(reply.Answers) > 0:
		for _, a := range reply.Answers {
			r.texts = append(r.texts, c.text+" "+plainText(a.Answer))
		}
	}
	return nil
}

// plainText returns an answer or an input as text: a JSON string without its
// quotes.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

func (r *run) result() activities.Outcome {
	if r.sayOnly && len(r.texts) == 0 {
		return activities.Completed()
	}
	text := strings.Join(r.texts, "\n")
	if len(r.texts) == 0 {
		text = script(r.work)
		if input := plainText(r.work.Input); input != "" {
			text += "\n" + input
		}
		for _, name := range names(r.work.Results) {
			text += "\n· " + name
		}
	}
	if hint := meant(script(r.work)); hint != "" {
		text += "\n" + hint
	}
	return activities.Completed(a2a.Artifact{ArtifactID: "echo", Name: r.work.Name, Parts: []a2a.Part{a2a.TextPart(text)}})
}

// names lists the tasks before this one. Results of an earlier plan have no task,
// so it lists their artifacts.
func names(results []activities.Result) []string {
	var out []string
	for _, r := range results {
		if r.Name != "" {
			out = append(out, r.Name)
			continue
		}
		for _, a := range r.Artifacts {
			out = append(out, a.Name)
		}
	}
	return out
}
