package serve

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

	"longhaul/internal/test"
)

// The page for operators says in which state a process is.
func TestOpsPage(t *testing.T) {
	up := func(context.Context) error { return nil }
	down := func(context.Context) error { return errors.New("refused") }
	for name, tt := range map[string]struct {
		journal, engine func(context.Context) error
		steps           []func(*opsPage)
		code            int
		body            string
	}{
		"starting":  {up, up, nil, 503, `{"status":"starting","parts":{"engine":"ready","journal":"ready"}}`},
		"ready":     {up, up, []func(*opsPage){(*opsPage).markStarted}, 200, `{"status":"ready","parts":{"engine":"ready","journal":"ready"}}`},
		"no engine": {up, down, []func(*opsPage){(*opsPage).markStarted}, 503, `{"status":"not ready","parts":{"engine":"not ready","journal":"ready"}}`},
		"draining":  {up, up, []func(*opsPage){(*opsPage).markStarted, (*opsPage).markDraining}, 503, `{"status":"draining","parts":{"engine":"ready","journal":"ready"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			page := &opsPage{log: zap.NewNop()}
			page.addCheck("journal", tt.journal)
			page.addCheck("engine", tt.engine)
			for _, step := range tt.steps {
				step(page)
			}
			w := httptest.NewRecorder()
			page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			if got := strings.TrimSpace(w.Body.String()); w.Code != tt.code || got != tt.body {
				t.Errorf("/readyz: %d %s, want %d %s", w.Code, got, tt.code, tt.body)
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
	test.Equal(t, "answers", want, got)
}

func TestWorkerSettings_limits(t *testing.T) {
	for _, tt := range []struct {
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
		got, err := workerSettings{Limits: tt.limits}.limits([]string{"echo", "llm"})
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: error %v, limits (-want +got):\n%s", tt.limits, err, diff)
		}
	}
}
