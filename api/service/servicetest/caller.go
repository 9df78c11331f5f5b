package servicetest

import (
	"errors"
	"fmt"
	"strings"

	"longhaul/api/service"
	"longhaul/opt"
)

// Caller returns the caller that an Authorization header names. "Bearer
// tenant/principal" is accepted without a check; "" is a default caller, and some
// words are callers with a property or the errors of an authentication.
func Caller(authorization string) (service.Caller, error) {
	switch auth := strings.TrimPrefix(authorization, "Bearer "); auth {
	case "":
		return service.Caller{Tenant: "acme", Principal: "ann"}, nil
	case "nobody":
		return service.Caller{}, errors.New("no such key")
	case "guest":
		return service.Caller{}, fmt.Errorf("key of a guest: %w", service.ErrForbidden)
	case "anonymous":
		return service.Caller{Tenant: "acme", Principal: "anyone", Anonymous: true}, nil
	case "later":
		return service.Caller{}, opt.ErrUnavailable
	default:
		tenant, principal, _ := strings.Cut(auth, "/")
		return service.Caller{Tenant: tenant, Principal: principal}, nil
	}
}
