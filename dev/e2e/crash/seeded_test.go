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
)

var (
	mutate    = flag.Bool("mutations", false, "build the product with one bug after another, and expect TestProof to notice each")
	proofsDir = flag.String("found", "", "directory that keeps which bugs were noticed, so that a later run leaves them out")
)

// A bug replaces a text in a file of the product. TestProof has to notice it in one of
// seededRuns runs with some clients: fewer clients take less time on a busy machine.
type bug struct {
	clients              string // as -clients has them
	name, file, from, to string
}

const seededRuns = 3

var bugs = []bug{
	{clients: "voted", name: "a principal votes twice", file: "opt/machine/plan_state.go", from: "case reply.Action != opt.Ask && t.Gate.Voted(reply.DecidedBy):", to: "case false:"},
	{clients: "voted", name: "one accept closes a gate that needs three", file: "opt/machine/plan_gate.go", from: "if !t.Gate.Decides(reply.Action) {", to: "if false {"},
	{clients: "voted|one task$", name: "a vote is lost", file: "opt/machine/plan_gate.go", from: "append(slices.Clone(gate.Votes), ", to: "append(slices.Clone(gate.Votes[:0]), "},
	{clients: "voted|contested|approved", name: "a vote that comes again is judged again", file: "opt/machine/plan_gate.go", from: "if m.State.Seen[key] {", to: "if false {"},
	{clients: "voted|contested|approved", name: "a late decision is acknowledged", file: "api/message/message_reply.go", from: "\topt.NotWaiting: call.ErrNotWaiting,\n", to: ""},
	{clients: "revised", name: "the revision is not checked", file: "opt/machine/admit.go", from: "case c.Seen != 0 && c.Seen != o.Revision:", to: "case false:"},
	{clients: "revised", name: "a change that comes again is applied again", file: "opt/machine/command.go", from: "return s.Answered[id] || waits || s.Current != nil && s.Current.Command.ID == id", to: "return false"},
	{clients: "in turn|crowd", name: "two objectives of a context work at a time", file: "opt/machine/turn.go", from: "return !t.Shared || t.Held", to: "return true"},
	{clients: "in turn|crowd", name: "the last that came has the next turn", file: "opt/machine/context.go", from: "s.Holder = (*next)[0]\n\t\t*next = (*next)[1:]", to: "s.Holder = (*next)[len(*next)-1]\n\t\t*next = (*next)[:len(*next)-1]"},
	{clients: "list|streaming", name: "a resumed stream begins one event too late", file: "api/stream/stream.go", from: "\ts.seq = after\n", to: "\ts.seq = after + 1\n"},
	{clients: "list|streaming", name: "a resumed stream begins one event too early", file: "api/stream/stream.go", from: "\ts.seq = after\n", to: "\ts.seq = max(0, after-1)\n"},
	{clients: "list|streaming", name: "an event is dropped from a stream that waits", file: "api/stream/stream.go", from: "if e, ok := s.event(whole); ok {", to: "if e, ok := s.event(whole); ok && (s.over || s.done || r.Seq%5 != 0) {"},
	{name: "a commit is reported that was undone", file: "internal/journal/db/writer.go", from: "err = w.db.Commit(w.c)", to: "if began.UnixNano()%23 == 0 {\n\t\t\t_, err = w.c.Exec(\"ROLLBACK\")\n\t\t} else {\n\t\t\terr = w.db.Commit(w.c)\n\t\t}"},
	{clients: "one task$|list", name: "a repeated message begins again", file: "api/call/id.go", from: "return opt.DerivedObjectiveID(c.Tenant, c.Principal, m.MessageID), nil", to: "return i.Random()"},
	{clients: "idle", name: "the key of a new objective is ignored", file: "api/call/id.go", from: "if c.Key != \"\" {\n\t\treturn opt.DerivedObjectiveID(c.Tenant, c.Principal, \"create:\"", to: "if false {\n\t\treturn opt.DerivedObjectiveID(c.Tenant, c.Principal, \"create:\""},
	{clients: "pushed", name: "a webhook does not get every state", file: "internal/journal/record/delivery.go", from: "\t\tdeliver(r, e, e.TaskID, to)\n", to: "\t\tif !to.Waiting() {\n\t\t\tdeliver(r, e, e.TaskID, to)\n\t\t}\n"},
	{clients: "pushed", name: "a webhook gets the newest state first", file: "internal/journal/push/delivery.go", from: "ORDER BY d.n LIMIT 1", to: "ORDER BY d.n DESC LIMIT 1"},
	{clients: "pushed", name: "a refused delivery counts as delivered", file: "activities/push.go", from: "case !t.failed():\n\t\treturn outbox.DeliveryDone, 0", to: "case !t.failed(), t.Status == http.StatusServiceUnavailable:\n\t\treturn outbox.DeliveryDone, 0"},
	{clients: "one task$", name: "a schedule fires twice", file: "api/schedule/schedule_run.go", from: "\t\td, err := s.Messages.Deliver(ctx, c, p)\n",
		to: "\t\tagain := p\n\t\tagain.Message.MessageID += \"-again\"\n\t\tif d, err := s.Messages.Deliver(ctx, c, again); err == nil {\n\t\t\td.Watch.Close()\n\t\t}\n\t\td, err := s.Messages.Deliver(ctx, c, p)\n"},
	{clients: "one task$|list|streaming", name: "work is acknowledged before it is durable", file: "workflows/client.go", from: "_, err := c.cfg.Temporal.ExecuteWorkflow(ctx, c.options(o), Objective, input)",
		to: "var err error\n\tgo func(ctx context.Context) {\n\t\ttime.Sleep(400 * time.Millisecond)\n\t\t_, _ = c.cfg.Temporal.ExecuteWorkflow(ctx, c.options(o), Objective, input)\n\t}(context.WithoutCancel(ctx))"},
}

// Each bug must make TestProof fail. Without -mutations, only the table is checked.
func TestSeededBugs(t *testing.T) {
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			source, path := b.source(t)
			if n := strings.Count(source, b.from); n != 1 {
				t.Fatalf("the text is in %s %d times", b.file, n)
			}
			if !*mutate || b.known(source) {
				return
			}
			program := b.build(t, path, strings.Replace(source, b.from, b.to, 1))
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
}

// source returns the text of the file with the bug, and its path.
func (b bug) source(t *testing.T) (text, path string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../..", b.file))
	if err != nil {
		t.Fatal(err)
	}
	return string(harness.ReadFile(t, path)), path
}

// build builds the program that the tests kill with a replaced file, and returns its path.
func (b bug) build(t *testing.T, path, text string) string {
	t.Helper()
	dir := t.TempDir()
	changed := harness.WriteFile(t, dir, "changed.go", text)
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "crashable")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", harness.WriteFile(t, dir, "overlay.json", string(replace)), "-o", program, harness.Crashable)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	return program
}

// proved runs TestProof of this package on a program, and returns the first mistake that it
// has noticed, "" for none. After a wait that was too long, which a busy machine may explain,
// only what the checker has found counts, and lost workflows.
func (b bug) proved(t *testing.T, program string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(ctx, self, "-test.run=^TestProof$", "-test.timeout=9m", "-within=100s", "-crashable="+program, "-clients="+b.clients).CombinedOutput()
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
		if err := os.WriteFile(path, []byte(b.name+": "+seen+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
}
