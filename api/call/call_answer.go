package call

import (
	"errors"
	"strings"

	"go.uber.org/zap"

	"longhaul/opt"
)

// An Answering says that a call answers a gate. Its fields are empty as far as the call
// does not name the gate.
type Answering struct {
	TaskID           string // that the message names
	GateID           string
	judgedByWorkflow bool // a workflow has judged the answer, so it is in a chain
}

// Judged notes that a workflow has judged the answer, and returns the error of its
// verdict. An answer under the id of another one was not judged. a may be nil.
func (a *Answering) Judged(err error) error {
	if a != nil && !errors.Is(err, opt.ErrConflict) {
		a.judgedByWorkflow = true
	}
	return err
}

// logRefusedAnswer logs an answer to a gate that no workflow judges, so that it is in no
// chain. Content of the answer is not logged, and of the ids only those that are well
// formed.
func (s *Calls) logRefusedAnswer(c *Call, f *Fault) {
	if c.Answer == nil || c.Answer.judgedByWorkflow || f.Kind <= RateLimited { // which are no refusals
		return
	}
	fields := []zap.Field{
		zap.String("requestId", c.RequestID), zap.String("tenant", c.Tenant), zap.String("principal", c.Principal), zap.String("reason", refusalOf(f)),
	}
	taskOfGate, _ := opt.TaskOfGate(c.Answer.GateID)
	for _, id := range []struct{ name, id, task string }{
		{"taskId", c.Answer.TaskID, c.Answer.TaskID}, {"interruptId", c.Answer.GateID, taskOfGate},
	} {
		if _, ok := opt.ParseID(id.task); ok {
			fields = append(fields, zap.String(id.name, id.id))
		}
	}
	s.cfg.Log.Warn("Refused an answer", fields...)
}

// refusalOf returns why an answer was refused, without anything that its sender has
// chosen.
func refusalOf(f *Fault) string {
	if f.Kind != InvalidParams {
		return f.Message
	}
	field := f.Violations[0].Field
	if strings.Contains(field, "metadata") { // its keys are the sender's
		return "Invalid parameters"
	}
	return "Invalid parameters: " + field
}
