package prove

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	lookEvery  = 100 * time.Millisecond
	goneAfter  = 2 * time.Second // so long a server that has just started may not know a task
	askWithin  = 10 * time.Second
	killWithin = 80 * time.Millisecond // at most so long after the second half is sent
)

// calm sends one task of each kind and notes how they end.
func (r *run) calm(ctx context.Context, c *column) error {
	first := r.compose(plain)
	c.Sent = 1
	t, err := r.wire.send(ctx, first.message)
	if refused(err) && first.message.push != "" {
		r.pushes = "the server refuses the webhook: " + err.Error()
		first.message.push = ""
		t, err = r.wire.send(ctx, first.message)
	}
	if err != nil {
		return fmt.Errorf("send %q: %w", first.message.text, err)
	}
	r.acknowledged(first, t)
	r.settle(ctx, first)
	l := first.look()
	if l.final == "" {
		return fmt.Errorf("the task of the message %q has not ended within %v: it is %s. Give a --message whose task ends by itself", first.message.text, r.Timeout, l.last)
	}
	r.usual[plain] = l.last
	batch := []*sent{r.compose(asking), r.compose(canceled)}
	if r.streaming {
		batch = append(batch, r.compose(streamed))
	}
	c.Sent += len(batch)
	r.usual[asking], r.usual[canceled] = r.usual[plain], "canceled"
	var group sync.WaitGroup
	streams := r.launch(ctx, &group, batch)
	group.Wait()
	r.settleAll(ctx, batch)
	streams.Wait()
	if asks := batch[0].look(); asks.asked {
		r.usual[asking] = asks.last
	} else {
		r.usual[asking] = ""
		c.skip("questions", fmt.Sprintf("the task of --ask-message %q asked nothing and is %s", batch[0].message.text, asks.last))
	}
	if l := batch[1].look(); !l.stopped {
		r.usual[canceled] = ""
		c.skip("cancels", "a working task could not be canceled: it is "+l.last)
	}
	if !r.streaming {
		c.skip("streams", "the card declares no streaming")
	}
	if _, err := r.wire.list(ctx, r.began, ""); err != nil {
		r.lists = "the server has no list: " + err.Error()
	}
	c.Acknowledged = r.count(batch) + 1
	return nil
}

// acknowledged notes an answer to the message of s.
func (r *run) acknowledged(s *sent, t *task) {
	s.named(t)
	s.looked(t)
	s.set(func(s *sent) { s.acked = true })
}

// launch sends all messages in parallel and handles each task by its kind.
// group has their beginnings. The streams are done when their tasks have ended.
func (r *run) launch(ctx context.Context, group *sync.WaitGroup, batch []*sent) (streams *sync.WaitGroup) {
	streams = &sync.WaitGroup{}
	for _, s := range batch {
		if s.kind == streamed {
			streams.Go(func() { s.follows.run(ctx, r.wire, s) })
		}
		group.Go(func() { r.start(ctx, s) })
	}
	return streams
}

// start sends the message of s once and takes its task to where it is to be broken.
func (r *run) start(ctx context.Context, s *sent) {
	if s.kind == streamed {
		r.until(ctx, askWithin, func() bool { return s.taskID() != "" || s.follows.broken() })
		if s.taskID() != "" {
			s.set(func(s *sent) { s.acked = true })
		}
		return
	}
	t, err := r.wire.send(ctx, s.message)
	if err != nil {
		return
	}
	r.acknowledged(s, t)
	r.steer(ctx, s)
}

// steer waits for the question of a task that asks, and cancels one that is to be
// canceled.
func (r *run) steer(ctx context.Context, s *sent) {
	switch s.kind {
	case asking:
		r.until(ctx, askWithin, func() bool {
			t, err := r.wire.get(ctx, s.taskID())
			if err != nil {
				return true
			}
			s.looked(t)
			return s.look().asked || isTerminal(t.state())
		})
	case canceled:
		s.set(func(s *sent) { s.tried = true })
		if t, err := r.wire.cancel(ctx, s.taskID()); err == nil {
			s.looked(t)
			s.set(func(s *sent) { s.stopped = t.state() == "canceled" || !isTerminal(t.state()) })
		}
	}
}

