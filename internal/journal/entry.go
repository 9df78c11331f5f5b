package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"longhaul/opt"
)

// An entry is an event as it goes into the tables. It is made before it is the
// batch's turn to be written, so that the writer is not kept busy with JSON.
type entry struct {
	opt.Event
	doc     string // the event as JSON
	thing   string // the objective, plan or artifact that it brings
	message string
	digest  string // of the message
	status  string
	gate    string
}

func newEntry(b opt.Batch, e opt.Event) (*entry, error) {
	if err := check(b, e); err != nil {
		return nil, err
	}
	var errs []error
	doc := func(there bool, v any) string {
		if !there {
			return ""
		}
		text, err := encode(v)
		errs = append(errs, err)
		return text
	}
	thing := thing(e)
	n := &entry{
		Event:   e,
		doc:     doc(true, e),
		thing:   doc(thing != nil, thing),
		message: doc(e.Message != nil, e.Message),
		status:  doc(e.Status != nil, e.Status),
		gate:    doc(e.Gate != nil, e.Gate),
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if e.Message != nil {
		n.digest = e.Message.Digest()
	}
	return n, nil
}

// thing returns what of e is kept as a document of its own.
func thing(e opt.Event) any {
	switch e.Kind {
	case opt.ObjectiveOpened:
		o := *e.Objective
		o.Plans = nil
		return o
	case opt.PlanAdded:
		p := *e.Plan
		p.Tasks, p.Report = nil, nil
		return p
	case opt.ArtifactAdded:
		return e.Chunk.Artifact
	default:
		return nil
	}
}

// check reports whether e has what its kind needs.
func check(b opt.Batch, e opt.Event) error {
	has := true
	switch e.Kind {
	case opt.ObjectiveOpened:
		has = e.Objective != nil && e.Objective.ID == b.ObjectiveID
	case opt.ObjectiveMoved:
		has = e.To != ""
	case opt.ObjectiveStopping, opt.ObjectiveQueued:
	case opt.ObjectiveChanged:
		has = e.Change != nil || e.Revision > 0
	case opt.ObjectiveAgain:
		has = e.Attempt > 1
	case opt.PlanChanged:
		has = e.PlanID != "" && e.Change != nil
	case opt.PlanAgain:
		has = e.PlanID != "" && e.Attempt > 1
	case opt.TasksAdded:
		has = e.PlanID != "" && !slices.Contains(e.Tasks, nil)
	case opt.TaskLinked:
		has = e.TaskID != "" && e.Link != ""
	case opt.PlanAdded:
		has = e.PlanID != "" && e.Plan != nil && e.Plan.ID == e.PlanID && !slices.Contains(e.Plan.Tasks, nil)
	case opt.PlanMoved:
		has = e.PlanID != "" && e.To != ""
	case opt.PlanStopping:
		has = e.PlanID != ""
	case opt.TaskMoved:
		has = e.TaskID != "" && e.To != ""
	case opt.TaskTried:
		has = e.TaskID != "" && e.To != "" && e.Attempt > 1
	case opt.ArtifactAdded:
		has = e.TaskID != "" && e.Chunk != nil
	case opt.MessageAdded:
		has = e.TaskID != "" && e.Message != nil
	default:
		return fmt.Errorf("%w: nothing can be recorded of kind %q", ErrMalformed, e.Kind)
	}
	if !has || e.N < 1 || b.ObjectiveID == "" || b.Source == "" {
		return fmt.Errorf("%w of kind %s: a member is missing", ErrMalformed, e.Kind)
	}
	return nil
}

// encode returns v as JSON, with its text as it is.
func encode(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// decode reads what encode wrote; "" leaves v alone.
func decode(doc []byte, v any) error {
	if len(doc) == 0 {
		return nil
	}
	return json.Unmarshal(doc, v)
}
