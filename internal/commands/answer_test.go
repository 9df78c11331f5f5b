package commands

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"longhaul/internal/process"
	"longhaul/internal/test"
	"longhaul/opt"
)

func stepTask(state, metadata string) string {
	return strings.Replace(wireTask(state, metadata), `"id":"`+rootID, `"id":"`+stepID, 1)
}

// allActions returns an approval with all actions.
func allActions(gate string) string {
	return strings.Replace(gate, `["accept","reject"]`, `["accept","reject","refine","edit-accept","ask"]`, 1)
}

// typedQuestions is the metadata of a task that waits for the answers to questions.
func typedQuestions(questions string) string {
	return `"openwop":{"interrupt":{"kind":"clarification","interruptId":"` + gateID + `","taskId":"` + stepID + `","questions":[` + questions + `]}}`
}

const stepAnswered = "Task " + stepID + ": working\n\nTo see what follows:\n\n  longhaul watch --url URL " + rootID + "\n"

func TestAnswer(t *testing.T) {
	question := typedQuestions(`{"id":"q1","question":"Which?"}`)
	twoAsked := strings.Replace(question, `[{`, `[{"id":"q2","question":"When?"},{`, 1)
	approval := allActions(strings.Replace(approvalGate, `"title"`, `"objectDigest":"sha256:1","title"`, 1))
	textObject := strings.Replace(approval, `"title"`, `"artifactType":"text/plain","artifactData":"{}","title"`, 1)
	dataObject := strings.Replace(approval, `"title"`, `"artifactData":{"cups":1},"title"`, 1)
	tests := []struct {
		name  string
		cmd   answerCommand
		shown string // the metadata of the task, which waits
		parts string
	}{
		{"accept", answerCommand{Task: stepID, Text: []string{"accept"}}, approval, `{"data":{"action":"accept","objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"accept at a gate", answerCommand{Task: gateID, Text: []string{"accept"}}, approval, `{"data":{"action":"accept","objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"reject", answerCommand{Task: stepID, Text: []string{"reject", "Too", "long"}, Gate: gateID}, approval, `{"data":{"action":"reject","feedback":"Too long","objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"text", answerCommand{Task: stepID, Text: []string{"the", "blue one"}}, question, `{"data":{"answers":[{"id":"q1","answer":"the blue one"}],"interruptId":"GATE"}}`},
		{"text to an agent without gates", answerCommand{Task: stepID, Text: []string{"the", "blue one"}}, `"a":1`, `{"text":"the blue one"}`},
		{"text at a gate", answerCommand{Task: gateID, Text: []string{"blue"}}, question, `{"data":{"answers":[{"id":"q1","answer":"blue"}],"interruptId":"GATE"}}`},
		{"text that begins like a decision", answerCommand{Task: stepID, Text: []string{"ask", "the captain"}, Say: true}, question, `{"data":{"answers":[{"id":"q1","answer":"ask the captain"}],"interruptId":"GATE"}}`},
		{"refine", answerCommand{Task: stepID, Text: []string{"refine", "Shorter"}}, approval, `{"data":{"action":"refine","refineFeedback":{"scope":"whole","text":"Shorter"},"objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"edit to JSON", answerCommand{Task: stepID, Text: []string{"edit", `{"cups": 2}`}}, approval, `{"data":{"action":"edit-accept","editedArtifactData":{"cups":2},"objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"edit to a text", answerCommand{Task: stepID, Text: []string{"edit", "Two cups"}}, approval, `{"data":{"action":"edit-accept","editedArtifactData":"Two cups","objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"edit-accept", answerCommand{Task: stepID, Text: []string{"edit-accept", `{"cups": 2}`}}, approval, `{"data":{"action":"edit-accept","editedArtifactData":{"cups":2},"objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"edit a text to what is JSON", answerCommand{Task: stepID, Text: []string{"edit", `{"cups": 2}`}}, textObject, `{"data":{"action":"edit-accept","editedArtifactData":"{\"cups\": 2}","objectDigest":"sha256:1","interruptId":"GATE"}}`},
		{"edit data", answerCommand{Task: stepID, Text: []string{"edit", `"cups"`}, Seen: "sha256:0"}, dataObject, `{"data":{"action":"edit-accept","editedArtifactData":"cups","objectDigest":"sha256:0","interruptId":"GATE"}}`},
		{"accept what was seen before", answerCommand{Task: gateID, Text: []string{"accept"}, Seen: "sha256:0"}, approval, `{"data":{"action":"accept","objectDigest":"sha256:0","interruptId":"GATE"}}`},
		{"text at a gate for an authorization", answerCommand{Task: stepID, Text: []string{"no"}}, strings.Replace(approval, `"approval"`, `"credential"`, 1), `{"text":"no"}`},
		{"accept at a gate without an object", answerCommand{Task: gateID, Text: []string{"accept"}}, approvalGate, `{"data":{"action":"accept","interruptId":"GATE"}}`},
		{"accept at another gate than is shown", answerCommand{Task: stepID + ":2", Text: []string{"accept"}}, approval, `{"data":{"action":"accept","interruptId":"` + stepID + `:2"}}`},
		{"ask", answerCommand{Task: stepID, Text: []string{"ask", "Why?"}}, approval, `{"data":{"action":"ask","question":"Why?","interruptId":"GATE"}}`},
		{"number at a gate", answerCommand{Task: gateID, Text: []string{"200"}}, typedQuestions(`{"id":"words","question":"How many?","schema":{"type":"integer"}}`), `{"data":{"answers":[{"id":"words","answer":200}],"interruptId":"GATE"}}`},
		{"several types", answerCommand{Task: gateID, Set: map[string]string{"words": "200", "legal": "true", "name": "true", "tags": `["a"]`, "any": "3"}}, typedQuestions(`{"id":"words","question":"a","schema":{"type":"integer"}},` +
			`{"id":"legal","question":"b","schema":{"type":"boolean"}},{"id":"name","question":"c","schema":{"type":["string","boolean"]}},{"id":"tags","question":"d","schema":{"type":"array"}},{"id":"any","question":"e"}`),
			`{"data":{"answers":[{"id":"any","answer":"3"},{"id":"legal","answer":true},{"id":"name","answer":"true"},{"id":"tags","answer":["a"]},{"id":"words","answer":200}],"interruptId":"GATE"}}`},
		{"one of the choices", answerCommand{Task: gateID, Text: []string{"7"}}, typedQuestions(`{"id":"c","question":"a","schema":{"type":"array","items":{"enum":["red",7]}}}`), `{"data":{"answers":[{"id":"c","answer":[7]}],"interruptId":"GATE"}}`},
		{"some of the choices", answerCommand{Task: gateID, Text: []string{"red,", "7"}}, typedQuestions(`{"id":"c","question":"a","schema":{"type":"array","items":{"enum":["red",7]}}}`), `{"data":{"answers":[{"id":"c","answer":["red",7]}],"interruptId":"GATE"}}`},
		{"several", answerCommand{Task: gateID, Set: map[string]string{"q2": "3", "q1": `"x"`}}, twoAsked, `{"data":{"answers":[{"id":"q1","answer":"\"x\""},{"id":"q2","answer":"3"}],"interruptId":"GATE"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFakeAgent(t, sendResult(bareTask(stepID, tt.shown)), sendResult(stepTask("WORKING", "")))
			f.want(f.run(&tt.cmd), 0, stepAnswered)
			got := regexp.MustCompile(`msg-\w+`).ReplaceAllString(f.calls[len(f.calls)-1], "ID")
			want := `SendMessage {"message":{"messageId":"ID","taskId":"` + stepID + `","role":"ROLE_USER","parts":[` +
				strings.ReplaceAll(tt.parts, "GATE", gateID) + `]},"configuration":{"historyLength":0,"returnImmediately":true}}`
			test.Equal(t, "sent", want, got)
		})
	}
}

func TestAnswer_printed(t *testing.T) {
	tests := []struct{ name, result, want string }{
		{"kept", stepTask("INPUT_REQUIRED", `"longhaul/v1/replyPending":true`), "Task " + stepID + ": the answer is stored; a worker will use it as soon as one is available.\n\nTo see what follows:\n\n  longhaul watch --url URL " + rootID + "\n"},
		{"a vote", stepTask("INPUT_REQUIRED", strings.Replace(approvalGate, `"title"`, `"responders":{"accepts":2},"votes":[{"action":"accept","decidedBy":"ann"}],"title"`, 1)), "Task " + stepID + ": waiting\nYour vote counts. 1 of 2 have accepted: ann.\n\nTo see what follows:\n\n  longhaul watch --url URL " + rootID + "\n"},
		{"a task of another agent", `{"task":{"id":"x","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`, "Task x: working\n\nTo see what follows:\n\n  longhaul watch --url URL x\n"},
		{"an ended one", `{"task":{"id":"x","contextId":"c","status":{"state":"TASK_STATE_FAILED"}}}`, "Task x: failed\n"},
		{"a message", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"Thanks."}]}}`, "Thanks.\n"},
		{"a second attempt", strings.Replace(stepTask("WORKING", ""), stepID, stepID+"~2", 1), "Task " + stepID + "~2: working\n\nTo see what follows:\n\n  longhaul watch --url URL " + rootID + "~2\n"},
	}
	for _, tt := range tests {
		f := newFakeAgent(t, sendResult(bareTask(stepID, approvalGate)), sendResult(tt.result))
		f.want(f.run(&answerCommand{Task: stepID, Text: []string{"accept"}}), 0, tt.want)
	}
}

// Who may answer and not read sends the answer as it is.
func TestAnswer_withoutReading(t *testing.T) {
	f := newFakeAgent(t, func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"PERMISSION_DENIED"}]}}`)
	}, sendResult(stepTask("WORKING", "")))
	f.want(f.run(&answerCommand{Task: stepID, Text: []string{"accept"}, Seen: "sha256:1"}), 0, stepAnswered)
	test.Contains(t, "the text", `{"action":"accept","objectDigest":"sha256:1"}`, f.calls[len(f.calls)-1])
}

