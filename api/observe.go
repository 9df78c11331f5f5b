package api

import (
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"
)

const headerRequestID = "X-Request-Id"

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// observe gives a request its id and its deadlines, and logs what became of it:
// names, codes and ids, never content.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		began := time.Now()
		id := s.requestID(e.Request())
		e.Response().Header().Set(headerRequestID, id)
		c := &call{began: began, requestID: id}
		e.Set(callKey, c)
		rc := http.NewResponseController(e.Response())
		// Without a body net/http waits for the connection's end already, and would
		// take this deadline for that: streams would end, and what comes later on the
		// connection would be cancelled before it begins.
		if e.Request().Body != http.NoBody {
			_ = rc.SetReadDeadline(began.Add(s.cfg.ReadTimeout)) // a test's recorder has no deadlines
		}
		_ = rc.SetWriteDeadline(began.Add(s.cfg.WriteTimeout))

		if err := s.guard(c, func() error { return next(e) }); err != nil {
			e.Error(err)
		}
		fields := append(c.fields(),
			zap.String("path", e.Path()),
			zap.Int("status", e.Response().Status),
			zap.Duration("took", time.Since(began)),
		)
		s.log.Info("Served a request", fields...)
		return nil
	}
}

func (s *Server) requestID(r *http.Request) string {
	if id := r.Header.Get(headerRequestID); requestIDForm.MatchString(id) {
		return id
	}
	var random [12]byte
	if _, err := io.ReadFull(s.cfg.Rand, random[:]); err != nil {
		return "unknown"
	}
	return hex.EncodeToString(random[:])
}

var errPanic = errors.New("panic")

// guard calls f, and returns a panic in it as an error.
func (s *Server) guard(c *call, f func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
			panic(p)
		}
		s.log.Error("Panicked", append(c.fields(), zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))...)
		err = errPanic
	}()
	return f()
}

// httpError answers what never reached a handler of ours, or was no call of one.
func (s *Server) httpError(err error, e echo.Context) {
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
