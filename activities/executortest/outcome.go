package executortest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// CheckOutcome reports the mistakes in an outcome and in the stream before it; s may be
// nil.
func CheckOutcome(o activities.Outcome, s *Stream) error {
	s = cmp.Or(s, &Stream{})
	streamed := errors.Join(checkStream(s, o.State == opt.TaskCompleted), checkMemo(o))
	switch {
	case o.State.Waiting():
		return errors.Join(streamed, checkWaiting(o))
	case o.Gate != nil:
		return errors.Join(streamed, fmt.Errorf("an outcome in state %q has a gate", o.State))
	case o.State == opt.TaskFailed, o.State == opt.TaskRejected:
		return errors.Join(streamed, checkFailed(o))
	case o.State == opt.TaskCompleted:
		return errors.Join(streamed, checkCompleted(o, s))
	case o.State == opt.TaskWorking && o.Park != nil:
		return errors.Join(streamed, checkParked(o))
	}
	return fmt.Errorf("no outcome has the state %q", o.State)
}

// checkStream reports the mistakes in the pieces of s. With done, no piece may be missing.
func checkStream(s *Stream, done bool) error {
	var errs []error
	ended := map[string]bool{}
	for i, p := range s.Pieces() {
		id := p.Artifact.ArtifactID
		if ended[id] {
			errs = append(errs, fmt.Errorf("piece %d of artifact %q comes after its last", i, id))
		}
		ended[id] = ended[id] || p.Last
		if err := checkArtifact(p.Artifact); err != nil {
			errs = append(errs, fmt.Errorf("piece %d: %w", i, err))
		}
	}
	for _, a := range s.Artifacts() {
		if done && !ended[a.ArtifactID] {
			errs = append(errs, fmt.Errorf("artifact %q was streamed without a last piece", a.ArtifactID))
		}
	}
	return errors.Join(errs...)
}

func checkCompleted(o activities.Outcome, s *Stream) error {
	var errs []error
	if o.Code != "" || o.Message != "" {
		errs = append(errs, errors.New("a completed outcome has a failure"))
	}
	seen := map[string]bool{}
	for _, a := range s.Artifacts() {
		seen[a.ArtifactID] = true
	}
	for _, a := range o.Artifacts {
		if seen[a.ArtifactID] {
			errs = append(errs, fmt.Errorf("two artifacts have the id %q", a.ArtifactID))
		}
		seen[a.ArtifactID] = true
		errs = append(errs, checkArtifact(a))
	}
	return errors.Join(errs...)
}

func checkArtifact(a a2a.Artifact) error {
	switch {
	case a.ArtifactID == "":
		return errors.New("an artifact has no id")
	case len(a.Parts) == 0:
		return fmt.Errorf("artifact %q has no parts", a.ArtifactID)
	}
	for i, p := range a.Parts {
		if p.Members() != 1 {
			return fmt.Errorf("part %d of artifact %q has %d contents, not one", i, a.ArtifactID, p.Members())
		}
		if p.Data != nil && !json.Valid(p.Data) {
			return fmt.Errorf("part %d of artifact %q is not JSON", i, a.ArtifactID)
		}
	}
	return nil
}

var (
	codeForm  = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	stackForm = regexp.MustCompile(`goroutine \d|\.go:\d|[\r\n]`)
)

func checkFailed(o activities.Outcome) error {
	switch {
	case !codeForm.MatchString(o.Code):
		return fmt.Errorf("the code of a failure must be a word, not %q", o.Code)
	case strings.TrimSpace(o.Message) == "":
		return errors.New("a failure needs a message")
	}
	return errors.Join(checkText(o.Message), checkLine("the message of a failure", o.Message))
}

// checkText reports why s is no text for clients.
func checkText(s string) error {
	if stackForm.MatchString(s) {
		return fmt.Errorf("a message for clients must be one line without a stack trace, not %q", s)
	}
	return nil
}

