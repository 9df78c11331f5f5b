package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"longhaul/a2a"
	"longhaul/activities/check"
	"longhaul/opt"
)

// A message may ask for an acceptance of what its work results in. It comes after all that the playbook
// asks for and in place of none of it: it may reject a result, and its people may not edit one. Who
// decides, models and rounds are those of the playbook, since each of them acts for the operator.

// requested is the value of [opt.KeyAccept] in a message.
type requested struct {
	Criteria string           `json:"criteria"` // in words
	Checks   []requestedCheck `json:"checks"`
}

type requestedCheck struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Holds  string          `json:"holds"`
}

// Limits of what a message may bring.
const (
	maxRequested = 10      // checks
	maxCondition = 1 << 10 // bytes
	maxCriteria  = 4 << 10
)

// An AcceptError says why the acceptance that a message asks for is refused.
type AcceptError struct{ Problem string }

func (e *AcceptError) Error() string { return opt.KeyAccept + " " + e.Problem }

// requestedIn returns the acceptance that a message asks for, nil for none.
func requestedIn(m *a2a.Message) (*requested, error) {
	if m == nil || !m.Metadata.Has(opt.KeyAccept) {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(m.Metadata[opt.KeyAccept]))
	d.DisallowUnknownFields()
	var q requested
	if err := d.Decode(&q); err != nil {
		return nil, &AcceptError{fmt.Sprintf("may have criteria, a text, and checks with a name and either schema or holds; all else is the operator's: %v", err)}
	}
	if err := q.valid(); err != nil {
		return nil, &AcceptError{err.Error()}
	}
	return &q, nil
}

func (q *requested) valid() error {
	switch {
	case q.Criteria == "" && len(q.Checks) == 0:
		return errors.New("must have criteria or checks")
	case len(q.Criteria) > maxCriteria:
		return fmt.Errorf("criteria: must have at most %d bytes", maxCriteria)
	case len(q.Checks) > maxRequested:
		return fmt.Errorf("checks: must be at most %d", maxRequested)
	}
	for i, c := range q.Checks {
		err := check.Input{Schema: c.Schema, Holds: c.Holds}.Valid()
		switch {
		case c.Name == "" || len(c.Name) > opt.MaxName:
			err = fmt.Errorf("a check needs a name of at most %d bytes", opt.MaxName)
		case len(c.Holds) > maxCondition:
			err = fmt.Errorf("a condition has at most %d bytes", maxCondition)
		}
		if err != nil {
			return fmt.Errorf("checks[%d]: %w", i, err)
		}
	}
	return nil
}

// form returns q as a form, decided as f says. Words that no judge reads are for people.
func (q *requested) form(f form) *form {
	f.requested, f.criteria, f.checks = true, text{raw: q.Criteria}, slices.Clone(f.checks)
	f.actions = []opt.Action{opt.Accept, opt.Reject}
	if f.rounds > 0 {
		f.actions = append(f.actions, opt.Refine)
	}
	judged := slices.ContainsFunc(f.checks, func(c checkForm) bool { return c.judge.raw != "" })
	add := func(name string, in check.Input) {
		t := &task{step: step{optional: true, name: text{raw: name}}, check: true}
		f.checks = append(f.checks, checkForm{task: t, of: 1, need: 1, schema: &in})
	}
	for _, c := range q.Checks {
		add(c.Name, check.Input{Schema: c.Schema, Holds: c.Holds})
	}
	if q.Criteria != "" && !judged {
		add("Criteria", check.Input{Holds: "false", Else: opt.Ask, Reason: q.Criteria})
	}
	return &f
}

// accepted returns the plans for m with the acceptance that it asks for, decided as f says, at the end of
// each whose results are those of the objective.
func (f form) accepted(m *a2a.Message, specs []opt.PlanSpec) ([]opt.PlanSpec, error) {
	q, err := requestedIn(m)
	if q == nil || err != nil || slices.ContainsFunc(specs, isRequested) {
		return specs, err
	}
	object, err := parseText(results, true)
	if err != nil {
		return nil, err
	}
	o := &opt.Objective{Limits: opt.Limits{Plans: len(specs), Tasks: math.MaxInt}}
	if o.Plans, err = o.NewPlans(specs, a2a.Time{}); err != nil {
		return nil, err
	}
	asked := q.form(f)
	for i, p := range o.Plans {
		if !o.Leaf(p) {
			continue
		}
		for _, one := range asked.lastTasks(p, object) {
			spec, err := one.spec(facts{}, "Check")
			if err != nil {
				return nil, err
			}
			specs[i].Tasks = append(specs[i].Tasks, spec)
		}
	}
	return specs, nil
}

// lastTasks returns the tasks that check a plan after all others, and the one that asks.
func (f form) lastTasks(p *opt.Plan, object text) []*task {
	t := f.acceptance(text{raw: "Accept as requested"}, text{raw: "Is the result as the request wants it?"}, object)
	for _, last := range p.Tasks {
		if p.Leaf(last) {
			t.dependencies = append(t.dependencies, opt.TaskPlace(last.Index))
		}
	}
	return append(t.checkTasks(len(p.Tasks)), t)
}

// isRequested reports whether a plan has an acceptance that a message has asked for: a planner may have
// it from a playbook.
func isRequested(p opt.PlanSpec) bool {
	return slices.ContainsFunc(p.Tasks, func(t opt.TaskSpec) bool {
		return t.Ask != nil && t.Ask.Form != nil && t.Ask.Form.Checks != nil && t.Ask.Form.Checks.Requested
	})
}
