package temporald_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/dev/temporald"
	"longhaul/internal/test"
)

func TestStart_afterMovingDirectoryAside(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, temporald.Config{Dir: dir})
	c := connect(t, s)
	test.Value(c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "old", TaskQueue: queue}, wait))(t)
	c.Close()
	test.OK(t, s.Stop())
	test.OK(t, os.Rename(dir, dir+".aside"))

	// Nothing of the old files may be visible, also not through an open
	// connection.
	fresh := connect(t, start(t, temporald.Config{Dir: dir}))
	if _, err := fresh.DescribeWorkflowExecution(t.Context(), "old", ""); err == nil {
		t.Error("the new directory has a workflow of the old one")
	}
	moved := connect(t, start(t, temporald.Config{Dir: dir + ".aside"}))
	if _, err := moved.DescribeWorkflowExecution(t.Context(), "old", ""); err != nil {
		t.Errorf("the moved directory lost its workflow: %v", err)
	}
}

// A directory that another server uses is not waited for once the start is canceled.
func TestLock_canceled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock := test.Value(temporald.Lock(t.Context(), dir))(t)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	test.Error(t, "the call", context.Canceled, test.Err(temporald.Lock(ctx, dir)))
}

func TestStart_resumesAfterKill(t *testing.T) {
	t.Parallel()
	cfg := temporald.Config{Dir: t.TempDir()}
	killed := exec.CommandContext(t.Context(), os.Args[0])
	killed.Env = append(os.Environ(), killedDir+"="+cfg.Dir)
	out := test.Value(killed.StdoutPipe())(t)
	test.OK(t, killed.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the process said %q, %v", line, err)
	}
	refused(t, cfg, cfg.Dir, fmt.Sprint("in use by process ", killed.Process.Pid))
	test.OK(t, killed.Process.Kill())
	killed.Wait()

	c := connect(t, start(t, cfg))
	serve(t, c)
	test.OK(t, c.SignalWorkflow(t.Context(), "waits", "", answer, "yes"))
	test.Is(t, "the result", "yes", result(t, c.GetWorkflow(t.Context(), "waits", "")))
}

// killedDir is the variable that makes this program be killed in the directory
// it names, instead of running the tests.
const killedDir = "TEMPORALD_TEST_KILLED_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedDir); dir != "" {
		if err := waitForKill(context.Background(), dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// waitForKill starts a workflow and waits to be killed. It keeps no reference to its
// Server on purpose: the server must keep running.
func waitForKill(ctx context.Context, dir string) error {
	s, err := temporald.Start(ctx, temporald.Config{Dir: dir})
	if err != nil {
		return err
	}
	c, err := client.Dial(client.Options{HostPort: s.Addr(), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return err
	}
	if _, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "waits", TaskQueue: queue}, wait); err != nil {
		return err
	}
	runtime.GC()
	fmt.Println("ready")
	select {}
}

func TestStart_refusesDirectoryInUse(t *testing.T) {
	t.Parallel()
	cfg := temporald.Config{Dir: t.TempDir()}
	start(t, cfg)
	refused(t, cfg, cfg.Dir, "in use", fmt.Sprint("process ", os.Getpid()), "choose another directory")
}

func TestStart_refusesOtherVersion(t *testing.T) {
	t.Parallel()
	cfg := temporald.Config{Dir: t.TempDir()}
	test.OK(t, start(t, cfg).Stop())
	stamp := filepath.Join(cfg.Dir, "temporal.version")
	write(t, stamp, "1.29.3\n")
	refused(t, cfg, cfg.Dir, "1.29.3", temporald.ServerVersion, "move the directory aside")

	test.OK(t, os.Remove(stamp))
	refused(t, cfg, cfg.Dir, "temporal.version", "move the directory aside")

	write(t, stamp, temporald.ServerVersion)
	start(t, cfg)
}

func TestStart_afterCrashWhileMakingFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]string{ // file name to content
		"nothing yet":         {"temporal.version.new": "1."},
		"only the stamp":      {"temporal.version": temporald.ServerVersion},
		"half a database":     {"temporal.version": temporald.ServerVersion, "temporal-visibility.db.new": "SQLite format 3\x00", "temporal-visibility.db.new-journal": "x"},
		"stamp of another":    {"temporal.version": "1.29.3"},
		"empty database":      {"temporal.db": ""},
		"two empty databases": {"temporal.db": "", "temporal-visibility.db": "", "temporal.db-wal": "old"},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := temporald.Config{Dir: t.TempDir()}
			for file, content := range files {
				write(t, filepath.Join(cfg.Dir, file), content)
			}
			test.OK(t, start(t, cfg).Stop())
			left, err := filepath.Glob(filepath.Join(cfg.Dir, "*.new*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left over: %v, %v", left, err)
			}
		})
	}
}

func TestStart_remakesMissingVisibility(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.WarnLevel)
	cfg := temporald.Config{Dir: t.TempDir(), Log: zap.New(core)}
	test.OK(t, start(t, cfg).Stop())
	write(t, filepath.Join(cfg.Dir, "temporal-visibility.db"), "")
	start(t, cfg)
	if logs.FilterMessageSnippet("Made a new visibility database").Len() != 1 {
		t.Error("no warning about lists that forgot")
	}
}

func TestStart_refusesForeignFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"temporal.db", "temporal-visibility.db"} {
		cfg := temporald.Config{Dir: t.TempDir()}
		test.OK(t, start(t, cfg).Stop())
		path := filepath.Join(cfg.Dir, file)
		write(t, path, strings.Repeat("this is a letter to my bank. ", 1000))
		refused(t, cfg, path, "not a database", "move the directory aside")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	test.OK(t, os.WriteFile(path, []byte(content), 0o600))
}
