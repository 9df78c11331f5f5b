package workflows

import (
	"strings"

	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
)

// An ObjectiveResult says in Temporal's UI what became of an objective.
type ObjectiveResult struct {
	Status opt.ObjectiveStatus `json:"status"`
	Plans  []PlanSummary       `json:"plans"`
	Answer string              `json:"answer,omitempty"` // the texts of the results, cut at maxAnswer bytes
	Last   []opt.Batch         `json:"last,omitempty"`   // the last events, to be recorded once Temporal has accepted them
}

// A PlanSummary says what became of a plan.
type PlanSummary struct {
	Name   string         `json:"name"`
	Status opt.PlanStatus `json:"status"`
}

const maxAnswer = 2 << 10

// resultOf returns what the workflow of an objective ends with. That of one that was canceled or has failed
// is an error, with last in its details.
func resultOf(o *opt.Objective, last []opt.Batch) (*ObjectiveResult, error) {
	r := &ObjectiveResult{Status: o.Status, Last: last}
	var details []any
	if len(last) > 0 {
		details = append(details, r)
	}
	switch o.Status {
	case opt.ObjectiveCanceled:
		return nil, temporal.NewCanceledError(details...)
	case opt.ObjectiveFailed:
		return nil, temporal.NewNonRetryableApplicationError(o.Failure, "ObjectiveFailed", nil, details...)
	}
	var texts []string
	for _, p := range o.Plans {
		r.Plans = append(r.Plans, PlanSummary{p.Name, p.Status})
		if p.Report != nil && p.Status == opt.PlanCompleted {
			if said := textsOf(p.Report); len(said) > 0 {
				texts = said // of the last plan with results
			}
		}
	}
	r.Answer = strings.Join(texts, "\n\n")
	if len(r.Answer) > maxAnswer {
		r.Answer = strings.ToValidUTF8(r.Answer[:maxAnswer], "") + " …"
	}
	return r, nil
}

func textsOf(r *opt.Report) (texts []string) {
	for _, artifact := range r.Results {
		for _, part := range artifact.Parts {
			if part.Text != nil && *part.Text != "" {
				texts = append(texts, *part.Text)
			}
		}
	}
	return texts
}
