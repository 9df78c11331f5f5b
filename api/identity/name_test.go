package identity_test

import (
	"strings"
	"testing"

	"longhaul/api/identity"
	"longhaul/opt"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"ann": true, "ann@example.com": true, "the longhaul:timer": true, "": false, " ": false, "a\nb": false, "\xff": false, strings.Repeat("x", 257): false,
		opt.ByTimer: false, opt.OwnNames + "x": false,
	} {
		if got := identity.ValidName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
