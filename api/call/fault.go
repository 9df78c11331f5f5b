package call

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a/codec"
	"longhaul/opt"
)

// A Kind says what went wrong. Each binding has its own codes for the kinds.
type Kind int

// The kinds of faults.
const (
	Internal    Kind = iota // also of a call that panicked
	Unavailable             // a repeat may succeed
	QueueFull
	QuotaExceeded // the tenant uses as much as it may
	RateLimited   // too many calls of the same sender

	Parse          // the request has no readable content
	InvalidRequest // its envelope is wrong
	UnknownMethod
	InvalidParams
	UnsupportedVersion
	MissingExtension

	Unauthenticated
	Forbidden

	TaskNotFound
	NotCancelable
	NoPush
	Unsupported
	ContentType
	AgentResponse
	NoExtendedCard

	NotFound     // of a method of the extension: an objective, a plan or a plan task
	InvalidState // of a method of the extension: the state does not allow the change
)

// Reasons of a Fault that not all clients can derive from its Kind.
const (
	reasonUnauthenticated = "UNAUTHENTICATED"
	ReasonForbidden       = "PERMISSION_DENIED"
	ReasonQueueFull       = "QUEUE_LIMIT_EXCEEDED"
	ReasonQuota           = "QUOTA_EXCEEDED"
	ReasonEgress          = "A2A_PUSH_EGRESS_DENIED"
	ReasonPushLimit       = "PUSH_CONFIG_LIMIT_EXCEEDED"
	ReasonNoDelivery      = "DELIVERY_NOT_FOUND"
	ReasonUnavailable     = "UNAVAILABLE"
	reasonRateLimited     = "RATE_LIMIT_EXCEEDED"
	ReasonTransition      = "INVALID_STATE_TRANSITION"
	reasonObject          = "OBJECT_CHANGED"
	ReasonExecutor        = "EXECUTOR_NOT_OFFERED"
)

// A Fault is an error for a client.
type Fault struct {
	Kind       Kind
	Message    string
	Reason     string // a constant for programs; "" for the reason of the kind, if it has one
	Info       map[string]string
	Violations []Violation
	Retry      time.Duration // after which a repeat may succeed; 0 for never
	Decided    *opt.Decision // how the gate was closed before the answer that is refused; nil if that is not known
}

func (f *Fault) Error() string { return f.Message }

// Late returns f, which refuses an answer to a gate that is closed, with how the gate was closed.
func (f *Fault) Late(d opt.Decision) *Fault {
	late := *f
	late.Decided, late.Message = &d, f.Message+". "+d.Outcome()
	late.Info = map[string]string{"interruptId": d.GateID, "decidedBy": d.DecidedBy, "decidedAt": d.DecidedAt.String()}
	if d.Action != "" {
		late.Info["action"] = string(d.Action)
	}
	return &late
}

// SetRetryAfter sets the header that says after how many seconds a repeat may succeed.
func (f *Fault) SetRetryAfter(h http.Header) {
	h.Set("Retry-After", strconv.Itoa(int((f.Retry+time.Second-1)/time.Second)))
}

// Final reports whether a repeat of the call would fail in the same way.
func (f *Fault) Final() bool {
	switch f.Kind {
	case Internal, Unavailable, QueueFull, RateLimited:
		return false
	}
	return true
}

// A Violation says which member of a request is wrong and why.
type Violation = codec.Violation

// Invalid returns the fault of params that are wrong in the given ways, at least
// one. The message names the first, since A2A 0.3 has no place for details.
func Invalid(violations ...Violation) *Fault {
	v := violations[0]
	return &Fault{
		Kind:       InvalidParams,
		Message:    fmt.Sprintf("Invalid parameters: %s: %s", v.Field, v.Description),
		Violations: violations,
	}
}

func InvalidField(field, problem string) *Fault {
	return Invalid(Violation{Field: field, Description: problem})
}

// Faults of operations that are not offered.
var (
	ErrNoPush      = &Fault{Kind: NoPush, Message: "Push Notification is not supported"}
	ErrNoStreaming = &Fault{Kind: Unsupported, Message: "This operation is not supported: the agent does not stream"}
)

// ErrMediaType is the fault of content that the agent or a binding does not
// accept.
var ErrMediaType = &Fault{Kind: ContentType, Message: "Incompatible content types"}

// Faults that handlers return.
var (
	ErrUnauthenticated = &Fault{Kind: Unauthenticated, Message: "Unauthenticated", Reason: reasonUnauthenticated}
	errForbidden       = &Fault{Kind: Forbidden, Message: "Permission denied", Reason: ReasonForbidden}

	ErrExtendedCard = &Fault{Kind: NoExtendedCard, Message: "Authenticated Extended Card is not configured"}
	ErrUndeclared   = &Fault{Kind: Unsupported, Message: "This operation is not supported: the agent has no extended card"}
	ErrEnded        = &Fault{Kind: Unsupported, Message: "This operation is not supported: the task has ended"}
	ErrNotWaiting   = &Fault{Kind: Unsupported, Message: "This operation is not supported: the task does not wait for this decision"}
	ErrNotYours     = &Fault{Kind: Forbidden, Message: "Permission denied: others decide here", Reason: ReasonForbidden}
	ErrHasVoted     = &Fault{Kind: Unsupported, Message: "This operation is not supported: you have decided here already, and the task waits for others"}
	ErrAgentAnswer  = &Fault{Kind: AgentResponse, Message: "Invalid agent response"}

	ErrOtherObject = &Fault{Kind: InvalidParams, Message: "Invalid parameters: message.parts: " + otherObject, Reason: reasonObject,
		Violations: []Violation{{Field: "message.parts", Description: otherObject}}}

	ErrObjectiveEnded = &Fault{Kind: InvalidState, Message: "The objective has ended", Reason: ReasonTransition}
	ErrPlanEnded      = &Fault{Kind: InvalidState, Message: "The plan has ended", Reason: ReasonTransition}
)

