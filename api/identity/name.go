package identity

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"longhaul/api/call"
	"longhaul/opt"
)

// ValidName reports whether a tenant or a principal may have a name: one that can be
// stored and logged, and that the server does not use itself.
func ValidName(name string) bool {
	return !strings.HasPrefix(name, opt.OwnNames) && name != opt.Anonymous && strings.TrimSpace(name) != "" && len(name) <= 256 && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// prefixed returns a name with a prefix, "" for no name.
func prefixed(prefix, name string) string {
	if name == "" {
		return ""
	}
	return prefix + name
}

var errBadName = errors.New("the tenant or the principal is empty, too long, not plain text or one of the server's own")

// withValidNames returns c if its tenant and its principal have valid names.
func withValidNames(c call.Caller) (call.Caller, error) {
	if !ValidName(c.Tenant) || !ValidName(c.Principal) {
		return call.Caller{}, errBadName
	}
	return c, nil
}
