package clients_test

import (
	"strings"

	"longhaul/internal/test"
)

// After an approval the task continues.
func (v *visit) accept() {
	t := v.sent(message{Text: "approve Ship it?; say shipped"})
	gate := v.gate(t.Status, "approval")
	test.Is(v, "the gate asks", "Ship it?", t.Status.Text)
	t = v.sent(decision(t.ID, gate, "accept"))
	v.is(t, "completed")
	v.made(t, "shipped")
}

// A stream ends when the task waits; the reply opens another stream.
func (v *visit) acceptInStreams() {
	events := v.all(v.peer.stream(v.ctx, message{Text: "stream 2 1ms; approve Ship it?; say shipped"}))
	v.went(events, "submitted", "working", "input-required")
	last := events[len(events)-1]
	s := last.Status
	if s == nil {
		v.Fatalf("the stream ends with %+v", last)
	}
	id := events[0].Task.ID
	events = v.all(v.peer.stream(v.ctx, decision(id, v.gate(s.Now, "approval"), "accept")))
	v.went(events, "input-required", "working", "completed")
	v.whole(events)
	v.made(v.got(id), "piece 1 of 2\npiece 2 of 2\n", "shipped")
}

// A rejected approval fails the task, and the status says so.
func (v *visit) reject() {
	t := v.sent(message{Text: "approve Ship it?; say shipped"})
	t = v.sent(decision(t.ID, v.gate(t.Status, "approval"), "reject"))
	v.is(t, "failed")
	v.made(t)
	if !strings.Contains(t.Status.Text, "rejected") {
		v.Errorf("the failure says %q", t.Status.Text)
	}
}

// A question is answered by plain text.
func (v *visit) clarify() {
	t := v.sent(message{Text: "ask What color?; say ok"})
	v.gate(t.Status, "clarification")
	t = v.sent(message{TaskID: t.ID, Text: "blue"})
	v.is(t, "completed")
	v.made(t, "What color? blue\nok")
}

// A task that works can be canceled, once.
func (v *visit) cancelWorking() {
	t := v.begun("work 10m")
	v.reaches(t.ID, "working")
	v.canceled(t.ID)
}

// A waiting task can be canceled, too.
func (v *visit) cancelWaiting() {
	t := v.sent(message{Text: "approve Ship it?; say shipped"})
	gate := v.gate(t.Status, "approval")
	v.canceled(t.ID)
	_, err := v.peer.send(v.ctx, decision(t.ID, gate, "accept"))
	v.refused(err, errUnsupported)
}

// canceled cancels a task during a stream, and again. The second time is an error.
func (v *visit) canceled(id string) {
	v.Helper()
	r := v.reads(watch(v.dial(), id))
	t, err := v.peer.cancel(v.ctx, id)
	if err != nil {
		v.Fatalf("cancel: %v", err)
	}
	v.is(t, "canceled")
	events := v.events(r)
	if got := states(events); got[len(got)-1] != "canceled" {
		v.Errorf("the stream went %v", got)
	}
	_, err = v.peer.cancel(v.ctx, id)
	v.refused(err, errNotCancelable)
	v.is(v.got(id), "canceled")
}
