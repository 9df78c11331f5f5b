package receive

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/opt"
)

// A pacer delivers callbacks that are only progress, or only wake a task. Each becomes a
// signal in the history of a plan, and a program may send thousands. The first of a round
// are delivered at once, later ones after pauses that grow, as [opt.ProgressPause] says. One that
// arrives during a pause waits in memory for its end, and takes the place of the one that
// waits already: the latest state wins. Callbacks with an outcome or a piece of an
// artifact are not paced.
//
// A pacer knows only the callbacks of its own process, and those that wait are lost with
// it: progress may be lost or shown late.
//
// It is safe for concurrent use.
type pacer struct {
	deliver func(ctx context.Context, in opt.Callback) error
	log     *zap.Logger

	mu       sync.Mutex
	paces    map[paceKey]*pace
	arrived  int64 // callbacks so far
	forgotAt time.Time
	sending  sync.WaitGroup
	stopped  bool
}

// Limits of a pacer.
const (
	paceRetry  = 5 * time.Second // after a delivery that failed
	paceForget = 2 * time.Minute // after which a round without callbacks counts from the beginning
)

// A paceKey names a sequence of callbacks. Only the latest one counts.
type paceKey struct {
	taskID string
	round  int
	wakes  bool
}

// A pace is the state of one key.
type pace struct {
	receivedIDs   []string             // ids of callbacks that were received, so that a repeat changes nothing
	handovers     map[string]*handover // by the id of the callback
	sent          int                  // deliveries
	lastDelivered int64                // the number of the latest callback that was delivered
	next          time.Time
	waiting       *arrival
	timer         *time.Timer // runs while waiting is not nil
}

// An arrival is a callback with its number in the order in which they came.
type arrival struct {
	opt.Callback
	n int64
}

// A handover is the delivery of a callback whose sender waits for the result. Repeats of
// the callback wait for it, too.
type handover struct {
	done chan struct{}
	err  error // once done is closed
	gone bool  // it failed because its sender has disconnected
}

func newPacer(deliver func(context.Context, opt.Callback) error, log *zap.Logger) *pacer {
	return &pacer{deliver: deliver, log: log, paces: map[paceKey]*pace{}}
}

// paceKeyOf returns the key of a callback; ok is false for one that is not paced.
func paceKeyOf(in opt.Callback) (key paceKey, ok bool) {
	return paceKey{in.TaskID, in.Round, in.Text == ""}, in.Chunk == nil && in.Outcome == nil
}

// receive delivers a callback, or stores it until its time. A repeat of a callback that is
// being delivered gets the same result.
func (p *pacer) receive(ctx context.Context, sent opt.Callback) error {
	key, paced := paceKeyOf(sent)
	in := p.number(sent)
	if !paced {
		err := p.deliver(ctx, sent)
		if err == nil {
			p.dropOlder(in)
		}
		return err
	}
	for {
		h, first := p.register(key, in)
		if h == nil {
			return nil
		}
		if first {
			return p.handOver(ctx, key, h, in)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.done:
		}
		if !h.gone {
			return h.err
		}
	}
}

// number gives a callback the next number.
func (p *pacer) number(in opt.Callback) arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrived++
	return arrival{in, p.arrived}
}

// handOver delivers a callback while its sender waits.
func (p *pacer) handOver(ctx context.Context, key paceKey, h *handover, in arrival) error {
	h.err = opt.ErrUnavailable // unless deliver returns
	defer func() { p.finishHandover(key, h, in, ctx.Err() != nil) }()
	h.err = p.deliver(ctx, in.Callback)
	return h.err
}

// finishHandover notes the result of a handover. After a failure the callback is forgotten, so
// that its repeat is delivered.
func (p *pacer) finishHandover(key paceKey, h *handover, in arrival, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.paces[key]
	delete(e.handovers, in.ID)
	if h.err == nil {
		e.noteDelivered(in.n)
	} else {
		h.gone = gone
		e.receivedIDs = slices.DeleteFunc(e.receivedIDs, func(s string) bool { return s == in.ID })
		e.sent--
		e.next = time.Now()
	}
	close(h.done)
}

