package clients_test

import (
	"slices"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/internal/test"
)

const optExtension = "https://github.com/zeroasterisk/a2a-opt/v1"

// The same card is at the root and under the path of the endpoint.
func (v *visit) card() {
	below := v.at(v.ctx, v.T, v.url+"/a2a").card()
	c := v.peer.card()
	if c.Name == "" || !c.Streaming || len(c.Skills) == 0 || !slices.Contains(c.Extensions, optExtension) {
		v.Errorf("the card is %+v", c)
	}
	test.Equal(v, "the cards differ", c, below)
}

// A send waits for the work by default and returns its result, over the binding
// that the client must choose.
func (v *visit) send() {
	t := v.sent(message{Text: "work 100ms; say hi"})
	if got := v.peer.chosen(); got != v.binding {
		v.Errorf("it was sent over %s", got)
	}
	v.is(t, "completed")
	v.made(t, "hi")
	test.Equal(v, "the task differs", v.got(t.ID), t)
}

// A send that does not wait returns a task that has not ended.
func (v *visit) leave() {
	t := v.begun("work 300ms; say later")
	if s := t.Status.State; s != "submitted" && s != "working" {
		v.Errorf("the task is %s", s)
	}
	v.made(v.reaches(t.ID, "completed"), "later")
}

// A client gets as much of the history as it asks for: the last messages.
func (v *visit) history() {
	script := "ask What color?; say ok"
	t := v.sent(message{Text: script})
	t = v.sent(message{Text: "blue", TaskID: t.ID})
	v.is(t, "completed")
	all := []said{{"user", script}, {"agent", "What color?"}, {"user", "blue"}}
	none, one, many := 0, 1, 50
	for _, tc := range []struct {
		length *int
		want   []said
	}{{nil, all}, {&many, all}, {&one, all[2:]}, {&none, nil}} {
		t := test.Value(v.peer.get(v.ctx, t.ID, tc.length))(v)
		test.Equal(v, "the history differs", tc.want, t.History, cmpopts.EquateEmpty())
	}
	if t := v.sent(message{Text: "say brief", History: &none}); len(t.History) > 0 || t.Status.State != "completed" {
		v.Errorf("a send that asked for no history got %+v", t)
	}
}

// A message in the context of a task begins another task. A client may also
// choose a new context.
func (v *visit) context() {
	t := v.sent(message{Text: "say one"})
	other := v.sent(message{Text: "say two", ContextID: t.ContextID})
	if other.ContextID != t.ContextID || other.ID == t.ID {
		v.Errorf("after %s in %s came %s in %s", t.ID, t.ContextID, other.ID, other.ContextID)
	}
	v.made(other, "two")
	own := "of-mine-" + t.ID
	if t := v.sent(message{Text: "say three", ContextID: own}); t.ContextID != own {
		v.Errorf("the context is %s, want %s", t.ContextID, own)
	}
}

// The extension is on for a client that asks for it, and for no other.
func (v *visit) extension() {
	plain := v.sent(message{Text: "say x"})
	if got := v.peer.activated(); got != "" || plain.Metadata["opt/v1/objective"] != nil {
		v.Errorf("without the extension: %q is on, metadata is %v", got, plain.Metadata)
	}
	if plain.Metadata["opt/v1/objectiveId"] != plain.ID {
		v.Errorf("the task does not name its objective: %v", plain.Metadata)
	}
	p := v.dial(optExtension, "urn:example:unknown")
	t, err := p.send(v.ctx, message{Text: "say x"})
	test.OK(v, err)
	v.objective(p, t)
	if t, err = p.get(v.ctx, t.ID, nil); err != nil {
		v.Fatal(err)
	}
	v.objective(p, t)
	events := v.all(p.stream(v.ctx, message{Text: "say y"}))
	if got := p.activated(); got != optExtension {
		v.Errorf("%q is on for a stream", got)
	}
	if events[0].Task.Metadata["opt/v1/objective"] == nil {
		v.Errorf("the task of the stream has no objective: %v", events[0].Task.Metadata)
	}
}

// objective checks that the extension is on and has shown the objective.
func (v *visit) objective(p peer, t task) {
	v.Helper()
	o, _ := t.Metadata["opt/v1/objective"].(map[string]any)
	plans, _ := o["plans"].([]any)
	if o["id"] != t.ID || o["status"] != "completed" || len(plans) != 1 {
		v.Errorf("the objective is %v", o)
	}
	if got := p.activated(); got != optExtension {
		v.Errorf("%q is on", got)
	}
}

// Concurrent calls of a client get their own answers.
func (v *visit) crowd() {
	const size = 20
	var all sync.WaitGroup
	for i := range size {
		name := string(rune('a' + i))
		if i%2 == 0 {
			all.Go(func() { v.oneSends(name) })
		} else {
			all.Go(func() { v.oneStreams(name) })
		}
	}
	all.Wait()
}

func (v *visit) oneSends(name string) {
	t, err := v.peer.send(v.ctx, message{Text: "work 20ms; say " + name})
	if err != nil {
		v.Errorf("send: %v", err)
		return
	}
	if diff := cmp.Diff([]string{name}, madeBy(t)); diff != "" || t.Status.State != "completed" {
		v.Errorf("the task is %s and made (-want +got):\n%s", t.Status.State, diff)
	}
	if again, err := v.peer.get(v.ctx, t.ID, nil); err != nil || again.ID != t.ID || len(again.History) != 1 || again.History[0].Text != "work 20ms; say "+name {
		v.Errorf("get: %+v, %v", again, err)
	}
}

func (v *visit) oneStreams(name string) {
	events, err := read(v.peer.stream(v.ctx, message{Text: "stream 2 1ms; say " + name}))
	if err != nil || len(events) == 0 {
		v.Errorf("stream: %+v, %v", events, err)
		return
	}
	if got := assembled(events); len(got) != 2 || got[0].Text != "piece 1 of 2\npiece 2 of 2\n" || got[1].Text != name {
		v.Errorf("the stream of %s made %+v", name, got)
	}
}
