package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
)

// The page for operators says in which state a process is, and health says it in one
// line.
func TestOpsPage(t *testing.T) {
	up := func(context.Context) error { return nil }
	down := func(context.Context) error { return errors.New("refused") }
	for name, test := range map[string]struct {
		journal, engine func(context.Context) error
		steps           []func(*opsPage)
		code            int
		body, health    string
	}{
		"starting": {up, up, nil, 503, `{"status":"starting","parts":{"engine":"ready","journal":"ready"}}`, "starting"},
		"ready":    {up, up, []func(*opsPage){(*opsPage).markStarted}, 200, `{"status":"ready","parts":{"engine":"ready","journal":"ready"}}`, ""},
		"no engine": {up, down, []func(*opsPage){(*opsPage).markStarted}, 503, `{"status":"not ready","parts":{"engine":"not ready","journal":"ready"}}`,
			"not ready: engine cannot be reached or cannot work; the log of the process says why"},
		"draining": {up, up, []func(*opsPage){(*opsPage).markStarted, (*opsPage).markDraining}, 503, `{"status":"draining","parts":{"engine":"ready","journal":"ready"}}`, "draining"},
	} {
		t.Run(name, func(t *testing.T) {
			page := &opsPage{log: zap.NewNop()}
			page.addCheck("journal", test.journal)
			page.addCheck("engine", test.engine)
			for _, step := range test.steps {
				step(page)
			}
			server := httptest.NewServer(page)
			defer server.Close()
			w := httptest.NewRecorder()
			page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			if got := strings.TrimSpace(w.Body.String()); w.Code != test.code || got != test.body {
				t.Errorf("/readyz: %d %s, want %d %s", w.Code, got, test.code, test.body)
			}
			code, stdout, stderr := runHealth(t, server.URL)
			want := ""
			if test.health != "" {
				want = "longhaul: " + server.URL + "/readyz: " + test.health + "\n"
			}
			if diff := cmp.Diff(want, stderr); diff != "" || (code == 0) != (test.health == "") || (stdout == "ready\n") != (code == 0) {
				t.Errorf("health: exit code %d, output %q, errors (-want +got):\n%s", code, stdout, diff)
			}
			if code, stdout, _ := runHealth(t, server.URL, "--alive"); code != 0 || stdout != "alive\n" {
				t.Errorf("health --alive: exit code %d, output %q", code, stdout)
			}
		})
	}
}

// A probe that asks for one part gets the state of that alone: reads work without an engine.
// A process that drains is not ready for it, and one that has no such part neither.
func TestOpsPage_part(t *testing.T) {
	page := &opsPage{log: zap.NewNop()}
	page.addCheck("journal", func(context.Context) error { return nil })
	page.addCheck("engine", func(context.Context) error { return errors.New("refused") })
	page.markStarted()
	ask := func(part string) string {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz?part="+part, nil))
		return fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String()))
	}
	got := []string{ask("journal"), ask("engine"), ask("jurnal")}
	page.markDraining()
	got = append(got, ask("journal"))
	want := []string{
		`200 {"status":"ready","parts":{"journal":"ready"}}`, `503 {"status":"not ready","parts":{"engine":"not ready"}}`,
		`503 {"status":"not ready","parts":{"jurnal":"unknown"}}`, `503 {"status":"draining","parts":{"journal":"ready"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func runHealth(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = Run(t.Context(), append([]string{"health"}, args...), &out, &errs, Build{})
	return code, out.String(), errs.String()
}

// health finds the process of this machine by the settings of the process.
func TestHealth_url(t *testing.T) {
	for name, test := range map[string]struct {
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
		got, err := test.command.url()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// Nothing listens: health says so in one line, and fails.
func TestHealth_noAnswer(t *testing.T) {
	code, _, stderr := runHealth(t, "http://127.0.0.1:1")
	if code != 1 || !strings.HasPrefix(stderr, "longhaul: no answer: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, errors %q", code, stderr)
	}
}

func TestWorkerSettings_limits(t *testing.T) {
	for _, test := range []struct {
		limits []string
		want   map[string]int
		err    string
	}{
		{nil, map[string]int{}, ""},
		{[]string{"llm=5", "echo=1"}, map[string]int{"llm": 5, "echo": 1}, ""},
		{[]string{"llm"}, nil, `--limit "llm" is not KIND=N`},
		{[]string{"llm=0"}, nil, `--limit "llm=0" is not KIND=N`},
		{[]string{"lmm=5"}, nil, `--limit "lmm=5": this worker has the executors echo, llm`},
	} {
		got, err := workerSettings{Limits: test.limits}.limits([]string{"echo", "llm"})
		if diff := cmp.Diff(test.want, got); diff != "" || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: error %v, limits (-want +got):\n%s", test.limits, err, diff)
		}
	}
}
