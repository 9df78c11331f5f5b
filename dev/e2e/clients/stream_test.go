package clients_test

import (
	"context"
	"iter"
	"strings"

	"longhaul/internal/test"
)

const (
	six     = "stream 6 20ms; say streamed"
	sixText = "piece 1 of 6\npiece 2 of 6\npiece 3 of 6\npiece 4 of 6\npiece 5 of 6\npiece 6 of 6\n"
)

// A stream shows the task, the states and the pieces in order.
func (v *visit) stream() {
	events := v.all(v.peer.stream(v.ctx, message{Text: six}))
	v.went(events, "submitted", "working", "completed")
	v.pieces(events)
	v.whole(events)
	if got := assembled(events); len(got) != 2 || got[0].Text != sixText || got[1].Text != "streamed" {
		v.Errorf("the artifacts are %+v", got)
	}
}

// pieces checks that pieces are appended to their artifacts, and that only the
// last piece of each is marked as the last.
func (v *visit) pieces(events []event) {
	v.Helper()
	known, over := map[string]bool{}, map[string]bool{}
	for _, a := range events[0].Task.Artifacts {
		known[a.ID] = true
	}
	for i, e := range events {
		if e.Piece == nil {
			continue
		}
		if e.Piece.Append != known[e.Piece.Of.ID] || over[e.Piece.Of.ID] {
			v.Errorf("event %d after pieces of %v, of which %v are over: %+v", i, known, over, e.Piece)
		}
		known[e.Piece.Of.ID], over[e.Piece.Of.ID] = true, e.Piece.Last
	}
	for id, over := range over {
		if !over {
			v.Errorf("there is no last piece of %s", id)
		}
	}
}

// A failure is an event with the reason.
func (v *visit) streamFailure() {
	events := v.all(v.peer.stream(v.ctx, message{Text: "work 10ms; fail"}))
	v.went(events, "submitted", "working", "failed")
	t := v.got(events[0].Task.ID)
	v.is(t, "failed")
	if !strings.Contains(t.Status.Text, "told to fail") {
		v.Errorf("the failure says %q", t.Status.Text)
	}
}

// A later subscriber gets the current task and the events after it.
func (v *visit) subscribeWorking() {
	p := v.dial()
	r := v.reads(func(ctx context.Context) iter.Seq2[event, error] {
		return v.peer.stream(ctx, message{Text: "stream 50 30ms; say both"})
	})
	if r.first.Task == nil {
		v.Fatalf("the stream begins with %+v", r.first)
	}
	id := r.first.Task.ID
	v.until(id, "there is a piece", func(t task) bool { return len(t.Artifacts) > 0 })
	late := v.all(p.subscribe(v.ctx, id))
	all := v.events(r)
	v.went(late, "working", "completed")
	v.whole(all)
	v.whole(late)
	v.pieces(late)
	if len(late) < 2 || len(late) > len(all) {
		v.Fatalf("%d events for who came late, %d for who was there", len(late), len(all))
	}
	test.Equal(v, "the events differ", bare(all[len(all)-len(late)+1:]), bare(late[1:]))
}

// bare returns events without the task that a library assembles.
func bare(in []event) (out []event) {
	for _, e := range in {
		e.Whole = nil
		out = append(out, e)
	}
	return out
}

// A subscriber to a waiting task gets the events after the answer. In 1.0 the
// stream lasts to the end of the task; in 0.3 until the task waits again, which
// is final.
func (v *visit) subscribeWaiting() {
	t := v.sent(message{Text: "approve One?; work 20ms; approve Two?; say done"})
	gate := v.gate(t.Status, "approval")
	p := v.dial()
	r := v.reads(watch(p, t.ID))
	if first := r.first.Task; first == nil || first.Status.State != "input-required" {
		v.Fatalf("the stream begins with %+v", r.first)
	}
	t = v.sent(decision(t.ID, gate, "accept"))
	second := v.gate(t.Status, "approval")
	if v.version == "0.3" {
		v.went(v.events(r), "input-required", "working", "input-required")
		r = v.reads(watch(p, t.ID))
	}
	v.made(v.sent(decision(t.ID, second, "accept")), "done")
	events := v.events(r)
	v.went(events, "input-required", "working", "input-required", "working", "completed")
	v.whole(events)
}

// A subscription to a task that has ended is an error in 1.0; in 0.3 it shows the
// task.
func (v *visit) subscribeOver() {
	t := v.sent(message{Text: "say over"})
	in := v.peer.subscribe(v.ctx, t.ID)
	if v.version != "0.3" {
		v.streamRefused(in, errUnsupported)
		return
	}
	events := v.all(in)
	v.went(events, "completed")
	if len(events) != 1 {
		v.Errorf("the stream of a task that is over has %+v", events)
	}
	v.whole(events)
}
