package api

import (
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"longhaul/api/wire"
)

// answer sends a result.
func (x *exchange) answer(result any) {
	body, err := wire.Result(x.id, result)
	if err != nil {
		x.fail(err)
		return
	}
	x.send(http.StatusOK, "application/json", body)
}

// fail sends an error. Streaming methods fail, before their first event, in the
// way that the clients of a version can see: in 0.3 as the only event of a
// stream, in 1.0 with an HTTP status, since some read a 200 as an empty stream.
func (x *exchange) fail(err error) {
	body, fault := x.failure(err)
	x.code = fault.Code
	streams := x.to != nil && x.to.stream
	switch {
	case x.status != 0:
		x.send(x.status, "application/json", body)
	case streams && x.version.StreamsFaults() && fault.Code != wire.CodeVersion:
		x.send(http.StatusOK, "text/event-stream", append(append([]byte("data: "), body...), "\n\n"...))
	case streams:
		x.send(http.StatusBadRequest, "application/json", body)
	default:
		x.send(http.StatusOK, "application/json", body)
	}
}

func (x *exchange) failure(err error) ([]byte, *wire.Fault) {
	ofOPT := x.to != nil && x.to.opt
	fault := x.s.fault(x.call, ofOPT, err)
	body, err := wire.Failure(x.id, x.version.Error(fault, ofOPT))
	if err != nil {
		x.s.log.Error("An error has no JSON form", zap.Error(err))
	}
	return body, fault
}

func (x *exchange) send(status int, contentType string, body []byte) {
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(x.s.cfg.WriteTimeout))
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
	if contentType == "text/event-stream" {
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
