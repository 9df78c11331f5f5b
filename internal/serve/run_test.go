package serve

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"longhaul/internal/process"
)

// runCommand runs a command of this package, and returns the exit code.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer, b Build) int {
	p := &process.Process{Ctx: ctx, Stdout: stdout, Stderr: stderr, Embeds: b.Embed != nil}
	var grammar struct {
		API    API    `cmd:""`
		Worker Worker `cmd:""`
		Dev    Dev    `cmd:""`
	}
	return p.Report(p.Start(args, &grammar, kong.Bind(b), kong.Vars{"agent": "Longhaul"}))
}

// firstKey is a key, in base64.
const firstKey = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

// refused runs a command that must end with an exit code before it has begun anything, and returns
// what it says.
func refused(t *testing.T, code int, b Build, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	args = append(args, "--data-dir", t.TempDir())
	if args[0] != "dev" {
		args = append(args, "--temporal-addr", "127.0.0.1:1")
	}
	if got := runCommand(t.Context(), args, io.Discard, &stderr, b); got != code {
		t.Errorf("%v: exit code %d, want %d: %s", args, got, code, &stderr)
	}
	return stderr.String()
}

// Settings that are wrong by themselves, or contradict each other, are refused with what to do.
func TestRun_mistakes(t *testing.T) {
	for flags, want := range map[string]string{
		"api --max-plans=0": "--max-plans", "api --max-plan-tasks=-1": "--max-plan-tasks", "api --max-parallel=0": "--max-parallel", "api --task-timeout=0s": "--task-timeout",
		"api --gate-timeout=-1h": "--gate-timeout", "api --gate-timeout=10ms": "--gate-timeout", "api --gate-timeout=9000h": "--gate-timeout",
		"api --worker-timeout=1s": "--worker-timeout", "api --worker-timeout=1h": "--worker-timeout",
		"worker --ttl=999ms": "--ttl", "worker --ttl=-1h": "--ttl", // it would remove objectives at once

		"api --addr 0.0.0.0:0 --grpc-addr 127.0.0.1:0": `--addr "0.0.0.0:0" can be reached from other machines`,
		"api --addr 127.0.0.1:0 --grpc-addr 0.0.0.0:0": `--grpc-addr "0.0.0.0:0" can be reached from other machines`,
		"api --addr 127.0.0.1:0 --grpc-addr here":      `--grpc-addr "here" is not an address`,

		"api --addr 0.0.0.0:0":                                                  "have callers authenticated (the command keys create, then --auth keys)",
		"api --auth password":                                                   `--auth "password" is not one of the kinds: use none, or a list of keys, oidc and mtls`,
		"api --auth none,keys":                                                  "--auth none excludes the other kinds",
		"api --auth keys --allow-anyone":                                        "--allow-anyone contradicts --auth keys",
		"api --private-skills":                                                  "--private-skills needs callers who are authenticated",
		"api --auth oidc --oidc-issuer https://id.example.com":                  "--auth oidc needs --oidc-issuer and --oidc-audience",
		"api --auth keys --oidc-issuer https://id.example.com":                  "--oidc-issuer has no effect: add oidc to --auth",
		"api --auth oidc --oidc-issuer http://id.example.com --oidc-audience a": `--oidc-issuer "http://id.example.com" is not an https URL`,
		"api --auth keys --oidc-client-id a":                                    "--oidc-client-id has no effect: add oidc to --auth",
		"api --auth keys --oidc-client-secret a":                                "have no effect without --oidc-client-id",
		"api --auth oidc --oidc-issuer https://id.example.com --oidc-audience a --oidc-client-scopes a":              "have no effect without --oidc-client-id",
		"api --auth oidc --oidc-issuer https://id.example.com --oidc-audience a --oidc-client-id a --addr 0.0.0.0:0": "--oidc-client-id needs --public-url",
		"api --tls-cert a.pem":                    "--tls-cert and --tls-key belong together",
		"api --trusted-proxies 10.0.0.1":          `--trusted-proxies: "10.0.0.1" is not a network`,
		"api --auth mtls --client-ca ca.pem":      "--auth mtls needs --tls-cert, --tls-key and --client-ca",
		"api --auth keys --client-ca ca.pem":      "--client-ca has no effect: add mtls to --auth",
		"api --client-scopes all,runs:everything": `--client-scopes: unknown scope "runs:everything": the scopes are runs:create, runs:read`,

		"worker --answer-keys " + firstKey:                                                          "--answer-keys needs --public-url",
		"api --answer-keys " + firstKey:                                                             "--answer-keys needs --public-url",
		"api --public-url agent.example.com --answer-keys " + firstKey:                              `--public-url "agent.example.com" is not the URL of a server`,
		"api --public-url https://agent.example.com --answer-keys c2hvcnQ=":                         "--answer-keys: key 1 is not 32 bytes in base64",
		"api --public-url https://agent.example.com --answer-link-ttl 0s --answer-keys " + firstKey: "--answer-link-ttl must be above 0",
		"api --fallback echo --addr 127.0.0.1:-1":                                                   "turn on echo with --echo",
		"worker --fallback echo --temporal-wait 1ms":                                                "turn on echo with --echo",
	} {
		if said := refused(t, 2, Build{}, strings.Fields(flags)...); !strings.Contains(said, want) || strings.Contains(said, firstKey) {
			t.Errorf("%s: it said\n%s\nwant in it %s", flags, said, want)
		}
	}
}