// mostText is how many bytes the texts of an outcome and of a gate may have.
const mostText = 16 << 10

// checkLine reports why s is not a short text of visible characters. what names s.
func checkLine(what, s string) error {
	if len(s) > mostText {
		return fmt.Errorf("%s has %d bytes", what, len(s))
	}
	if i := strings.IndexFunc(s, hidden); i >= 0 {
		return fmt.Errorf("%s has a control character: %q", what, s[i:min(len(s), i+20)])
	}
	return nil
}

// hidden reports whether r controls a terminal or the direction of text. Line breaks
// do not.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control)
}

func checkWaiting(o activities.Outcome) error {
	switch {
	case o.Gate == nil && o.Park != nil: // the gate before stays open
		return checkParked(o)
	case o.Gate == nil:
		return fmt.Errorf("an outcome in state %q needs a gate", o.State)
	case o.Gate.State() != o.State:
		return fmt.Errorf("a task at a gate of kind %q is %q, not %q", o.Gate.Kind, o.Gate.State(), o.State)
	case o.Code != "" || o.Message != "" || len(o.Artifacts) > 0:
		return errors.New("a waiting outcome has a failure or artifacts")
	}
	return CheckGate(*o.Gate)
}

// CheckGate reports the mistakes in a gate that an executor opens, also those in spite of which
// people can answer it.
func CheckGate(g opt.Gate) error {
	if err := activities.CheckGate(&g); err != nil {
		return err
	}
	switch {
	case g.ID != "" || g.TaskID != "" || !g.RequestedAt.IsZero() || !g.ExpiresAt.IsZero() || g.Taken != 0:
		return errors.New("an executor must not set the id, the times or the taken steps of a gate")
	case g.ArtifactData != nil && !json.Valid(g.ArtifactData):
		return errors.New("the artifact data of a gate is not JSON")
	case g.Kind == opt.Approval && g.Title == "":
		return errors.New("an approval needs a title")
	case g.Kind == opt.Credential && g.Prompt() == "":
		return errors.New("a credential gate does not say which credential it needs")
	}
	return errors.Join(checkAsked(g), checkLine("the text of a gate", g.Prompt()))
}

// checkAsked reports the mistakes in what a gate asks for.
func checkAsked(g opt.Gate) error {
	switch {
	case g.Kind == opt.Approval && len(g.Questions) > 0:
		return errors.New("an approval has questions")
	case g.Kind == opt.Clarification && len(g.Actions) > 0:
		return errors.New("a clarification has actions")
	}
	for i, a := range g.Actions {
		if slices.Contains(g.Actions[:i], a) {
			return fmt.Errorf("a gate offers %q twice", a)
		}
	}
	for i, q := range g.Questions {
		if q.Question == "" {
			return fmt.Errorf("question %d has no text", i)
		}
	}
	return nil
}

// checkParked reports the mistakes in the outcome of a leg after which the task
// continues.
func checkParked(o activities.Outcome) error {
	switch e := o.Park.Elsewhere; {
	case o.Park.Wait < 0:
		return errors.New("a task parks for less than nothing")
	case e != nil && (e.Queue == "" || e.Activity == "" || !json.Valid(e.Input)):
		return errors.New("an activity elsewhere needs a queue, a type and its input as JSON")
	case o.Code != "" || o.Message != "":
		return errors.New("a parked outcome has a failure")
	}
	for _, a := range o.Artifacts {
		if err := checkArtifact(a); err != nil {
			return err
		}
	}
	return checkLine("the text of a park", o.Park.Text)
}

// checkMemo reports a memo that is not JSON.
func checkMemo(o activities.Outcome) error {
	if o.Memo != nil && !json.Valid(o.Memo) {
		return errors.New("the memo is not JSON")
	}
	if o.Park != nil && o.State.Ended() {
		return fmt.Errorf("an outcome in state %q parks", o.State)
	}
	return nil
}
