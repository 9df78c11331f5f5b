package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A gate is shown with its exchanges, responders, votes and the decision in the original.
func TestGet_gate(t *testing.T) {
	gate := strings.Replace(approvalGate, `"title"`, `"responders":{"principals":["ann","bea"],"groups":["editors"],"notRequester":true,"accepts":2},`+
		`"votes":[{"action":"accept","decidedBy":"ann"}],"original":{"action":"reject","decidedBy":"dan","decidedAt":"2026-01-02T03:04:05Z"},"exchanges":[{"question":"Why\ntea?","askedBy":"bea"}],"title"`, 1)
	f := newFakeAgent(t, sendResult(bareTask(stepID, gate)))
	f.want(f.run(&getCommand{Task: gateID}), 0, `
Task `+stepID+`

Ship it?
It is for tea

bea: Why tea?

Who may answer: ann, bea, the group editors, but not who asked for the work; 2 have to accept.
1 of 2 have accepted: ann.
In the original: Rejected by dan: 2026-01-02 03:04 UTC.
The task waits for a decision. To decide:

  longhaul answer --url URL `+gateID+` accept
  longhaul answer --url URL `+gateID+` reject "what is wrong"
`)
}

// All messages of a gate are shown, in full, and where to read those that it has not.
func TestGet_unshown(t *testing.T) {
	long := strings.Repeat("x", 1000)
	said := `{"question":"` + long + `","askedBy":"bea"},` + strings.Repeat(`{"question":"More","askedBy":"bea"},`, 8) + `{"question":"A file","askedBy":"bea","cut":true}`
	gate := strings.Replace(approvalGate, `"title"`, `"omitted":2,"exchanges":[`+said+`],"title"`, 1)
	f := newFakeAgent(t, sendResult(bareTask(stepID, gate)))
	out := f.run(&getCommand{Task: gateID}).stdout.String()
	read := "longhaul get --url " + f.URL + " " + stepID + " --json --history 100000 --scope objective\n"
	if want := "Messages of which not all is shown here: 3. An accept covers them, too. To read them:\n\n  " + read; !strings.Contains(out, want) || strings.Count(out, "bea: ") != 10 || !strings.Contains(out, long) {
		t.Errorf("printed %s\nwant in it %s", out, want)
	}
	f = newFakeAgent(t, sendResult(bareTask(stepID, gate)))
	f.run(&getCommand{Task: stepID, JSON: true, History: 2, Scope: "objective"})
	if want := `GetTask {"historyLength":2,"id":"` + stepID + `","metadata":{"opt/v1/historyScope":"objective"}}`; len(f.calls) == 0 || f.calls[0] != want {
		t.Errorf("called %s, want %s", f.calls, want)
	}
}

// A watch prints each message at a gate once, also when others have left the gate.
func TestPrinter_printChanges(t *testing.T) {
	var out strings.Builder
	p := (&remote{process: &process.Process{Stdout: &out}}).plain(false, false).(*printer)
	before := &opt.Gate{ID: gateID, Exchanges: []opt.Exchange{{Question: "One"}, {Question: "Two"}}}
	p.printChanges(before, &opt.Gate{ID: gateID, Omitted: 1, Exchanges: []opt.Exchange{{Question: "Two"}, {Question: "Three"}}})
	if got := out.String(); !strings.HasPrefix(got, "anonymous: Three\n") || !strings.Contains(got, "not all is shown here: 1.") {
		t.Errorf("printed %q", got)
	}
}

// After a gate has closed, a task says who decided and how.
func TestWatch_decided(t *testing.T) {
	const decision = `"openwop":{"decision":{"interruptId":"` + gateID + `","action":"reject","decidedBy":"ann","decidedAt":"2026-03-01T09:30:00.000Z","feedback":"not good enough"}}`
	f := newFakeAgent(t, sendEvents("1 "+wireTask("INPUT_REQUIRED", approvalGate), "2 "+wireStatus("WORKING", "", decision), "3 "+wireStatus("COMPLETED", "", decision)))
	out := f.run(&watchCommand{Task: rootID}).stdout.String()
	if !strings.HasSuffix(out, "\nShip it?: rejected by ann: not good enough\nWorking.\nCompleted.\n") {
		t.Errorf("printed %s", out)
	}
}

// A root task shows its former status for a moment after its gate was closed. That question
// is not asked again, and the task does not wait.
func TestWatch_statusBeforeDecision(t *testing.T) {
	const decision = `"openwop":{"decision":{"interruptId":"` + gateID + `","action":"accept","decidedBy":"ann","decidedAt":"2026-03-01T09:30:01.500Z"}}`
	for _, until := range []bool{false, true} {
		f := newFakeAgent(t, sendEvents("1 "+wireStatus("INPUT_REQUIRED", "Ship it?", decision), "2 "+wireStatus("WORKING", "", decision), "3 "+wireStatus("COMPLETED", "", decision)))
		f.want(f.run(&watchCommand{Task: rootID, UntilWaiting: until}), 0, `
Accepted by ann
Working.
Completed.
`)
	}
}

// A status after the decision at a gate is about something else.
func TestWatch_statusAfterDecision(t *testing.T) {
	const decision = `"openwop":{"decision":{"interruptId":"` + gateID + `","action":"accept","decidedBy":"ann","decidedAt":"2026-03-01T09:30:00.999Z"}}`
	f := newFakeAgent(t, sendEvents("1 "+wireStatus("INPUT_REQUIRED", "Which color?", decision)))
	f.want(f.run(&watchCommand{Task: rootID, UntilWaiting: true}), 3, `
Accepted by ann

Which color?

The task waits for an answer. To answer:

  longhaul answer --url URL `+rootID+` "your answer"
`)
}

