package wire

import "net/http"

// Status returns how f is told by the status of an answer, over HTTP by its
// number, in gRPC by its name. It does not say which fault it is: several share
// one.
func (f *Fault) Status() (code int, name string) {
	switch f.Code {
	case CodeOptNotFound:
		switch f.Reason {
		case ReasonUnauthenticated:
			return http.StatusUnauthorized, f.Reason
		case ReasonForbidden:
			return http.StatusForbidden, f.Reason
		}
		return http.StatusNotFound, "NOT_FOUND"
	case CodeTaskNotFound:
		return http.StatusNotFound, "NOT_FOUND"
	case CodeMethodNotFound:
		return http.StatusNotFound, "UNIMPLEMENTED"
	case CodeParse, CodeInvalidRequest, CodeInvalidParams, CodeContentType:
		return http.StatusBadRequest, "INVALID_ARGUMENT"
	case CodeAgentResponse:
		return http.StatusInternalServerError, "INTERNAL"
	case CodeInternal:
		if f.Reason == ReasonQueueFull {
			return http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"
		}
		if f.Retry > 0 {
			return http.StatusServiceUnavailable, "UNAVAILABLE"
		}
		return http.StatusInternalServerError, "INTERNAL"
	}
	return http.StatusBadRequest, "FAILED_PRECONDITION"
}

// plain are the ErrorInfo reasons of the codes of JSON-RPC over plain HTTP, where
// clients have nothing else to tell them apart by. The names are those that the
// clients of others know.
var plain = map[int]string{
	CodeParse:          "PARSE_ERROR",
	CodeInvalidRequest: "INVALID_REQUEST",
	CodeMethodNotFound: "METHOD_NOT_FOUND",
	CodeInvalidParams:  "INVALID_PARAMS",
}

// Status returns f as the body of an answer over plain HTTP. code is its status,
// which may say more than [Fault.Status] does.
func Status(f *Fault, code int) any {
	if reason, ok := plain[f.Code]; ok && f.Reason == "" {
		named := *f
		named.Reason, f = reason, &named
	}
	_, name := f.Status()
	e := V10.Error(f, false).(errorObject)
	return map[string]any{"error": struct {
		Code    int    `json:"code"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Details []any  `json:"details,omitempty"`
	}{code, name, e.Message, e.Data}}
}
