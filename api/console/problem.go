package console

import (
	"net/http"

	"longhaul/api/call"
)

// A problem says why a request was refused, and what to do.
type problem struct {
	Status      int
	Title, Text string
}

// view returns the page of p.
func (p problem) view() view {
	return view{Status: p.Status, Template: "problem", Title: p.Title, Data: p}
}

// problemOf returns what people read about a fault. It does not quote internals.
func problemOf(f *call.Fault) problem {
	switch f.Kind {
	case call.Unauthenticated:
		return problem{http.StatusUnauthorized, "You are not signed in", "Sign in and try again."}
	case call.Forbidden:
		return problem{http.StatusForbidden, "You may not do this", f.Message + "."}
	case call.NotFound, call.TaskNotFound:
		return problem{http.StatusNotFound, "Not found", "It does not exist, or it was removed, or it is not yours to see."}
	case call.InvalidParams, call.InvalidRequest, call.Parse:
		return problem{http.StatusBadRequest, "This cannot be used", invalidText(f)}
	case call.InvalidState, call.Unsupported, call.NotCancelable:
		return problem{http.StatusConflict, "Too late for this", f.Message + ". The page shows the present state."}
	case call.QueueFull:
		return problem{http.StatusServiceUnavailable, "The queue is full", "Too much work waits in this context. Try again later."}
	case call.QuotaExceeded:
		return problem{http.StatusTooManyRequests, "Too much is in use", f.Message + "."}
	case call.RateLimited:
		return problem{http.StatusTooManyRequests, "Too many requests", "Try again in a moment."}
	case call.Unavailable:
		return problem{http.StatusServiceUnavailable, "Not available", "Try again in a moment. What you sent may have been recorded: look before you send it again."}
	}
	return problem{http.StatusInternalServerError, "Something went wrong", "Try again later. The log of the server has the reason."}
}

// invalidText describes the mistakes in the fields of a form.
func invalidText(f *call.Fault) string {
	if len(f.Violations) == 0 {
		return f.Message + "."
	}
	text := ""
	for _, v := range f.Violations {
		text += v.Field + " " + v.Description + ". "
	}
	return text[:len(text)-1]
}
