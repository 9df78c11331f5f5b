package commands

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"longhaul/internal/process"
	"longhaul/internal/test"
)

// Arrows, numbers of several digits, letters, Enter and Escape are read as people press them.
func TestMenu(t *testing.T) {
	for keys, want := range map[string]int{
		"\r": 0, "\x1b[B\r": 1, "\x1bOB\x1b[B\x1b[A\n": 1, "\x1b[A\r": 11, "jjk\r": 1, "3\r": 2, "12\r": 11, "13\r": 2, "99\r": 8, "q": -1, "\x1b": -1, "\x04": -1, "2\x1b[5~\r": 1, "": -1,
		"sep\r": 8, "Ma\r": 2, "mango\rsep\r": 8, "mango\rq": -1, "mango\r": -1, "mango\x1b[A\r": 1, "d\x1b[B\r": 0, "juq\r": -1, "ju\x04": -1,
	} {
		months := strings.Fields("January February March April May June July August September October November December")
		in, m, got := bufio.NewReader(strings.NewReader(keys)), menu{options: months}, -1
		for {
			k, err := readKey(in)
			k = m.meaning(k)
			if err != nil || k == keyLeave {
				break
			}
			if m.press(k) {
				got = m.at
				break
			}
		}
		test.Is(t, fmt.Sprintf("%q chooses", keys), want, got)
	}
}

// Letters choose among options of which several may be marked, too. Those with which none begins stay named.
func TestMenu_marked(t *testing.T) {
	m := menu{options: []string{"[ ] lunch", "[x] dinner", "done"}}
	for _, k := range "di" {
		m.press(k)
	}
	if m.at != 1 || m.unknown() {
		t.Errorf("di is option %d of %q", m.at, m.options)
	}
	for _, k := range []rune{'n', 'o', keyEnter} {
		m.press(k)
	}
	if hint := m.lines("T", 80, 8)[4]; !strings.HasPrefix(hint, "Nothing here begins with dino.") || m.word != "" {
		t.Errorf("after dino: %s, %q", hint, m.word)
	}
}

// A menu that is higher than the terminal shows the options around the marked one.
func TestMenu_high(t *testing.T) {
	m := menu{options: strings.Split("a b c d e f g h i", " "), at: 7}
	got := strings.Join(m.lines("T", 80, 8), "|")
	if !strings.HasPrefix(got, "T|  6  f|  7  g|> 8  h|  9  i|Arrows") {
		t.Errorf("it shows %s", got)
	}
}

// inboxAt starts the command inbox at a terminal. done gets its error.
func inboxAt(t *testing.T, f *fakeAgent, c *inboxCommand) (v *testTerminal, done chan error) {
	t.Helper()
	t.Setenv("TERM", "xterm")
	v, done = newTerminal(t, 100, 30), make(chan error, 1)
	p := &process.Process{Ctx: t.Context(), Stdin: v.File, Stdout: v.File, Stderr: v.File}
	r := f.remote(p)
	go func() { done <- c.Run(p, r) }()
	return v, done
}

// press waits for a text on the screen and enters keys.
func (v *testTerminal) press(t *testing.T, want, keys string) {
	t.Helper()
	v.wait(want)
	time.Sleep(20 * time.Millisecond) // the terminal may echo until it reads keys
	test.Value(v.ours.WriteString(keys))(t)
}

