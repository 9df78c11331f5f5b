package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"
)

const readyTimeout = 3 * time.Second

// serveHealth says that the process is there.
func (s *Server) serveHealth(e echo.Context) error {
	return e.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// serveReady says whether work can be accepted now, and if not, which part is to
// blame.
func (s *Server) serveReady(e echo.Context) error {
	engine, journal := s.ready(e.Request().Context())
	word := map[bool]string{true: "ready", false: "not ready"}
	code := http.StatusOK
	if !engine || !journal {
		code = http.StatusServiceUnavailable
	}
	e.Response().Header().Set("Cache-Control", "no-store")
	return e.JSON(code, struct {
		Status  string `json:"status"`
		Engine  string `json:"engine"`
		Journal string `json:"journal"`
	}{word[engine && journal], word[engine], word[journal]})
}

// Ready reports whether work can be accepted now.
func (s *Server) Ready(ctx context.Context) bool {
	engine, journal := s.ready(ctx)
	return engine && journal
}

// ready asks both parts. Why one is not is for the log.
func (s *Server) ready(ctx context.Context) (engine, journal bool) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ask := func(part string, check func(context.Context) error) bool {
		err := check(ctx)
		if err != nil {
			s.log.Warn("Not ready", zap.String("part", part), zap.Error(err))
		}
		return err == nil
	}
	return ask("engine", s.cfg.Engine.Ready), ask("journal", s.cfg.Journal.Ping)
}
