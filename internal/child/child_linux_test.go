package child_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"longhaul/internal/child"
	"longhaul/internal/test"
)

func TestProcess_Kill(t *testing.T) {
	const script = "sleep 1000 & echo $!; wait"
	p := start(t, script)
	p.KillTree()
	if p.Running() || p.Wait() == nil {
		t.Errorf("running: %v, it ended with %v", p.Running(), p.Wait())
	}
	test.Error(t, "the child of the process", nil, child.Until(t.Context(), time.Millisecond, func() error { return ended(p) }))
	p.KillTree() // it has ended

	p = start(t, script)
	p.Kill()
	if ended(p) == nil {
		t.Error("a child has ended with its process")
	}
	var pid int
	if _, err := fmt.Sscan(p.Tail(100), &pid); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("the child cannot be killed, %v", err)
	}
}

// A process that begins children all the time leaves none.
func TestProcess_KillTree_whileChildrenBegin(t *testing.T) {
	p := start(t, "for i in $(seq 300); do sleep 1000 & echo $!; done; wait")
	test.OK(t, child.Until(t.Context(), time.Millisecond, func() error {
		if p.Tail(1) == "" {
			return errors.New("it has begun none")
		}
		return nil
	}))
	p.KillTree()
	test.Error(t, "children of the process", nil, child.Until(t.Context(), time.Millisecond, func() error { return ended(p) }))
}

// ended returns nil if the processes have ended whose ids are in the log of p. The test does not
// wait for them: they are no children of the test.
func ended(p *child.Process) error {
	for id := range strings.FieldsSeq(p.Tail(10_000)) {
		stat, err := os.ReadFile("/proc/" + id + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			return fmt.Errorf("%s runs", id)
		}
	}
	return nil
}