// An unknown id is answered with the command that lists objectives.
func TestRun_unknownTask(t *testing.T) {
	for _, args := range [][]string{{"get", rootID}, {"watch", rootID}, {"answer", stepID, "yes"}} {
		f := newFakeAgent(t, func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND"}]}}`)
		})
		var stderr strings.Builder
		code := run(t.Context(), append(args, "--url", f.URL), io.Discard, &stderr)
		if want := "To list what there is: longhaul list --url " + f.URL; code != 1 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d\n%s\nwant in it\n%s", args, code, stderr.String(), want)
		}
	}
}

func TestDecidedText(t *testing.T) {
	opened := a2a.AtMillis(1_000)
	for want, d := range map[string]*opt.Decided{
		"accepted by ann":                                 {Action: opt.Accept, DecidedBy: "ann"},
		"answered by ann":                                 {DecidedBy: "ann"},
		"closed by hand by ann":                           {DecidedBy: "ann", ByHand: true},
		"accepted by timer: no answer came within 15s":    {Action: opt.Accept, DecidedBy: opt.ByTimer, At: a2a.AtMillis(16_000), Feedback: "timeout"},
		"expired: no answer came within 1 day":            {DecidedBy: opt.ByTimer, At: a2a.AtMillis(86_401_000)},
		"accepted with changes by ann: it has a new line": {Action: opt.EditAccept, DecidedBy: "ann", Feedback: "it has\na new line"},
	} {
		test.Is(t, "the decision", want, decidedText(d, opened.Time()))
	}
	test.Is(t, "the decision", "rejected by timer: no answer came in time", decidedText(&opt.Decided{Action: opt.Reject, DecidedBy: opt.ByTimer}, time.Time{}))
}

// Ids of others are one argument of a command that people copy, and never an option of it.
func TestReplyCommands_hostile(t *testing.T) {
	command := func(name string) string { return "program " + name }
	for _, evil := range []string{"x; touch pwned", "$(touch pwned)", "`touch pwned`", "x' touch pwned '", "x\ntouch pwned", "--file=/etc/passwd", "a\u202eb\x1b]0;t\x07", "~root", "#x", "!x"} {
		question := opt.Gate{ID: evil, Kind: opt.Clarification, Questions: []opt.Question{{ID: evil}, {ID: "b"}}}
		approval := opt.Gate{ID: evil, Kind: opt.Approval, Actions: []opt.Action{opt.Accept}}
		text := replyCommands(&question, a2a.InputRequired, command, "t") + replyCommands(&approval, a2a.InputRequired, command, "t") +
			replyCommands(nil, a2a.InputRequired, command, evil) + replyCommands(nil, a2a.AuthRequired, command, evil)
		if strings.Count(text, "\n") != 4 || strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("%q: the commands are %q", evil, text)
		}
		script := `program() { shift; for a; do case $a in accept|--|--set|*"your answer") ;; *) echo "<$a>";; esac; done; }; set -f` + "\n" + text
		dir := t.TempDir()
		shell := exec.CommandContext(t.Context(), "sh", "-c", script)
		shell.Dir = dir
		out, err := shell.CombinedOutput()
		if want := strings.Repeat("<"+a2a.VisibleLine(evil)+">\n", 4); err != nil || string(out) != want {
			t.Errorf("%q: a shell passes %q, want %q: %v\n%s", evil, out, want, err, text)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%q: the commands wrote files", evil)
		}
	}
}

// On a terminal no text of an agent is printed as it is, neither ids nor reasons.
func TestPrinter_hostile(t *testing.T) {
	const evil = "a\u202eb\x1b]0;t\x07"
	var out strings.Builder
	p := (&remote{process: &process.Process{Stdout: &out}}).plain(false, false).(*printer)
	p.terminal = true
	reason, _ := json.Marshal(evil)
	meta := a2a.Metadata{opt.KeyFailureReason: reason, opt.KeyBlockedReason: reason}
	p.event(client.Event{Event: a2a.Event{Task: &a2a.Task{ID: evil, Status: a2a.TaskStatus{State: a2a.Failed, Message: &a2a.Message{Parts: []a2a.Part{a2a.TextPart(evil)}}},
		Artifacts: []a2a.Artifact{{ArtifactID: evil, Name: evil, Parts: []a2a.Part{a2a.TextPart(evil)}}}}}})
	p.progress(&client.Objective{Name: evil, Plans: []client.Plan{{ID: "p", Name: evil, Status: opt.PlanFailed, Metadata: meta,
		Tasks: []client.PlanTask{{ID: "t", Name: evil, Status: opt.TaskFailed, Metadata: meta}}}}})
	if text := out.String(); strings.Count(text, "‹U+202E›") < 7 || strings.ContainsAny(text, "\x1b\x07\u202e") {
		t.Errorf("printed %q", text)
	}
	out.Reset()
	process.RawLine(&out, json.RawMessage(`{"a":"`+"\u202e\u009b"+`"}`))
	test.Is(t, "JSON is printed as", `{"a":"\u202e\u009b"}`+"\n", out.String())
}
