package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The output of config is a configuration file with the same settings.
func TestRun_config(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
	show := func(args ...string) string {
		t.Helper()
		var stdout strings.Builder
		if code := Run(t.Context(), append([]string{"config"}, args...), &stdout, io.Discard, Build{}); code != 0 {
			t.Fatalf("exit code %d of config %v", code, args)
		}
		return stdout.String()
	}
	t.Setenv("LONGHAUL_LENIENT_VERSION", "true")
	changed := show("--no-rest", "--no-streaming", "--origins", "https://a.example.com,https://b.example.com",
		"--require-extension", "urn:x", "--idempotency", "header", "--agent", "clerk", "--auth", "keys,oidc", "--blocking-wait", "1m")
	for _, want := range []string{
		"no-rest: true", "no-streaming: true", "lenient-version: true", `origins: ["https://a.example.com", "https://b.example.com"]`,
		`require-extension: ["urn:x"]`, `auth: ["keys", "oidc"]`, `idempotency: "header"`, `agent: "clerk"`, "blocking-wait: 1m0s", "max-body: 16777216",
	} {
		if !strings.Contains(changed, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, changed)
		}
	}
	file := filepath.Join(t.TempDir(), "longhaul.yaml")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LONGHAUL_LENIENT_VERSION", "")
	if err := os.Unsetenv("LONGHAUL_LENIENT_VERSION"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changed, show("--config", file)); diff != "" {
		t.Errorf("read again (-printed +read):\n%s", diff)
	}
}

// A secret setting is not printed.
func TestRun_configHidesSecrets(t *testing.T) {
	t.Setenv("LONGHAUL_SECRET_KEYS", "canary-4c1d")
	var stdout strings.Builder
	if code := Run(t.Context(), []string{"config"}, &stdout, io.Discard, Build{}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if got := stdout.String(); strings.Contains(got, "canary") || !strings.Contains(got, `secret-keys: "" # it has a value`) {
		t.Errorf("the secret is printed, or not mentioned:\n%s", got)
	}
}

// Durations of settings may have days.
func TestRun_days(t *testing.T) {
	for _, tt := range []struct{ value, want string }{{"7d", "idle-ttl: 168h0m0s"}, {"1d12h", "idle-ttl: 36h0m0s"}} {
		var out, errs strings.Builder
		if code := Run(t.Context(), []string{"config", "--idle-ttl", tt.value}, &out, &errs, Build{}); code != 0 || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: exit code %d: %s", tt.value, code, errs.String())
		}
	}
	var errs strings.Builder
	if code := Run(t.Context(), []string{"config", "--idle-ttl", "7x"}, io.Discard, &errs, Build{}); code != 2 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
