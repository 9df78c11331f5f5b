package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/api/wire"
	"longhaul/internal/tracing"
)

const callKey = "call" // in echo's context

// observe gives a request its id and its deadlines, and logs the result: names,
// codes and ids, never content.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		began := time.Now()
		c := s.service.NewCall(e.Request().Header.Get(wire.HeaderRequestID))
		c.From = s.cfg.Proxies.Client(e.Request())
		e.Response().Header().Set(wire.HeaderRequestID, c.RequestID)
		e.Set(callKey, c)
		span := s.trace(e, c)
		rc := http.NewResponseController(e.Response())
		// Without a body net/http already waits for the end of the connection, and
		// this deadline would look like that end: streams would end, and later
		// requests on the connection would be canceled.
		if e.Request().Body != http.NoBody {
			_ = rc.SetReadDeadline(began.Add(s.cfg.ReadTimeout)) // the recorder of a test has no deadlines
			body := s.bodies.of(c, e.Request())
			defer body.drop()
			e.Request().Body = body
		}
		_ = rc.SetWriteDeadline(began.Add(s.cfg.WriteTimeout))

		if err := s.service.Recover(c, func() error { return next(e) }); err != nil {
			e.Error(err)
		}
		fields := []zap.Field{zap.String("path", e.Path()), zap.Int("status", e.Response().Status)}
		if c.Fault != nil {
			fields = append(fields, zap.Int("code", wire.Code(c.Fault)))
		}
		s.service.Log(c, fields...)
		span.Name(c.Operation())
		span.Note(c.About()...)
		span.End(e.Response().Status >= http.StatusInternalServerError)
		return nil
	}
}

// trace begins the span of a request, unless it is a probe.
func (s *Server) trace(e echo.Context, c *call.Call) *tracing.Span {
	if s.cfg.Tracing == nil || e.Path() == healthPath || e.Path() == readyPath {
		return nil
	}
	r := e.Request()
	ctx, span := s.cfg.Tracing.Request(r.Context(), r.Header, r.Method+" "+e.Path())
	e.SetRequest(r.WithContext(ctx))
	c.TraceID = tracing.ID(ctx)
	return span
}

// httpError answers requests that did not reach one of our handlers.
func httpError(err error, e echo.Context) {
	if e.Response().Committed {
		return
	}
	status := http.StatusInternalServerError
	var known *echo.HTTPError
	if errors.As(err, &known) {
		status = known.Code
	}
	text := http.StatusText(status)
	_ = e.JSON(status, map[string]string{
		"error":   strings.ReplaceAll(strings.ToLower(text), " ", "_"),
		"message": text,
	})
}
