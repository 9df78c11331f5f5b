package executortest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// survivesCrashes runs a task, and another one like it whose legs all crash once
// before their results are recorded. Both must end alike and have as many effects.
func survivesCrashes(ctx context.Context, cfg Config) error {
	whole, effects, err := cfg.countEffects(ctx, Player{Executor: cfg.Executor}, 20)
	if err != nil {
		return err
	}
	crashed, more, err := cfg.countEffects(ctx, Player{Executor: cfg.Executor, Twice: true}, 21)
	switch {
	case err != nil:
		return fmt.Errorf("with a crash in each leg: %w", err)
	case whole.visibleText() != crashed.visibleText():
		return fmt.Errorf("crashes between effect and record change the result:\n%s\n%s", whole.visibleText(), crashed.visibleText())
	case effects != more:
		return fmt.Errorf("crashes between effect and record turn %d effects into %d", effects, more)
	}
	return nil
}

// countEffects plays Completes as the n-th task, and counts its effects.
func (cfg Config) countEffects(ctx context.Context, p Player, n int) (Played, int, error) {
	w := clone(cfg.Completes)
	w.TaskID = opt.TaskID(w.PlanID, n)
	w.Key = key(w)
	if cfg.Effects == nil {
		cfg.Effects = func() int { return 0 }
	}
	before := cfg.Effects()
	played, err := cfg.playWith(ctx, p, w)
	return played, cfg.Effects() - before, err
}

// cancelFor is how long the leg of a canceled task may take.
const cancelFor = 30 * time.Second

// isCanceled cancels Parks after it has parked. The leg that cancels must end the task,
// also if it runs again after a crash.
func isCanceled(ctx context.Context, cfg Config) error {
	if cfg.Parks == nil {
		return nil
	}
	parked := errors.New("parked")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := Player{Executor: cfg.Executor, Parked: func(_ activities.Work, o activities.Outcome) *activities.Outcome {
		if o.OnCancel {
			cancel(parked)
		}
		return nil
	}}
	played, err := p.Play(ctx, *cfg.Parks)
	if !errors.Is(context.Cause(ctx), parked) {
		return fmt.Errorf("Config.Parks did not park with OnCancel: state %q, %w", played.Outcome.State, err)
	}
	if played.Work.Memo == nil {
		return errors.New("the task parks with OnCancel and without a memo")
	}
	w := played.Work
	w.Cancel = true
	for range 2 {
		if err := cfg.cancel(context.WithoutCancel(ctx), w); err != nil {
			return err
		}
	}
	return nil
}

// cancel runs the leg of a canceled task.
func (cfg Config) cancel(ctx context.Context, w activities.Work) error {
	ctx, cancel := context.WithTimeout(ctx, cancelFor)
	defer cancel()
	out := &Stream{}
	o, err := cfg.Executor.Execute(ctx, clone(w), out)
	switch {
	case err != nil:
		return fmt.Errorf("call Execute for a canceled task: %w", err)
	case o.State != opt.TaskCompleted && o.State != opt.TaskFailed && o.State != opt.TaskRejected:
		return fmt.Errorf("the state of a canceled task is %q: it has not ended", o.State)
	}
	return errors.Join(CheckOutcome(o, out), cfg.keepsSecrets(string(text(o))))
}

func makesLargeResults(ctx context.Context, cfg Config) error {
	if cfg.Large == nil {
		return nil
	}
	p, err := cfg.play(ctx, *cfg.Large)
	switch o := p.Outcome; {
	case err != nil:
		return err
	case o.State == opt.TaskFailed || o.State == opt.TaskRejected:
		return nil // CheckOutcome has seen that it says why
	case o.State != opt.TaskCompleted:
		return fmt.Errorf("the state is %q", o.State)
	}
	if n := len(text(p.Artifacts)); n < LargeResult {
		return fmt.Errorf("the artifacts have %d bytes, less than %d", n, LargeResult)
	}
	return nil
}

// keepsHostileText looks for the hostile text in the artifacts of a task, as it was. It
// may be in a failure or in a question without its control characters, which
// CheckOutcome looks for.
func keepsHostileText(ctx context.Context, cfg Config) error {
	if cfg.Untrusted == nil {
		return nil
	}
	p, err := cfg.play(ctx, *cfg.Untrusted)
	if err != nil || p.Outcome.State != opt.TaskCompleted {
		return err
	}
	for _, a := range p.Artifacts {
		if strings.Contains((a2a.Message{Parts: a.Parts}).Text(), Hostile) || strings.Contains(string(text(a.Parts)), strings.Trim(string(text(Hostile)), `"`)) {
			return nil
		}
	}
	return fmt.Errorf("the text from outside is not in the artifacts as it was: %s", p.visibleText())
}
