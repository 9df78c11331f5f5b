package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"longhaul/internal/process"
	"longhaul/internal/test"
)

func TestSend(t *testing.T) {
	f := newFakeAgent(t, sendEvents(
		"1 "+wireTask("SUBMITTED", ""), "2 "+wireStatus("WORKING", "", ""), "3 "+wireStatus("WORKING", "", `"opt/v1/event":{}`),
		"4 "+wireChunk("draft", "Tea", false), "5 "+wireChunk("notes", "n", false), "6 "+wireChunk("draft", " is old.", true), "7 "+wireChunk("notes", "m", false),
		"8 "+wireStatus("COMPLETED", "Done.", "")))
	f.want(f.run(&sendCommand{Text: []string{"Write", "about tea"}, ID: "m1", Context: "c1"}), 0, `
Task obj-aaaaaaaaaaaaaaaaaaaaaaaaaa

Submitted.
Working.

[the draft]
Tea

[the notes]
n

[the draft]
 is old.

[the notes]
m

Completed. Done.
`)
	want := []string{`SendStreamingMessage {"message":{"messageId":"m1","contextId":"c1","role":"ROLE_USER","parts":[{"text":"Write about tea"}]},"configuration":{"historyLength":0}}`}
	test.Equal(t, "calls", want, f.calls)
}

func TestSend_quiet(t *testing.T) {
	f := newFakeAgent(t, sendEvents(
		"1 "+wireTask("WORKING", ""), "2 "+wireChunk("draft", "Tea", false), "3 "+wireChunk("notes", "n\n", false), "4 "+wireChunk("draft", " is old.", true),
		"5 "+wireStatus("COMPLETED", "", "")))
	f.want(f.run(&sendCommand{Text: []string{"x"}, Quiet: true}), 0, "Tea is old.\nn\n")
	f = newFakeAgent(t, sendEvents("1 "+wireTask("WORKING", ""), "2 "+wireStatus("REJECTED", "Not my job.", "")))
	f.want(f.run(&sendCommand{Text: []string{"x"}, Quiet: true}), 1, "Rejected. Not my job.\n")
}

func TestSend_noWait(t *testing.T) {
	f := newFakeAgent(t, sendResult(wireTask("SUBMITTED", "")))
	f.want(f.run(&sendCommand{Text: []string{"x"}, NoWait: true}), 0, "Task obj-aaaaaaaaaaaaaaaaaaaaaaaaaa\n\nSubmitted.\n")
	if !strings.HasPrefix(f.calls[0], "SendMessage") || !strings.Contains(f.calls[0], `"returnImmediately":true`) {
		t.Errorf("called %s", f.calls[0])
	}
	f = newFakeAgent(t, sendResult(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"4"}]}}`))
	f.want(f.run(&sendCommand{Text: []string{"2+2"}, NoWait: true, Criteria: "In French"}), 0, "4\n")
	test.Contains(t, "the text", `"longhaul/v1/accept":{"criteria":"In French"}`, f.calls[0])
}

// When the task waits, the command ends, and says how to answer.
func TestSend_waits(t *testing.T) {
	const gate = `"openwop":{"interrupt":{"kind":"%","interruptId":"` + gateID + `","taskId":"` + stepID + `","title":"About the tea"#}}`
	tests := []struct{ name, state, text, metadata, want string }{
		{"an approval", "INPUT_REQUIRED", "", approvalGate, shipIt},
		{"one question", "INPUT_REQUIRED", "", gate1(gate, "clarification", `,"questions":[{"id":"q1","question":"Which?"}]`), `
About the tea
Which?

The task waits for an answer. To answer:

  longhaul answer --url URL GATE "your answer"
`},
		{"one question with choices", "INPUT_REQUIRED", "", gate1(gate, "clarification", `,"questions":[{"id":"q1","question":"Which?","schema":{"type":"string","enum":["green","black\u001b[2J"]}}]`), `
About the tea
Which?

  q1: one of green, black‹U+001B›[2J

The task waits for an answer. To answer:

  longhaul answer --url URL GATE "your answer"
`},
		{"questions of all kinds", "INPUT_REQUIRED", "", gate1(gate, "clarification", `,"questions":[{"id":"a","question":"A?","schema":{"enum":[1,true]}},{"id":"b","question":"B?","schema":{"type":"boolean"}},`+
			`{"id":"c","question":"C?","schema":{"type":"integer"}},{"id":"d","question":"D?","schema":{"type":"number"}},{"id":"e","question":"E?","schema":{"type":"array"}},{"id":"f","question":"F?","schema":true}]`), `
About the tea
A?
B?
C?
D?
E?
F?

  a: one of 1, true
  b: true or false
  c: a whole number
  d: a number
  e: JSON
  f: a text

The task waits for an answer. To answer:

  longhaul answer --url URL GATE --set a="your answer" --set b="your answer" --set c="your answer" --set d="your answer" --set e="your answer" --set f="your answer"
`},
		{"two questions", "INPUT_REQUIRED", "", gate1(gate, "clarification", `,"questions":[{"id":"q1","question":"Which?"},{"id":"q2","question":"How much?"}]`), `
About the tea
Which?
How much?

  q1: a text
  q2: a text

The task waits for an answer. To answer:

  longhaul answer --url URL GATE --set q1="your answer" --set q2="your answer"
`},
		{"no gate", "INPUT_REQUIRED", "Which tea?", "", `
Which tea?

The task waits for an answer. To answer:

  longhaul answer --url URL ROOT "your answer"
`},
		{"an authorization", "AUTH_REQUIRED", "", gate1(gate, "credential", ""), `
About the tea

The task waits for an authorization elsewhere. To watch the task:

  longhaul watch --url URL ROOT
`},
		{"an authorization that a person can speak for", "AUTH_REQUIRED", "", gate1(gate, "credential", `,"actions":["accept","reject"]`), `
About the tea

The task waits for an authorization elsewhere, and continues by itself once it has that. To say that it was given, or refuse it:

  longhaul answer --url URL GATE accept
  longhaul answer --url URL GATE reject "what is wrong"
`},
		{"an answer under way", "INPUT_REQUIRED", "Which tea?", `"longhaul/v1/replyPending":true`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFakeAgent(t, sendEvents("1 "+wireTask("WORKING", ""), "2 "+wireStatus(tt.state, tt.text, tt.metadata)))
			want := strings.NewReplacer("GATE", gateID, "ROOT", rootID).Replace(tt.want)
			if tt.want == "" {
				want = "\nWhich tea?\n\nAn answer is already stored; a worker will use it as soon as one is available.\n"
			}
			f.want(f.run(&sendCommand{Text: []string{"x"}}), 3, "Task "+rootID+"\n\nWorking.\n"+want)
		})
	}
}

