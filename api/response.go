package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/wire"
)

// Media types.
const (
	mediaJSON   = "application/json"
	mediaA2A    = "application/a2a+json"
	mediaStream = "text/event-stream"
)

// A response writes the answer to a request: a result, a fault or a stream.
type response struct {
	s       *Server
	call    *call.Call
	w       *echo.Response
	r       *http.Request
	closed  context.Context // ends when the client has closed its half of the connection
	binding binding
	request request
}

// answer sends a result.
func (res response) answer(result any) {
	var body []byte
	fault := res.s.service.Guard(res.call, func() (err error) {
		body, err = res.binding.result(res.request, res.request.operation.Encode(res.request.version, result))
		return err
	})
	if fault != nil {
		res.refuse(fault)
		return
	}
	res.send(http.StatusOK, res.binding.media(res.r), body)
}

// refuse sends a fault as the whole answer.
func (res response) refuse(f *call.Fault) {
	switch f.Kind {
	case call.Unauthenticated:
		res.request.status = http.StatusUnauthorized
		res.w.Header().Set("WWW-Authenticate", res.s.cfg.Challenge)
	case call.Forbidden:
		res.request.status = http.StatusForbidden
		if scope := f.Info["scope"]; scope != "" { // as OAuth clients expect it
			res.w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scope+`"`)
		}
	case call.RateLimited:
		res.request.status = http.StatusTooManyRequests
	}
	status, media, body := res.binding.refusal(res.request, res.r, f, res.failure(f))
	if status == http.StatusServiceUnavailable || f.Kind == call.RateLimited || status == http.StatusTooManyRequests && f.Retry > 0 {
		f.SetRetryAfter(res.w.Header())
	}
	res.send(status, media, body)
}

// failure returns a fault in the form of the binding.
func (res response) failure(f *call.Fault) []byte {
	body, err := res.binding.failure(res.request, f)
	if err != nil {
		res.s.log.Error("An error has no JSON form", zap.Error(err))
	}
	return body
}

func (res response) send(status int, media string, body []byte) {
	_ = http.NewResponseController(res.w).SetWriteDeadline(time.Now().Add(res.s.cfg.WriteTimeout))
	res.setHeaders(media)
	res.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	res.w.WriteHeader(status)
	_, _ = res.w.Write(body) // fails only if the client has disconnected
}

// setHeaders sets the headers of every answer that has content.
func (res response) setHeaders(media string) {
	h := res.w.Header()
	h.Set("Content-Type", media)
	h.Set("X-Content-Type-Options", "nosniff")
	if media == mediaStream {
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
	}
	if len(res.call.Active) == 0 {
		return
	}
	h.Set(wire.HeaderExtensions, a2a.JoinExtensions(res.call.Active))
	if len(res.r.Header.Values(wire.HeaderExtensions3)) > 0 {
		h.Set(wire.HeaderExtensions3, a2a.JoinExtensions(res.call.Active))
	}
}
