package commands

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/internal/test"
)

func TestList(t *testing.T) {
	page := func(next string, ids ...string) func(http.ResponseWriter) {
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`{"id":%q,"name":"Tea\nfor\u001b[2J two","status":"working","metadata":{},"createdAt":"2026-03-01T09:30:00.000Z","updatedAt":"2026-03-01T09:30:00.000Z"}`, id))
		}
		return sendResult(`{"objectives":[` + strings.Join(list, ",") + `],"totalSize":3,"nextPageToken":"` + next + `"}`)
	}
	f := newFakeAgent(t, page("p2", "obj-a", "obj-bb"), page("", "obj-c"))
	r := f.run(&listCommand{Status: "working", Limit: 50})
	got := regexp.MustCompile(`\d+ days ago`).ReplaceAllString(r.stdout.String(), "N days ago")
	want := `
OBJECTIVE  STATUS   CHANGED       NAME
obj-a      working  N days ago  Tea for‹U+001B›[2J two
obj-bb     working  N days ago  Tea for‹U+001B›[2J two
obj-c      working  N days ago  Tea for‹U+001B›[2J two
`
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(got)); diff != "" || r.err != nil {
		t.Errorf("%v; printed mismatch (-want +got):\n%s", r.err, diff)
	}
	calls := []string{`objectives/list {"status":"working","pageSize":50}`, `objectives/list {"status":"working","pageSize":48,"pageToken":"p2"}`}
	test.Equal(t, "calls", calls, f.calls)

	f = newFakeAgent(t, page("p2", "obj-a", "obj-bb"))
	f.want(f.run(&listCommand{Limit: 2, JSON: true}), 0, strings.Join([]string{raw(t, "obj-a"), raw(t, "obj-bb"), ""}, "\n"))
	f = newFakeAgent(t, page(""))
	f.want(f.run(&listCommand{Limit: 2}), 0, "No objectives.\n")
}

func raw(t *testing.T, id string) string {
	t.Helper()
	return fmt.Sprintf(`{"id":%q,"name":"Tea\nfor\u001b[2J two","status":"working","metadata":{},"createdAt":"2026-03-01T09:30:00.000Z","updatedAt":"2026-03-01T09:30:00.000Z"}`, id)
}

// A wireInterrupt is an element of the list of open gates.
func wireInterrupt(id, kind, question, day string) string {
	return fmt.Sprintf(`{"kind":%q,"interruptId":%q,"taskId":%q,"title":%q,"requestedAt":"2026-03-0%sT09:30:00.000Z","taskName":"Approve","objectiveId":%q,"contextId":%q}`,
		kind, id, taskIDOf(id), question, day, rootID, rootID)
}

