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
)

func TestProcess_Kill(t *testing.T) {
	const script = "sleep 1000 & echo $!; wait"
	p := start(t, script)
	p.KillTree()
	if p.Running() || p.Wait() == nil {
		t.Errorf("running: %v, it ended with %v", p.Running(), p.Wait())
	}
	if err := child.Until(t.Context(), time.Millisecond, func() error { return ended(p) }); err != nil {
		t.Errorf("the child of the process: %v", err)
	}
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

// ended returns nil if the process has ended whose id is in the log of p. The test does not
// wait for it: it is no child of the test.
func ended(p *child.Process) error {
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(p.Tail(100)) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		return errors.New("it runs")
	}
	return nil
}
