package llm

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/opfile"
	"longhaul/opt"
)

// What happens when a model wants to call a tool.
const (
	allow = "allow" // it is called
	ask   = "ask"   // a person decides first
	deny  = "deny"  // the model gets an error that says so
)

// A policy says what happens when a model wants to call a tool.
type policy struct {
	does string
	by   *opt.Responders // with ask: who decides; nil for everyone
}

// byOthers is who decides about a call unless the policy says it: everyone but those who shaped
// the work of the model. Where callers are not known, they may decide, too.
var byOthers = &opt.Responders{NotRequester: true, AnonymousMay: true}

// again returns who decides what happens to a call that may have been made: any of those who
// decide about the call, nil for everyone.
func (p policy) again() *opt.Responders {
	if p.does != ask || p.by == nil {
		return nil
	}
	by := *p.by
	by.Accepts, by.NoVeto = 0, false // one answers
	return &by
}

// An askForm has the members of a policy that asks.
type askForm struct {
	Ask struct {
		Principals   []string `yaml:"principals"`
		Groups       []string `yaml:"groups"`
		NotRequester *bool    `yaml:"not-requester"`
		Accepts      int      `yaml:"accepts"`
		Veto         *bool    `yaml:"veto"`
	} `yaml:"ask"`
}

// mostAccepts bounds how many principals must accept.
const mostAccepts = 100

// readPolicy reads a policy: a word, or ask with who decides.
func readPolicy(n yaml.Node) (policy, error) {
	switch p := (policy{does: n.Value, by: byOthers}); {
	case n.Kind == yaml.ScalarNode && slices.Contains([]string{allow, ask, deny}, p.does):
		return p, nil
	case n.Kind != yaml.MappingNode:
		return p, errors.New("the policy must be allow, ask or deny, or ask with who decides")
	}
	var f askForm
	var wrong []error
	for _, problem := range opfile.Decode(&n, &f) {
		wrong = append(wrong, fmt.Errorf("line %d: %s", problem.Line, problem.Text))
	}
	by := f.responders()
	if by.Accepts < 0 || by.Accepts > mostAccepts {
		wrong = append(wrong, fmt.Errorf("accepts must be between 1 and %d", mostAccepts))
	} else {
		wrong = append(wrong, by.CheckAccepts())
	}
	if !by.NotRequester && !by.Several() && len(by.Principals)+len(by.Groups) == 0 {
		by = nil // everyone decides
	}
	return policy{does: ask, by: by}, errors.Join(wrong...)
}

// responders returns who decides.
func (f askForm) responders() *opt.Responders {
	by := *byOthers
	by.Principals, by.Groups, by.Accepts, by.NoVeto = f.Ask.Principals, f.Ask.Groups, f.Ask.Accepts, f.Ask.Veto != nil && !*f.Ask.Veto
	if f.Ask.NotRequester != nil {
		by.NotRequester, by.AnonymousMay = *f.Ask.NotRequester, false
	}
	return &by
}
