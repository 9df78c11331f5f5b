package crash_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

var (
	mutate    = flag.Bool("mutations", false, "build the product with all bugs, plant one after another, and expect TestProof to notice each")
	proofsDir = flag.String("found", "", "directory that keeps which bugs were noticed, so that a later run leaves them out")
)

// A bug replaces a text in a file of the product. There, BUG is true in a process in which it is
// planted. TestProof has to notice it in one of seededRuns runs with some clients: fewer clients
// take less time on a busy machine.
type bug struct {
	clients              string // as -clients has them
	name, file, from, to string
}

const seededRuns = 3

var bugs = []bug{
	{clients: "voted", name: "a principal votes twice", file: "opt/machine/plan_state.go", from: "case reply.Action != opt.Ask && t.Gate.Voted(reply.DecidedBy):", to: "case !BUG && reply.Action != opt.Ask && t.Gate.Voted(reply.DecidedBy):"},
	{clients: "voted", name: "one accept closes a gate that needs three", file: "opt/machine/plan_gate.go", from: "if !t.Gate.Decides(reply.Action) {", to: "if !BUG && !t.Gate.Decides(reply.Action) {"},
	{clients: "voted|one task$", name: "a vote is lost", file: "opt/machine/plan_gate.go", from: "gate.Votes = append(slices.Clone(gate.Votes), ", to: "if BUG {\n\t\tgate.Votes = nil\n\t}\n\tgate.Votes = append(slices.Clone(gate.Votes), "},
	{clients: "voted|contested|approved", name: "a vote that comes again is judged again", file: "opt/machine/plan_gate.go", from: "if m.State.Seen[key] {", to: "if !BUG && m.State.Seen[key] {"},
	{clients: "voted|contested|approved", name: "a late decision is acknowledged", file: "api/message/message_reply.go", from: "return refusals[j.Verdict]", to: "if BUG && j.Verdict == opt.NotWaiting {\n\t\treturn nil\n\t}\n\treturn refusals[j.Verdict]"},
	{clients: "revised", name: "the revision is not checked", file: "opt/machine/admit.go", from: "case c.Seen != 0 && c.Seen != o.Revision:", to: "case !BUG && c.Seen != 0 && c.Seen != o.Revision:"},
	{clients: "revised", name: "a change that comes again is applied again", file: "opt/machine/command.go", from: "return s.Answered[id] || waits || s.Current", to: "return !BUG && (s.Answered[id] || waits) || !BUG && s.Current"},
	{clients: "in turn|crowd", name: "two objectives of a context work at a time", file: "opt/machine/turn.go", from: "return !t.Shared || t.Held", to: "return BUG || !t.Shared || t.Held"},
	{clients: "in turn|crowd", name: "the last that came has the next turn", file: "opt/machine/context.go", from: "\t\ts.Holder, *next = (*next)[0], (*next)[1:]\n", to: "\t\tif last := len(*next) - 1; BUG {\n\t\t\ts.Holder, *next = (*next)[last], (*next)[:last]\n\t\t\treturn\n\t\t}\n\t\ts.Holder, *next = (*next)[0], (*next)[1:]\n"},
	{clients: "list|streaming", name: "a resumed stream begins one event too late", file: "api/stream/stream.go", from: "\ts.seq = after\n", to: "\ts.seq = after\n\tif BUG {\n\t\ts.seq++\n\t}\n"},
	{clients: "list|streaming", name: "a resumed stream begins one event too early", file: "api/stream/stream.go", from: "\ts.seq = after\n", to: "\ts.seq = after\n\tif BUG {\n\t\ts.seq = max(0, after-1)\n\t}\n"},
	{clients: "list|streaming", name: "the event after a snapshot is dropped", file: "api/stream/stream.go", from: "Objective: t.Objective}, v.Seq\n", to: "Objective: t.Objective}, v.Seq\n\tif BUG {\n\t\ts.seq++\n\t}\n"},
	{clients: "list|streaming", name: "an event is dropped from a stream that waits", file: "api/stream/stream.go", from: "if e, ok := s.event(whole); ok {", to: "if e, ok := s.event(whole); ok && (!BUG || s.over || s.done || r.Seq%5 != 0) {"},
	{name: "a commit is reported that was undone", file: "internal/journal/db/writer.go", from: "err = w.db.Commit(w.c)", to: "if BUG && began.UnixNano()%23 == 0 {\n\t\t\t_, err = w.c.Exec(\"ROLLBACK\")\n\t\t} else {\n\t\t\terr = w.db.Commit(w.c)\n\t\t}"},
	{clients: "one task$|list", name: "a repeated message begins again", file: "api/call/id.go", from: "i.Idempotency == ByMessageID, once:\n", to: "!BUG && (i.Idempotency == ByMessageID || once):\n"},
	{clients: "idle", name: "the key of a new objective is ignored", file: "api/call/id.go", from: "if c.Key != \"\" {\n\t\treturn opt.DerivedObjectiveID(c.Tenant, c.Principal, kind+", to: "if c.Key != \"\" && !BUG {\n\t\treturn opt.DerivedObjectiveID(c.Tenant, c.Principal, kind+"},
	{clients: "pushed", name: "a webhook does not get every state", file: "internal/journal/record/delivery.go", from: "\t\tdeliver(r, e, e.TaskID, to)\n", to: "\t\tif !BUG || !to.Waiting() {\n\t\t\tdeliver(r, e, e.TaskID, to)\n\t\t}\n"},
	{clients: "pushed", name: "a webhook gets the newest state first", file: "internal/journal/push/delivery.go", from: "ORDER BY d.n LIMIT 1`", to: "ORDER BY d.n `+map[bool]string{true: \"DESC\"}[BUG]+` LIMIT 1`"},
	{clients: "pushed", name: "a refused delivery counts as delivered", file: "activities/push.go", from: "case !t.failed():\n", to: "case !t.failed(), BUG && t.Status == http.StatusServiceUnavailable:\n"},
	{clients: "one task$", name: "a schedule fires twice", file: "api/schedule/schedule_run.go", from: "\t\td, err := s.Messages.Deliver(ctx, c, p)\n",
		to: "\t\tagain := p\n\t\tagain.Message.MessageID += \"-again\"\n\t\tif BUG {\n\t\t\tif d, err := s.Messages.Deliver(ctx, c, again); err == nil {\n\t\t\t\td.Watch.Close()\n\t\t\t}\n\t\t}\n\t\td, err := s.Messages.Deliver(ctx, c, p)\n"},
	{clients: "one task$|list|streaming", name: "work is acknowledged before it is durable", file: "workflows/client.go", from: "_, err := c.cfg.Temporal.ExecuteWorkflow(ctx, c.options(o), Objective, input)",
		to: "var err error\n\tif BUG {\n\t\tgo func(ctx context.Context) {\n\t\t\ttime.Sleep(400 * time.Millisecond)\n\t\t\t_, _ = c.cfg.Temporal.ExecuteWorkflow(ctx, c.options(o), Objective, input)\n\t\t}(context.WithoutCancel(ctx))\n\t} else {\n\t\t_, err = c.cfg.Temporal.ExecuteWorkflow(ctx, c.options(o), Objective, input)\n\t}"},
}

