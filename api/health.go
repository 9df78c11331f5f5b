package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"longhaul/api/service"
)

// The paths for probes. Their answers are public.
const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// serveHealth answers that the process runs.
func serveHealth(e echo.Context) error {
	return e.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// readiness says whether work can be accepted now, and if not, which part is the
// cause.
type readiness struct{ *service.Service }

func (s readiness) serve(e echo.Context) error {
	ready := s.Ready(e.Request().Context())
	word := map[bool]string{true: "ready", false: "not ready"}
	code := http.StatusOK
	if !ready.All() {
		code = http.StatusServiceUnavailable
	}
	status := word[ready.All()]
	if ready.Draining {
		status = "draining"
	}
	e.Response().Header().Set("Cache-Control", "no-store")
	return e.JSON(code, struct {
		Status  string `json:"status"`
		Engine  string `json:"engine"`
		Journal string `json:"journal"`
	}{status, word[ready.Engine], word[ready.Journal]})
}