func TestAnswer_refused(t *testing.T) {
	waiting := func(metadata string) func() *fakeAgent {
		return func() *fakeAgent {
			return newFakeAgent(t, sendResult(strings.TrimSuffix(strings.TrimPrefix(stepTask("INPUT_REQUIRED", metadata), `{"task":`), "}")))
		}
	}
	otherObject := func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"OBJECT_CHANGED"}]}}`)
	}
	empty := test.File(t, "empty.txt", "\n")
	question, two := typedQuestions(`{"id":"q1","question":"a"}`), typedQuestions(`{"id":"q1","question":"a"},{"id":"q2","question":"b"}`)
	editable := waiting(allActions(approvalGate))
	tests := []struct {
		name  string
		cmd   answerCommand
		agent func() *fakeAgent
		want  string
	}{
		{"nothing", answerCommand{Task: stepID}, nil, "say what to answer"},
		{"a decision and answers", answerCommand{Task: stepID, Text: []string{"accept"}, Set: map[string]string{"a": "b"}}, nil, "one kind of answer"},
		{"refine without a text", answerCommand{Task: stepID, Text: []string{"refine"}}, nil, "say what to refine"},
		{"edit without an object", answerCommand{Task: stepID, Text: []string{"edit"}}, nil, "--file PATH"},
		{"edit to white space", answerCommand{Task: stepID, Text: []string{"edit-accept", " "}}, editable, "the text is empty"},
		{"edit to an empty text", answerCommand{Task: stepID, Text: []string{"edit", `""`}}, editable, "the text is empty"},
		{"edit to an empty file", answerCommand{Task: stepID, Text: []string{"edit"}, File: empty}, editable, empty + " is empty"},
		{"edit with two objects", answerCommand{Task: stepID, Text: []string{"edit", "x"}, File: empty}, nil, "not both"},
		{"edit data to a text", answerCommand{Task: stepID, Text: []string{"edit", "{cups}"}}, waiting(allActions(strings.Replace(approvalGate, `"title"`, `"artifactData":{},"title"`, 1))), "the object is data"},
		{"a file to accept", answerCommand{Task: stepID, Text: []string{"accept"}, File: "x"}, nil, "--file is only for"},
		{"two other kinds", answerCommand{Task: stepID, Set: map[string]string{"a": "b"}, Text: []string{"x"}}, nil, "one kind of answer"},
		{"text to an approval", answerCommand{Task: gateID, Text: []string{"ok"}}, waiting(approvalGate), "this gate does not take a text. The task waits for a decision. To decide:\n\n  longhaul answer --url URL " + gateID + " accept\n  longhaul answer --url URL " + gateID + " reject \"what is wrong\""},
		{"text to an approval that the answer does not name", answerCommand{Task: stepID, Text: []string{"ok"}}, waiting(approvalGate), "this gate does not take a text"},
		{"text to an authorization elsewhere", answerCommand{Task: gateID, Text: []string{"ok"}}, waiting(strings.NewReplacer(`"approval"`, `"credential"`, `["accept","reject"]`, "[]").Replace(approvalGate)),
			"this gate does not take a text. The task waits for an authorization elsewhere. To watch the task:\n\n  longhaul watch --url URL "},
		{"a decision that is not offered", answerCommand{Task: gateID, Text: []string{"edit", "x"}}, waiting(approvalGate), "this gate does not take the decision edit. The task waits for a decision."},
		{"a decision at a question", answerCommand{Task: gateID, Text: []string{"accept"}}, waiting(question),
			"this gate does not take the decision accept. The task waits for an answer. To answer:\n\n  longhaul answer --url URL " + gateID + " \"your answer\"\n\nIf the answer is to begin with the word of a decision, add --say."},
		{"answers to an approval", answerCommand{Task: gateID, Set: map[string]string{"a": "b"}}, waiting(approvalGate), "this gate does not take answers to questions. The task waits for a decision."},
		{"an answer to no question", answerCommand{Task: gateID, Set: map[string]string{"q1": "b", "q3": "b"}}, waiting(two), "this gate does not take an answer to q3. The task waits for an answer."},
		{"an answer is missing", answerCommand{Task: gateID, Set: map[string]string{"q1": "b"}}, waiting(two),
			"this gate does not take answers without one to q2. The task waits for an answer. To answer:\n\n  longhaul answer --url URL " + gateID + " --set q1=\"your answer\" --set q2=\"your answer\""},
		{"an answer that the agent refuses", answerCommand{Task: gateID, Text: []string{"blue"}}, func() *fakeAgent {
			return newFakeAgent(t, sendResult(bareTask(stepID, question)), sendError(-32602, "Invalid parameters: message.parts[0].data.answers[0].answer: the answer to q1 is not valid: must be red"))
		}, "the agent refuses this answer: the answer to q1 is not valid: must be red. The task waits for an answer. To answer:\n\n  longhaul answer --url URL " + gateID + " \"your answer\""},
		{"text while nothing waits", answerCommand{Task: rootID, Text: []string{"it's", "blue"}}, func() *fakeAgent {
			return newFakeAgent(t, sendResult(strings.Replace(bareTask(rootID, ""), "INPUT_REQUIRED", "WORKING", 1)))
		}, "nothing waits for an answer: the task is working. To send the text to the work all the same:\n\n  longhaul send --url URL --task " + rootID + ` 'it'\''s blue'`},
		{"a decision while nothing waits", answerCommand{Task: rootID, Text: []string{"accept"}}, func() *fakeAgent {
			return newFakeAgent(t, sendResult(strings.Replace(bareTask(rootID, ""), "INPUT_REQUIRED", "WORKING", 1)))
		}, "nothing waits for a decision: the task is working. To list what waits:\n\n  longhaul inbox --url URL"},
		{"text after the end", answerCommand{Task: rootID, Text: []string{"blue"}}, func() *fakeAgent {
			return newFakeAgent(t, sendResult(strings.Replace(bareTask(rootID, `"openwop":{"decision":{"interruptId":"`+gateID+`","decidedBy":"ann"}}`), "INPUT_REQUIRED", "COMPLETED", 1)))
		}, "the gate is closed: it was answered by ann"},
		{"a text for a number", answerCommand{Task: gateID, Text: []string{"many"}}, waiting(typedQuestions(`{"id":"words","question":"a","schema":{"type":"integer"}}`)), "the answer to words is not valid: it must be a whole number"},
		{"a text for a boolean", answerCommand{Task: gateID, Set: map[string]string{"legal": `"true"`}}, waiting(typedQuestions(`{"id":"legal","question":"a","schema":{"type":"boolean"}}`)), "the answer to legal is not valid: it must be true or false"},
		{"text to two questions", answerCommand{Task: gateID, Text: []string{"ok"}}, waiting(two), "this gate does not take one text for all questions. The task waits for an answer. To answer:\n\n  longhaul answer --url URL " + gateID + " --set q1="},
		{"another gate", answerCommand{Task: stepID + ":2", Text: []string{"ok"}}, waiting(two), "not any more"},
		{"no gate", answerCommand{Task: gateID, Text: []string{"ok"}}, waiting(""), "not any more"},
		{"too late", answerCommand{Task: gateID, Text: []string{"accept"}}, func() *fakeAgent {
			return newFakeAgent(t, sendResult(bareTask(stepID, "")), sendError(-32004, "This operation is not supported"), sendResult(bareTask(stepID, "")))
		}, "does not wait for this answer"},
		{"closed", answerCommand{Task: gateID, Text: []string{"ask", "Why?"}}, func() *fakeAgent {
			return newFakeAgent(t, sendResult(bareTask(stepID, allActions(approvalGate))), sendError(-32004, "This operation is not supported"), sendResult(bareTask(stepID, `"openwop":{"interrupt":{"kind":"approval","interruptId":"`+stepID+`:2","title":"Now?"},`+
				`"decision":{"interruptId":"`+gateID+`","action":"refine","decidedBy":"ann","decidedAt":"2026-03-01T09:30:00.000Z","feedback":"shorter"}}`)))
		}, "the gate is closed: it was sent back by ann: shorter (2026-03-01 09:30:00 UTC): This operation is not supported\n\nAnother gate is open now: Now?\nTo look at it:\n\n  longhaul get --url URL " + stepID + ":2"},
		{"another object", answerCommand{Task: gateID, Text: []string{"accept"}, Seen: "sha256:0"}, func() *fakeAgent { return newFakeAgent(t, sendResult(bareTask(stepID, approvalGate)), otherObject) }, "longhaul get --url URL " + stepID},
		{"a digest for a text", answerCommand{Task: gateID, Text: []string{"ok"}, Seen: "sha256:0"}, nil, "--seen is only for"},
		{"unknown", answerCommand{Task: stepID, Text: []string{"accept"}}, func() *fakeAgent { return newFakeAgent(t, sendError(-32001, "Task not found")) }, "Task not found"},
	}
	for _, tt := range tests {
		f := newFakeAgent(t)
		if tt.agent != nil {
			f = tt.agent()
		}
		if r := f.run(&tt.cmd); r.err == nil || !strings.Contains(strings.ReplaceAll(r.err.Error(), f.URL, "URL"), tt.want) || r.stdout.Len() > 0 {
			t.Errorf("%s: %v, want %q", tt.name, r.err, tt.want)
		}
	}
}

