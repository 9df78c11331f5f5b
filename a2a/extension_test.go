package a2a_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
)

func TestParseExtensions(t *testing.T) {
	got := a2a.ParseExtensions([]string{" a , b,,", "b", "", "c"})
	test.Equal(t, "parsed", []string{"a", "b", "c"}, got)
	test.Is(t, "joined", "a, b", a2a.JoinExtensions([]string{"a", "b"}))
}
