package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A certificate that this machine does not trust leads to the address for operators.
func TestHealth_untrusted(t *testing.T) {
	site := httptest.NewTLSServer(http.NotFoundHandler())
	defer site.Close()
	var out strings.Builder
	code := Run(t.Context(), []string{"health", site.URL}, &out, &out, Build{})
	if code != 1 || !strings.Contains(out.String(), "set LONGHAUL_OPS_ADDR for the process and this command") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}
