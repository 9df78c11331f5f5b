package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A testTerminal is a pseudo-terminal and its screen.
type testTerminal struct {
	*os.File
	ours    *os.File
	columns int
	read    sync.WaitGroup

	mu       sync.Mutex
	changed  *sync.Cond
	lines    [][]rune
	row, col int
	escape   string
	late     bool // nothing more is awaited
}

func newTerminal(t *testing.T, columns, rows int) *testTerminal {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatalf("this test needs pseudo-terminals: %v", err)
	}
	test.OK(t, pty.Setsize(theirs, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}))
	v := &testTerminal{File: theirs, ours: ours, columns: columns}
	v.changed = sync.NewCond(&v.mu)
	time.AfterFunc(2*time.Minute, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.late = true
		v.changed.Broadcast()
	})
	v.read.Go(func() {
		buffer := make([]byte, 4096)
		var rest []byte
		for {
			n, err := ours.Read(buffer)
			rest = append(rest, buffer[:n]...)
			whole := strings.ToValidUTF8(string(rest), "") // a character may be cut
			if string(rest) == whole {
				v.put(whole)
				rest = nil
			}
			if err != nil {
				return // the other side was closed
			}
		}
	})
	t.Cleanup(func() { _ = theirs.Close(); v.read.Wait(); _ = ours.Close() })
	return v
}

// put shows text.
func (v *testTerminal) put(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range text {
		switch {
		case v.escape != "":
			v.escape += string(c)
			if c >= '@' && c <= '~' && c != '[' {
				v.control()
				v.escape = ""
			}
		case c == '\x1b':
			v.escape = "\x1b"
		case c == '\r':
			v.col = 0
		case c == '\n':
			v.row++
		default:
			if v.col == v.columns {
				v.row, v.col = v.row+1, 0
			}
			for len(v.lines) <= v.row {
				v.lines = append(v.lines, nil)
			}
			for len(v.lines[v.row]) <= v.col {
				v.lines[v.row] = append(v.lines[v.row], ' ')
			}
			v.lines[v.row][v.col] = c
			v.col++
		}
	}
	v.changed.Broadcast()
}

func (v *testTerminal) control() {
	switch argument := v.escape[2 : len(v.escape)-1]; v.escape[len(v.escape)-1] {
	case 'A':
		n, _ := strconv.Atoi(argument)
		v.row = max(0, v.row-n)
	case 'J':
		if v.row < len(v.lines) {
			v.lines[v.row] = v.lines[v.row][:min(v.col, len(v.lines[v.row]))]
			v.lines = v.lines[:v.row+1]
		}
	}
}

func (v *testTerminal) text() string {
	var out strings.Builder
	for _, l := range v.lines {
		out.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return out.String()
}

// wait waits until want is on the screen.
func (v *testTerminal) wait(want string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for !strings.Contains(v.text(), want) {
		if v.late {
			panic(fmt.Sprintf("there is no %q on the screen:\n%s", want, v.text()))
		}
		v.changed.Wait()
	}
}

// end closes the terminal and returns its screen.
func (v *testTerminal) end() string {
	_ = v.Close()
	v.read.Wait()
	return v.text()
}

func stepStatus(id, state, at string, attempt int) string {
	return `{"id":"task-aaaaaaaaaaaaaaaaaaaaaaaaaa-` + id + `","contextId":"c","status":{"state":"TASK_STATE_` + state + `","timestamp":"2026-03-01T09:` + at + `.000Z"},"metadata":{"longhaul/v1/attempt":` + strconv.Itoa(attempt) + `}}`
}

// wireSteps is an objective with real ids, for the tree.
func wireSteps(statuses ...string) string {
	o := strings.Replace(wireObjective(statuses[0], statuses[1], statuses[2], statuses[3], statuses[4]), `"status":"working"`, `"status":"`+statuses[3]+`"`, 1)
	return strings.NewReplacer(`"t1"`, `"`+stepID+`"`, `"t2"`, `"`+otherStepID+`"`, `"t3"`, `"task-aaaaaaaaaaaaaaaaaaaaaaaaaa-2-0"`, `Search`, `Search\u001b[2J the 茶 archives of the whole world, one after the other, with care and patience`).Replace(o)
}

// On a terminal the plans are a tree that is redrawn: the questions are above it,
// the results below. No line is wider than the terminal.
func TestWatch_onATerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	f := newFakeAgent(t,
		sendEvents(
			"1 "+wireTask("WORKING", `"opt/v1/objective":`+wireSteps("working", "working", "pending", "pending", "pending")),
			"2 "+wireStatus("WORKING", "", ""),
			"3 "+wireStatus("INPUT_REQUIRED", "Ship it?", approvalGate)),
		sendEvents("4 "+wireStatus("WORKING", "", ""), "5 "+wireChunk("draft", "Tea is", false), "6 "+wireChunk("draft", " old.\n", true), "7 "+wireStatus("COMPLETED", "", "")))
	f.objective = []string{
		wireSteps("working", "working", "pending", "pending", "pending"),
		wireSteps("blocked", "completed", "input-required", "pending", "pending"),
		wireSteps("completed", "completed", "completed", "working", "working"),
		wireSteps("completed", "completed", "completed", "completed", "completed"),
	}
	f.tasks = []string{
		`{"tasks":[` + stepStatus("1-0", "WORKING", "30:00", 1) + `]}`,
		`{"tasks":[` + stepStatus("1-0", "COMPLETED", "30:03", 2) + `,` + stepStatus("1-1", "INPUT_REQUIRED", "30:03", 0) + `]}`,
		`{"tasks":[` + stepStatus("1-1", "COMPLETED", "58:03", 1) + `,` + stepStatus("2-0", "WORKING", "58:03", 1) + `]}`,
		`{"tasks":[` + stepStatus("2-0", "COMPLETED", "58:05", 1) + `]}`,
	}
	terminal := newTerminal(t, 110, 24)
	code := run(t.Context(), []string{"watch", "--url", f.URL, rootID}, terminal.File, terminal.File)
	got := strings.ReplaceAll(terminal.end(), f.URL, "URL")
	want := `
` + shipIt + `
Tea
obj-aaaaaaaaaaaaaaaaaaaaaaaaaa  completed
├─ ✓ Research                                                                 completed
│  ├─ ✓ Search‹U+001B›[2J the 茶 archives of the whole world, one after the…  completed       3.0s  attempt 2
│  └─ ✓ Approve                                                               completed       28m0s
└─ ✓ Writing                                                                  completed
   └─ ✓ Write                                                                 completed       2.0s
[██████████████████████████████] 3 of 3 tasks, 100%

Tea is old.
`
	test.Equal(t, "the screen", want, "\n"+got)
	test.Is(t, "exit code", 0, code)
}