// dropOlder drops waiting progress that is older than in, a delivered outcome or piece with
// a text. An outcome also drops older wakes.
func (p *pacer) dropOlder(in arrival) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, wakes := range []bool{false, true} {
		key := paceKey{in.TaskID, in.Round, wakes}
		if e := p.paces[key]; e != nil && (in.Outcome != nil || in.Text != "" && !wakes) {
			e.noteDelivered(in.n)
		}
	}
}

// noteDelivered records the delivery of the n-th callback, and drops an older one that waits.
func (e *pace) noteDelivered(n int64) {
	e.lastDelivered = max(e.lastDelivered, n)
	if e.waiting != nil && e.waiting.n < n {
		e.timer.Stop()
		e.waiting = nil
	}
}

// register records a callback and returns its handover. first is set if the caller has to
// make the handover; a repeat gets the one that has begun. The handover is nil if there is
// nothing to deliver now: the callback waits, or repeats one that was received.
func (p *pacer) register(key paceKey, in arrival) (h *handover, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.forgetIdle(now)
	e := p.paces[key]
	if e == nil {
		e = &pace{handovers: map[string]*handover{}}
		p.paces[key] = e
	}
	if h := e.handovers[in.ID]; h != nil {
		return h, false
	}
	if slices.Contains(e.receivedIDs, in.ID) {
		return nil, false
	}
	if e.receivedIDs = append(e.receivedIDs, in.ID); len(e.receivedIDs) > maxReceivedIDs {
		e.receivedIDs = slices.Delete(e.receivedIDs, 0, len(e.receivedIDs)-maxReceivedIDs)
	}
	switch {
	case e.waiting != nil:
		e.waiting = &in
		return nil, false
	case now.Before(e.next) && !p.stopped:
		e.waiting = &in
		p.startTimer(key, e, e.next.Sub(now))
		return nil, false
	}
	e.countDelivery(now)
	h = &handover{done: make(chan struct{})}
	e.handovers[in.ID] = h
	return h, true
}

// maxReceivedIDs is how many ids of callbacks are kept for one key.
const maxReceivedIDs = 100

// countDelivery counts a delivery, and sets when the next one may follow.
func (e *pace) countDelivery(now time.Time) {
	e.sent++
	e.next = now.Add(opt.ProgressPause(e.sent))
}

// startTimer starts the timer after which the waiting callback is delivered. p.mu is held.
func (p *pacer) startTimer(key paceKey, e *pace, after time.Duration) {
	e.timer = time.AfterFunc(after, func() { p.send(key) })
}

// send delivers the callback that waits. If that fails, the callback continues to wait,
// unless a newer one was delivered or waits.
func (p *pacer) send(key paceKey) {
	p.mu.Lock()
	e := p.paces[key]
	if e == nil || e.waiting == nil {
		p.mu.Unlock()
		return
	}
	in := *e.waiting
	e.waiting = nil
	e.countDelivery(time.Now())
	p.sending.Add(1)
	p.mu.Unlock()
	defer p.sending.Done()
	err := p.deliver(context.Background(), in.Callback)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || errors.Is(err, call.ErrEnded) {
		e.lastDelivered = max(e.lastDelivered, in.n)
		return
	}
	if p.stopped || !errors.Is(err, opt.ErrUnavailable) {
		p.log.Warn("Dropped the progress of a task", zap.String("taskId", in.TaskID), zap.Error(err))
		return
	}
	if e.waiting == nil && e.lastDelivered < in.n {
		e.waiting = &in
		p.startTimer(key, e, paceRetry)
	}
}

// forgetIdle forgets rounds without callbacks. p.mu is held.
func (p *pacer) forgetIdle(now time.Time) {
	if now.Sub(p.forgotAt) < paceForget {
		return
	}
	p.forgotAt = now
	for key, e := range p.paces {
		if e.waiting == nil && len(e.handovers) == 0 && now.Sub(e.next) > paceForget {
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