// An answer to a gate that was closed names the gate that another task of the objective has opened since.
func TestAnswer_oldGate(t *testing.T) {
	ended := strings.Replace(bareTask(stepID, `"openwop":{"decision":{"interruptId":"`+gateID+`","action":"accept","decidedBy":"ann","decidedAt":"2026-03-01T09:30:00.000Z"}}`), "INPUT_REQUIRED", "COMPLETED", 1)
	f := newFakeAgent(t, sendResult(ended), sendError(-32004, "This operation is not supported"), sendResult(ended), sendResult(bareTask(otherStepID, otherQuestion)))
	f.objective = []string{strings.Replace(twoGates, "input-required", "completed", 1)}
	r := f.run(&answerCommand{Task: gateID, Text: []string{"accept"}})
	want := "the gate is closed: it was accepted by ann (2026-03-01 09:30:00 UTC): This operation is not supported\n\nAnother gate is open now: Which color?\nTo look at it:\n\n  longhaul get --url URL " + otherGateID
	test.Equal(t, "error", want, strings.ReplaceAll(r.err.Error(), f.URL, "URL"))
}

// If several gates are open, the error has the flag and the commands that name one.
func TestAnswer_twoGates(t *testing.T) {
	f := newFakeAgent(t, sendResult(bareTask(rootID, approvalGate)), sendError(-32602, "Invalid parameters: message.parts: must say in interruptId which"),
		sendResult(bareTask(stepID, approvalGate)), sendResult(bareTask(otherStepID, otherQuestion)))
	f.objective = []string{twoGates}
	r := f.run(&answerCommand{Task: rootID, Text: []string{"accept"}})
	want := `the task has 2 open gates: name one with --gate ID, or answer at one of them:

Ship it?
It is for tea

  longhaul answer --url URL task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1 accept
  longhaul answer --url URL task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1 reject "what is wrong"

Which color?

  longhaul answer --url URL task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-1:1 "your answer"
`
	test.Equal(t, "error", want, strings.ReplaceAll(r.err.Error(), f.URL, "URL"))
}

