package child_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"longhaul/internal/child"
	"longhaul/internal/test"
)

// start runs a script, whose first line of output has come when it returns.
func start(t *testing.T, script string) *child.Process {
	t.Helper()
	p, err := child.Start(exec.Command("sh", "-c", script), child.Options{Log: filepath.Join(t.TempDir(), "log")})
	test.OK(t, err)
	t.Cleanup(p.KillTree)
	err = child.Until(t.Context(), time.Millisecond, func() error {
		if !strings.Contains(p.Tail(100), "\n") {
			return errors.New("no line yet")
		}
		return nil
	})
	test.OK(t, err)
	return p
}

func TestProcess_Stop(t *testing.T) {
	for script, want := range map[string]string{
		"trap 'exit 0' TERM; echo; while :; do sleep .01; done": "",
		"trap 'exit 3' TERM; echo; while :; do sleep .01; done": "ended with: exit status 3",
		"trap '' TERM; echo; while :; do sleep .01; done":       "did not stop within 50ms and was killed",
	} {
		within := time.Minute
		if strings.Contains(want, "50ms") {
			within = 50 * time.Millisecond
		}
		err := start(t, script).Stop(syscall.SIGTERM, within)
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	p := start(t, "echo; exit 4")
	if err := p.Wait(); err == nil || p.Stop(syscall.SIGTERM, time.Minute) == nil {
		t.Errorf("a process that failed ended with %v, and is stopped without an error", err)
	}
}

func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	late, failed := errors.New("too late"), errors.New("not yet")
	err := child.Until(ctx, time.Hour, func() error {
		cancel(late)
		return failed
	})
	if !errors.Is(err, late) || !errors.Is(err, failed) {
		t.Errorf("error %v, want both", err)
	}
}
