package prove

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"longhaul/internal/witness"
)

// A taskKind says what prove does with a task.
type taskKind string

const (
	plain    taskKind = "sent"
	streamed taskKind = "streamed"
	asking   taskKind = "asking"
	canceled taskKind = "canceled"
)

// kinds are the kinds of the tasks of an experiment, one after another.
var kinds = []taskKind{plain, streamed, asking, canceled, streamed}

// A sentTask is one message of prove and its task. It is safe for concurrent use.
type sentTask struct {
	kind     taskKind
	message  message
	follower *follower // nil unless streamed

	saw    *witness.History
	broken bool // an anomaly of it was found

	mu sync.Mutex
	id string // of its task, "" before it is known
	sentState
}

// A sentState is the state of a sentTask at one moment.
type sentState struct {
	acknowledged       bool   // before anything was broken
	asked              bool   // it was seen waiting for its answer
	cancelSent         bool   // a cancellation was sent
	cancelAcknowledged bool   // one was acknowledged
	gone               bool   // the server says that there is no such task
	last               string // state that the server reported last
	final              string // once it had ended
	ended              time.Time
	changedAt          time.Time // when the first change after markState was seen
	markedState        string    // the state when markState was called; "" before
	repeated           bool      // checkOnce has checked it, after its end
}

func (s *sentTask) taskID() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// noteTask notes the task that an answer to the message has named, if it is the first.
func (s *sentTask) noteTask(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id = cmp.Or(s.id, t.ID)
}

// send sends the message. Without an answer, its result stays unknown; a refusal says nothing
// about an earlier one.
func (s *sentTask) send(ctx context.Context, client string, w *wire) (*task, error) {
	end := s.saw.Begin(client, witness.Make{Key: s.message.id})
	t, err := w.send(ctx, s.message)
	if err == nil {
		s.noteTask(t)
		end(witness.Made{ID: t.ID})
	}
	return t, err
}

// look reads the task.
func (s *sentTask) look(ctx context.Context, w *wire) (*task, error) {
	end := s.saw.Begin("check", witness.Look{Key: s.message.id})
	t, err := w.get(ctx, s.taskID())
	switch {
	case hasCode(err, codeNotFound):
		end(witness.Seen{})
	case err == nil && isTerminal(t.state()):
		end(witness.Seen{ID: t.ID, End: t.final()})
	case err == nil:
		end(witness.Seen{ID: t.ID})
	}
	return t, err
}

// noteState notes the state of the task as the server has just reported it.
func (s *sentTask) noteState(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = t.state()
	if s.last == "input-required" {
		s.asked = true
	}
	if now := stateAt(t); s.markedState != "" && s.changedAt.IsZero() && now != s.markedState {
		s.changedAt = time.Now()
	}
	if isTerminal(s.last) && s.final == "" {
		s.final, s.ended = t.final(), time.Now()
		s.saw.Note("client", witness.Look{Key: s.message.id}, s.ended, s.ended, witness.Seen{ID: t.ID, End: s.final})
	}
}

func stateAt(t *task) string {
	length := 0
	for _, a := range t.Artifacts {
		length += len(text(a.Parts))
	}
	return fmt.Sprint(t.Status.State, t.Status.At, len(t.Artifacts), len(t.History), length)
}

func (s *sentTask) snapshot() sentState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sentState
}

func (s *sentTask) update(change func(*sentTask)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// wantedState returns the state in which the task should end, going by the usual ends.
func (s *sentTask) wantedState(usual map[taskKind]string) string {
	l := s.snapshot()
	switch {
	case l.cancelAcknowledged, l.cancelSent && l.last == "canceled": // one without an answer may have arrived
		return "canceled"
	case s.kind == asking && usual[asking] != "":
		return usual[asking]
	}
	return usual[plain]
}

// withToken puts a token into the text of a message.
func withToken(pattern, token string) string { return strings.ReplaceAll(pattern, "{token}", token) }
