package commands

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// live is the display for a terminal: a tree of the plans that is redrawn, with
// questions above it and results below it. Streams call it from more than one
// goroutine, since they print that the connection is broken.
type live struct {
	mu      sync.Mutex
	screen  screen
	size    func() (columns, rows int)
	printer *printer // of questions and results
	now     func() time.Time

	taskID string
	state  a2a.TaskState
	pieces int               // of artifacts so far
	done   *int              // percent of the task; nil if that is not known
	said   string            // about its progress
	times  map[string]timing // by id of plan task
}

func newLive(out *os.File, size func() (int, int), p *printer) *live {
	return &live{screen: screen{out: out}, size: size, printer: p, now: time.Now, times: map[string]timing{}}
}

// event implements [display].
func (l *live) event(e client.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taskID = cmp.Or(e.TaskID(), l.taskID)
	if o, ok := client.ObjectiveOf(e.Metadata()); ok {
		l.printer.objective = o
	}
	if e.Artifact != nil {
		l.pieces++
	}
	if s, ok := e.TaskStatus(); ok {
		l.state, l.done, l.said = s.State, doneIn(e.Metadata()), ""
		if s.State == a2a.Working && s.Message != nil {
			l.said = s.Message.Text()
		}
		l.printDecided(e.Metadata())
	}
	if e.Message == nil && !l.state.Terminal() {
		l.printer.event(e) // keeps artifacts and the status
		l.draw()
		return
	}
	if e.Message == nil {
		l.draw()
	}
	l.screen.drawn = 0 // stays
	l.printer.blankLine, l.printer.tail = true, "\n"
	l.printer.event(e)
}

// printDecided prints once, above the tree, how the latest gate was closed.
func (l *live) printDecided(m a2a.Metadata) {
	if d, ok := client.Decided(m); !ok || l.printer.closed[d.GateID] {
		return
	}
	l.screen.clear()
	l.printer.blankLine, l.printer.tail = false, "\n"
	l.printer.printDecided(m)
}

// progress implements [display].
func (l *live) progress(o *client.Objective) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.printer.objective = o
	if !l.state.Terminal() {
		l.draw()
	}
}

// observe records the times and the attempts of tasks.
func (l *live) observe(tasks []a2a.Task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range tasks {
		ref, ok := opt.ParseID(t.ID)
		if !ok || ref.TaskID == "" {
			continue
		}
		times, at := l.times[ref.TaskID], t.Status.At.Time()
		var attempt int
		if t.Metadata.Decode(opt.KeyAttempt, &attempt) == nil && attempt > 0 {
			times.attempt = attempt
		}
		switch {
		case t.Status.State.Terminal():
			times.ended = at
		case times.began.IsZero() && t.Status.State != a2a.Submitted:
			times.began = at
		}
		l.times[ref.TaskID] = times
	}
}

// showWaiting implements [display]. The question goes above the tree.
func (l *live) showWaiting(open func() []*opt.Gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	drawn, puts := l.screen.drawn > 0, l.printer.gatePrints
	l.screen.clear()
	l.printer.blankLine, l.printer.tail = true, "\n"
	l.printer.showWaiting(open)
	if !drawn {
		return
	}
	if l.printer.gatePrints > puts {
		fmt.Fprintln(l.printer.out)
	}
	l.draw()
}

// end implements [display]. The drawn lines stay.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.screen.drawn = 0
}

// draw draws the tree, if there is anything to draw.
func (l *live) draw() {
	columns, rows := l.size()
	var lines []string
	switch {
	case l.printer.objective != nil:
		lines = tree{columns: columns, rows: rows, now: l.now(), times: l.times, done: l.done, said: l.said, paint: l.printer.paint}.lines(l.printer.objective)
	case l.taskID != "":
		lines = []string{oneLineKept(l.taskID+"  "+string(l.state)+"  "+l.said, columns-1)}
	default:
		return
	}
	if l.pieces > 0 && !l.state.Terminal() {
		lines = append(lines, process.OneLine(fmt.Sprintf("pieces of results so far: %d", l.pieces), columns-1))
	}
	l.screen.draw(lines)
}

// aboveTree returns a function that calls note, and keeps the tree below what that prints.
func (l *live) aboveTree(note func(string)) func(string) {
	return func(text string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		drawn := l.screen.drawn > 0
		l.screen.clear()
		note(text)
		if drawn {
			l.draw()
		}
	}
}

// A screen is the lower part of a terminal, which is drawn again and again.
type screen struct {
	out   io.Writer
	drawn int // lines
}

// clear removes the drawn lines.
func (s *screen) clear() { s.draw(nil) }

// draw replaces the drawn lines, at once. No line may be wider than the terminal.
func (s *screen) draw(lines []string) {
	var text strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\r\x1b[J", s.drawn)
	}
	for _, l := range lines {
		text.WriteString(l + "\n")
	}
	if text.Len() > 0 {
		io.WriteString(s.out, text.String())
	}
	s.drawn = len(lines)
}