// Ctrl-C says that the work continues, and how to watch it again.
func TestWatch_interrupted(t *testing.T) {
	t.Setenv("TERM", "xterm")
	release := make(chan struct{})
	f := newFakeAgent(t, func(w http.ResponseWriter) {
		sendEvents("4 " + wireTask("WORKING", ""))(w)
		w.(http.Flusher).Flush()
		<-release
	})
	defer close(release)
	terminal := newTerminal(t, 100, 24)
	done := make(chan int)
	go func() {
		done <- run(context.Background(), []string{"watch", "--url", f.URL, rootID}, terminal.File, terminal.File)
	}()
	terminal.wait("working")
	test.OK(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	code := <-done
	got := strings.ReplaceAll(terminal.end(), f.URL, "URL")
	want := rootID + "  working\nlonghaul: stopped watching. The task continues. To see the rest:\n\n  longhaul watch --url URL " + rootID + " --after 4\n"
	if diff := cmp.Diff(want, got); diff != "" || code != process.ExitInterrupted {
		t.Errorf("exit code %d, screen mismatch (-want +got):\n%s", code, diff)
	}
}

// A tree that is higher than the terminal shows the tasks that run.
func TestTree_high(t *testing.T) {
	o := objectiveOf(t, wireSteps("completed", "completed", "completed", "working", "working"))
	lines := tree{columns: 50, rows: 8, now: time.Now(), paint: (&printer{}).paint}.lines(o)
	want := []string{
		"Tea", rootID + "  working",
		"├─ ✓ Research  completed",
		"└─ ◉ Writing   working",
		"   └─ ◉ Write  working",
		"… 2 more; the command objective shows all",
		"[███████████████████░░░░░░░░░░] 2 of 3 tasks, 66%",
	}
	test.Equal(t, "lines", want, lines)
}

// The bar of a tree shows how much of a task is done that runs, and what it says; without plans the
// line of the task does.
func TestLive_done(t *testing.T) {
	terminal := newTerminal(t, 110, 24)
	l := newLive(terminal.File, func() (int, int) { return 110, 24 }, (&remote{process: &process.Process{Stdout: terminal.File}}).plain(false, true).(*printer))
	says := func(text string) {
		l.event(client.Event{Event: a2a.Event{Status: &a2a.StatusUpdate{
			TaskID: rootID, Status: a2a.TaskStatus{State: a2a.Working, Message: a2a.AgentMessage("c", rootID, "", text)},
			Metadata: a2a.Metadata{}.With(opt.KeyProgress, 75),
		}}})
	}
	says("page 1")
	terminal.wait("working  page 1")
	l.progress(objectiveOf(t, wireSteps("working", "working", "pending", "pending", "pending")))
	says("Writing, task 1 of 1: page 2")
	test.Contains(t, "the screen", "[███████████████████████░░░░░░░] 0 of 3 tasks, 75% Writing, task 1 of 1: page 2", terminal.end())
}

func TestDisplay_plain(t *testing.T) {
	terminal := newTerminal(t, 80, 24)
	for _, tt := range []struct {
		term, noColor string
		raw, quiet    bool
		live, colored bool
	}{
		{term: "xterm", live: true, colored: true},
		{term: "xterm", noColor: "1", live: true},
		{term: "dumb"},
		{term: "xterm", raw: true, colored: true},
		{term: "xterm", quiet: true, colored: true},
	} {
		t.Setenv("TERM", tt.term)
		t.Setenv("NO_COLOR", tt.noColor)
		d := (&remote{process: &process.Process{Stdout: terminal.File}, outage: &outage{}}).display(tt.raw, tt.quiet)
		_, isLive := d.(*live)
		if isLive != tt.live || process.Colored(terminal.File) != tt.colored {
			t.Errorf("%+v: live %v, coloured %v", tt, isLive, process.Colored(terminal.File))
		}
	}
}

func objectiveOf(t *testing.T, raw string) *client.Objective {
	t.Helper()
	var o client.Objective
	test.OK(t, json.Unmarshal([]byte(raw), &o))
	return &o
}

// The text of an error may come from an agent: it does not control the terminal.
func TestRun_visibleErrors(t *testing.T) {
	f := newFakeAgent(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"objective_not_found","message":"\u001b[2KNot found\u202e"}`)
	})
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"decisions", "--url", f.URL, rootID}, io.Discard, &stderr)
	if got := stderr.String(); code != 1 || !strings.Contains(got, "[2KNot found") || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("code %d: %q", code, got)
	}
}
