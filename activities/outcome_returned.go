package activities

import (
	"context"
	"fmt"
)

// returnedOutcome is the executor of a leg that only returns the outcome of a callback or of an
// activity elsewhere. So the outcome is checked, and its large contents are stored, like
// with every other outcome.
type returnedOutcome struct{ out Outcome }

// Execute implements [Executor].
func (r returnedOutcome) Execute(context.Context, Work, Stream) (Outcome, error) {
	if problem := r.out.Returns(); problem != "" {
		return Failed("invalid-outcome", fmt.Sprintf("The task has an outcome that is not allowed: %s.", problem)), nil
	}
	return r.out.Allowed(), nil
}
