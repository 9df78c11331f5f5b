package machine

import (
	"errors"
	"slices"

	"longhaul/opt"
)

// ErrInput is returned by [Check].
var ErrInput = errors.New("members that it needs are missing or unknown")

// Check returns ErrInput if a machine could not handle an input that a signal has brought:
// Temporal's users may send a signal by hand.
func Check(in Input) error {
	ok := true
	switch in := in.(type) {
	case Letter:
		ok = in.ObjectiveID != "" && in.TaskID != "" && in.Message.MessageID != ""
	case Command:
		ok = in.ID != "" && in.ObjectiveID != "" && slices.Contains(opt.CommandKinds, in.Kind) && (in.Kind != opt.CreatePlan || in.Plan != nil)
	case Reported:
		ok = in.PlanID != "" && in.Report.N > 0 && slices.Contains(opt.PlanStatuses, in.Report.Status) && !slices.Contains(in.Report.Open, nil)
	case Canceled:
		ok = in.Principal != ""
	case PlanLost:
		ok = in.PlanID != ""
	case Directed:
		ok = in.Directive.N > 0 && in.NotesFrom >= 0 && in.Directive.Notes >= 0
	case Turn:
		ok = in.N > 0
	case TurnRequest:
		ok = in.ObjectiveID != "" && in.N > 0 && slices.Contains([]TurnWant{WantTurn, WantRest, WantLeave}, in.Want)
	case Enter:
		ok = in.ObjectiveID != ""
	case Callback:
		ok = in.ID != "" && in.TaskID != ""
	}
	if !ok {
		return ErrInput
	}
	return nil
}
