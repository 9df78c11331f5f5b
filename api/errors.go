package api

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"longhaul/api/wire"
	"longhaul/opt"
)

// Faults that handlers return as they are.
var (
	errUnauthenticated = &wire.Fault{Code: wire.CodeOptNotFound, Message: "Unauthenticated", Reason: wire.ReasonUnauthenticated}
	errForbidden       = &wire.Fault{Code: wire.CodeOptNotFound, Message: "Permission denied", Reason: wire.ReasonForbidden}

	errPush         = &wire.Fault{Code: wire.CodeNoPush, Message: "Push Notification is not supported"}
	errExtendedCard = &wire.Fault{Code: wire.CodeNoExtendedCard, Message: "Authenticated Extended Card is not configured"}
	errUndeclared   = &wire.Fault{Code: wire.CodeUnsupported, Message: "This operation is not supported: the agent has no extended card"}
	errNoStreaming  = &wire.Fault{Code: wire.CodeUnsupported, Message: "This operation is not supported: the agent does not stream"}
	errEnded        = &wire.Fault{Code: wire.CodeUnsupported, Message: "This operation is not supported: the task has ended"}
	errNotWaiting   = &wire.Fault{Code: wire.CodeUnsupported, Message: "This operation is not supported: the task does not wait for this decision"}
	errNotCanceled  = &wire.Fault{Code: wire.CodeNotCancelable, Message: "Task cannot be canceled"}
	errMediaType    = &wire.Fault{Code: wire.CodeContentType, Message: "Incompatible content types"}
	errAgentAnswer  = &wire.Fault{Code: wire.CodeAgentResponse, Message: "Invalid agent response"}
	errOtherContent = wire.Invalid(wire.Violation{Field: "message.messageId", Description: "was used before for another message"})
)

// retryDelay is what clients are told to wait before they try again.
const retryDelay = 2 * time.Second

// taskNotFound is the fault of a task that is unknown or not the caller's. An id
// that could not be one is not repeated.
func taskNotFound(id string) *wire.Fault {
	f := &wire.Fault{Code: wire.CodeTaskNotFound, Message: "Task not found"}
	if len(id) <= wire.MaxID {
		f.Info = map[string]string{"taskId": id}
	}
	return f
}

// optNotFound is the fault of something of the extension that is unknown or not
// the caller's.
func optNotFound(reason, what, id string) *wire.Fault {
	f := &wire.Fault{Code: wire.CodeOptNotFound, Message: what + " not found", Reason: reason}
	if len(id) <= wire.MaxID {
		f.Info = map[string]string{"id": id}
	}
	return f
}

func invalid(field, problem string) *wire.Fault {
	return wire.Invalid(wire.Violation{Field: field, Description: problem})
}

// fault is the only place where an error of ours becomes an error of theirs. What
// it does not know it logs whole and hides.
func (s *Server) fault(c *call, ofOPT bool, err error) *wire.Fault {
	var fault *wire.Fault
	var spec *opt.SpecError
	var move *opt.MoveError
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &spec):
		return invalid(spec.Field, spec.Problem)
	case errors.As(err, &move) && ofOPT:
		return &wire.Fault{Code: wire.CodeTaskNotFound, Message: move.Error(), Reason: reasonMove,
			Info: map[string]string{"from": move.From, "to": move.To}}
	case errors.Is(err, opt.ErrEnded) && ofOPT:
		return &wire.Fault{Code: wire.CodeTaskNotFound, Message: "The objective has ended", Reason: reasonMove}
	case errors.As(err, &move), errors.Is(err, opt.ErrEnded):
		return errEnded
	case errors.Is(err, opt.ErrConflict):
		return errOtherContent
	case errors.Is(err, opt.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		s.log.Warn("Service unavailable", append(c.fields(), zap.Error(err))...)
		return &wire.Fault{Code: wire.CodeInternal, Message: "The service is unavailable for the moment", Reason: "UNAVAILABLE", Retry: retryDelay}
	case errors.Is(err, opt.ErrUnknown) && ofOPT:
		return &wire.Fault{Code: wire.CodeOptNotFound, Message: "Objective not found", Reason: "OBJECTIVE_NOT_FOUND"}
	case errors.Is(err, opt.ErrUnknown):
		return &wire.Fault{Code: wire.CodeTaskNotFound, Message: "Task not found"}
	case errors.Is(err, context.Canceled), errors.Is(err, errPanic): // nobody reads it; logged already
	default:
		s.log.Error("Call failed", append(c.fields(), zap.Error(err))...)
	}
	return &wire.Fault{Code: wire.CodeInternal, Message: "Internal error"}
}