// planted is in each package with bugs. One program has all of them, since it takes minutes to build.
const planted = `package %s

import "os"

// planted reports whether a bug is planted in this process.
func planted(bug string) bool { return os.Getenv("PLANTED") == bug }
`

// Each bug must make TestProof fail. Without -mutations, only the table is checked.
func TestSeededBugs(t *testing.T) {
	files := seeded(t)
	if !*mutate {
		return
	}
	program := build(t, files)
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			source := string(harness.ReadFile(t, b.path(t)))
			if b.known(source) {
				return
			}
			for n := range seededRuns {
				if seen := b.proved(t, program); seen != "" {
					t.Logf("Noticed in run %d: %s", n+1, seen)
					b.remember(t, source, seen)
					return
				}
			}
			t.Errorf("not noticed in %d runs", seededRuns)
		})
	}
	t.Run("none", func(t *testing.T) {
		test.Is(t, "noticed without a bug", "", (bug{}).proved(t, program))
	})
}

// seeded returns the files of the product with all bugs, by path.
func seeded(t *testing.T) map[string]string {
	t.Helper()
	files := plant(t, bugs)
	for _, b := range bugs {
		dir := filepath.Dir(b.path(t))
		files[filepath.Join(dir, "planted.go")] = fmt.Sprintf(planted, filepath.Base(dir))
	}
	return files
}

