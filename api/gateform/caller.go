package gateform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/access"
)

// Keys lists all API keys, also those that were revoked.
type Keys interface {
	APIKeys(ctx context.Context) ([]access.APIKey, error)
}

var errRevoked = errors.New("no API key of the principal may answer any more")

// Caller returns who as a caller that may answer gates, without a credential of the API. A
// principal with API keys has the rights that its valid keys have now: none after the last
// key that may answer, and only those groups that a key still has. Without keys, or with nil
// in place of them, it has all groups.
func Caller(ctx context.Context, keys Keys, who call.Caller, at time.Time) (call.Caller, error) {
	who.Scopes = []call.Scope{call.RespondApprovals}
	if keys == nil {
		return who, nil
	}
	all, err := keys.APIKeys(ctx)
	if err != nil {
		return call.Caller{}, fmt.Errorf("%w: read the API keys of a principal: %w", opt.ErrUnavailable, err)
	}
	all = slices.DeleteFunc(all, func(k access.APIKey) bool { return k.Tenant != who.Tenant || k.Principal != who.Principal })
	if len(all) == 0 {
		return who, nil
	}
	now := a2a.At(at)
	all = slices.DeleteFunc(all, func(k access.APIKey) bool {
		return !k.Valid(now) || !slices.Contains(k.Scopes, string(call.RespondApprovals))
	})
	if len(all) == 0 {
		return call.Caller{}, errRevoked
	}
	who.Groups = slices.DeleteFunc(slices.Clone(who.Groups), func(g string) bool {
		return !slices.ContainsFunc(all, func(k access.APIKey) bool { return slices.Contains(k.Groups, g) })
	})
	return who, nil
}
