package a2a_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
)

func TestParseExtensions(t *testing.T) {
	got := a2a.ParseExtensions([]string{" a , b,,", "b", "", "c"})
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Errorf("parsed mismatch (-want +got):\n%s", diff)
	}
	if got := a2a.JoinExtensions([]string{"a", "b"}); got != "a, b" {
		t.Errorf("joined %q", got)
	}
}
