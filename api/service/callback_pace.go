package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"longhaul/opt"
)

// A pacer delivers callbacks that are only progress, or only wake a task. Each becomes a
// signal in the history of a plan, and a program may send thousands. The first of a round
// are delivered at once, later ones after pauses that grow up to paceMost. One that
// arrives during a pause waits in memory for its end, and takes the place of the one that
// waits already: the latest state wins. Callbacks with an outcome or a piece of an
// artifact are not paced.
//
// It is safe for concurrent use.
type pacer struct {
	deliver func(ctx context.Context, in opt.Callback) error
	log     *zap.Logger

	mu      sync.Mutex
	paces   map[paceKey]*pace
	swept   time.Time
	sending sync.WaitGroup
	stopped bool
}

// Limits of a pacer.
const (
	paceStep   = 100 * time.Millisecond // by which each delivery makes the next pause longer
	paceMost   = 30 * time.Second
	paceRetry  = 5 * time.Second // after a delivery that failed
	paceForget = 2 * time.Minute // after which a round without callbacks counts from the beginning
)

// A paceKey names callbacks of which only the latest counts.
type paceKey struct {
	taskID string
	round  int
	wakes  bool
}

// A pace is the state of one key.
type pace struct {
	seen    []string // ids of callbacks that were received, so that a repeat changes nothing
	sent    int      // deliveries
	next    time.Time
	waiting *opt.Callback
	timer   *time.Timer // runs while waiting is not nil
}

func newPacer(deliver func(context.Context, opt.Callback) error, log *zap.Logger) *pacer {
	return &pacer{deliver: deliver, log: log, paces: map[paceKey]*pace{}}
}

// keyOf returns the key of a callback; ok is false for one that is not paced.
func keyOf(in opt.Callback) (key paceKey, ok bool) {
	return paceKey{in.TaskID, in.Round, in.Text == ""}, in.Chunk == nil && in.Outcome == nil
}

// receive delivers a callback, or has it wait.
func (p *pacer) receive(ctx context.Context, in opt.Callback) error {
	key, paced := keyOf(in)
	if !paced {
		err := p.deliver(ctx, in)
		if err == nil {
			p.supersede(in)
		}
		return err
	}
	if p.waits(key, in) {
		return nil
	}
	err := p.deliver(ctx, in)
	if err != nil {
		p.undo(key, in.ID)
	}
	return err
}

// supersede drops progress that is older than a piece or an outcome with news.
func (p *pacer) supersede(in opt.Callback) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, wakes := range []bool{false, true} {
		key := paceKey{in.TaskID, in.Round, wakes}
		if e := p.paces[key]; e != nil && (in.Outcome != nil || in.Text != "" && !wakes) {
			e.drop()
		}
	}
}

// drop removes the callback that waits.
func (e *pace) drop() {
	if e.waiting != nil {
		e.timer.Stop()
		e.waiting = nil
	}
}

// waits notes a callback. It reports whether the callback needs no delivery now: it
// waits, or it is a repeat.
func (p *pacer) waits(key paceKey, in opt.Callback) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.sweep(now)
	e := p.paces[key]
	if e == nil {
		e = &pace{}
		p.paces[key] = e
	}
	if slices.Contains(e.seen, in.ID) {
		return true
	}
	if e.seen = append(e.seen, in.ID); len(e.seen) > seenMost {
		e.seen = slices.Delete(e.seen, 0, len(e.seen)-seenMost)
	}
	switch {
	case e.waiting != nil:
		e.waiting = &in
		return true
	case now.Before(e.next) && !p.stopped:
		e.waiting = &in
		p.arm(key, e, e.next.Sub(now))
		return true
	}
	e.count(now)
	return false
}

// seenMost is how many ids of callbacks are kept for one key.
const seenMost = 100

// count notes a delivery.
func (e *pace) count(now time.Time) {
	e.sent++
	e.next = now.Add(min(time.Duration(e.sent)*paceStep, paceMost))
}

// undo removes the note of a callback that could not be delivered, so that its repeat is
// delivered.
func (p *pacer) undo(key paceKey, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.paces[key]; e != nil {
		e.seen = slices.DeleteFunc(e.seen, func(s string) bool { return s == id })
		e.sent--
		e.next = time.Time{}
	}
}

// arm has the callback that waits delivered after a while. p.mu is held.
func (p *pacer) arm(key paceKey, e *pace, after time.Duration) {
	e.timer = time.AfterFunc(after, func() { p.send(key) })
}

// send delivers the callback that waits. If that fails, the callback continues to wait,
// unless it is out of date.
func (p *pacer) send(key paceKey) {
	p.mu.Lock()
	e := p.paces[key]
	if e == nil || e.waiting == nil {
		p.mu.Unlock()
		return
	}
	in := *e.waiting
	e.waiting = nil
	e.count(time.Now())
	p.sending.Add(1)
	p.mu.Unlock()
	defer p.sending.Done()
	err := p.deliver(context.Background(), in)
	if err == nil || errors.Is(err, errEnded) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || !errors.Is(err, opt.ErrUnavailable) {
		p.log.Warn("Dropped the progress of a task", zap.String("taskId", in.TaskID), zap.Error(err))
		return
	}
	if e.waiting == nil {
		e.waiting = &in
		p.arm(key, e, paceRetry)
	}
}

// sweep forgets rounds without callbacks. p.mu is held.
func (p *pacer) sweep(now time.Time) {
	if now.Sub(p.swept) < paceForget {
		return
	}
	p.swept = now
	for key, e := range p.paces {
		if e.waiting == nil && now.Sub(e.next) > paceForget {
			delete(p.paces, key)
		}
	}
}

// stop delivers the callbacks that wait at once, all in parallel: if the engine cannot be
// reached, this takes no longer than one call. Callbacks that come later do not wait.
func (p *pacer) stop() {
	p.mu.Lock()
	p.stopped = true
	var keys []paceKey
	for key, e := range p.paces {
		if e.waiting != nil {
			e.timer.Stop()
			keys = append(keys, key)
		}
	}
	p.mu.Unlock()
	var last sync.WaitGroup
	for _, key := range keys {
		last.Go(func() { p.send(key) })
	}
	last.Wait()
	p.sending.Wait()
}
