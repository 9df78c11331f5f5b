package wire

import (
	"fmt"
	"time"
)

// The codes of JSON-RPC and A2A that we send.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeOptNotFound    = -32000 // of OPT methods; on others, not authenticated
	CodeTaskNotFound   = -32001 // of OPT methods: a move that is not allowed
	CodeNotCancelable  = -32002
	CodeNoPush         = -32003
	CodeUnsupported    = -32004
	CodeContentType    = -32005
	CodeAgentResponse  = -32006
	CodeNoExtendedCard = -32007
	CodeExtension      = -32008
	CodeVersion        = -32009
)

// reasons are the ErrorInfo reasons of the codes of A2A, for a Fault that names
// none.
var reasons = map[int]string{
	CodeTaskNotFound:   "TASK_NOT_FOUND",
	CodeNotCancelable:  "TASK_NOT_CANCELABLE",
	CodeNoPush:         "PUSH_NOTIFICATION_NOT_SUPPORTED",
	CodeUnsupported:    "UNSUPPORTED_OPERATION",
	CodeContentType:    "CONTENT_TYPE_NOT_SUPPORTED",
	CodeAgentResponse:  "INVALID_AGENT_RESPONSE",
	CodeNoExtendedCard: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
	CodeExtension:      "EXTENSION_SUPPORT_REQUIRED",
	CodeVersion:        "VERSION_NOT_SUPPORTED",
}

// Reasons of faults that no code of A2A stands for.
const (
	ReasonUnauthenticated = "UNAUTHENTICATED"
	ReasonQueueFull       = "QUEUE_LIMIT_EXCEEDED"
	ReasonForbidden       = "PERMISSION_DENIED"
)

// The domains of ErrorInfo.
const (
	domainA2A = "a2a-protocol.org"
	domainOPT = "github.com/zeroasterisk/a2a-opt"
)

// A Fault is an error as a client is told of it.
type Fault struct {
	Code       int
	Message    string
	Reason     string // of ErrorInfo; "" for that of the code, or none
	Info       map[string]string
	Violations []Violation
	Retry      time.Duration // after which a repeat may help; 0 for never
}

func (f *Fault) Error() string { return f.Message }

// ErrorInfo returns the reason that the details of f name, and whose it is; "" if
// they name none. opt says that the method is one of the extension's.
func (f *Fault) ErrorInfo(opt bool) (reason, domain string) {
	switch {
	case opt && f.Code != CodeVersion && f.Code != CodeExtension:
		return f.Reason, domainOPT // whose codes mean something else
	case f.Reason == "":
		return reasons[f.Code], domainA2A
	}
	return f.Reason, domainA2A
}

// A Violation says which member of a request is wrong and why.
type Violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

// Invalid is the fault of params that are wrong in the given ways, at least one.
// The message names the first, since version 0.3 has no place for details.
func Invalid(violations ...Violation) *Fault {
	v := violations[0]
	return &Fault{
		Code:       CodeInvalidParams,
		Message:    fmt.Sprintf("Invalid parameters: %s %s", v.Field, v.Description),
		Violations: violations,
	}
}

type errorObject struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    []any  `json:"data,omitempty"`
}

type errorInfo struct {
	Type     string            `json:"@type"`
	Reason   string            `json:"reason"`
	Domain   string            `json:"domain"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

type badRequest struct {
	Type            string      `json:"@type"`
	FieldViolations []Violation `json:"fieldViolations"`
}

type retryInfo struct {
	Type       string `json:"@type"`
	RetryDelay string `json:"retryDelay"`
}

// Error returns the error object for f. opt says that the method is one of the
// extension's. Core methods of 0.3 get no data: its clients disagree on whether
// it is an object or an array, and lose the whole error over the other. Faults
// about the version, which 0.3 does not have, and those before any method is
// known to be called, always carry it.
func (v Version) Error(f *Fault, opt bool) any {
	e := errorObject{Code: f.Code, Message: f.Message}
	if v == V03 && f.Code == CodeExtension {
		e.Code = CodeInvalidParams // 0.3 has no such code
	}
	if v == V03 && !opt && f.Code != CodeVersion && f.Code != CodeOptNotFound {
		return e
	}
	if reason, domain := f.ErrorInfo(opt); reason != "" {
		e.Data = append(e.Data, errorInfo{"type.googleapis.com/google.rpc.ErrorInfo", reason, domain, f.Info})
	}
	if len(f.Violations) > 0 {
		e.Data = append(e.Data, badRequest{"type.googleapis.com/google.rpc.BadRequest", f.Violations})
	}
	if f.Retry > 0 {
		delay := fmt.Sprintf("%gs", f.Retry.Seconds())
		e.Data = append(e.Data, retryInfo{"type.googleapis.com/google.rpc.RetryInfo", delay})
	}
	return e
}
