package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/test"
)

// A worker that cannot reach Temporal ends with the address, what set it and what
// to check.
func TestRun_workerWithoutTemporal(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", test.File(t, "temporal.toml", "[profile.prod]\naddress = \"127.0.0.1:1\"\nnamespace = \"work\"\n"))
	var stderr strings.Builder
	args := []string{"worker", "--data-dir", t.TempDir(), "--temporal-profile", "prod", "--temporal-wait", "1ms", "--log-level", "error"}
	test.Is(t, "exit code", 1, runCommand(t.Context(), args, io.Discard, &stderr, Build{}))
	for _, want := range []string{"Temporal at 127.0.0.1:1 (from profile prod in ", "namespace work", "no success within 1ms", "connection refused", "TEMPORAL_TLS=true"} {
		test.Contains(t, "the text", want, stderr.String())
	}
}

// With TLS for a server that has none, the message says so, and not that
// certificates are wrong.
func TestRun_workerWithNeedlessTLS(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	t.Setenv("TEMPORAL_TLS", "true")
	var stderr strings.Builder
	args := []string{"worker", "--data-dir", t.TempDir(), "--temporal-addr", plain.Listener.Addr().String(), "--temporal-wait", "1s", "--log-level", "error"}
	code := runCommand(t.Context(), args, io.Discard, &stderr, Build{})
	if want := "answers without TLS, which is on here (TEMPORAL_TLS): set TEMPORAL_TLS=false"; code != 1 || !strings.Contains(stderr.String(), want) {
		t.Errorf("exit code %d, no %q in\n%s", code, want, &stderr)
	}
}

// What the reconciler begins again is begun as the API begins it.
func TestReconciler_engine(t *testing.T) {
	g := &ground{host: newHost(zap.NewNop(), Build{}), temporal: &connection{}}
	a := &apiServer{ground: g, plain: func() bool { return true }}
	a.settings.CallTimeout, a.settings.IdleTTL = time.Minute, time.Hour
	a.parts()
	if at := a.reconciler.engine(); at.Plain == nil || !at.Plain() || at.Timeout != time.Minute || at.IdleFor != time.Hour {
		t.Errorf("it reaches the workflows by %+v", at)
	}
}