func gate1(gate, kind, more string) string {
	return strings.NewReplacer("%", kind, "#", more).Replace(gate)
}

func TestSend_message(t *testing.T) {
	path := test.File(t, "tea.json", "{}")
	f := newFakeAgent(t, sendEvents(`1 {"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"4"}]}}`))
	r := f.run(&sendCommand{Task: "t1", Data: []string{`{"a": 1.0}`, `null`}, File: []string{path}})
	f.want(r, 0, "4\n")
	got := regexp.MustCompile(`msg-\w+`).ReplaceAllString(f.calls[0], "ID")
	want := `SendStreamingMessage {"message":{"messageId":"ID","taskId":"t1","role":"ROLE_USER","parts":[{"data":{"a":1.0}},{"data":null},{"raw":"e30=","filename":"tea.json","mediaType":"application/json"}]},"configuration":{"historyLength":0}}`
	if got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	for _, cmd := range []*sendCommand{{}, {Data: []string{"{"}}, {File: []string{path + "x"}}, {Text: []string{"x"}, Budget: []string{"token=5"}}, {Text: []string{"x"}, Budget: []string{"cost=x"}}, {Text: []string{"x"}, Budget: []string{"time=2"}}} {
		if r := f.run(cmd); r.err == nil {
			t.Errorf("%+v: no error", cmd)
		}
	}
}

func TestPrinter_color(t *testing.T) {
	p := &printer{color: true}
	test.Is(t, "painted", "\x1b[31mx\x1b[0m", p.paint("failed", "x"))
	test.Is(t, "painted", "x", p.paint("unknown", "x"))
	file := test.Value(os.Create(filepath.Join(t.TempDir(), "out")))(t)
	defer func() { _ = file.Close() }()
	if _, _, ok := process.TerminalOf(file); ok {
		t.Error("a file is a terminal")
	}
}

func TestRemoteSettings_command(t *testing.T) {
	test.Is(t, "the command for the default", "longhaul get", (&remote{process: &process.Process{}, settings: remoteSettings{URL: process.AgentURL}}).command("get"))
	s := &remote{process: &process.Process{Command: "poems"}, settings: remoteSettings{URL: "https://agent.example.com", credentials: credentials{Token: "secret", CA: "ca.pem", Cert: "c.pem", CertKey: "k.pem"}}}
	test.Is(t, "the command", "poems get --url https://agent.example.com --ca ca.pem --cert c.pem --cert-key k.pem", s.command("get"))
}

// Commas, equals signs and semicolons in arguments are kept.
func TestRun_separators(t *testing.T) {
	asks := typedQuestions(`{"id":"q1","question":"a"},{"id":"q2","question":"b"}`)
	f := newFakeAgent(t, sendResult(wireTask("SUBMITTED", "")), sendResult(bareTask(stepID, asks)), sendResult(wireTask("WORKING", "")))
	var out, errs strings.Builder
	for _, args := range [][]string{
		{"send", "--url", f.URL, "--no-wait", "--id", "m1", "--budget", "tokens=20000,onExceeded=fail", "--budget", "cost=0.5,time=2m,questions=0,calls=3", "--data", `{"a":1,"b":"x;y=z"}`, "one, two"},
		{"answer", "--url", f.URL, stepID, "--set", "q1=a=b,c;d", "--set", "q2=e"},
	} {
		if code := run(t.Context(), args, &out, &errs); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
		}
	}
	for i, want := range map[int]string{
		0: `"parts":[{"text":"one, two"},{"data":{"a":1,"b":"x;y=z"}}],"metadata":{"urn:longhaul:budget:v1":{"calls":3,"cost":0.5,"onExceeded":"fail","questions":0,"time":120,"tokens":20000}}`,
		2: `"answers":[{"id":"q1","answer":"a=b,c;d"},{"id":"q2","answer":"e"}]`,
	} {
		test.Contains(t, "the text", want, f.calls[i])
	}
}

// The text may come from standard input.
func TestSendCommand_text(t *testing.T) {
	for _, tt := range []struct{ in, want, err string }{
		{"Write about tea.\nTwo pages.\n", "Write about tea.\nTwo pages.", ""},
		{" \n", "", "standard input is empty"},
		{"\xff\xfe", "", "send it as a file"},
	} {
		path := test.File(t, "in", tt.in)
		in := test.Value(os.Open(path))(t)
		defer in.Close()
		got, err := (&sendCommand{Text: []string{"-"}}).text(in)
		if got != tt.want || (tt.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: text %q, error %v; want %q, %q", tt.in, got, err, tt.want, tt.err)
		}
	}
	test.Is(t, "text", "a -", test.Value((&sendCommand{Text: []string{"a", "-"}}).text(nil))(t))
}
