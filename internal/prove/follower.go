package prove

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A follower subscribes to one task, again whenever the stream breaks, and puts together
// what it hears.
type follower struct {
	mu        sync.Mutex
	lastID    string
	ids       map[string]bool
	state     string
	at        time.Time
	late      bool // it broke, and the task had ended before it could continue: get has the rest
	artifacts map[string]*heard
	problems  []problem
	events    int
	breaks    int
	ended     bool
}

// A heard is an artifact as a stream sent it.
type heard struct {
	text string
	last bool // its last chunk has come
}

// A problem is a finding about a stream.
type problem struct {
	kind Kind
	seen string
}

func newFollower() *follower {
	return &follower{ids: map[string]bool{}, artifacts: map[string]*heard{}}
}

// run follows the task of s from the send on, until it has ended or ctx is done.
func (f *follower) run(ctx context.Context, w *wire, s *sent) {
	on := func(e event) { f.onEvent(e, s) }
	_ = w.follow(ctx, "stream", w.params(s.message), "", on) // it breaks, or ends with the task
	f.broke()
	for pause := newPause(); !f.done(); {
		if !pause.wait(ctx) {
			return
		}
		id := s.taskID()
		if id == "" && !s.look().gone { // the answer was lost: the message is repeated elsewhere
			continue
		}
		before := s.look()
		if before.gone {
			return
		}
		heard := f.count()
		_ = w.follow(ctx, "subscribe", map[string]any{"id": id}, f.last(), on) // it is repeated in any case
		if before.final != "" && f.count() == heard {
			f.tooLate() // 1.0 refuses to subscribe to a task that has ended, and get has the rest
			return
		}
	}
}

// count returns how many events have come.
func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events
}

func (f *follower) done() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

func (f *follower) tooLate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = true
}

// broken reports whether the stream has ended at least once.
func (f *follower) broken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.breaks > 0
}

func (f *follower) broke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.breaks++
}

func (f *follower) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lastID
}

func (f *follower) problem(kind Kind, format string, args ...any) {
	f.problems = append(f.problems, problem{kind, fmt.Sprintf(format, args...)})
}

// onEvent takes an event in.
func (f *follower) onEvent(e event, s *sent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events++
	if e.id != "" {
		if f.ids[e.id] && e.task == nil {
			f.problem(Repeated, "event %s came twice in one stream", e.id)
		}
		f.ids[e.id], f.lastID = true, e.id
	}
	switch {
	case e.task != nil:
		s.named(e.task)
		f.snapshot(e.task)
		s.looked(e.task)
	case e.status != nil:
		f.status(e.status.Status)
	case e.artifact != nil:
		f.chunk(*e.artifact)
	}
	f.ended = isTerminal(f.state)
}

// snapshot replaces the artifacts: a task at the begin of a stream is the whole task.
func (f *follower) snapshot(t *task) {
	f.status(t.Status)
	f.artifacts = map[string]*heard{}
	for _, a := range t.Artifacts {
		f.artifacts[a.ID] = &heard{text: text(a.Parts)}
	}
}

func (f *follower) status(s status) {
	now := string(s.State)
	if isTerminal(f.state) {
		if now != f.state {
			f.problem(OutOfOrder, "%s came after the task had ended as %s", now, f.state)
		}
		return
	}
	switch {
	case now == "submitted" && f.state != "" && f.state != "submitted":
		f.problem(OutOfOrder, "submitted came after %s", f.state)
	case !s.At.IsZero() && s.At.Before(f.at):
		f.problem(OutOfOrder, "%s of %s came after %s of %s", now, clock(s.At.Time), f.state, clock(f.at))
	}
	f.state = now
	if s.At.After(f.at) {
		f.at = s.At.Time
	}
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// chunk adds a piece of an artifact, by the rules of the protocol.
func (f *follower) chunk(u artifactUpdate) {
	if isTerminal(f.state) {
		f.problem(OutOfOrder, "a piece of artifact %s came after the task had ended", u.Artifact.ID)
	}
	a := f.artifacts[u.Artifact.ID]
	switch {
	case !u.Append:
		a = &heard{}
	case a == nil:
		f.problem(Lost, "a piece is to be added to artifact %s, whose begin did not come", u.Artifact.ID)
		a = &heard{}
	case a.last:
		f.problem(Repeated, "a piece of artifact %s came after its last one", u.Artifact.ID)
	}
	a.text += text(u.Artifact.Parts)
	a.last = u.LastChunk
	f.artifacts[u.Artifact.ID] = a
}

// compare returns the problems of the stream, and those that show in comparison with the
// task as get returns it at the end.
func (f *follower) compare(t *task) []problem {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.late {
		return f.problems
	}
	if !f.ended {
		f.problem(Lost, "the stream ended in state %q, and the task as %s", f.state, t.state())
	}
	if f.ended && f.state != t.state() {
		f.problem(OutOfOrder, "the stream reported the end %s, and get says %s", f.state, t.state())
	}
	for _, a := range t.Artifacts {
		h := f.artifacts[a.ID]
		switch whole := text(a.Parts); {
		case !f.ended:
		case h == nil:
			f.problem(Lost, "artifact %s did not come", a.ID)
		case len(h.text) < len(whole):
			f.problem(Lost, "artifact %s came with %d of %d characters", a.ID, len(h.text), len(whole))
		case len(h.text) > len(whole):
			f.problem(Repeated, "artifact %s came with %d characters, and has %d", a.ID, len(h.text), len(whole))
		case h.text != whole:
			f.problem(OutOfOrder, "artifact %s came with other content than it has", a.ID)
		}
	}
	return f.problems
}

// A pause grows from one repeat to the next.
type pause struct{ next time.Duration }

func newPause() *pause { return &pause{20 * time.Millisecond} }

// wait pauses; it returns false if ctx ended.
func (p *pause) wait(ctx context.Context) bool {
	timer := time.NewTimer(p.next)
	defer timer.Stop()
	p.next = min(2*p.next, 500*time.Millisecond)
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
