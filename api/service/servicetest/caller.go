package servicetest

import (
	"errors"
	"fmt"
	"strings"

	"longhaul/api/service"
	"longhaul/opt"
)

// Caller returns the caller that an Authorization header names. "Bearer
// tenant/principal" is accepted without a check; scopes may follow, without them the
// caller has all; "" is a default caller, and some
// words are callers with a property or the errors of an authentication.
func Caller(authorization string) (service.Caller, error) {
	switch auth := strings.TrimPrefix(authorization, "Bearer "); auth {
	case "":
		return service.Caller{Tenant: "acme", Principal: "ann", Scopes: service.Scopes()}, nil
	case "nobody":
		return service.Caller{}, errors.New("no such key")
	case "guest":
		return service.Caller{}, fmt.Errorf("key of a guest: %w", service.ErrForbidden)
	case "anonymous":
		return service.Caller{Tenant: "acme", Principal: "anyone", Scopes: service.Scopes(), Anonymous: true}, nil
	case "later":
		return service.Caller{}, opt.ErrUnavailable
	default:
		name, limit, limited := strings.Cut(auth, " ")
		tenant, principal, _ := strings.Cut(name, "/")
		caller := service.Caller{Tenant: tenant, Principal: principal, Scopes: service.Scopes()}
		var err error
		if limited {
			caller.Scopes, err = service.ParseScopes(strings.Fields(limit))
		}
		return caller, err
	}
}
