package process

import (
	"fmt"
	"runtime/debug"
	"testing"

	"longhaul/internal/test"
)

// A release shows what the linker has set, another build what the Go command has
// recorded.
func TestReleaseOf(t *testing.T) {
	recorded := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	for _, tt := range []struct {
		set  Release
		info *debug.BuildInfo
		want string
	}{
		{Release{Version: "dev"}, recorded, "dev (commit 0123456789ab, 2026-01-02, with changes)"},
		{Release{Version: "dev"}, &debug.BuildInfo{}, "dev"},
		{Release{Version: "dev"}, nil, "dev"},
		{Release{Version: "v1.2.3", commit: "fedcba9876543210", time: "2026-05-06T07:08:09Z"}, recorded, "v1.2.3 (commit fedcba987654, 2026-05-06)"},
		{Release{Version: "v1.2.3", commit: "fedc"}, nil, "v1.2.3 (commit fedc)"},
	} {
		test.Is(t, fmt.Sprintf("%+v", tt.set), tt.want, releaseOf(tt.set, tt.info).String())
	}
}
