package topology_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/topology"
	"longhaul/internal/test"
)

// The log of a process is followed in the topology that was started last.
func TestFollowLog(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	test.Fails(t, "without one", "scripts/topology up", topology.FollowLog(t.Context(), "worker-1", &strings.Builder{}))
	for i, dir := range []string{"longhaul-topology-new", "longhaul-topology-old"} {
		path := filepath.Join(temp, dir)
		test.OK(t, os.MkdirAll(filepath.Join(path, "logs"), 0o700))
		for name, text := range map[string]string{"env": "", "logs/worker-1.log": dir + "\n"} {
			test.OK(t, os.WriteFile(filepath.Join(path, name), []byte(text), 0o600))
		}
		test.OK(t, os.Chtimes(filepath.Join(path, "env"), time.Time{}, time.Now().Add(-time.Duration(i)*time.Hour)))
	}
	test.Fails(t, "an unknown process", "there are worker-1", topology.FollowLog(t.Context(), "worker-7", &strings.Builder{}))
	log := test.Value(os.OpenFile(filepath.Join(temp, "longhaul-topology-new", "logs", "worker-1.log"), os.O_APPEND|os.O_WRONLY, 0))(t)
	defer log.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := &until{text: "more", then: cancel, first: func() { _, _ = log.WriteString("more\n") }}
	if err := topology.FollowLog(ctx, "worker-1", out); err != nil || out.String() != "longhaul-topology-new\nmore\n" {
		t.Errorf("followed %q, error %v", out, err)
	}
}

// An until calls a function once at the first write, and another one when a text was written.
type until struct {
	strings.Builder
	text        string
	first, then func()
}

func (u *until) Write(b []byte) (int, error) {
	if u.first != nil {
		u.first()
		u.first = nil
	}
	n, err := u.Builder.Write(b)
	if strings.Contains(u.String(), u.text) {
		u.then()
	}
	return n, err
}