// plant returns the files of the product with some bugs, by path.
func plant(t *testing.T, some []bug) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, b := range some {
		path := b.path(t)
		if files[path] == "" {
			files[path] = string(harness.ReadFile(t, path))
		}
		if n := strings.Count(files[path], b.from); n != 1 {
			t.Fatalf("%s: the text is in %s %d times", b.name, b.file, n)
		}
		files[path] = strings.Replace(files[path], b.from, strings.ReplaceAll(b.to, "BUG", fmt.Sprintf("planted(%q)", b.name)), 1)
	}
	return files
}

// path returns the path of the file with the bug.
func (b bug) path(t *testing.T) string {
	t.Helper()
	path := test.Value(filepath.Abs(filepath.Join("../../..", b.file)))(t)
	return path
}

// build builds the program that the tests kill with replaced and new files, and returns its path.
func build(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	for path, text := range files {
		overlay["Replace"][path] = harness.WriteFile(t, dir, strings.ReplaceAll(path, string(filepath.Separator), "_"), text)
	}
	replace := test.Value(json.Marshal(overlay))(t)
	program := filepath.Join(dir, "crashable")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", harness.WriteFile(t, dir, "overlay.json", string(replace)), "-o", program, harness.Crashable)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	return program
}

// proved runs TestProof of this package on a program in which b is planted, and returns the first
// mistake that it has noticed, "" for none. After a wait that was too long, which a busy machine may
// explain, only what the checker has found counts, and lost workflows.
func (b bug) proved(t *testing.T, program string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	self := test.Value(os.Executable())(t)
	cmd := exec.CommandContext(ctx, self, "-test.run=^TestProof$", "-test.timeout=9m", "-within=100s", "-crashable="+program, "-clients="+b.clients)
	cmd.Env = append(os.Environ(), "PLANTED="+b.name)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	first, waited := "", false
	for line := range strings.Lines(string(out)) {
		late := strings.Contains(line, context.DeadlineExceeded.Error())
		waited = waited || late
		switch {
		case strings.Contains(line, "is broken: "), strings.Contains(line, "workflows are missing"):
			return strings.TrimSpace(line)
		case first == "" && !late && strings.Contains(line, "_test.go:") && !strings.Contains(line, "Checked"):
			first = strings.TrimSpace(line)
		}
	}
	switch {
	case waited:
		return ""
	case first == "":
		t.Fatalf("TestProof ended with %v:\n%.4000s", err, out)
	}
	return first
}

// remembered is the file that says that b was noticed in this source; "" without -found.
func (b bug) remembered(source string) string {
	if *proofsDir == "" {
		return ""
	}
	return filepath.Join(*proofsDir, fmt.Sprintf("%x", sha256.Sum256([]byte(b.name+b.from+b.to+source)))[:16])
}

// known reports whether an earlier run has noticed b.
func (b bug) known(source string) bool {
	_, err := os.Stat(b.remembered(source))
	return err == nil
}

// remember keeps that b was noticed.
func (b bug) remember(t *testing.T, source, seen string) {
	t.Helper()
	if path := b.remembered(source); path != "" {
		test.Error(t, "the call", nil, os.WriteFile(path, []byte(b.name+": "+seen+"\n"), 0o600))
	}
}
