package serve

import (
	"time"

	"go.uber.org/zap"

	"longhaul/internal/journal"
	"longhaul/opt"
)

// A workLog logs the recorded events of objectives and gates: each at most once, in the process
// that recorded it. A process that is killed after the commit logs nothing. The log has ids and
// codes, no content.
type workLog struct{ log *zap.Logger }

// logRecorded logs new events of the journal.
func (l workLog) logRecorded(r journal.Recorded) {
	for _, e := range r.Events {
		l.logDecision(e.Decision)
		switch e.Kind {
		case opt.ObjectiveOpened:
			l.log.Info("Objective begun", zap.String("objective", r.ObjectiveID), zap.String("principal", e.Objective.Principal))
		case opt.ObjectiveRetried:
			l.log.Info("Objective retried", zap.String("objective", r.ObjectiveID), zap.Int("attempt", e.Attempt))
		case opt.MessageAdded:
			if e.Reason == opt.Begins {
				l.log.Info("Objective started", zap.String("objective", r.ObjectiveID), zap.String("principal", e.Principal))
			}
		case opt.CommandAnswered:
			l.logCommand(r.ObjectiveID, e)
		case opt.ObjectiveMoved:
			if opt.ObjectiveStatus(e.To).Ended() {
				l.logEnd(r, e)
			}
		case opt.TaskMoved:
			l.logGate(e)
		}
	}
}

// logGate logs the gate at which a task waits.
func (l workLog) logGate(e opt.Event) {
	switch {
	case e.Gate == nil:
	case e.PlanID != "" && e.From != e.To:
		l.log.Info("Gate opened", zap.String("gate", e.Gate.ID), zap.String("kind", string(e.Gate.Kind)))
	case e.Step != "":
		l.log.Info("Gate still open", zap.String("gate", e.Gate.ID), zap.String("step", string(e.Step)))
	}
}

// logCommand logs a change of a client that was applied or refused.
func (l workLog) logCommand(objectiveID string, e opt.Event) {
	fields := []zap.Field{zap.String("objective", objectiveID), zap.String("change", e.Reason), zap.String("principal", e.Principal)}
	if e.Answer.Refusal != nil {
		l.log.Info("Change refused", append(fields, zap.String("code", string(e.Answer.Refusal.Code)))...)
		return
	}
	l.log.Info("Change made", fields...)
}

// logEnd logs the end of an objective. A failure is a warning.
func (l workLog) logEnd(r journal.Recorded, e opt.Event) {
	fields := []zap.Field{zap.String("objective", r.ObjectiveID), zap.String("state", e.To)}
	if e.Reason != "" {
		fields = append(fields, zap.String("reason", e.Reason))
	}
	if r.CreatedAt != 0 {
		fields = append(fields, zap.Duration("took", e.At.Time().Sub(time.UnixMilli(r.CreatedAt)).Round(time.Millisecond)))
	}
	level := zap.InfoLevel
	if opt.ObjectiveStatus(e.To) == opt.ObjectiveFailed {
		level = zap.WarnLevel
	}
	l.log.Log(level, "Objective ended", fields...)
}

// logDecision logs a decision, or that the time for one is over; nothing for nil.
func (l workLog) logDecision(d *opt.Decision) {
	if d == nil {
		return
	}
	fields := []zap.Field{zap.String("gate", d.GateID), zap.String("by", d.DecidedBy)}
	if d.Action != "" {
		fields = append(fields, zap.String("action", string(d.Action)))
	}
	switch {
	case d.DecidedBy == opt.ByChecks:
		l.log.Info("Checked", append(fields, zap.Bool("decided", d.Closed))...)
	case d.Verdict != opt.Accepted:
		l.log.Info("Decision refused", append(fields, zap.String("verdict", string(d.Verdict)))...)
	case !d.Closed:
		l.log.Info("Decision counted, gate still open", fields...)
	case d.DecidedBy == opt.ByTimer:
		l.log.Info("Gate closed: its time is over", fields...)
	default:
		l.log.Info("Gate closed", fields...)
	}
}
