package serve

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Wrong keys are refused before anything starts, and never shown.
func TestRun_payloadKeys(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "keys")
	for _, tt := range []struct{ keys, file, want string }{
		{"c2hvcnQ=", "", "keys for payloads (--payload-keys): key 1 is not 32 bytes in base64; make one with: openssl rand -base64 32"},
		{firstKey + "," + firstKey[:8], "", "key 2 is not 32 bytes"},
		{firstKey, missing, "use one of the two settings"},
		{"", missing, "no such file"},
		{"", write(t, "empty", "\n"), "key 1 is not 32 bytes"},
	} {
		t.Setenv("LONGHAUL_PAYLOAD_KEYS", tt.keys)
		t.Setenv("LONGHAUL_PAYLOAD_KEYS_FILE", tt.file)
		for _, command := range []string{"api", "worker"} {
			var stderr strings.Builder
			code := runCommand(t.Context(), []string{command, "--data-dir", t.TempDir()}, io.Discard, &stderr, Build{})
			want := 1
			if strings.HasPrefix(tt.want, "use one") {
				want = 2
			}
			if code != want || !strings.Contains(stderr.String(), tt.want) || strings.Contains(stderr.String(), firstKey) {
				t.Errorf("%s with %q and %q: exit code %d, no %q in\n%s", command, tt.keys, tt.file, code, tt.want, &stderr)
			}
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("the file with keys was made")
	}
}
