package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// Wrong keys are refused before anything starts, and never shown.
func TestRun_payloadKeys(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "keys")
	for _, tt := range []struct{ keys, file, want string }{
		{"c2hvcnQ=", "", "keys for payloads (--payload-keys): key 1 is not 32 bytes in base64; make one with: openssl rand -base64 32"},
		{firstKey + "," + firstKey[:8], "", "key 2 is not 32 bytes"},
		{firstKey, missing, "use one of the two settings"},
		{"", missing, "no such file"},
		{"", test.File(t, "empty", "\n"), "key 1 is not 32 bytes"},
	} {
		t.Setenv("LONGHAUL_PAYLOAD_KEYS", tt.keys)
		t.Setenv("LONGHAUL_PAYLOAD_KEYS_FILE", tt.file)
		for _, command := range []string{"api", "worker"} {
			code := 1
			if strings.HasPrefix(tt.want, "use one") {
				code = 2
			}
			if said := refused(t, code, Build{}, command); !strings.Contains(said, tt.want) || strings.Contains(said, firstKey) {
				t.Errorf("%s with %q and %q: no %q in\n%s", command, tt.keys, tt.file, tt.want, said)
			}
		}
	}
	test.Fails(t, "the file with keys was made", "", test.Err(os.Stat(missing)))
}
