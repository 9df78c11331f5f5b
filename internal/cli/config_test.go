package cli

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/serve"
	"longhaul/internal/test"
)

// The output of config is a configuration file with the same settings.
func TestRun_config(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
	t.Setenv("LONGHAUL_LENIENT_VERSION", "true")
	changed := show(t, "config", "--no-console", "--no-streaming", "--origins", "https://a.example.com,https://b.example.com",
		"--require-extension", "urn:x", "--idempotency", "header", "--agent", "clerk", "--auth", "keys,oidc", "--blocking-wait", "1m")
	for _, want := range []string{
		"no-console: true", "no-streaming: true", "lenient-version: true", `origins: ["https://a.example.com", "https://b.example.com"]`,
		`require-extension: ["urn:x"]`, `auth: ["keys", "oidc"]`, `idempotency: "header"`, `agent: "clerk"`, "blocking-wait: 1m0s", "max-body: 16777216",
		`oidc-principal-prefix: "oidc:"`, `client-principal-prefix: "cert:"`,
	} {
		if !strings.Contains(changed, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, changed)
		}
	}
	file := test.File(t, "longhaul.yaml", changed)
	t.Setenv("LONGHAUL_LENIENT_VERSION", "")
	test.OK(t, os.Unsetenv("LONGHAUL_LENIENT_VERSION"))
	test.Equal(t, "read again", changed, show(t, "config", "--config", file))
}

// With --changed only what differs from the defaults is shown, also if it is a secret.
func TestRun_configChanged(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
	t.Setenv("LONGHAUL_SECRET_KEYS", "canary-4c1d")
	got := show(t, "config", "--changed", "--blocking-wait", "1m", "--max-plans", "10", "--auth", "keys")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+): `).FindAllStringSubmatch(got, -1) {
		names = append(names, m[1])
	}
	if diff := cmp.Diff([]string{"auth", "blocking-wait", "secret-keys"}, names); diff != "" || strings.Contains(got, "canary") {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// The file that --init writes has all settings as comments with their defaults: read again without
// the comment signs it changes nothing. It replaces no file.
func TestRun_configInit(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
	t.Chdir(t.TempDir())
	all := show(t, "config")
	show(t, "config", "--init")
	text := test.Value(os.ReadFile(defaultConfigFile))(t)
	if said := show(t, "config"); said != all {
		t.Error("the comments change settings")
	}
	if !strings.Contains(string(text), "\n## Callers\n") || !strings.Contains(string(text), "\n#max-plans: 10\n") || strings.Contains(string(text), "\n#init") {
		t.Errorf("it has\n%s", text)
	}
	set := regexp.MustCompile(`(?m)^#([a-z])`).ReplaceAllString(string(text), "$1")
	test.OK(t, os.WriteFile(defaultConfigFile, []byte(set), 0o600))
	test.Equal(t, "read again", all, show(t, "config"))
	var stderr strings.Builder
	if code := Run(t.Context(), []string{"config", "--init"}, io.Discard, &stderr, serve.Build{}); code != 1 || !strings.Contains(stderr.String(), "exists already") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

// A secret setting is not printed.
func TestRun_configHidesSecrets(t *testing.T) {
	t.Setenv("LONGHAUL_SECRET_KEYS", "canary-4c1d")
	t.Setenv("LONGHAUL_PAYLOAD_KEYS", "canary-4c1d")
	if got := show(t, "config"); strings.Contains(got, "canary") || !strings.Contains(got, `secret-keys: "" # it has a value`) {
		t.Errorf("the secret is printed, or not mentioned:\n%s", got)
	}
}

// Durations of settings may have days.
func TestRun_days(t *testing.T) {
	for _, tt := range []struct{ value, want string }{{"7d", "idle-ttl: 168h0m0s"}, {"1d12h", "idle-ttl: 36h0m0s"}} {
		if got := show(t, "config", "--idle-ttl", tt.value); !strings.Contains(got, tt.want) {
			t.Errorf("%s: no %s in\n%s", tt.value, tt.want, got)
		}
	}
	refused(t, serve.Build{}, "config", "--idle-ttl", "7x")
}

// A mistake in the configuration file is named with the file and the line.
func TestRun_configFileMistakes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"addr: 127.0.0.1:1\nmax-plan: 7\n", ":2: the configuration file has \"max-plan\", which is no setting; did you mean max-plans?"},
		{"# settings\n\nmax-plans: many\n", ":3: --max-plans: expected a valid 64 bit int but got \"many\""},
		{"log-level: info\nidle-ttl: 7x\n", ":2: --idle-ttl: "},
		{"addr: [\n", ":1: not valid YAML: close each bracket"},
		{"log-level: info: debug\n", ":1: not valid YAML: put a text that has a colon and a space in quotation marks"},
		{"log-level: info\n\taddr: x\n", ":2: not valid YAML: indent with spaces, not with tabs"},
		{"addr: x\n---\naddr: y\n", ":2: a file holds one configuration"},
		{"- addr\n", ":1: a configuration file has the names of settings"},
		{"sync: full\nsync: normal\n", ":2: sync is in line 1 already"},
	} {
		file := test.File(t, "longhaul.yaml", tt.text)
		var errs strings.Builder
		if code := Run(t.Context(), []string{"config", "--config", file}, io.Discard, &errs, serve.Build{}); code == 0 || !strings.Contains(errs.String(), file+tt.want) {
			t.Errorf("%s: exit code %d: %s\nwant in it %s", tt.text, code, errs.String(), file+tt.want)
		}
	}
}

// Each of several mistakes is named, with its line if the file has given the value.
func TestRun_configFileSeveralMistakes(t *testing.T) {
	file := test.File(t, "longhaul.yaml", "max-plans: 0\naddr: 0.0.0.0:7420\n")
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{nil, []string{file + ":1: --max-plans", file + ":2: --addr"}},
		{[]string{"--addr", "0.0.0.0:7421"}, []string{file + ":1: --max-plans", "longhaul: --addr"}},
	} {
		var errs strings.Builder
		Run(t.Context(), append([]string{"api", "--config", file}, tt.args...), io.Discard, &errs, serve.Build{})
		for _, want := range tt.want {
			if !strings.Contains(errs.String(), want) {
				t.Errorf("%v: %s\nwant in it %q", tt.args, &errs, want)
			}
		}
	}
}

// The command config shows where Temporal is, and no secret.
func TestRun_configOfTemporal(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", test.File(t, "temporal.toml", "[profile.prod]\naddress = \"prod.example.com:7233\"\napi_key = \"canary-1\"\n"))
	t.Setenv("TEMPORAL_PROFILE", "prod")
	t.Setenv("TEMPORAL_GRPC_META_X_KEY", "canary-2")
	got := show(t, "config")
	for _, want := range []string{"#   address    prod.example.com:7233 (profile prod in ", "#   api key    set (profile prod in "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "canary") {
		t.Errorf("a secret in\n%s", got)
	}
}
