package wire

import (
	"net/http"
	"strings"

	"longhaul/api/call"
	optwire "longhaul/opt/wire"
)

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
