package serve

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/zap"

	"longhaul/internal/test"
)

// A recorded part keeps a list of its calls.
type recorded struct {
	name  string
	fails bool // to start
	to    *[]string
}

func (r recorded) did(what string) { *r.to = append(*r.to, what+" "+r.name) }

func (r recorded) Start(context.Context) error {
	r.did("start")
	if r.fails {
		return errors.New("no " + r.name)
	}
	return nil
}

func (r recorded) Stop() error                     { r.did("stop"); return nil }
func (r recorded) Name() string                    { return r.name }
func (r recorded) Ready(ctx context.Context) error { r.did("ask"); return nil }
func (r recorded) Drain()                          { r.did("drain") }
func (r recorded) Reload()                         { r.did("reload") }

// Parts start in order and stop in reverse, after all have refused new work. Only parts that have
// started are asked whether they are ready.
func TestHost_order(t *testing.T) {
	for name, tc := range map[string]struct {
		second bool // fails to start
		want   []string
	}{
		"all start": {false, []string{"start a", "start b", "reload a", "reload b", "ask a", "ask b", "drain a", "drain b", "stop b", "stop a"}},
		"one fails": {true, []string{"start a", "start b", "stop b", "stop a"}}, // it may have begun something
	} {
		var did []string
		h := newHost(zap.NewNop(), Build{})
		err := h.start(t.Context(), recorded{"a", false, &did}, recorded{"b", tc.second, &did}, step(func(context.Context) error { return nil }))
		if (err != nil) != tc.second {
			t.Errorf("%s: error %v", name, err)
		}
		if err == nil {
			h.reload()
			for _, part := range []string{"a", "b"} { // those of one answer are asked at the same time
				test.Is(t, fmt.Sprintf("%s: %s", name, part), "ready", h.ops.readiness(t.Context(), []string{part}).Parts[part])
			}
			h.drain()
		}
		test.OK(t, h.Stop())
		test.Equal(t, name, tc.want, did)
	}
}

// A part that fails later ends the process with its error, and stops the others.
func TestHost_fail(t *testing.T) {
	var did []string
	h := newHost(zap.NewNop(), Build{})
	test.OK(t, h.start(t.Context(), recorded{"a", false, &did}))
	first := errors.New("first")
	h.fail(first)
	h.fail(errors.New("second"))
	if err := h.wait(t.Context(), nil); !errors.Is(err, first) || len(did) != 2 {
		t.Errorf("error %v, done %q", err, did)
	}
}

// A loop that was never started can be stopped; one that was has ended then.
func TestLoop(t *testing.T) {
	ended := false
	l := &loop{run: func(ctx context.Context) { <-ctx.Done(); ended = true }}
	if err := l.Stop(); err != nil || ended {
		t.Errorf("before its start: %v, %t", err, ended)
	}
	if err := errors.Join(l.Start(t.Context()), l.Stop()); err != nil || !ended {
		t.Errorf("after its start: %v, %t", err, ended)
	}
}
