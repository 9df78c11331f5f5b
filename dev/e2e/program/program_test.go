// Package program_test tests custom programs as modules outside of this source: the
// program that "longhaul new" writes is built, passes its own tests and does its work.
package program_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = time.Minute

// A new program has a release approved, also after a crash, and notices files that were
// changed since.
func TestNew(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "press")
	var stderr strings.Builder
	if code := longhaul.Run(ctx, []string{"new", dir}, io.Discard, &stderr, longhaul.Program{}); code != 0 {
		t.Fatalf("longhaul new: exit code %d\n%s", code, stderr.String())
	}
	harness.Go(t, dir, "test", "-vet=off", "-ldflags=-s -w", "./...")

	site := harness.NewSiteIn(t, dir)
	site.Env = []string{"LONGHAUL_FALLBACK=reject"}
	all := site.Start(harness.AllInOne)
	first, second := begin(ctx, t, site, "release-1"), begin(ctx, t, site, "release-2")
	all.Kill()
	site.Start(harness.AllInOne)
	accept(ctx, t, site, first)
	done := site.Client().AwaitEnd(t, within, first.ID)
	const sum = "66a045b452102c59d840ec097d59d9467e13a3f34f6494e539ffd32c1bb35f18  hello.txt"
	if done.State != "COMPLETED" || len(done.Artifacts) != 1 || done.Artifacts[0].Text != sum {
		t.Errorf("the release ended %s %q with %+v, want the artifact %s", done.State, done.Message, done.Artifacts, sum)
	}

	test.OK(t, os.WriteFile(filepath.Join(dir, "dist", "hello.txt"), []byte("Bye\n"), 0o600))
	accept(ctx, t, site, second)
	if done := site.Client().AwaitEnd(t, within, second.ID); done.State != "FAILED" || !strings.Contains(done.Message, "The files are not those that were approved.") {
		t.Errorf("the release of changed files ended %s %q", done.State, done.Message)
	}
}

// begin sends a message and returns the task, which waits for approval.
func begin(ctx context.Context, t *testing.T, site *harness.Site, id string) *harness.Task {
	t.Helper()
	task := site.Client().MustSend(ctx, t, harness.Message{ID: id, Text: "Release version 1.0", Wait: true})
	if task.Gate == nil || task.Gate.Title != "Release these files?" {
		t.Fatalf("the task is %s %q, with the gate %+v", task.State, task.Message, task.Gate)
	}
	return task
}

func accept(ctx context.Context, t *testing.T, site *harness.Site, task *harness.Task) {
	t.Helper()
	site.Client().MustSendUntil(ctx, t, harness.Reply("accept-"+task.ID, task.ID, task.Gate.ID, "accept"))
}
