package prove

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A kind of task is what prove does with it.
type taskKind string

const (
	plain    taskKind = "sent"
	streamed taskKind = "streamed"
	asking   taskKind = "asking"
	canceled taskKind = "canceled"
)

// kinds are those of the tasks of an experiment, in turn.
var kinds = []taskKind{plain, streamed, asking, canceled, streamed}

// A sent is one message of prove and its task. It is safe for concurrent use.
type sent struct {
	kind    taskKind
	message message
	follows *follower // nil unless streamed

	mu       sync.Mutex
	ids      []string // of tasks that answers to this message have named, the first first
	acked    bool     // before anything was broken
	asked    bool     // it was seen waiting for its answer
	tried    bool     // a cancellation was sent
	stopped  bool     // one was acknowledged
	gone     bool     // the server says that there is no such task
	last     string   // state that the server reported last
	final    string   // once it had ended
	ended    time.Time
	moved    time.Time // first change that was seen after mark
	marked   string    // state and time at mark
	repeated bool      // its message was sent again after its end
}

func (s *sent) taskID() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == 0 {
		return ""
	}
	return s.ids[0]
}

// named notes a task that an answer to the message has named.
func (s *sent) named(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.ids {
		if id == t.ID {
			return
		}
	}
	s.ids = append(s.ids, t.ID)
}

// known returns all tasks that answers have named.
func (s *sent) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.ids...)
}

// looked notes the state of the task as the server has just reported it.
func (s *sent) looked(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = t.state()
	if s.last == "input-required" {
		s.asked = true
	}
	if now := stateAt(t); s.marked != "" && s.moved.IsZero() && now != s.marked {
		s.moved = time.Now()
	}
	if isTerminal(s.last) && s.final == "" {
		s.final, s.ended = t.final(), time.Now()
	}
}

func stateAt(t *task) string {
	return fmt.Sprint(t.Status.State, t.Status.At, len(t.Artifacts), len(t.History), func() (n int) {
		for _, a := range t.Artifacts {
			n += len(text(a.Parts))
		}
		return n
	}())
}

// mark begins to look for a change after t.
func (s *sent) mark(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marked = stateAt(t)
}

// A look is a copy of the present data of a sent.
type look struct {
	acked, asked, tried, stopped, gone bool
	last, final                        string
	ended, moved                       time.Time
}

func (s *sent) look() look {
	s.mu.Lock()
	defer s.mu.Unlock()
	return look{s.acked, s.asked, s.tried, s.stopped, s.gone, s.last, s.final, s.ended, s.moved}
}

func (s *sent) set(change func(*sent)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// wants returns the state in which the task should end, going by the usual ends.
func (s *sent) wants(usual map[taskKind]string) string {
	l := s.look()
	switch {
	case l.stopped, l.tried && l.last == "canceled": // one without an answer may have arrived
		return "canceled"
	case s.kind == asking && usual[asking] != "":
		return usual[asking]
	}
	return usual[plain]
}

// fill puts a token into the text of a message.
func fill(pattern, token string) string { return strings.ReplaceAll(pattern, "{token}", token) }
