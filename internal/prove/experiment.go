package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	pollEvery      = 100 * time.Millisecond
	unknownFor     = 2 * time.Second // for which a server that has just started may not know a task
	questionWithin = 10 * time.Second
	killWithin     = 80 * time.Millisecond // from sending the second half until the kill, at most
)

// calm sends one task of each kind and notes how they end.
func (r *run) calm(ctx context.Context, c *column) error {
	first := r.newSent(plain)
	c.Sent = 1
	t, err := first.send(ctx, "client", r.client)
	if isRefusal(err) && first.message.push != "" {
		r.pushes = "the server refuses the webhook: " + err.Error()
		first.message.push = ""
		t, err = first.send(ctx, "client", r.client)
	}
	if err != nil {
		return fmt.Errorf("send %q: %w", first.message.text, err)
	}
	r.noteAcknowledged(first, t)
	r.finishTask(ctx, first)
	l := first.snapshot()
	if l.final == "" {
		return fmt.Errorf("the task of the message %q has not ended within %v: it is %s. Give a --message whose task ends by itself", first.message.text, r.Timeout, l.last)
	}
	r.usualEnds[plain] = l.last
	batch := []*sentTask{r.newSent(asking), r.newSent(canceled)}
	if r.streaming {
		batch = append(batch, r.newSent(streamed))
	}
	c.Sent += len(batch)
	r.usualEnds[asking], r.usualEnds[canceled] = r.usualEnds[plain], "canceled"
	var group sync.WaitGroup
	streams := r.startAll(ctx, &group, batch)
	group.Wait()
	r.finishAll(ctx, batch)
	streams.Wait()
	if asks := batch[0].snapshot(); asks.asked {
		r.usualEnds[asking] = asks.last
	} else {
		r.usualEnds[asking] = ""
		c.skip("questions", fmt.Sprintf("the task of --ask-message %q asked nothing and is %s", batch[0].message.text, asks.last))
	}
	if l := batch[1].snapshot(); !l.cancelAcknowledged {
		r.usualEnds[canceled] = ""
		c.skip("cancels", "a working task could not be canceled: it is "+l.last)
	}
	if !r.streaming {
		c.skip("streams", "the card declares no streaming")
	}
	if _, err := r.client.list(ctx, r.began, ""); err != nil {
		r.lists = "the server has no list: " + err.Error()
	}
	c.Acknowledged = r.countAcknowledged(batch) + 1
	return nil
}

// noteAcknowledged notes an answer to the message of s.
func (r *run) noteAcknowledged(s *sentTask, t *task) {
	s.noteState(t)
	s.update(func(s *sentTask) { s.acknowledged = true })
}

// startAll sends all messages in parallel and handles each task by its kind. group waits
// until all were started, streams for the end of the streams.
func (r *run) startAll(ctx context.Context, group *sync.WaitGroup, batch []*sentTask) (streams *sync.WaitGroup) {
	streams = &sync.WaitGroup{}
	for _, s := range batch {
		if s.kind == streamed {
			streams.Go(func() { s.follower.run(ctx, r.client, s) })
		}
		group.Go(func() { r.start(ctx, s) })
	}
	return streams
}

// start sends the message of s once, and brings its task into the state in which the
// experiment breaks something.
func (r *run) start(ctx context.Context, s *sentTask) {
	if s.kind == streamed {
		r.pollUntil(ctx, questionWithin, func() bool { return s.taskID() != "" || s.follower.snapshot().broken })
		if s.taskID() != "" {
			s.update(func(s *sentTask) { s.acknowledged = true })
		}
		return
	}
	t, err := s.send(ctx, "client", r.client)
	if err != nil {
		return
	}
	r.noteAcknowledged(s, t)
	r.askOrCancel(ctx, s)
}

// askOrCancel waits for the question of a task that asks, and cancels one that is to be
// canceled.
func (r *run) askOrCancel(ctx context.Context, s *sentTask) {
	switch s.kind {
	case asking:
		r.pollUntil(ctx, questionWithin, func() bool {
			t, err := r.client.get(ctx, s.taskID())
			if err != nil {
				return true
			}
			s.noteState(t)
			return s.snapshot().asked || isTerminal(t.state())
		})
	case canceled:
		s.update(func(s *sentTask) { s.cancelSent = true })
		if t, err := r.client.cancel(ctx, s.taskID()); err == nil {
			s.noteState(t)
			s.update(func(s *sentTask) { s.cancelAcknowledged = t.state() == "canceled" || !isTerminal(t.state()) })
		}
	}
}

