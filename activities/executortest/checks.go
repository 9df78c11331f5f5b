package executortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"longhaul/activities"
	"longhaul/opt"
)

func completes(ctx context.Context, cfg Config) error {
	p, err := cfg.play(ctx, cfg.Completes)
	switch o := p.Outcome; {
	case err != nil:
		return err
	case o.State != opt.TaskCompleted:
		return fmt.Errorf("the state is %q, not completed: %s", o.State, o.Message)
	case len(p.Artifacts) == 0:
		return errors.New("a completed task has no artifacts")
	}
	return nil
}

func fails(ctx context.Context, cfg Config) error {
	p, err := cfg.play(ctx, cfg.Fails)
	if o := p.Outcome; err == nil && o.State != opt.TaskFailed && o.State != opt.TaskRejected {
		err = fmt.Errorf("the state is %q, not failed or rejected", o.State)
	}
	return err
}

func errs(ctx context.Context, cfg Config) error {
	if cfg.Errs == nil {
		return nil
	}
	_, err := Player{Executor: cfg.Executor, Parked: cfg.Parked}.Play(ctx, *cfg.Errs)
	failed, ok := errors.AsType[*attemptError](err)
	if !ok {
		return fmt.Errorf("the attempt ended without an error of Execute: %v", err)
	}
	said := failed.cause.Error()
	return errors.Join(checkText(said), cfg.keepsSecrets(said))
}

// keepsPieces reports an artifact that two legs stream. Other checks report why a task does not end.
func keepsPieces(ctx context.Context, cfg Config) error {
	p, _ := cfg.play(ctx, cfg.Completes)
	if p.lost == "" {
		return nil
	}
	return fmt.Errorf("two legs stream the artifact %q: the first piece of a leg replaces what earlier ones have streamed. "+
		"Use another id for each, or call Replace with the whole text, from the memo", p.lost)
}

// maxRounds ends a task that opens gates without end.
const maxRounds = 20

// waits runs a task from gate to gate. Each round is run twice, as after a lost
// worker, and must open the same gate.
func waits(ctx context.Context, cfg Config) error {
	if cfg.Waits == nil {
		return nil
	}
	w := *cfg.Waits
	for gates := 0; ; gates++ {
		p, err := cfg.playTwice(ctx, w)
		switch o := p.Outcome; {
		case err != nil:
			return fmt.Errorf("round %d: %w", w.Round, err)
		case o.Gate == nil && gates == 0:
			return fmt.Errorf("the state is %q: the task did not wait", o.State)
		case o.Gate == nil:
			return nil
		case gates == maxRounds:
			return fmt.Errorf("the task still waits after %d replies", gates)
		}
		w = nextRound(p.Work, cfg.Reply(*p.Outcome.Gate))
	}
}

// nextRound returns the work of the round after a reply to the gate of w.
func nextRound(w activities.Work, r opt.Reply) activities.Work {
	r.GateID = opt.GateID(w.TaskID, w.Round)
	r.MessageID, r.DecidedBy = fmt.Sprintf("message-%d", w.Round), "somebody"
	w.Replies = append(w.Replies[:len(w.Replies):len(w.Replies)], r)
	w.Round++
	w.Attempt, w.Leg = 1, 0
	w.Key = key(w)
	return w
}

// playTwice runs a round twice, as after a crash, and reports a difference.
func (cfg Config) playTwice(ctx context.Context, w activities.Work) (Played, error) {
	p, err := cfg.play(ctx, w)
	if err != nil {
		return p, err
	}
	second, err := cfg.play(ctx, w)
	if err != nil {
		return p, fmt.Errorf("the second time: %w", err)
	}
	if a, b := p.visibleText(), second.visibleText(); a != b {
		return p, fmt.Errorf("the second run of the same work has another result:\n%s\n%s", a, b)
	}
	return p, nil
}

