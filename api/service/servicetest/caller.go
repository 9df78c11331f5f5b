package servicetest

import (
	"errors"
	"fmt"
	"strings"

	"longhaul/api/call"
	"longhaul/opt"
)

// Caller returns the caller that an Authorization header names. "Bearer
// tenant/principal" is accepted without a check; scopes may follow, without them the
// caller has all; "" is a default caller, and some
// words are callers with a property or the errors of an authentication.
func Caller(authorization string) (call.Caller, error) {
	switch auth := strings.TrimPrefix(authorization, "Bearer "); auth {
	case "":
		return call.Caller{Tenant: "acme", Principal: "ann", Scopes: call.Scopes()}, nil
	case "nobody":
		return call.Caller{}, errors.New("no such key")
	case "guest":
		return call.Caller{}, fmt.Errorf("key of a guest: %w", call.ErrForbidden)
	case "anonymous":
		return call.Caller{Tenant: "acme", Principal: "anyone", Scopes: call.Scopes(), Anonymous: true}, nil
	case "later":
		return call.Caller{}, opt.ErrUnavailable
	default:
		name, limit, limited := strings.Cut(auth, " ")
		tenant, principal, _ := strings.Cut(name, "/")
		caller := call.Caller{Tenant: tenant, Principal: principal, Scopes: call.Scopes()}
		var err error
		if limited {
			caller.Scopes, err = call.ParseScopes(strings.Fields(limit))
		}
		return caller, err
	}
}
