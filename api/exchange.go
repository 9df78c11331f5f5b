package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/stream"
	"longhaul/api/wire"
	"longhaul/opt"
)

// A binding is a form of calls and answers over HTTP. Its methods depend only on
// their arguments.
type binding interface {
	// read reads a request. If the request cannot be served, it returns what it
	// has read with the error. It may set headers of the answer.
	read(w http.ResponseWriter, r *http.Request) (request, error)
	// result returns a result, or one event of a stream, as JSON.
	result(q request, value any) ([]byte, error)
	// failure returns a fault as JSON.
	failure(q request, f *call.Fault) ([]byte, error)
	// media returns the content type of results.
	media(r *http.Request) string
	// refusal returns the status and the content of an answer with a fault. body
	// is the fault as failure returned it.
	refusal(q request, r *http.Request, f *call.Fault, body []byte) (status int, media string, content []byte)
}

// A request is a request as a binding has read it.
type request struct {
	operation *operation.Operation // nil until it is known
	method    string               // the name to log; "" until it is known to be valid
	version   wire.Version
	params    *wire.Reader
	id        json.RawMessage // of JSON-RPC; nil until it was read
	status    int             // of HTTP, for a failure with a special status

	handle func(context.Context, *call.Call) (any, error) // nil to run the operation with params
}

// isOPT reports whether the operation is one of the extension.
func (q request) isOPT() bool { return q.operation != nil && q.operation.Family == operation.OPT }

// exchange serves a request that came by a binding, which has a name for metrics.
func (s *Server) exchange(e echo.Context, b binding, name string) error {
	s.pages.allowOrigin(e)
	c, w := e.Get(callKey).(*call.Call), e.Response()
	r, closed := withoutHalfClose(e.Request())
	wire.ReadHeader(c, r.Header)
	c.Binding = name
	version, _, _ := wire.Negotiate(r.Header.Values(wire.HeaderVersion), r.URL.Query())
	q := request{version: version} // of a refusal before the request is read, too
	var result any
	fault := s.service.Serve(c, call.Steps{
		Authenticate: func() (call.Caller, error) {
			caller, err := s.cfg.Authenticate(r)
			if errors.Is(err, opt.ErrUnavailable) {
				q.status = http.StatusServiceUnavailable
			}
			return caller, err
		},
		Read: func() (needed call.Right, err error) {
			q, err = b.read(w.Unwrap(), r) // net/http's own writer: MaxBytesReader has it close the connection
			c.Method, c.OfOPT, c.Rules = q.method, q.isOPT(), wire.Rules(q.version)
			if err == nil {
				needed = q.operation.Right()
			}
			return needed, err
		},
		Handle: func() (err error) {
			if q.handle != nil {
				result, err = q.handle(r.Context(), c)
				return err
			}
			result, err = q.operation.Run(r.Context(), s.service, c, q.params)
			return err
		},
	})
	res := response{s: s, call: c, w: w, r: r, closed: closed, binding: b, request: q}
	if fault != nil {
		res.refuse(fault)
		return nil
	}
	switch result := result.(type) {
	case *stream.Stream:
		res.stream(taskStream{result, b, q})
	case eventStream:
		res.stream(result)
	default:
		res.answer(result)
	}
	return nil
}

// withoutHalfClose returns r with a context that outlives a close of the client's
// half of the connection, and a second context that ends with that close.
//
// net/http cancels the context of a request in HTTP/1 when it reads the end of the
// connection. A client that has sent its whole request may do that and wait for
// the answer; one that has disconnected looks the same until a write fails.
func withoutHalfClose(r *http.Request) (_ *http.Request, closed context.Context) {
	closed = r.Context()
	if r.ProtoMajor != 1 || closed.Value(http.ServerContextKey) == nil {
		return r, closed
	}
	return r.WithContext(context.WithoutCancel(closed)), closed
}

// unsupportedCodings returns the codings of a body that are not supported.
func unsupportedCodings(h http.Header) []string {
	var out []string
	for _, value := range h.Values("Content-Encoding") {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				out = append(out, coding)
			}
		}
	}
	return out
}

// isJSON reports whether a content type is one of JSON's, or none.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == mediaJSON || media == mediaA2A)
}

// readBody reads the request's body, which must arrive in time and not be too
// large. After it has arrived, net/http removes the deadline for reading. status
// is for a failure.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) (body []byte, status int, err error) {
	if len(unsupportedCodings(r.Header)) > 0 {
		w.Header().Set("Accept-Encoding", "identity")
		return nil, http.StatusUnsupportedMediaType, errCoding
	}
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, http.StatusRequestEntityTooLarge, tooLarge(limit)
	}
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var larger *http.MaxBytesError
	var busy *call.Fault
	switch {
	case errors.As(err, &busy):
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, 0, busy
	case errors.As(err, &larger):
		return nil, http.StatusRequestEntityTooLarge, tooLarge(limit)
	case err != nil:
		w.Header().Set("Connection", "close") // the rest may never come
		return nil, http.StatusBadRequest, &call.Fault{Kind: call.InvalidRequest, Message: "Invalid request: the body could not be read"}
	}
	return body, 0, nil
}

// errCoding does not repeat the coding, which may be any text.
var errCoding = &call.Fault{
	Kind: call.ContentType, Message: "Incompatible content types: the body has a Content-Encoding; send it without compression",
}

func tooLarge(limit int64) *call.Fault {
	return &call.Fault{Kind: call.InvalidRequest,
		Message: "Invalid request: the body is larger than " + strconv.FormatInt(limit, 10) + " bytes"}
}