// While other tasks work, a root task shows no gate: the only open one below it takes the answer.
func TestAnswer_gateBelow(t *testing.T) {
	working := strings.Replace(bareTask(rootID, ""), "INPUT_REQUIRED", "WORKING", 1)
	f := newFakeAgent(t, sendResult(working), sendResult(bareTask(otherStepID, otherQuestion)), sendResult(bareTask(otherStepID, otherQuestion)), sendResult(wireTask("WORKING", "")))
	f.objective = []string{strings.Replace(twoGates, "input-required", "working", 1)}
	r := f.run(&answerCommand{Task: rootID, Text: []string{"blue"}})
	if r.err != nil || !strings.Contains(f.calls[len(f.calls)-1], `{"id":"q1","answer":"blue"}`) {
		t.Errorf("%v: called %v", r.err, f.calls)
	}
}

// A text for a gate that the root task does not show is read with the question
// there.
func TestAnswer_otherGate(t *testing.T) {
	f := newFakeAgent(t, sendResult(bareTask(otherStepID, otherQuestion)), sendResult(wireTask("WORKING", "")))
	r := f.run(&answerCommand{Task: rootID, Gate: otherGateID, Text: []string{"blue"}})
	if r.err != nil || !strings.Contains(f.calls[0], otherStepID) || !strings.Contains(f.calls[1], `{"id":"q1","answer":"blue"}`) {
		t.Errorf("%v: called %v", r.err, f.calls)
	}
}

