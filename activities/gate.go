package activities

import (
	"errors"
	"fmt"
	"slices"

	"longhaul/internal/schema"
	"longhaul/opt"
)

// CheckGate returns why a gate that an executor opens cannot be answered, nil if it can.
func CheckGate(g *opt.Gate) error {
	unknown := slices.IndexFunc(g.Actions, func(a opt.Action) bool { return !a.Valid() })
	switch {
	case len(g.Object) > 0 && g.ArtifactData != nil:
		return errors.New("it has an object and artifact data, which are two things to decide on: give one of them")
	case g.Kind == opt.Approval && len(g.Actions) == 0:
		return errors.New("an approval needs actions")
	case g.Kind == opt.Clarification && len(g.Questions) == 0:
		return errors.New("a clarification needs questions")
	case !slices.Contains([]opt.GateKind{opt.Approval, opt.Clarification, opt.Credential}, g.Kind):
		return fmt.Errorf("there is no gate of kind %q: the kinds are approval, clarification and credential", g.Kind)
	case unknown >= 0:
		return fmt.Errorf("there is no action %q", g.Actions[unknown])
	}
	if err := checkQuestions(g.Questions); err != nil {
		return err
	}
	return g.CheckLadder()
}

// checkQuestions returns why questions cannot be answered, each by itself.
func checkQuestions(list []opt.Question) error {
	seen := map[string]bool{}
	for _, q := range list {
		if !opt.IsPlainID(q.ID) || seen[q.ID] {
			return fmt.Errorf("the question %q needs an id of its own: 1 to 64 letters, digits, dots, hyphens and underscores", q.Question)
		}
		seen[q.ID] = true
		if q.Schema == nil {
			continue
		}
		if _, err := schema.Parse(q.Schema); err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
	}
	return nil
}
