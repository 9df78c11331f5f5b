package commands

import (
	"longhaul/client"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// lookOf returns how the state of an objective is read.
func lookOf(o *client.Objective) shown.Look {
	s := shown.Stage{Status: string(o.Status), Paused: o.Metadata.Has(opt.KeyPaused), Queued: o.Metadata.Has("longhaul/v1/queuedAt"), Stopping: o.Metadata.Has("longhaul/v1/stopping")}
	if o.Status == opt.ObjectiveBlocked {
		s.Reason, _ = o.Metadata.String(opt.KeyBlockedReason)
	}
	return s.Look()
}

// shownStatus returns how the state of a plan is read, and why it is blocked or failed unless
// the word says it.
func shownStatus(p client.Plan) (look shown.Look, reason string) {
	keys := map[opt.PlanStatus]string{opt.PlanBlocked: opt.KeyBlockedReason, opt.PlanFailed: opt.KeyFailureReason}
	why, _ := p.Metadata.String(keys[p.Status])
	look = shown.Stage{Status: string(p.Status), Reason: why, Paused: p.Metadata.Has(opt.KeyPaused)}.Look()
	if why != "" && look.Word == string(p.Status) {
		reason = " (" + shown.ReasonText(why) + ")"
	}
	return look, reason
}

// waitReason returns why a task waits for a worker.
func waitReason(t client.PlanTask) (why string, ok bool) {
	return t.Metadata.String("longhaul/v1/statusText")
}

// failureReason returns why a task failed, "" if it did not.
func failureReason(t client.PlanTask) string {
	why, ok := t.Metadata.String(opt.KeyFailureReason)
	if !ok || t.Status != opt.TaskFailed {
		return ""
	}
	return " (" + shown.ReasonText(why) + ")"
}