const otherObject = "objectDigest is not that of what the gate shows: get the task again and look at it"

// NotCanceled returns the fault of a cancel of a task that has ended in a state.
func NotCanceled(state opt.TaskState) *Fault {
	return &Fault{Kind: NotCancelable, Message: "Task cannot be canceled: it is " + string(state), Info: map[string]string{"state": string(state)}}
}

// Is reports whether err is a fault of a kind.
func Is(err error, k Kind) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Kind == k
}

// RetryDelay is how long clients should wait before they try again.
const RetryDelay = 2 * time.Second

// TooMany returns the fault of a sender that calls too often, or makes too many
// calls at a time. retry is when a repeat may succeed.
func TooMany(retry time.Duration) *Fault {
	return &Fault{Kind: RateLimited, Message: "Too many calls", Reason: reasonRateLimited, Retry: retry}
}

// Unread returns the fault of a request whose form cannot be read: that of the server if it is busy, else that of the form.
func Unread(err error, form string) *Fault {
	if busy, ok := errors.AsType[*Fault](err); ok {
		return busy
	}
	return Invalid(Violation{Field: "form", Description: form})
}

// TaskUnknown returns the fault of a task that does not exist or is not the
// caller's. The fault does not repeat an id that is too long.
func TaskUnknown(id string) *Fault {
	f := &Fault{Kind: TaskNotFound, Message: "Task not found"}
	if len(id) <= MaxID {
		f.Info = map[string]string{"taskId": id}
	}
	return f
}

// Missing returns the fault of something of the extension that does not exist
// or is not the caller's.
func Missing(reason, what, id string) *Fault {
	f := &Fault{Kind: NotFound, Message: what + " not found", Reason: reason}
	if len(id) <= MaxID {
		f.Info = map[string]string{"id": id}
	}
	return f
}

// InvalidMove returns the fault of a move that is not allowed, with the statuses
// that the client may ask for instead.
func InvalidMove(move *opt.MoveError, allowed []string) *Fault {
	return &Fault{Kind: InvalidState, Message: move.Error(), Reason: ReasonTransition,
		Info: map[string]string{"from": move.From, "to": move.To, "allowed": strings.Join(allowed, ", ")}}
}

// reused returns the fault of a request with the key, or with the message id, of
// an earlier request that had other content.
func reused(c *Call) *Fault {
	switch {
	case c.OfOPT:
		return ReusedKey(c)
	case c.Key != "":
		return InvalidField(c.KeyField, "was used before for another message")
	}
	return InvalidField("message.messageId", "was used before for another message")
}

// ReusedKey returns the fault of a change with the key of an earlier one that had other content.
func ReusedKey(c *Call) *Fault { return InvalidField(c.KeyField, "was used before for another change") }

func PlanTaskUnknown(id string) *Fault {
	f := Missing("PLAN_TASK_NOT_FOUND", "Plan task", id)
	f.Message += ": id must be that of a task of a plan, as plans/get shows it"
	return f
}

// fault is the only place where an error of ours becomes a fault. It logs errors
// that it does not know, and hides them from the client.
func (s *Calls) fault(c *Call, err error) *Fault {
	var fault *Fault
	var spec *opt.SpecError
	var move *opt.MoveError
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &spec):
		return InvalidField(spec.Field, spec.Problem)
	case errors.As(err, &move) && c.OfOPT:
		return &Fault{Kind: InvalidState, Message: move.Error(), Reason: ReasonTransition,
			Info: map[string]string{"from": move.From, "to": move.To}}
	case errors.Is(err, opt.ErrEnded) && c.OfOPT:
		return ErrObjectiveEnded
	case errors.As(err, &move), errors.Is(err, opt.ErrEnded):
		return ErrEnded
	case errors.Is(err, opt.ErrConflict):
		return reused(c)
	case errors.Is(err, opt.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		s.cfg.Log.Warn("Service unavailable", append(c.fields(), zap.Error(err))...)
		return &Fault{Kind: Unavailable, Message: "The service is unavailable for the moment", Reason: ReasonUnavailable, Retry: RetryDelay}
	case errors.Is(err, opt.ErrUnknown) && c.OfOPT:
		return &Fault{Kind: NotFound, Message: "Objective not found", Reason: "OBJECTIVE_NOT_FOUND"}
	case errors.Is(err, opt.ErrUnknown):
		return &Fault{Kind: TaskNotFound, Message: "Task not found"}
	case errors.Is(err, context.Canceled), errors.Is(err, errPanic): // the client has disconnected; logged already
	default:
		s.cfg.Log.Error("Call failed", append(c.fields(), zap.Error(err))...)
	}
	return &Fault{Kind: Internal, Message: "Internal error"}
}