// A file in place of an object that is a text is a text, also if it happens to be JSON.
// The name - is standard input.
func TestAnswer_editFile(t *testing.T) {
	name := test.File(t, "edited.json", "[1]\n")
	for _, tt := range []struct{ object, file, want string }{
		{`"artifactData":"Tea"`, name, `"[1]\n"`},
		{`"artifactData":[2]`, name, `[1]`},
		{`"artifactData":[2]`, "-", `[1]`},
	} {
		if tt.file == "-" {
			in := test.Value(os.Open(name))(t)
			before := os.Stdin
			os.Stdin = in
			t.Cleanup(func() { os.Stdin = before; in.Close() })
		}
		gate := allActions(strings.Replace(approvalGate, `"title"`, tt.object+`,"title"`, 1))
		f := newFakeAgent(t, sendResult(bareTask(stepID, gate)), sendResult(stepTask("WORKING", "")))
		f.want(f.run(&answerCommand{Task: gateID, Text: []string{"edit-accept"}, File: tt.file}), 0, stepAnswered)
		test.Contains(t, "the text", `"editedArtifactData":`+tt.want+`,`, f.calls[len(f.calls)-1])
	}
}

// The printed command names a file for the kind of object.
func TestReplyCommands_edit(t *testing.T) {
	for want, g := range map[string]*opt.Gate{
		"edit-accept --file edited.txt":  {ArtifactData: []byte(`"Tea"`)},
		"edit-accept --file edited.txt ": {ArtifactType: "text/markdown"},
		"edit-accept --file edited.json": {ArtifactData: []byte(`{}`)},
	} {
		g.ID, g.Kind, g.Actions = gateID, opt.Approval, []opt.Action{opt.EditAccept}
		if got := replyCommands(g, g.State().A2A(), (&remote{process: &process.Process{}, settings: remoteSettings{URL: process.AgentURL}}).command, stepID); !strings.Contains(got, gateID+" "+strings.TrimSpace(want)+"\n") {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
}