func repeats(ctx context.Context, cfg Config) error {
	_, completed := cfg.playTwice(ctx, cfg.Completes)
	_, failed := cfg.playTwice(ctx, cfg.Fails)
	return errors.Join(completed, failed)
}

// parallelRuns is how many goroutines use the executor at once.
const parallelRuns = 8

func isUsedByMany(ctx context.Context, cfg Config) error {
	results, wrong := make([]string, parallelRuns), make([]error, parallelRuns)
	var ended sync.WaitGroup
	for i := range parallelRuns {
		ended.Go(func() {
			p, err := cfg.play(ctx, cfg.Completes)
			results[i], wrong[i] = p.visibleText(), err
		})
	}
	ended.Wait()
	for i := range results {
		if wrong[i] == nil && results[i] != results[0] {
			wrong[i] = fmt.Errorf("concurrent runs of the same work have different results:\n%s\n%s", results[0], results[i])
		}
	}
	return errors.Join(wrong...)
}

func leavesItsWorkAlone(ctx context.Context, cfg Config) error {
	works := []activities.Work{cfg.Completes, cfg.Fails}
	if cfg.Waits != nil {
		works = append(works, *cfg.Waits)
	}
	for _, w := range works {
		w = clone(w)
		before := text(w)
		if _, err := cfg.Executor.Execute(ctx, w, &Stream{}); err != nil {
			return fmt.Errorf("call Execute: %w", err)
		}
		if after := text(w); !bytes.Equal(before, after) {
			return fmt.Errorf("the work was changed:\n%s\n%s", before, after)
		}
	}
	return nil
}

func stopsWhenCanceled(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return cfg.checkReturn(ctx)
}

func stopsAtDeadline(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond) // after which Long has begun on a busy machine, too
	defer cancel()
	return cfg.checkReturn(ctx)
}

// checkReturn reports whether Long ends because ctx does, and soon after. A task that parks
// continues with its next leg.
func (cfg Config) checkReturn(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() {
		_, err := Player{Executor: cfg.Executor, Legs: math.MaxInt}.Play(ctx, cfg.Long)
		switch {
		case ctx.Err() != nil, cfg.Quick:
			err = nil // its result is ignored after a cancellation
		default:
			err = fmt.Errorf("Config.Long ended by itself; set Quick if no work takes long: %v", err)
		}
		ended <- err
	}()
	<-ctx.Done()
	limit := time.NewTimer(cfg.Soon)
	defer limit.Stop()
	select {
	case err := <-ended:
		return err
	case <-limit.C:
		return fmt.Errorf("the call of Execute still runs %v after its context was done", cfg.Soon)
	}
}

// play runs a round of w. Clients must see no secret in it.
func (cfg Config) play(ctx context.Context, w activities.Work) (Played, error) {
	p := Player{Executor: cfg.Executor, Parked: cfg.Parked}
	return cfg.playWith(ctx, p, w)
}

func (cfg Config) playWith(ctx context.Context, p Player, w activities.Work) (Played, error) {
	var leaked error
	p.Parked = func(w activities.Work, o activities.Outcome) *activities.Outcome {
		leaked = errors.Join(leaked, cfg.keepsSecrets(string(text([]any{o.Park.Text, o.Artifacts}))))
		if cfg.Parked == nil {
			return nil
		}
		return cfg.Parked(w, o)
	}
	played, err := p.Play(ctx, w)
	if err != nil {
		return played, err
	}
	return played, errors.Join(leaked, cfg.keepsSecrets(played.visibleText()))
}

// keepsSecrets reports a secret in what clients see.
func (cfg Config) keepsSecrets(seen string) error {
	for i, secret := range cfg.Secrets {
		written := strings.Trim(string(text(secret)), `"`) // as JSON has it
		if strings.Contains(seen, secret) || strings.Contains(seen, written) {
			return fmt.Errorf("secret %d is in what clients see", i)
		}
	}
	return nil
}
