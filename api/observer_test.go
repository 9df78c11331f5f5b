package api_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/internal/test"
)

// An observed keeps the calls of an observer.
type observed struct {
	mu      sync.Mutex
	calls   []string
	gates   []string
	quotas  []string
	streams int
}

func (o *observed) Called(operation, binding, outcome string, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	call := binding + " " + operation + " " + outcome
	if took == 0 {
		call += ", streamed"
	}
	o.calls = append(o.calls, call)
}

func (o *observed) Streaming(change int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams += change
}

func (o *observed) Exceeded(quota string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.quotas = append(o.quotas, quota)
}

func (o *observed) Answered(kind string, _ time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gates = append(o.gates, kind)
}

// An observer is called for requests, with names that clients do not choose, for gates
// that were answered, and for open streams.
func TestObserver(t *testing.T) {
	o := &observed{}
	s := newService(t, func(c *config) { c.Observer = o })
	url := s.listen(t)
	s.send(t, "g", "approve")
	s.call(t, "SendMessage", `{"message":{"messageId":"r","role":"ROLE_USER","taskId":"obj-`+u("g")+`","parts":[{"text":"accept"}]}}`)
	test.Equal(t, "answered gates", []string{"approval"}, o.gates)
	o.calls = nil
	s.send(t, "m", "slow")
	s.call(t, "GetTask", `{"id":"obj-`+u("m")+`"}`)
	s.call(t, "GetTask", `{"id":"none"}`)
	s.call(t, "Chosen", `{}`)
	r := open(t, url, "1.0", "SubscribeToTask", `{"id":"obj-`+u("m")+`"}`)
	r.event()
	if o.mu.Lock(); o.streams != 1 {
		t.Errorf("%d streams are open, want 1", o.streams)
	}
	o.mu.Unlock()
	s.service.Close()
	r.states()
	s.until(t, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.streams == 0 && slices.Contains(o.calls, "jsonrpc SubscribeToTask ok, streamed")
	})
	want := []string{"jsonrpc SendMessage ok", "jsonrpc GetTask ok", "jsonrpc GetTask refused", "jsonrpc other refused", "jsonrpc SubscribeToTask ok, streamed"}
	test.Equal(t, "calls", want, o.calls)
}
