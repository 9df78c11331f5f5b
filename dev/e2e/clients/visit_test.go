package clients_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// sent sends a message and wants a task.
func (v *visit) sent(m message) task {
	v.Helper()
	t, err := v.peer.send(v.ctx, m)
	if err != nil {
		v.Fatalf("send %+v: %v", m, err)
	}
	if t.ID == "" || t.ContextID == "" {
		v.Fatalf("send %+v: a task without ids: %+v", m, t)
	}
	return t
}

// begun begins work and does not wait for its end.
func (v *visit) begun(script string) task {
	v.Helper()
	return v.sent(message{Text: script, Leave: true})
}

// got returns a task as it is now.
func (v *visit) got(id string) task {
	v.Helper()
	t, err := v.peer.get(v.ctx, id, nil)
	if err != nil {
		v.Fatalf("get %s: %v", id, err)
	}
	return t
}

// reaches waits until a task is in a state.
func (v *visit) reaches(id, state string) task {
	v.Helper()
	return v.until(id, "it is "+state, func(t task) bool { return t.Status.State == state })
}

// until waits until is returns true for a task.
func (v *visit) until(id, what string, is func(task) bool) (t task) {
	v.Helper()
	harness.Eventually(v, within, what, func() (err error) {
		if t, err = v.peer.get(v.ctx, id, nil); err == nil && !is(t) {
			err = fmt.Errorf("the task is %+v", t)
		}
		return err
	})
	return t
}

// is checks the state of a task.
func (v *visit) is(t task, state string) {
	v.Helper()
	if t.Status.State != state {
		v.Fatalf("the task is %s, want %s: %+v", t.Status.State, state, t)
	}
}

// made checks the texts of the artifacts of a task.
func (v *visit) made(t task, texts ...string) {
	v.Helper()
	test.Equal(v, "the artifacts differ", texts, madeBy(t))
}

func madeBy(t task) (out []string) {
	for _, a := range t.Artifacts {
		out = append(out, a.Text)
	}
	return out
}

// gate returns the id of the gate in a status.
func (v *visit) gate(s status, kind string) string {
	v.Helper()
	id, _ := s.Data["interruptId"].(string)
	if s.State != "input-required" || id == "" || s.Data["kind"] != kind {
		v.Fatalf("no gate of kind %s in %+v", kind, s)
	}
	return id
}

// decision answers an approval.
func decision(taskID, gateID, action string) message {
	return message{TaskID: taskID, Data: map[string]any{"interruptId": gateID, "action": action}}
}

// refused checks the error of a refused call.
func (v *visit) refused(err, want error) {
	v.Helper()
	if !errors.Is(err, want) {
		v.Errorf("the error is %v, want %v", err, want)
	}
}

// streamRefused checks that a stream was refused, and with which error if the client
// reports it.
func (v *visit) streamRefused(in iter.Seq2[event, error], want error) {
	v.Helper()
	events, err := read(in)
	switch {
	case err == nil || len(events) > 0:
		v.Errorf("events %+v and error %v, want none and %v", events, err, want)
	case !v.silent:
		v.refused(err, want)
	}
}