// The inbox has all pages of open gates, in the order of the agent.
func TestInbox(t *testing.T) {
	first, second := wireInterrupt(otherGateID, "clarification", "Which\ncolor?", "1"), wireInterrupt(gateID, "approval", "Ship it?", "2")
	second = strings.Replace(second, `"taskId"`, `"nextStep":{"kind":"expire","at":"2926-03-05T09:30:00.000Z","action":"reject"},"taskId"`, 1)
	pages := func() []func(http.ResponseWriter) {
		return []func(http.ResponseWriter){
			func(w http.ResponseWriter) {
				fmt.Fprintf(w, `{"interrupts":[%s],"nextPageToken":"p 2","pageSize":100,"totalSize":2}`, first)
			},
			func(w http.ResponseWriter) {
				fmt.Fprintf(w, `{"interrupts":[%s],"nextPageToken":"","pageSize":100,"totalSize":2}`, second)
			},
		}
	}
	f := newFakeAgent(t, pages()...)
	r := f.run(&inboxCommand{Kind: "approval", Objective: rootID, Mine: true})
	got := regexp.MustCompile(`\d+ days`).ReplaceAllString(strings.ReplaceAll(r.stdout.String(), f.URL, "URL"), "DAYS")
	want := `ID KIND WAITS NEXT QUESTION
` + otherGateID + ` clarification DAYS - Which color?
` + gateID + ` approval DAYS expire (reject) in DAYS Ship it?
To see one whole, and how to answer it:
longhaul get --url URL ID`
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(got)); diff != "" || r.err != nil {
		t.Errorf("%v; printed mismatch (-want +got):\n%s", r.err, diff)
	}
	query := "GET /v1/interrupts?kind=approval&mine=true&objectiveId=" + rootID + "&pageSize=100"
	test.Equal(t, "calls", []string{query, strings.Replace(query, "&pageSize=100", "&pageSize=100&pageToken=p+2", 1)}, f.calls)
	f = newFakeAgent(t, pages()...)
	f.want(f.run(&inboxCommand{JSON: true}), 0, first+"\n"+second+"\n")
	f = newFakeAgent(t, func(w http.ResponseWriter) { fmt.Fprint(w, `{"interrupts":[],"nextPageToken":"","totalSize":0}`) })
	f.want(f.run(&inboxCommand{}), 0, "Nothing waits for a person.\n")
	f = newFakeAgent(t, func(w http.ResponseWriter) { http.NotFound(w, nil) })
	if r := f.run(&inboxCommand{}); r.err == nil || !strings.Contains(r.err.Error(), "only a Longhaul server") {
		t.Errorf("an agent without the list: %v", r.err)
	}
}

