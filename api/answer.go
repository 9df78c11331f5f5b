package api

import (
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"longhaul/api/wire"
)

// Media types.
const (
	mediaJSON   = "application/json"
	mediaA2A    = "application/a2a+json"
	mediaStream = "text/event-stream"
)

// answer sends a result.
func (x *exchange) answer(result any) {
	body, err := x.binding.result(result)
	if err != nil {
		x.fail(err)
		return
	}
	x.send(http.StatusOK, x.binding.answerMedia(), body)
}

// fail sends an error as the whole answer.
func (x *exchange) fail(err error) {
	body, fault := x.failed(err)
	switch {
	case fault.Reason == wire.ReasonUnauthenticated:
		x.status = http.StatusUnauthorized
		x.w.Header().Set("WWW-Authenticate", x.s.cfg.Challenge)
	case fault.Reason == wire.ReasonForbidden:
		x.status = http.StatusForbidden
	}
	x.binding.refuse(fault, body)
}

// failed notes a failure and returns it as a client is told of it.
func (x *exchange) failed(err error) ([]byte, *wire.Fault) {
	fault := x.s.fault(x.call, x.ofOPT(), err)
	x.code = fault.Code
	body, err := x.binding.failure(fault)
	if err != nil {
		x.s.log.Error("An error has no JSON form", zap.Error(err))
	}
	return body, fault
}

// ofOPT reports whether the method that is called is one of the extension.
func (x *exchange) ofOPT() bool { return x.to != nil && x.to.opt }

func (x *exchange) send(status int, contentType string, body []byte) {
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(x.s.cfg.WriteTimeout))
	if status == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", strconv.Itoa(int(retryDelay/time.Second)))
	}
	x.head(contentType)
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // the client has gone, and the log says what it would have got
}

// head sets the headers of every answer that has content.
func (x *exchange) head(contentType string) {
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	if contentType == mediaStream {
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
	}
	if len(x.active) == 0 {
		return
	}
	h.Set(headerExtensions, wire.JoinExtensions(x.active))
	if len(x.r.Header.Values(headerExtensions3)) > 0 {
		h.Set(headerExtensions3, wire.JoinExtensions(x.active))
	}
}
