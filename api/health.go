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
// blame. Why is for the log.
func (s *Server) serveReady(e echo.Context) error {
	ctx, cancel := context.WithTimeout(e.Request().Context(), readyTimeout)
	defer cancel()
	answer := struct {
		Status  string `json:"status"`
		Engine  string `json:"engine"`
		Journal string `json:"journal"`
	}{"ready", "ready", "ready"}
	code := http.StatusOK
	for _, part := range []struct {
		name   string
		check  func(context.Context) error
		status *string
	}{
		{"engine", s.cfg.Engine.Ready, &answer.Engine},
		{"journal", s.cfg.Journal.Ping, &answer.Journal},
	} {
		if err := part.check(ctx); err != nil {
			s.log.Warn("Not ready", zap.String("part", part.name), zap.Error(err))
			*part.status, answer.Status, code = "not ready", "not ready", http.StatusServiceUnavailable
		}
	}
	e.Response().Header().Set("Cache-Control", "no-store")
	return e.JSON(code, answer)
}