// pollUntil calls done at intervals until it returns true, the time is over or ctx ends.
func (r *run) pollUntil(ctx context.Context, within time.Duration, done func() bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// countAcknowledged returns how many messages were acknowledged.
func (r *run) countAcknowledged(batch []*sentTask) (n int) {
	for _, s := range batch {
		if s.snapshot().acknowledged {
			n++
		}
	}
	return n
}

// serverEnds returns an experiment that ends the server in the middle of work.
func (r *run) serverEnds(end func(context.Context) error) func(context.Context, *column) error {
	return func(ctx context.Context, c *column) error {
		batch := r.batch(r.Tasks)
		c.Sent = len(batch)
		before, during := batch[:len(batch)/2], batch[len(batch)/2:]
		var group sync.WaitGroup
		early := r.startAll(ctx, &group, before)
		group.Wait()
		for _, s := range before {
			if t, err := r.client.get(ctx, s.taskID()); err == nil {
				s.noteState(t)
				s.update(func(s *sentTask) { s.markedState = stateAt(t) })
			}
		}
		var rush sync.WaitGroup
		late := r.startAll(ctx, &rush, during)
		sleep(ctx, time.Duration(r.rand.Int64N(int64(killWithin))))
		recovery := &Recovery{Down: r.Down.Seconds()}
		failed := end(ctx)
		if errors.Is(failed, errNoStop) {
			return failed
		}
		if failed != nil {
			recovery.Note = failed.Error()
		}
		rush.Wait()
		sleep(ctx, r.Down)
		began := time.Now()
		if err := r.Server.Start(ctx); err != nil {
			return err
		}
		if _, err := r.ready(ctx); err != nil {
			return fmt.Errorf("after the server was started again: %w", err)
		}
		recovery.Ready = time.Since(began).Seconds()
		c.Acknowledged = r.countAcknowledged(batch)
		r.finishAll(ctx, batch)
		early.Wait()
		late.Wait()
		recovery.setTimes(before, began)
		c.Recovery = recovery
		return nil
	}
}

// setTimes fills in how long tasks took that were open when the server ended.
func (rec *Recovery) setTimes(open []*sentTask, began time.Time) {
	for _, s := range open {
		l := s.snapshot()
		if !l.acknowledged || l.final != "" && l.ended.Before(began) {
			continue
		}
		rec.Open++
		if l.final == "" {
			rec.Never++
			continue
		}
		first := l.ended
		if !l.changedAt.IsZero() && l.changedAt.Before(first) {
			first = l.changedAt
		}
		if took := first.Sub(began).Seconds(); rec.First == 0 || took < rec.First {
			rec.First = took
		}
		rec.All = max(rec.All, l.ended.Sub(began).Seconds())
	}
}

// finishAll takes tasks to their ends.
func (r *run) finishAll(ctx context.Context, batch []*sentTask) {
	var group sync.WaitGroup
	for _, s := range batch {
		group.Go(func() { r.finishTask(ctx, s) })
	}
	group.Wait()
}

// finishTask takes one task to its end: it repeats the message if its answer was lost,
// cancels and answers, and looks until the task has ended, is gone, or ctx is done.
func (r *run) finishTask(ctx context.Context, s *sentTask) {
	var missing time.Time // since when the server says that there is no such task
	answered := false
	r.pollUntil(ctx, r.Timeout, func() bool {
		if s.taskID() == "" {
			_, err := s.send(ctx, "repeat", r.client)
			s.update(func(s *sentTask) { s.gone = isRefusal(err) })
			return isRefusal(err)
		}
		t, err := r.client.get(ctx, s.taskID())
		switch {
		case hasCode(err, codeNotFound):
			missing = cmp.Or(missing, time.Now())
			gone := time.Since(missing) > unknownFor
			s.update(func(s *sentTask) { s.gone = gone })
			return gone
		case err != nil:
			return false
		}
		missing = time.Time{}
		s.noteState(t)
		switch {
		case isTerminal(t.state()):
			return true
		case s.kind == canceled && !s.snapshot().cancelAcknowledged:
			r.askOrCancel(ctx, s)
		case s.kind == asking && t.state() == "input-required" && !answered:
			answered = r.answer(ctx, s)
		}
		return false
	})
}

// answer answers the question of s, twice with the same message id, as a client does
// whose first answer got no answer.
func (r *run) answer(ctx context.Context, s *sentTask) bool {
	m := message{id: s.message.id + "-answer", taskID: s.taskID(), text: withToken(r.Answer, s.message.id)}
	if _, err := r.client.send(ctx, m); err != nil {
		return false
	}
	_, _ = r.client.send(ctx, m) // may be refused: the question is closed
	return true
}

// partition is an experiment in which the network fails and the server does not.
func (r *run) partition(ctx context.Context, c *column) error {
	batch := r.batch(r.Tasks)
	c.Sent = len(batch)
	var streamers, others []*sentTask
	for _, s := range batch {
		if s.kind == streamed {
			streamers = append(streamers, s)
		} else {
			others = append(others, s)
		}
	}
	var group sync.WaitGroup
	streams := r.startAll(ctx, &group, streamers)
	for i, s := range others {
		group.Go(func() { r.sendThroughFault(ctx, s, i) })
	}
	group.Wait()
	sleep(ctx, time.Duration(r.rand.Int64N(int64(killWithin))))
	r.link.cut()
	sleep(ctx, r.Down)
	r.link.restore()
	c.Acknowledged = r.countAcknowledged(batch)
	r.finishAll(ctx, batch)
	streams.Wait()
	return nil
}

// sendThroughFault sends one message through a bad network, in one of several ways.
func (r *run) sendThroughFault(ctx context.Context, s *sentTask, way int) {
	faults := []fault{hangUp, delay, halfClose, noFault}
	bad := r.client.overLink(newLink(faults[way%len(faults)], r.Seed+uint64(way)))
	defer bad.http.CloseIdleConnections()
	once := func(ctx context.Context, client string, w *wire) {
		if t, err := s.send(ctx, client, w); err == nil {
			r.noteAcknowledged(s, t)
		}
	}
	switch faults[way%len(faults)] {
	case noFault: // twice at the same time
		var twins sync.WaitGroup
		twins.Go(func() { once(ctx, "twin", bad) })
		twins.Go(func() { once(ctx, "client", r.client) })
		twins.Wait()
	case delay: // the client is impatient: it asks again while the first request is on its way
		impatient, cancel := context.WithTimeout(ctx, slowBy+maxHangUpDelay)
		once(impatient, "bad link", bad)
		cancel()
		once(ctx, "client", r.client)
	default:
		once(ctx, "bad link", bad)
		if s.taskID() == "" {
			once(ctx, "client", r.client)
		}
	}
	if s.taskID() != "" {
		r.askOrCancel(ctx, s)
	}
}
