package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"

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

// An exchange is a request over HTTP and its answer, whatever the binding.
type exchange struct {
	*call
	binding binding
	s       *Server
	w       *echo.Response
	r       *http.Request
	version wire.Version
	to      *method // nil until it is known
	status  int     // of a failure that has one of its own
}

// A binding is how what an exchange says is put.
type binding interface {
	// result returns a result, or one event of a stream, as JSON.
	result(value any) ([]byte, error)
	// failure returns a fault as JSON.
	failure(f *wire.Fault) ([]byte, error)
	// answerMedia returns the content type of results.
	answerMedia() string
	// refuse sends a fault, before anything else has gone out. body is what
	// failure made of it.
	refuse(f *wire.Fault, body []byte)
}

func (s *Server) newExchange(e echo.Context, b binding) *exchange {
	s.allowOrigin(e)
	return &exchange{call: e.Get(callKey).(*call), binding: b, s: s, w: e.Response(), r: e.Request(), version: wire.V03}
}

// serve answers with what handle returns.
func (x *exchange) serve(handle func() (outcome, error)) {
	var out outcome
	err := x.s.guard(x.call, func() (err error) {
		out, err = handle()
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
}

// authenticate finds out who calls.
func (x *exchange) authenticate() (err error) {
	x.Caller, err = x.s.authenticate(x.r)
	if errors.Is(err, opt.ErrUnavailable) {
		x.status = http.StatusServiceUnavailable
	}
	return err
}

// authenticate returns who sends a request, or why it is refused.
func (s *Server) authenticate(r *http.Request) (Caller, error) {
	caller, err := s.cfg.Authenticate(r)
	switch {
	case err == nil, errors.Is(err, opt.ErrUnavailable):
		return caller, err
	case errors.Is(err, ErrForbidden):
		return Caller{}, errForbidden
	}
	s.log.Debug("Refused credentials", zap.Error(err))
	return Caller{}, errUnauthenticated
}

// negotiate10 checks that a request to a binding that speaks 1.0 alone does so,
// too.
func (s *Server) negotiate10(r *http.Request) error {
	version, named, fault := wire.Negotiate(r.Header.Values(headerVersion), r.URL.Query())
	switch {
	case fault != nil:
		fault.Info["supportedVersions"] = string(wire.V10)
		return fault
	case version == wire.V10, s.cfg.LenientVersion && !named:
		return nil
	}
	return wire.OnlyVersion10()
}

// agree settles what the exchange goes by.
func (x *exchange) agree(v wire.Version, method string) {
	x.version = v
	x.call.agree(v, method, x.r.Header)
	x.w.Header().Set(headerVersion, string(v))
}

// isJSON reports whether a content type is one of JSON's, or none.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == mediaJSON || media == mediaA2A)
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
