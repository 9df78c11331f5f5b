package cli

import (
	"io"
	"strings"
	"testing"

	"longhaul/internal/process"
	"longhaul/internal/serve"
)

func TestRun_version(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		var out strings.Builder
		if code := Run(t.Context(), []string{arg}, &out, io.Discard, serve.Build{}); code != 0 || out.String() != "longhaul "+process.Version+"\n" {
			t.Errorf("%s: exit code %d, %q", arg, code, out.String())
		}
	}
}
