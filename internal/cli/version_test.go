package cli

import (
	"io"
	"runtime/debug"
	"strings"
	"testing"
)

func TestRun_version(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		var out strings.Builder
		if code := Run(t.Context(), []string{arg}, &out, io.Discard, Build{}); code != 0 || out.String() != "longhaul "+Version+"\n" {
			t.Errorf("%s: exit code %d, %q", arg, code, out.String())
		}
	}
}

// A release shows what the linker has set, another build what the Go command has
// recorded.
func TestReleaseOf(t *testing.T) {
	recorded := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	for _, tt := range []struct {
		set  release
		info *debug.BuildInfo
		want string
	}{
		{release{version: "dev"}, recorded, "dev (commit 0123456789ab, 2026-01-02, with changes)"},
		{release{version: "dev"}, &debug.BuildInfo{}, "dev"},
		{release{version: "dev"}, nil, "dev"},
		{release{version: "v1.2.3", commit: "fedcba9876543210", time: "2026-05-06T07:08:09Z"}, recorded, "v1.2.3 (commit fedcba987654, 2026-05-06)"},
		{release{version: "v1.2.3", commit: "fedc"}, nil, "v1.2.3 (commit fedc)"},
	} {
		if got := releaseOf(tt.set, tt.info).String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.set, got, tt.want)
		}
	}
}
