package opt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// The code, the error and the JSON of a refusal agree.
func TestRefusal(t *testing.T) {
	tests := []struct {
		refusal opt.Refusal
		is      error
		text    string
		bare    error // the error of the model that means the same; nil if there is none
	}{
		{opt.Refusal{Code: opt.RefusedMove, From: "failed", To: "working"}, opt.ErrMove, "Invalid status transition: failed → working", &opt.MoveError{From: "failed", To: "working"}},
		{opt.Refusal{Code: opt.RefusedSpec, Field: "name", Problem: "is wrong"}, nil, "name: is wrong", &opt.SpecError{Field: "name", Problem: "is wrong"}},
		{opt.Refusal{Code: opt.RefusedUnknown}, opt.ErrUnknown, "unknown", opt.ErrUnknown},
		{opt.Refusal{Code: opt.RefusedStale, Revision: 7}, opt.ErrStale, "the objective is at revision 7", nil},
		{opt.Refusal{Code: opt.RefusedEnded, From: "plan"}, opt.ErrEnded, "the plan has ended", nil},
		{opt.Refusal{Code: opt.RefusedLate}, opt.ErrUnavailable, "the command came too late", nil},
		{opt.Refusal{Code: opt.RefusedReused}, opt.ErrConflict, "the id was used for another command", nil},
	}
	for _, tt := range tests {
		r := &tt.refusal
		test.Is(t, fmt.Sprintf("%s: text", r.Code), tt.text, r.Error())
		if tt.is != nil && !errors.Is(r, tt.is) {
			t.Errorf("%s is not %v", r.Code, tt.is)
		}
		errs := []error{r, fmt.Errorf("apply: %w", r)}
		if tt.bare != nil {
			errs = append(errs, tt.bare, fmt.Errorf("apply: %w", tt.bare))
		}
		for _, err := range errs {
			test.Equal(t, fmt.Sprintf("refusal of %v", err), r, opt.RefusalOf(err))
		}
		var stored opt.Refusal
		data, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(data, &stored)
		}
		test.OK(t, err)
		test.Equal(t, fmt.Sprintf("%s as JSON %s", r.Code, data), *r, stored)
	}
	var spec *opt.SpecError
	if !errors.As(error(&tests[1].refusal), &spec) || spec.Field != "name" {
		t.Errorf("refusal %v is no SpecError", &tests[1].refusal)
	}
	test.Error(t, "a code of a later version means", nil, (&opt.Refusal{Code: "later"}).Unwrap())
}

// RefusalOf panics for an error that is not about a command.
func TestRefusalOf_panics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an error of another kind was turned into a refusal")
		}
	}()
	opt.RefusalOf(errors.New("disk full"))
}

func TestCommand_Starts(t *testing.T) {
	for _, tt := range []struct {
		command opt.Command
		want    bool
	}{
		{opt.Command{Kind: opt.UpdateObjective, Status: "working"}, true},
		{opt.Command{Kind: opt.UpdateObjective, Status: "planning"}, true},
		{opt.Command{Kind: opt.UpdateObjective, Status: "submitted"}, false},
		{opt.Command{Kind: opt.UpdateObjective}, false},
		{opt.Command{Kind: opt.UpdateObjective, Status: "blocked"}, false},
		{opt.Command{Kind: opt.UpdatePlan, Status: "working"}, true},
		{opt.Command{Kind: opt.UpdatePlan, Status: "blocked"}, false},
		{opt.Command{Kind: opt.UpdatePlan}, false},
		{opt.Command{Kind: opt.CreatePlan, Start: true}, true},
		{opt.Command{Kind: opt.CreatePlan}, false},
		{opt.Command{Kind: opt.Replan}, true},
		{opt.Command{Kind: opt.MoveTask, Status: "working"}, false},
	} {
		test.Is(t, fmt.Sprintf("%s to %q starts", tt.command.Kind, tt.command.Status), tt.want, tt.command.Starts())
	}
}
