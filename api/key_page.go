package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"
)

// keyPage has the public keys by which receivers verify deliveries.
type keyPage struct {
	keys func(ctx context.Context) ([]byte, error)
	log  *zap.Logger
}

// serve lets a reader keep the keys for five minutes: a new key signs much later
// than it is published.
func (p keyPage) serve(e echo.Context) error {
	body, err := p.keys(e.Request().Context())
	if err != nil {
		p.log.Error("Cannot read the signing keys", zap.Error(err))
		return echo.NewHTTPError(http.StatusServiceUnavailable)
	}
	e.Response().Header().Set("Cache-Control", "public, max-age=300")
	return e.Blob(http.StatusOK, "application/jwk-set+json", body)
}
