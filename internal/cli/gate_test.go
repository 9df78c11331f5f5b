package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A gate is shown with its exchanges, responders and votes.
func TestGet_gate(t *testing.T) {
	gate := strings.Replace(approvalGate, `"title"`, `"responders":{"principals":["ann","bea"],"groups":["editors"],"notRequester":true,"accepts":2},`+
		`"votes":[{"action":"accept","decidedBy":"ann"}],"exchanges":[{"question":"Why\ntea?","askedBy":"bea"}],"title"`, 1)
	f := newFakeAgent(t, sendResult(bareTask(stepID, gate)))
	f.want(f.run(&getCommand{remoteSettings: f.settings(), Task: gateID}), 0, `
Task `+stepID+`

Ship it?
It is for tea

bea: Why tea?

Who may answer: ann, bea or the group editors, but not who requested the work. 2 have to accept.
1 of 2 have accepted: ann.
The task waits for a decision. To decide:

  longhaul answer --url URL `+gateID+` accept
  longhaul answer --url URL `+gateID+` reject "what is wrong"
`)
}

// After a gate has closed, a task says who decided and how.
func TestWatch_decided(t *testing.T) {
	const decision = `"openwop":{"decision":{"interruptId":"` + gateID + `","action":"reject","decidedBy":"ann","decidedAt":"2026-03-01T09:30:00.000Z","feedback":"not good enough"}}`
	f := newFakeAgent(t, sendEvents("1 "+wireTask("INPUT_REQUIRED", approvalGate), "2 "+wireStatus("WORKING", "", decision), "3 "+wireStatus("COMPLETED", "", decision)))
	out := f.run(&watchCommand{remoteSettings: f.settings(), Task: rootID}).stdout.String()
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
		f.want(f.run(&watchCommand{remoteSettings: f.settings(), Task: rootID, UntilWaiting: until}), 0, `
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
	f.want(f.run(&watchCommand{remoteSettings: f.settings(), Task: rootID, UntilWaiting: true}), 3, `
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
		code := Run(t.Context(), append(args, "--url", f.URL), io.Discard, &stderr, Build{})
		if want := "To list what there is: longhaul list --url " + f.URL; code != 1 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d\n%s\nwant in it\n%s", args, code, stderr.String(), want)
		}
	}
}

func TestDecidedText(t *testing.T) {
	opened := a2a.AtMillis(1_000)
	for want, d := range map[string]*opt.Decided{
		"accepted by ann": {Action: opt.Accept, DecidedBy: "ann"},
		"answered by ann": {DecidedBy: "ann"},
		"accepted by timer: no answer came within 15s":    {Action: opt.Accept, DecidedBy: opt.ByTimer, At: a2a.AtMillis(16_000), Feedback: "timeout"},
		"expired: no answer came within 1 day":            {DecidedBy: opt.ByTimer, At: a2a.AtMillis(86_401_000)},
		"accepted with changes by ann: it has a new line": {Action: opt.EditAccept, DecidedBy: "ann", Feedback: "it has\na new line"},
	} {
		if got := decidedText(d, opened.Time()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := decidedText(&opt.Decided{Action: opt.Reject, DecidedBy: opt.ByTimer}, time.Time{}), "rejected by timer: no answer came in time"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