func interrupts(list ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"interrupts":[%s],"nextPageToken":"","totalSize":%d}`, strings.Join(list, ","), len(list))
	}
}

// An approval is decided in place, by a number: the decision is about the object that was shown.
func TestInbox_decides(t *testing.T) {
	gate := strings.Replace(allActions(approvalGate), `"title"`, `"objectDigest":"sha256:1","title"`, 1)
	task := bareTask(stepID, gate)
	f := newFakeAgent(t, interrupts(wireInterrupt(gateID, "approval", "Ship it?", "2")), sendResult(task),
		sendResult(strings.Replace(task, "sha256:1", "sha256:2", 1)),    // it has changed since
		sendResult(stepTask("WORKING", "")), interrupts(), interrupts()) // the work may ask again
	v, done := inboxAt(t, f, &inboxCommand{})
	v.press(t, "q to leave", "1\r")
	v.press(t, "Your decision:", "\x1b[B\x1b[B\r")
	v.press(t, "Refine: [Ctrl-D leaves]", "\n")
	v.press(t, "This does not fit: say what to refine", "more tea\n")
	test.Error(t, "the call", nil, <-done)
	if said := v.end(); !strings.Contains(said, "Nothing waits for a person.") || strings.Contains(said, "longhaul answer") {
		t.Errorf("the screen is\n%s", said)
	}
	sent := f.calls[3]
	for _, want := range []string{`"refine"`, `"more tea"`, `"sha256:1"`, gateID} {
		test.Contains(t, "the text", want, sent)
	}
}

// An object is changed in the editor, or in a file that is named. One that is left as it was is not
// sent.
func TestInbox_edits(t *testing.T) {
	gate := strings.Replace(allActions(approvalGate), `"title"`, `"objectDigest":"sha256:1","artifactType":"text/plain","artifactData":"Tea","title"`, 1)
	list, task := interrupts(wireInterrupt(gateID, "approval", "Ship it?", "2")), bareTask(stepID, gate)
	for editor, change := range map[string]func(v *testTerminal){
		"sed -i s/Tea/Mint/": func(*testTerminal) {},
		"": func(v *testTerminal) {
			file := test.File(t, "mint.txt", "Mint")
			v.press(t, "File with what replaces it:", file+"\n")
		},
	} {
		t.Setenv("VISUAL", editor)
		t.Setenv("EDITOR", "")
		f := newFakeAgent(t, list, sendResult(task), sendResult(task), sendResult(stepTask("WORKING", "")), interrupts(), interrupts())
		v, done := inboxAt(t, f, &inboxCommand{})
		v.press(t, "q to leave", "1\r")
		v.press(t, "Your decision:", "4\r")
		change(v)
		if err := <-done; err != nil || !strings.Contains(f.calls[3], `"editedArtifactData":"Mint"`) || !strings.Contains(f.calls[3], `"sha256:1"`) {
			t.Errorf("%q: error %v, sent %s", editor, err, f.calls[3])
		}
	}
	t.Setenv("VISUAL", "true")
	f := newFakeAgent(t, list, sendResult(task), list)
	v, done := inboxAt(t, f, &inboxCommand{})
	v.press(t, "q to leave", "1\r")
	v.press(t, "Your decision:", "4\r")
	v.press(t, "the object is unchanged, and nothing was sent", "q")
	if err := <-done; err != nil || len(f.calls) != 3 {
		t.Errorf("unchanged: error %v after %d calls", err, len(f.calls))
	}
}

// Questions are asked one by one: those with choices as a menu, others until the answer fits.
func TestInbox_asks(t *testing.T) {
	questions := `,"questions":[{"id":"a","question":"Which?","schema":{"enum":["green","black"]}},{"id":"b","question":"Sure?","schema":{"type":"boolean"}},{"id":"c","question":"How many?","schema":{"type":"integer"}},{"id":"d","question":"Why?"},{"id":"e","question":"Note?","schema":{"type":"string","maxLength":80}},{"id":"f","question":"Colors?","schema":{"type":"array","items":{"enum":["red, dark","green",7]},"minItems":1}}]`
	task := bareTask(stepID, `"openwop":{"interrupt":{"kind":"clarification","interruptId":"`+gateID+`","taskId":"`+stepID+`","title":"Tea"`+questions+`}}`)
	f := newFakeAgent(t, interrupts(wireInterrupt(gateID, "clarification", "Which?", "2")), sendResult(task), sendResult(task), sendResult(stepTask("WORKING", "")), interrupts(), interrupts()) // the work may ask again
	v, done := inboxAt(t, f, &inboxCommand{})
	v.press(t, "q to leave", "\r")
	v.press(t, "> 1  green", "j\r")
	v.press(t, "> 1  true", "\r")
	v.press(t, "How many? (a whole number) [Ctrl-D leaves]", "many\n")
	v.press(t, "This does not fit", "\n")
	v.press(t, "This does not fit: it must be a whole number", "3\n")
	v.press(t, "Why? [Ctrl-D leaves]", "thirst\n")
	v.press(t, "Note? (at most 80 characters) [Ctrl-D leaves]", "\n") // an answer
	v.press(t, "> 1  [ ] red", "4\r")
	v.press(t, "Colors? This does not fit", "1\r")
	v.press(t, "> 1  [x] red", "3\r")
	v.press(t, "> 3  [x] 7", "4\r")
	test.Error(t, "the call", nil, <-done)
	for _, want := range []string{`{"id":"a","answer":"black"}`, `{"id":"b","answer":true}`, `{"id":"c","answer":3}`, `{"id":"d","answer":"thirst"}`, `{"id":"e","answer":""}`, `{"id":"f","answer":["red, dark",7]}`} {
		test.Contains(t, "the text", want, f.calls[3])
	}
}

// Leaving a question says what becomes of the answers before, and goes back to the list.
func TestInbox_leaves(t *testing.T) {
	list := interrupts(wireInterrupt(gateID, "clarification", "Which?", "2"))
	f := newFakeAgent(t, list, sendResult(bareTask(stepID, teaQuestions)), list)
	v, done := inboxAt(t, f, &inboxCommand{})
	v.press(t, "q to leave", "\r")
	v.press(t, "> 1  green", "\r")
	v.press(t, "Why? [Ctrl-D leaves]", "\x04")
	v.press(t, "nothing was sent, and what you have entered there is dropped.\n\nWhat waits for a person:", "q")
	if err := <-done; err != nil || len(f.calls) != 3 {
		t.Errorf("error %v after %d calls", err, len(f.calls))
	}
}

const teaQuestions = `"openwop":{"interrupt":{"kind":"clarification","interruptId":"` + gateID + `","taskId":"` + stepID + `","title":"Tea","questions":[{"id":"a","question":"Which?","schema":{"enum":["green","black"]}},{"id":"b","question":"Why?"}]}}`

// Ctrl-C ends an inbox wherever it asks, and so does its signal; the terminal is as it was before.
func TestInbox_interrupted(t *testing.T) {
	signal := func(t *testing.T, v *testTerminal, at string) {
		v.wait(at)
		test.OK(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	}
	key := func(t *testing.T, v *testTerminal, at string) { v.press(t, at, "\x03") }
	for name, stop := range map[string]func(t *testing.T, v *testTerminal){
		"signal at the list":    func(t *testing.T, v *testTerminal) { signal(t, v, "q to leave") },
		"key at the list":       func(t *testing.T, v *testTerminal) { key(t, v, "q to leave") },
		"signal at the choices": func(t *testing.T, v *testTerminal) { v.press(t, "q to leave", "\r"); signal(t, v, "> 1  green") },
		"key at the choices":    func(t *testing.T, v *testTerminal) { v.press(t, "q to leave", "\r"); key(t, v, "> 1  green") },
		"signal at a text": func(t *testing.T, v *testTerminal) {
			v.press(t, "q to leave", "\r")
			v.press(t, "> 1  green", "\r")
			signal(t, v, "Why? [Ctrl-D leaves]")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAgent(t, interrupts(wireInterrupt(gateID, "clarification", "Which?", "2")), sendResult(bareTask(stepID, teaQuestions)))
			v, done := inboxAt(t, f, &inboxCommand{})
			stop(t, v)
			exit, ok := errors.AsType[*process.ExitError](<-done)
			if !ok || exit.Code != process.ExitInterrupted {
				t.Errorf("error %v", exit)
			}
			if _, err := v.ours.WriteString("\nseen\n"); err != nil { // ends the read, and is echoed by a terminal that reads lines
				t.Fatal(err)
			}
			v.wait("seen")
		})
	}
}

// A refused answer is explained, and the person may choose again or leave.
func TestInbox_refused(t *testing.T) {
	task := bareTask(stepID, approvalGate)
	f := newFakeAgent(t, interrupts(wireInterrupt(gateID, "approval", "Ship it?", "2")), sendResult(task), sendResult(task),
		sendError(-32602, "Invalid parameters: message.x no"), interrupts(wireInterrupt(gateID, "approval", "Ship it?", "2")))
	v, done := inboxAt(t, f, &inboxCommand{})
	v.press(t, "q to leave", "\r")
	v.press(t, "Your decision:", "\r")
	v.wait("the agent refuses this answer")
	v.press(t, "What waits for a person:", "q")
	test.Error(t, "the call", nil, <-done)
}

// Without a terminal --watch prints each gate once.
func TestInbox_leaveOut(t *testing.T) {
	f := newFakeAgent(t, interrupts(wireInterrupt(gateID, "approval", "Ship it?", "2")), interrupts(wireInterrupt(gateID, "approval", "Ship it?", "2"), wireInterrupt(otherGateID, "approval", "Again?", "3")))
	p := &process.Process{Ctx: t.Context()}
	i := &inbox{inboxCommand: &inboxCommand{}, process: p, remote: f.remote(p), known: map[string]bool{}}
	for _, want := range []string{gateID, otherGateID} {
		page := test.Value(i.read(t.Context(), 100, ""))(t)
		if i.leaveOut(page); len(page.Items) != 1 || page.Items[0].ID != want || len(page.Raw) != 1 {
			t.Errorf("%+v, want %s", page.Items, want)
		}
	}
}

// The begin of an id means it if there is one, and @1 the first of the last list.
func TestWholeID(t *testing.T) {
	other := strings.Replace(rootID, "aaaa", "abcd", 1)
	list := sendResult(`{"objectives":[{"id":"` + rootID + `","status":"working"},{"id":"` + other + `","status":"working"}],"nextPageToken":""}`)
	gates := interrupts(wireInterrupt(gateID, "approval", "Ship it?", "2"), wireInterrupt(otherGateID, "approval", "Ship?", "2"))
	none := func(w http.ResponseWriter) { http.NotFound(w, nil) }
	for text, tt := range map[string]struct {
		answers   []func(http.ResponseWriter)
		want, err string
	}{
		rootID: {want: rootID}, gateID: {want: gateID}, "their-task": {want: "their-task"},
		"obj-ab": {[]func(http.ResponseWriter){list}, other, ""}, "aaaa": {[]func(http.ResponseWriter){list}, rootID, ""},
		"obj-a": {[]func(http.ResponseWriter){list}, "", "obj-a is the begin of 2 ids: " + rootID + ", " + other},
		"zzzz":  {[]func(http.ResponseWriter){list}, "zzzz", ""}, "work": {[]func(http.ResponseWriter){none, none}, "work", ""},
		"task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-": {[]func(http.ResponseWriter){gates}, "", "is the begin of 2 ids"},
		"task-abcd":                          {[]func(http.ResponseWriter){gates, list}, "task-abcd", ""},
		"@1":                                 {nil, "", "there is none of this agent"},
	} {
		f := newFakeAgent(t, tt.answers...)
		r := f.remote(&process.Process{Ctx: t.Context()})
		got, err := wholeID(t.Context(), r, text)
		if got != tt.want || tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %q, error %v, want %q %s", text, got, err, tt.want, tt.err)
		}
	}
}

// The last list is that of the agent, and lists of old sessions are removed.
func TestListedID(t *testing.T) {
	f := newFakeAgent(t, interrupts(wireInterrupt(otherGateID, "approval", "Ship it?", "2"), wireInterrupt(gateID, "approval", "Ship it?", "2")), sendResult(bareTask(stepID, approvalGate)))
	r := f.remote(&process.Process{Ctx: t.Context()})
	old := filepath.Join(filepath.Dir(listFile()), "list-1.json")
	test.OK(t, os.MkdirAll(filepath.Dir(old), 0o700))
	{
		file := old
		test.OK(t, os.WriteFile(file, nil, 0o600))
		test.OK(t, os.Chtimes(file, time.Time{}, time.Now().AddDate(0, 0, -8)))
	}
	f.run(&inboxCommand{})
	if said := f.run(&getCommand{Task: "@2"}).stdout.String(); !strings.HasPrefix(said, "Task "+stepID+"\n") {
		t.Errorf("@2 shows\n%s", said)
	}
	for number, want := range map[string]string{"3": "@3 is not in the last list, which has @1 to @2", "0": "@0 is not", "x": "@x is not"} {
		test.Fails(t, "@"+number, want, test.Err(listedID(r, number)))
	}
	test.Fails(t, "an old list is kept", "", test.Err(os.Stat(old)))
	r.settings.URL = "http://agent.example.com"
	if id, err := listedID(r, "1"); err == nil {
		t.Errorf("of another agent: %s", id)
	}
}

// A schedule of a playbook is found by its name.
func TestSchedule_byName(t *testing.T) {
	missing := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"schedule_not_found","message":"There is no such schedule"}`)
	}
	page := func(ids ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			fmt.Fprintf(w, `{"schedules":[{"id":"%s"}]}`, strings.Join(ids, `"},{"id":"`))
		}
	}
	started := func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"run":{"objectiveId":%q,"at":"2026-12-01T00:00:00Z"}}`, rootID)
	}
	f := newFakeAgent(t, missing, page("hour", "playbook:count:hourly", "playbook:count:daily"), started)
	f.want(f.run(&scheduleTriggerCommand{oneSchedule: oneSchedule{ID: "hourly"}}), 0, "Started "+rootID+"\nTo watch it: longhaul watch --url URL "+rootID+"\n")
	test.Is(t, "called", "POST /v1/schedules/playbook:count:hourly/trigger", f.calls[2])
	for want, list := range map[string]func(http.ResponseWriter){"no such schedule": page("hour"), "hourly is the name of 2 schedules": page("playbook:a:hourly", "playbook:b:hourly")} {
		f := newFakeAgent(t, missing, list)
		if r := f.run(&scheduleTriggerCommand{oneSchedule: oneSchedule{ID: "hourly"}}); r.err == nil || !strings.Contains(r.err.Error(), want) {
			t.Errorf("error %v, want %s", r.err, want)
		}
	}
}

// An artifact without a name has that of its task, and nothing says that the work continues once there
// is a result.
func TestSend_namelessResult(t *testing.T) {
	chunk := `{"artifactUpdate":{"taskId":"` + rootID + `","contextId":"c","artifact":{"artifactId":"1-0-01a2","parts":[{"text":"Tea"}]}}}`
	events := []string{"1 " + wireTask("WORKING", ""), "2 " + chunk, "3 " + wireStatus("WORKING", "Work, task 1 of 1", ""), "4 " + wireStatus("COMPLETED", "", "")}
	f := newFakeAgent(t, sendEvents(events...))
	f.objective = []string{wireSteps("completed", "completed", "completed", "completed", "completed")}
	if said := f.run(&sendCommand{Text: []string{"x"}}).stdout.String(); !strings.Contains(said, "the 茶 archives of the whole world, one after the other, with care and patience]\nTea\n") || strings.Contains(said, "Working. Work, task") {
		t.Errorf("it says\n%s", said)
	}
	f = newFakeAgent(t, sendEvents(events...))
	test.Contains(t, "without the objective", "\n[Result]\nTea\n", f.run(&sendCommand{Text: []string{"x"}}).stdout.String())
}
