package commands

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// A certificate that this machine does not trust leads to the address for operators.
func TestHealth_untrusted(t *testing.T) {
	site := httptest.NewTLSServer(http.NotFoundHandler())
	defer site.Close()
	var out strings.Builder
	code := run(t.Context(), []string{"health", site.URL}, &out, &out)
	if code != 1 || !strings.Contains(out.String(), "set LONGHAUL_OPS_ADDR for the process and this command") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}

func runHealth(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), append([]string{"health"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// health finds the process of this machine by the settings of the process.
func TestHealth_url(t *testing.T) {
	for name, tt := range map[string]struct {
		command healthCommand
		want    string // or a part of the error
	}{
		"operators":      {healthCommand{OpsAddr: "127.0.0.1:9420", Addr: "127.0.0.1:7420"}, "http://127.0.0.1:9420/readyz"},
		"all addresses":  {healthCommand{OpsAddr: ":9420"}, "http://127.0.0.1:9420/readyz"},
		"unspecified":    {healthCommand{OpsAddr: "[::]:9420"}, "http://127.0.0.1:9420/readyz"},
		"API":            {healthCommand{Addr: "0.0.0.0:7420"}, "http://127.0.0.1:7420/readyz"},
		"API with TLS":   {healthCommand{Addr: "0.0.0.0:7420", TLSCert: "cert.pem"}, "set LONGHAUL_OPS_ADDR"},
		"alive":          {healthCommand{Addr: "127.0.0.1:7420", Alive: true}, "http://127.0.0.1:7420/healthz"},
		"URL":            {healthCommand{URL: "https://agent.example.com/", OpsAddr: ":1"}, "https://agent.example.com/readyz"},
		"URL with path":  {healthCommand{URL: "http://agent.example.com/a/readyz"}, "http://agent.example.com/a/readyz"},
		"no URL":         {healthCommand{URL: "127.0.0.1:9420"}, "is not the URL of a process"},
		"no address":     {healthCommand{OpsAddr: "9420"}, `--ops-addr "9420" is not an address`},
		"no API address": {healthCommand{Addr: "7420"}, `--addr "7420" is not an address`},
	} {
		got, err := tt.command.url()
		if err != nil {
			got = err.Error()
		}
		test.Contains(t, name, tt.want, got)
	}
}

// Nothing listens: health says so in one line, with what to do, and fails.
func TestHealth_noAnswer(t *testing.T) {
	code, _, stderr := runHealth(t, "http://127.0.0.1:1")
	if code != 1 || !strings.HasPrefix(stderr, "longhaul: no answer: ") || !strings.Contains(stderr, "start the process, or give its URL or its --ops-addr") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, errors %q", code, stderr)
	}
}

// The answer of a process is one line: its state, and the parts that are not ready.
func TestHealth_states(t *testing.T) {
	for body, want := range map[string]string{
		`{"status":"ready","parts":{"engine":"ready","journal":"ready"}}`:         "",
		`{"status":"starting","parts":{"engine":"ready"}}`:                        "starting",
		`{"status":"draining"}`:                                                   "draining",
		`{"status":"not ready","parts":{"engine":"not ready","journal":"ready"}}`: "not ready: engine cannot be reached or cannot work; the log of the process says why",
		`{"status":"not ready","engine":"not ready","journal":"not ready"}`:       "not ready: engine and journal cannot be reached or cannot work; the log of the process says why",
		"a page of a proxy": "503 Service Unavailable",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if want != "" && r.URL.Path == "/readyz" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, body)
		}))
		defer server.Close()
		code, stdout, stderr := runHealth(t, server.URL)
		if want == "" && (code != 0 || stdout != "ready\n") || want != "" && (code != 1 || stderr != "longhaul: "+server.URL+"/readyz: "+want+"\n") {
			t.Errorf("%s: exit code %d, %q, %q", body, code, stdout, stderr)
		}
		if code, stdout, _ := runHealth(t, server.URL, "--alive"); code != 0 || stdout != "alive\n" {
			t.Errorf("%s: --alive: exit code %d, output %q", body, code, stdout)
		}
	}
}
