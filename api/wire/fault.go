package wire

import (
	"fmt"
	"net/http"
	"strings"

	"longhaul/a2a/codec"
	"longhaul/api/call"
	optwire "longhaul/opt/wire"
)

// A shape is the wire form of a kind of fault: its code in JSON-RPC, its status in HTTP,
// the name of its status in gRPC, and its reason.
type shape struct {
	code   int
	http   int
	grpc   string
	reason string // of ErrorInfo, for a fault without a reason
	plain  string // reason over plain HTTP, where the code of JSON-RPC is not shown
}

// shapes has a line for each kind of fault. Some codes mean something else in
// methods of the extension than in those of A2A.
var shapes = map[call.Kind]shape{
	call.Internal:      {code: -32603, http: http.StatusInternalServerError, grpc: "INTERNAL"},
	call.Unavailable:   {code: -32603, http: http.StatusServiceUnavailable, grpc: "UNAVAILABLE"},
	call.QueueFull:     {code: -32603, http: http.StatusTooManyRequests, grpc: "RESOURCE_EXHAUSTED"},
	call.QuotaExceeded: {code: -32603, http: http.StatusTooManyRequests, grpc: "RESOURCE_EXHAUSTED"},
	call.RateLimited:   {code: codeNotFound, http: http.StatusTooManyRequests, grpc: "RESOURCE_EXHAUSTED"},

	call.Parse:          {code: -32700, http: http.StatusBadRequest, grpc: "INVALID_ARGUMENT", plain: "PARSE_ERROR"},
	call.InvalidRequest: {code: -32600, http: http.StatusBadRequest, grpc: "INVALID_ARGUMENT", plain: "INVALID_REQUEST"},
	call.UnknownMethod:  {code: -32601, http: http.StatusNotFound, grpc: "UNIMPLEMENTED", plain: "METHOD_NOT_FOUND"},
	call.InvalidParams:  {code: codeInvalidParams, http: http.StatusBadRequest, grpc: "INVALID_ARGUMENT", plain: "INVALID_PARAMS"},

	call.Unauthenticated: {code: codeNotFound, http: http.StatusUnauthorized, grpc: "UNAUTHENTICATED"},
	call.Forbidden:       {code: codeNotFound, http: http.StatusForbidden, grpc: "PERMISSION_DENIED"},
	call.NotFound:        {code: codeNotFound, http: http.StatusNotFound, grpc: "NOT_FOUND"},
	call.InvalidState:    {code: -32001, http: http.StatusNotFound, grpc: "NOT_FOUND"},

	call.TaskNotFound:       {code: -32001, http: http.StatusNotFound, grpc: "NOT_FOUND", reason: "TASK_NOT_FOUND"},
	call.NotCancelable:      {code: -32002, http: http.StatusBadRequest, grpc: "FAILED_PRECONDITION", reason: "TASK_NOT_CANCELABLE"},
	call.NoPush:             {code: -32003, http: http.StatusBadRequest, grpc: "FAILED_PRECONDITION", reason: "PUSH_NOTIFICATION_NOT_SUPPORTED"},
	call.Unsupported:        {code: -32004, http: http.StatusBadRequest, grpc: "FAILED_PRECONDITION", reason: "UNSUPPORTED_OPERATION"},
	call.ContentType:        {code: -32005, http: http.StatusBadRequest, grpc: "INVALID_ARGUMENT", reason: "CONTENT_TYPE_NOT_SUPPORTED"},
	call.AgentResponse:      {code: -32006, http: http.StatusInternalServerError, grpc: "INTERNAL", reason: "INVALID_AGENT_RESPONSE"},
	call.NoExtendedCard:     {code: -32007, http: http.StatusBadRequest, grpc: "FAILED_PRECONDITION", reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
	call.MissingExtension:   {code: -32008, http: http.StatusBadRequest, grpc: "FAILED_PRECONDITION", reason: "EXTENSION_SUPPORT_REQUIRED"},
	call.UnsupportedVersion: {code: -32009, http: http.StatusBadRequest, grpc: "FAILED_PRECONDITION", reason: "VERSION_NOT_SUPPORTED"},
}

const (
	codeInvalidParams = -32602
	codeNotFound      = -32000 // of methods of the extension; in others, not authenticated, not permitted or too many
)

// Code returns the code of f in JSON-RPC.
func Code(f *call.Fault) int { return shapes[f.Kind].code }

// Status returns the status of an answer with f: its number for HTTP, its name
// for gRPC. Several kinds share one.
func Status(f *call.Fault) (code int, name string) {
	s := shapes[f.Kind]
	return s.http, s.grpc
}

// The domains of ErrorInfo.
const (
	domainA2A = "a2a-protocol.org"
	domainOPT = "github.com/zeroasterisk/a2a-opt"
)

// ErrorInfo returns the reason in the details of f, and its domain; "" if there
// is none. opt says that the method is one of the extension.
func ErrorInfo(f *call.Fault, opt bool) (reason, domain string) {
	switch {
	case opt && f.Kind != call.UnsupportedVersion && f.Kind != call.MissingExtension:
		return f.Reason, domainOPT // its codes mean something else
	case f.Reason == "":
		return shapes[f.Kind].reason, domainA2A
	}
	return f.Reason, domainA2A
}

type errorObject struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    []codec.Detail `json:"data,omitempty"`
}

func details(f *call.Fault, opt bool) (list []codec.Detail) {
	if reason, domain := ErrorInfo(f, opt); reason != "" {
		list = append(list, codec.Detail{Type: codec.TypeErrorInfo, Reason: reason, Domain: domain, Metadata: f.Info})
	}
	if len(f.Violations) > 0 {
		list = append(list, codec.Detail{Type: codec.TypeBadRequest, Violations: f.Violations})
	}
	if f.Retry > 0 {
		list = append(list, codec.Detail{Type: codec.TypeRetryInfo, RetryDelay: fmt.Sprintf("%gs", f.Retry.Seconds())})
	}
	return list
}

// Plain returns f as the body of an answer over plain HTTP. code is its status,
// which may be more specific than that of [Status].
func Plain(f *call.Fault, code int) any {
	s := shapes[f.Kind]
	if f.Reason == "" && s.plain != "" {
		named := *f
		named.Reason, f = s.plain, &named
	}
	return map[string]any{"error": struct {
		Code    int            `json:"code"`
		Status  string         `json:"status"`
		Message string         `json:"message"`
		Details []codec.Detail `json:"details,omitempty"`
	}{code, s.grpc, f.Message, details(f, false)}}
}

// Flat returns f as the body of an answer of a page that is not of A2A. status is
// that of the answer.
func Flat(f *call.Fault, status int) any {
	reason, _ := ErrorInfo(f, false)
	if reason == "" && f.Kind != call.UnknownMethod {
		reason = shapes[f.Kind].plain
	}
	if reason == "" {
		reason = strings.ReplaceAll(http.StatusText(status), " ", "_")
	}
	out := optwire.PageError{Error: strings.ToLower(reason), Message: f.Message}
	if len(f.Info)+len(f.Violations) == 0 {
		return out
	}
	out.Details = map[string]any{}
	for name, value := range f.Info {
		out.Details[name] = value
	}
	if len(f.Violations) > 0 {
		out.Details["fieldViolations"] = f.Violations
	}
	return out
}

// Respond writes an answer of a page that is not of A2A. The value is one of our own types or texts,
// which have a JSON form.
func Respond(w http.ResponseWriter, status int, value any) {
	body, _ := Marshal(value)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}
