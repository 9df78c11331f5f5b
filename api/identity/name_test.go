package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/api/identity"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"ann": true, "ann@example.com": true, "the longhaul:timer": true, "": false, " ": false, "a\nb": false, "\xff": false, strings.Repeat("x", 257): false,
		opt.ByTimer: false, opt.OwnNames + "x": false,
	} {
		test.Is(t, fmt.Sprintf("%q", name), want, identity.ValidName(name))
	}
}