// On a terminal the ids are whole and the questions are cut to its width.
func TestInbox_terminal(t *testing.T) {
	f := newFakeAgent(t, func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"interrupts":[%s],"nextPageToken":"","totalSize":1}`, wireInterrupt(gateID, "approval", "Ship the whole tea tomorrow?", "2"))
	})
	v := newTerminal(t, 84, 10)
	p := &process.Process{Ctx: t.Context(), Stdout: v.File, Stderr: io.Discard}
	test.OK(t, (&inboxCommand{}).Run(p, f.remote(p)))
	row := regexp.MustCompile(`(?m)^task-\S+:1  .*$`).FindString(v.end())
	if !strings.HasPrefix(row, gateID+"  approval  ") || !strings.Contains(row, "Ship") || !strings.HasSuffix(row, "…") || len([]rune(row)) > 84 {
		t.Errorf("the row is %q", row)
	}
}

// A task is shown with the way to answer it; the id may be that of the gate.
func TestGet(t *testing.T) {
	task := bareTask(stepID, approvalGate)
	f := newFakeAgent(t, sendResult(task))
	f.want(f.run(&getCommand{Task: gateID}), 0, `
Task `+stepID+`
`+shipIt)
	f = newFakeAgent(t, sendResult(bareTask(stepID, strings.Replace(approvalGate, `"taskId"`, `"nextStep":{"kind":"expire","at":"2026-03-05T09:30:00.000Z","action":"reject"},"taskId"`, 1))))
	if out := f.run(&getCommand{Task: gateID}).stdout.String(); !strings.Contains(out, "\nWithout an answer: expire (reject) at 2026-03-05 09:30:00 UTC\nThe task waits for a decision.") {
		t.Errorf("the next step is missing in\n%s", out)
	}
	f = newFakeAgent(t, sendResult(task))
	f.want(f.run(&getCommand{Task: stepID, History: 2, JSON: true}), 0, task+"\n")
	test.Is(t, "called", `GetTask {"historyLength":2,"id":"`+stepID+`"}`, f.calls[0])
}

func TestCancel(t *testing.T) {
	bare := func(state string) string {
		return strings.TrimSuffix(strings.TrimPrefix(wireTask(state, ""), `{"task":`), "}")
	}
	for _, tt := range []struct {
		answer func(http.ResponseWriter)
		json   bool
		want   string
		code   int
	}{
		{sendResult(bare("CANCELED")), false, "Task " + rootID + ": canceled\n", 0},
		{sendResult(bare("WORKING")), false, "Task " + rootID + ": it is being canceled, and is working until its work has stopped. To see that:\n\n  longhaul watch --url URL " + rootID + "\n", 0},
		{sendResult(bare("CANCELED")), true, bare("CANCELED") + "\n", 0},
	} {
		f := newFakeAgent(t, tt.answer)
		f.want(f.run(&cancelCommand{Task: rootID, Reason: "Why.", JSON: tt.json}), tt.code, tt.want)
		test.Is(t, "called", `CancelTask {"id":"`+rootID+`","metadata":{"urn:longhaul:cancel:v1":{"reason":"Why."}}}`, f.calls[0])
	}
}

// A task that has ended cannot be canceled, and the error says how it has ended.
func TestCancel_ended(t *testing.T) {
	f := newFakeAgent(t, sendError(client.CodeTaskNotCancelable, "Task cannot be canceled"), sendResult(strings.Replace(bareTask(rootID, ""), "INPUT_REQUIRED", "FAILED", 1)))
	r := f.run(&cancelCommand{Task: rootID})
	if want := rootID + " has ended already, and is failed: Task cannot be canceled"; r.err == nil || r.err.Error() != want {
		t.Errorf("error %v, want %s", r.err, want)
	}
}

// An objective is found by the id of anything in it. Its bar shows how much its root task has done, that
// of the latest attempt.
func TestObjective(t *testing.T) {
	for _, id := range []string{rootID, rootID + "~2", stepID, gateID} {
		f := newFakeAgent(t, sendResult(bareTask(rootID, `"longhaul/v1/retriedBy":"`+rootID+`~2"`)), sendResult(bareTask(rootID+"~2", `"longhaul/v1/progress":50`)))
		f.objective = []string{wireObjective("blocked", "completed", "input-required", "pending", "pending")}
		f.want(f.run(&objectiveCommand{ID: id}), 0, `
Tea
`+rootID+`  working
├─ ◇ Research    waiting
│  ├─ ✓ Search   completed
│  └─ ◇ Approve  waiting
└─ ○ Writing     pending
   └─ ○ Write    pending
[███████████████░░░░░░░░░░░░░░░] 1 of 3 tasks, 50%
`)
		f.want(f.run(&objectiveCommand{ID: id, JSON: true}), 0, f.objective[0]+"\n")
	}
}

func TestCard_command(t *testing.T) {
	const card = `{"name":"Tea","description":"Makes tea.","version":"1","supportedInterfaces":[{"url":"http://h","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
		`"capabilities":{},"skills":[{"id":"brew","name":"Brew","description":"Brews tea","tags":[],"examples":["Brew a cup"]}]}`
	serve := func(w http.ResponseWriter) { fmt.Fprint(w, card) }
	f := newFakeAgent(t, serve, serve)
	f.want(f.run(&cardCommand{}), 0, `
Tea 1
Makes tea.

  JSONRPC    A2A 1.0  http://h

Skills:

  brew: Brews tea
    for example: Brew a cup
`)
	f.want(f.run(&cardCommand{JSON: true}), 0, card+"\n")
}

// With --watch a send continues while its task waits, and --playbook names a skill.
func TestSend_watch(t *testing.T) {
	f := newFakeAgent(t,
		sendEvents("1 "+wireTask("WORKING", ""), "2 "+wireStatus("INPUT_REQUIRED", "Ship it?", approvalGate)),
		sendEvents("3 "+wireStatus("WORKING", "", ""), "4 "+wireStatus("COMPLETED", "", "")))
	r := f.run(&sendCommand{Text: []string{"x"}, Playbook: "brew", Watch: true})
	f.want(r, 0, `
Task `+rootID+`

Working.
`+shipIt+`
Working.
Completed.
`)
	if len(f.calls) != 2 || !strings.Contains(f.calls[0], `"metadata":{"longhaul/v1/skill":"brew"}`) || f.calls[1] != `SubscribeToTask {"id":"`+rootID+`"}2` {
		t.Errorf("called %q", f.calls)
	}
}