// read reads a stream to its end.
func read(in iter.Seq2[event, error]) (out []event, err error) {
	for e, err := range in {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

// all reads a stream to its end and checks the rules of every stream: the task
// comes first and once, all events are of one task, only the last is final, and
// the library assembles the same task as we do.
func (v *visit) all(in iter.Seq2[event, error]) []event {
	v.Helper()
	events, err := read(in)
	if err != nil || len(events) == 0 || events[0].Task == nil {
		v.Fatalf("the stream does not begin with a task, or fails: %v\n%+v", err, events)
	}
	id := events[0].Task.ID
	for i, e := range events {
		last := i == len(events)-1
		switch {
		case e.Task != nil && i > 0:
			v.Errorf("event %d is a task again: %+v", i, e.Task)
		case e.Status != nil && e.Status.TaskID != id, e.Piece != nil && e.Piece.TaskID != id:
			v.Errorf("event %d is of another task: %+v", i, e)
		case e.Status != nil && e.Status.Final != nil && *e.Status.Final != last:
			v.Errorf("event %d of %d has final %v", i, len(events), *e.Status.Final)
		}
	}
	if whole := events[len(events)-1].Whole; whole != nil {
		test.Equal(v, "the library's artifacts differ from ours", assembled(events), whole.Artifacts, cmpopts.EquateEmpty())
	}
	return events
}

// assembled assembles the artifacts of a stream.
func assembled(events []event) []artifact {
	var out []artifact
	for _, e := range events {
		switch {
		case e.Task != nil:
			out = append([]artifact(nil), e.Task.Artifacts...)
		case e.Piece != nil:
			out = add(out, *e.Piece)
		}
	}
	return out
}

func add(to []artifact, p piece) []artifact {
	for i := range to {
		if to[i].ID == p.Of.ID && p.Append {
			to[i].Text += p.Of.Text
			return to
		}
		if to[i].ID == p.Of.ID {
			to[i] = p.Of
			return to
		}
	}
	return append(to, p.Of)
}

// states lists the states in a stream, without repeats.
func states(events []event) (out []string) {
	for _, e := range events {
		if s := e.state(); s != "" && (len(out) == 0 || out[len(out)-1] != s) {
			out = append(out, s)
		}
	}
	return out
}

// went checks the states in a stream. The stream may have begun after the first
// of them, and may leave out that a root task works for a moment between two
// gates or before its end.
func (v *visit) went(events []event, want ...string) {
	v.Helper()
	got := states(events)
	left := slices.Clone(got)
	for _, w := range slices.Backward(want) {
		switch n := len(left); {
		case n > 0 && left[n-1] == w:
			left = left[:n-1]
		case n > 0 && w != "working":
			v.Fatalf("the stream went %s, want %s", strings.Join(got, " "), strings.Join(want, " "))
		}
	}
	if len(got) == 0 || len(left) > 0 {
		v.Fatalf("the stream went %s, want %s", strings.Join(got, " "), strings.Join(want, " "))
	}
}

// whole checks that the artifacts of a stream are the task's.
func (v *visit) whole(events []event) {
	v.Helper()
	test.Equal(v, "the artifacts of the stream differ from the task's", v.got(events[0].Task.ID).Artifacts, assembled(events), cmpopts.EquateEmpty())
}

// A reading is a stream that is read in the background.
type reading struct {
	began chan struct{} // closed when there is an event, or the end
	first event         // once began
	done  chan struct{}
	all   []event // once done
	err   error   // likewise
}

// reads begins to read a stream until it ends or the visit does, and waits for
// its first event.
func (v *visit) reads(open func(ctx context.Context) iter.Seq2[event, error]) *reading {
	v.Helper()
	ctx, cancel := context.WithCancel(v.ctx)
	r := &reading{began: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for e, err := range open(ctx) {
			if err != nil {
				r.err = err
				break
			}
			if r.all = append(r.all, e); len(r.all) == 1 {
				r.first = e
				close(r.began)
			}
		}
		if len(r.all) == 0 {
			close(r.began)
		}
	}()
	v.Cleanup(func() {
		cancel()
		<-r.done
	})
	v.waits(r.began, "the first event")
	return r
}

// events waits for the end of a stream and returns what came, checked.
func (v *visit) events(r *reading) []event {
	v.Helper()
	v.waits(r.done, "the end of the stream")
	return v.all(func(yield func(event, error) bool) {
		for _, e := range r.all {
			if !yield(e, nil) {
				return
			}
		}
		if r.err != nil {
			yield(event{}, r.err)
		}
	})
}

func (v *visit) waits(c <-chan struct{}, what string) {
	v.Helper()
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-c:
	case <-limit.C:
		v.Fatalf("not within %v: %s", within, what)
	}
}

// watch opens a stream of a task.
func watch(p peer, id string) func(context.Context) iter.Seq2[event, error] {
	return func(ctx context.Context) iter.Seq2[event, error] { return p.subscribe(ctx, id) }
}