// until looks every now and then until done, the time is over or ctx is.
func (r *run) until(ctx context.Context, within time.Duration, done func() bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// count returns how many messages were acknowledged.
func (r *run) count(batch []*sent) (n int) {
	for _, s := range batch {
		if s.look().acked {
			n++
		}
	}
	return n
}

// killed returns an experiment that ends the server in the middle of work.
func (r *run) killed(end func(context.Context) error) func(context.Context, *column) error {
	return func(ctx context.Context, c *column) error {
		batch := r.batch(r.Tasks)
		c.Sent = len(batch)
		before, during := batch[:len(batch)/2], batch[len(batch)/2:]
		var group sync.WaitGroup
		early := r.launch(ctx, &group, before)
		group.Wait()
		for _, s := range before {
			if t, err := r.wire.get(ctx, s.taskID()); err == nil {
				s.looked(t)
				s.mark(t)
			}
		}
		var rush sync.WaitGroup
		late := r.launch(ctx, &rush, during)
		wait(ctx, time.Duration(r.rand.Int64N(int64(killWithin))))
		recovery := &Recovery{Down: r.Down.Seconds()}
		failed := end(ctx)
		if errors.Is(failed, errNoStop) {
			return failed
		}
		if failed != nil {
			recovery.Note = failed.Error()
		}
		rush.Wait()
		wait(ctx, r.Down)
		began := time.Now()
		if err := r.Server.Start(ctx); err != nil {
			return err
		}
		if _, err := r.ready(ctx); err != nil {
			return fmt.Errorf("after the server was started again: %w", err)
		}
		recovery.Ready = time.Since(began).Seconds()
		c.Acknowledged = r.count(batch)
		r.settleAll(ctx, batch)
		r.end(early, late)
		recovery.count(before, began)
		c.Recovery = recovery
		return nil
	}
}

// end waits for streams. Those whose task has ended end by themselves; the others with
// the time-out of the experiment.
func (r *run) end(streams ...*sync.WaitGroup) {
	for _, s := range streams {
		s.Wait()
	}
}

// count fills in how long tasks took that were open when the server ended.
func (rec *Recovery) count(open []*sent, began time.Time) {
	for _, s := range open {
		l := s.look()
		if !l.acked || l.final != "" && l.ended.Before(began) {
			continue
		}
		rec.Open++
		if l.final == "" {
			rec.Never++
			continue
		}
		first := l.ended
		if !l.moved.IsZero() && l.moved.Before(first) {
			first = l.moved
		}
		if took := first.Sub(began).Seconds(); rec.First == 0 || took < rec.First {
			rec.First = took
		}
		rec.All = max(rec.All, l.ended.Sub(began).Seconds())
	}
}

// wait lets d go by.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// settleAll takes tasks to their ends.
func (r *run) settleAll(ctx context.Context, batch []*sent) {
	var group sync.WaitGroup
	for _, s := range batch {
		group.Go(func() { r.settle(ctx, s) })
	}
	group.Wait()
}

// settle takes one task to its end: it repeats the message if its answer was lost,
// cancels and answers, and looks until the task has ended, is gone, or ctx is done.
func (r *run) settle(ctx context.Context, s *sent) {
	var missing time.Time // since when the server says that there is no such task
	answered := false
	r.until(ctx, r.Timeout, func() bool {
		if s.taskID() == "" {
			t, err := r.wire.send(ctx, s.message)
			if err == nil {
				s.named(t)
			}
			s.set(func(s *sent) { s.gone = refused(err) })
			return refused(err)
		}
		t, err := r.wire.get(ctx, s.taskID())
		switch {
		case hasCode(err, codeNotFound):
			if missing.IsZero() {
				missing = time.Now()
			}
			gone := time.Since(missing) > goneAfter
			s.set(func(s *sent) { s.gone = gone })
			return gone
		case err != nil:
			return false
		}
		missing = time.Time{}
		s.looked(t)
		switch {
		case isTerminal(t.state()):
			return true
		case s.kind == canceled && !s.look().stopped:
			r.steer(ctx, s)
		case s.kind == asking && t.state() == "input-required" && !answered:
			answered = r.answer(ctx, s)
		}
		return false
	})
}

// answer answers the question of s, twice with the same message id, as a client does
// whose first answer got no answer.
func (r *run) answer(ctx context.Context, s *sent) bool {
	m := message{id: s.message.id + "-answer", taskID: s.taskID(), text: fill(r.Answer, s.message.id)}
	if _, err := r.wire.send(ctx, m); err != nil {
		return false
	}
	_, _ = r.wire.send(ctx, m) // may be refused: the question is closed
	return true
}

// partition is an experiment in which the network fails and the server does not.
func (r *run) partition(ctx context.Context, c *column) error {
	batch := r.batch(r.Tasks)
	c.Sent = len(batch)
	var streamers, others []*sent
	for _, s := range batch {
		if s.kind == streamed {
			streamers = append(streamers, s)
		} else {
			others = append(others, s)
		}
	}
	var group sync.WaitGroup
	streams := r.launch(ctx, &group, streamers)
	for i, s := range others {
		group.Go(func() { r.struggle(ctx, s, i) })
	}
	group.Wait()
	wait(ctx, time.Duration(r.rand.Int64N(int64(killWithin))))
	r.link.cut()
	wait(ctx, r.Down)
	r.link.mend()
	c.Acknowledged = r.count(batch)
	r.settleAll(ctx, batch)
	r.end(streams)
	return nil
}

// struggle sends one message through a bad network, in one of several ways.
func (r *run) struggle(ctx context.Context, s *sent, way int) {
	faults := []fault{hangUp, delay, halfClose, noFault}
	bad := r.wire.through(newLink(faults[way%len(faults)], r.Seed+uint64(way)))
	defer bad.http.CloseIdleConnections()
	once := func(ctx context.Context, w *wire) {
		if t, err := w.send(ctx, s.message); err == nil {
			r.acknowledged(s, t)
		}
	}
	switch faults[way%len(faults)] {
	case noFault: // twice at the same time
		var twins sync.WaitGroup
		twins.Go(func() { once(ctx, bad) })
		twins.Go(func() { once(ctx, r.wire) })
		twins.Wait()
	case delay: // the client is impatient: it asks again while the first request is on its way
		impatient, cancel := context.WithTimeout(ctx, slowBy+soonest)
		once(impatient, bad)
		cancel()
		once(ctx, r.wire)
	default:
		once(ctx, bad)
		if s.taskID() == "" {
			once(ctx, r.wire)
		}
	}
	if s.taskID() != "" {
		r.steer(ctx, s)
	}
}
