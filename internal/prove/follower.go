package prove

import (
	"context"
	"fmt"
	"sync"
	"time"

	"longhaul/internal/witness"
)

// A follower subscribes to one task, again whenever the stream breaks, and assembles the
// artifacts that it receives.
type follower struct {
	mu        sync.Mutex
	ids       map[string]bool
	state     string
	at        time.Time
	artifacts map[string]*streamedArtifact
	problems  []problem
	followed
}

// followed is how far a follower has come.
type followed struct {
	lastID string
	events int
	broken bool // the stream has ended at least once
	ended  bool // the task has
	late   bool // it broke, and the task had ended before it could continue: get has the rest
}

func (f *follower) snapshot() followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followed
}

func (f *follower) update(change func(*followed)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.followed)
}

// A streamedArtifact is an artifact as a stream sent it.
type streamedArtifact struct {
	text string
	last bool // its last chunk has come
}

// A problem is a finding about a stream.
type problem struct {
	kind Kind
	seen string
}

func newFollower() *follower {
	return &follower{ids: map[string]bool{}, artifacts: map[string]*streamedArtifact{}}
}

// run follows the task of s from the send on, until it has ended or ctx is done.
func (f *follower) run(ctx context.Context, w *wire, s *sentTask) {
	on := func(e event) { f.onEvent(e, s) }
	made := s.saw.Begin("stream", witness.Make{Key: s.message.id})
	_ = w.follow(ctx, "stream", w.params(s.message), "", func(e event) { // it breaks, or ends with the task
		if e.task != nil && made != nil {
			made(witness.Made{ID: e.task.ID})
			made = nil
		}
		on(e)
	})
	f.update(func(f *followed) { f.broken = true })
	for pause := newPause(); !f.snapshot().ended; {
		if !pause.wait(ctx) {
			return
		}
		id := s.taskID()
		if id == "" && !s.snapshot().gone { // the answer was lost: the message is repeated elsewhere
			continue
		}
		before, had := s.snapshot(), f.snapshot()
		if before.gone {
			return
		}
		_ = w.follow(ctx, "subscribe", map[string]any{"id": id}, had.lastID, on) // it is repeated in any case
		if before.final != "" && f.snapshot().events == had.events {
			f.update(func(f *followed) { f.late = true }) // 1.0 refuses to subscribe to a task that has ended, and get has the rest
			return
		}
	}
}

func (f *follower) addProblem(kind Kind, format string, args ...any) {
	f.problems = append(f.problems, problem{kind, fmt.Sprintf(format, args...)})
}

// onEvent applies an event of the stream of s.
func (f *follower) onEvent(e event, s *sentTask) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events++
	if e.id != "" {
		if f.ids[e.id] && e.task == nil {
			f.addProblem(Repeated, "event %s came twice in one stream", e.id)
		}
		f.ids[e.id], f.lastID = true, e.id
	}
	switch {
	case e.task != nil:
		s.noteTask(e.task)
		f.onTask(e.task)
		s.noteState(e.task)
	case e.status != nil:
		f.onStatus(e.status.Status)
	case e.artifact != nil:
		f.onArtifact(*e.artifact)
	}
	f.ended = isTerminal(f.state)
}

// onTask replaces the artifacts: a task at the begin of a stream is the whole task.
func (f *follower) onTask(t *task) {
	f.onStatus(t.Status)
	f.artifacts = map[string]*streamedArtifact{}
	for _, a := range t.Artifacts {
		f.artifacts[a.ID] = &streamedArtifact{text: text(a.Parts)}
	}
}

func (f *follower) onStatus(s status) {
	now := string(s.State)
	if isTerminal(f.state) {
		if now != f.state {
			f.addProblem(OutOfOrder, "%s came after the task had ended as %s", now, f.state)
		}
		return
	}
	switch {
	case now == "submitted" && f.state != "" && f.state != "submitted":
		f.addProblem(OutOfOrder, "submitted came after %s", f.state)
	case !s.At.IsZero() && s.At.Before(f.at):
		f.addProblem(OutOfOrder, "%s of %s came after %s of %s", now, clockText(s.At.Time), f.state, clockText(f.at))
	}
	f.state = now
	if s.At.After(f.at) {
		f.at = s.At.Time
	}
}

func clockText(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// onArtifact adds a piece of an artifact, by the rules of the protocol.
func (f *follower) onArtifact(u artifactUpdate) {
	if isTerminal(f.state) {
		f.addProblem(OutOfOrder, "a piece of artifact %s came after the task had ended", u.Artifact.ID)
	}
	a := f.artifacts[u.Artifact.ID]
	switch {
	case !u.Append:
		a = &streamedArtifact{}
	case a == nil:
		f.addProblem(Lost, "a piece is to be added to artifact %s, whose begin did not come", u.Artifact.ID)
		a = &streamedArtifact{}
	case a.last:
		f.addProblem(Repeated, "a piece of artifact %s came after its last one", u.Artifact.ID)
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
		f.addProblem(Lost, "the stream ended in state %q, and the task as %s", f.state, t.state())
	}
	if f.ended && f.state != t.state() {
		f.addProblem(OutOfOrder, "the stream reported the end %s, and get says %s", f.state, t.state())
	}
	for _, a := range t.Artifacts {
		if f.ended {
			f.compareArtifact(a.ID, text(a.Parts))
		}
	}
	return f.problems
}

func (f *follower) compareArtifact(id, whole string) {
	switch h := f.artifacts[id]; {
	case h == nil:
		f.addProblem(Lost, "artifact %s did not come", id)
	case len(h.text) < len(whole):
		f.addProblem(Lost, "artifact %s came with %d of %d characters", id, len(h.text), len(whole))
	case len(h.text) > len(whole):
		f.addProblem(Repeated, "artifact %s came with %d characters, and has %d", id, len(h.text), len(whole))
	case h.text != whole:
		f.addProblem(OutOfOrder, "artifact %s came with other content than it has", id)
	}
}

// A pause grows from one repeat to the next.
type pause struct{ next time.Duration }

func newPause() *pause { return &pause{20 * time.Millisecond} }

// wait pauses; it returns false if ctx ended.
func (p *pause) wait(ctx context.Context) bool {
	d := p.next
	p.next = min(2*p.next, 500*time.Millisecond)
	return sleep(ctx, d)
}

// sleep waits for d. It returns false if ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
