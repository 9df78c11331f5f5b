package shown

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// ReasonText returns a reason in plain words; that of others as it is.
func ReasonText(reason string) string {
	if KnownReason(reason) != "" {
		return KnownReason(reason)
	}
	return a2a.Visible(reason)
}

// KnownReason returns a reason in plain words, "" for that of others.
func KnownReason(reason string) string { return reasons[reason] }

// ReasonText returns the reason of a state in plain words, "" if the word for the state says it.
func (l Look) ReasonText(reason string) string {
	if text := ReasonText(reason); text != l.Word {
		return text
	}
	return ""
}

// reasons has the reasons of states in plain words.
var reasons = map[string]string{
	opt.BlockedByDependencies: "waits for other plans",
	opt.BlockedByInput:        "for an answer",
	opt.BlockedByAuth:         "for an authorization",
	opt.BlockedByOperator:     "paused",
	opt.BlockedByPlan:         "one of its plans is paused",
	opt.NothingToDo:           "has no open plan, and waits for a new one",
	opt.NothingCompleted:      "only optional plans were left, and they failed",
	opt.Replanned:             "other plans replace it",
	opt.Replanning:            "new plans are made",
	opt.ObjectiveEnded:        "the objective was declared completed",
	opt.Terminated:            "an operator ended its workflow",
	opt.Expired:               "it was not started in time",
	opt.ReasonRejected:        "the agent rejected a task",
	opt.ReasonTimeout:         "no answer came in time",
	opt.ByHand:                "moved by hand",
	opt.ReasonLinked:          "as the task that stands in for it",
	opt.HeldByQuota:           "waits for a quota",
	opt.SentBack:              "sent back, and made again",
	opt.PausedByClient:        "by a client",
	opt.PausedByObjective:     "with its objective",
	string(opt.PlanFailed):    "stopped, since the work has failed",
	string(opt.TaskCanceled):  "stopped by a cancellation",
}
