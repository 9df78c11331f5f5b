package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"longhaul/api/wire"
	"longhaul/opt"
)

const (
	headerVersion     = "A2A-Version"
	headerExtensions  = "A2A-Extensions"
	headerExtensions3 = "X-A2A-Extensions" // the name in 0.3
)

// An exchange is a JSON-RPC request and its answer.
type exchange struct {
	*call
	s       *Server
	w       *echo.Response
	r       *http.Request
	version wire.Version
	id      json.RawMessage // nil until it was read
	to      *method         // nil until it is known
	status  int             // of a failure that has one of its own
}

// serveRPC answers a JSON-RPC request of either version.
func (s *Server) serveRPC(e echo.Context) error {
	x := &exchange{call: e.Get(callKey).(*call), s: s, w: e.Response(), r: e.Request(), version: wire.V03}
	s.allowOrigin(e)
	var out outcome
	err := s.guard(x.call, func() (err error) {
		out, err = x.handle()
		return err
	})
	switch {
	case err != nil:
		x.fail(err)
	case out.feed != nil:
		x.stream(out.feed)
	default:
		x.answer(out.result)
	}
	return nil
}

// handle takes the steps of every request, in the order in which their failures
// count.
func (x *exchange) handle() (outcome, error) {
	if err := x.authenticate(); err != nil {
		return outcome{}, err
	}
	version, named, versionFault := wire.Negotiate(x.r.Header.Values(headerVersion), x.r.URL.Query())
	x.version = version
	if !isJSON(x.r.Header.Get("Content-Type")) {
		return outcome{}, errMediaType
	}
	body, err := x.body()
	if err != nil {
		return outcome{}, err
	}
	req, fault := wire.ReadRequest(body)
	x.id = req.ID
	if fault != nil {
		return outcome{}, fault
	}
	x.to = x.s.methods[req.Method]
	if versionFault != nil {
		return outcome{}, versionFault
	}
	if x.s.cfg.LenientVersion && !named && x.to != nil && x.to.names[wire.V03] != req.Method {
		x.version = wire.V10
	}
	x.w.Header().Set(headerVersion, string(x.version))
	x.rules = x.version.Rules()
	if fault := x.dispatch(req.Method, named); fault != nil {
		return outcome{}, fault
	}
	x.method, x.key, x.after = req.Method, x.r.Header.Get("Idempotency-Key"), x.r.Header.Get("Last-Event-ID")
	x.named = wire.ParseExtensions(slices.Concat(x.r.Header.Values(headerExtensions), x.r.Header.Values(headerExtensions3)))
	return x.to.run(x.r.Context(), x.call, wire.NewReader(x.version, req.Params))
}

func (x *exchange) authenticate() (err error) {
	x.Caller, err = x.s.cfg.Authenticate(x.r)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrForbidden):
		x.status = http.StatusForbidden
		return &wire.Fault{Code: wire.CodeOptNotFound, Message: "Permission denied", Reason: "PERMISSION_DENIED"}
	case errors.Is(err, opt.ErrUnavailable):
		x.status = http.StatusServiceUnavailable
		x.w.Header().Set("Retry-After", strconv.Itoa(int(retryDelay/time.Second)))
		return err
	}
	x.status = http.StatusUnauthorized
	x.w.Header().Set("WWW-Authenticate", x.s.cfg.Challenge)
	x.s.log.Debug("Refused credentials", zap.Error(err))
	return &wire.Fault{Code: wire.CodeOptNotFound, Message: "Unauthenticated", Reason: "UNAUTHENTICATED"}
}

// isJSON reports whether a content type is one of JSON's, or none.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || media == "application/a2a+json")
}

// body reads the request's body, which must come in time and not be too large.
// Once it has come, net/http lifts the deadline for reading.
func (x *exchange) body() ([]byte, error) {
	limit := x.s.cfg.MaxBody
	if x.r.ContentLength > limit {
		x.w.Header().Set("Connection", "close") // the rest is not worth reading
		return nil, x.tooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w.Unwrap(), x.r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, x.tooLarge(limit)
	case err != nil:
		x.w.Header().Set("Connection", "close") // the rest may never come
		x.status = http.StatusBadRequest
		return nil, &wire.Fault{Code: wire.CodeInvalidRequest, Message: "Invalid request: the body could not be read"}
	}
	return body, nil
}

func (x *exchange) tooLarge(limit int64) *wire.Fault {
	x.status = http.StatusRequestEntityTooLarge
	return &wire.Fault{Code: wire.CodeInvalidRequest,
		Message: "Invalid request: the body is larger than " + strconv.FormatInt(limit, 10) + " bytes"}
}

// dispatch checks that the version has a method by the name that was called.
func (x *exchange) dispatch(name string, named bool) *wire.Fault {
	if x.to == nil {
		return &wire.Fault{Code: wire.CodeMethodNotFound, Message: "Method not found"}
	}
	right := x.to.names[x.version]
	switch {
	case right == name:
		return nil
	case x.version == wire.V03 && !named:
		return wire.UnnamedVersion(name)
	}
	x.to = nil // fails like a method that is not there, not like the stream it is elsewhere
	f := &wire.Fault{Code: wire.CodeMethodNotFound, Message: "Method not found in A2A " + string(x.version)}
	if right != "" {
		f.Message += ": use " + right
	}
	return f
}
