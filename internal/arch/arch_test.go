package arch_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/mod/modfile"

	"longhaul/internal/test"
)

func TestRepository(t *testing.T) {
	sources := test.Value(repository())(t)
	seen := map[string]bool{}
	for _, s := range sources {
		seen[s.room] = true
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			for _, wrong := range rules[name](s) {
				t.Errorf("%s: %s", s.path, wrong)
			}
		}
	}
	for _, wrong := range checkTypes(sources) {
		t.Error(wrong)
	}
	for _, room := range []string{"a2a", "opt", "workflows", "api", "internal/journal", "internal/arch", "cmd/longhaul", "dev/temporald"} {
		if !seen[room] {
			t.Errorf("no file of %s was read", room)
		}
	}
}

// Two branches that each add a migration take the same number without a conflict. Each is one
// file for each database that it is for.
func TestMigrations(t *testing.T) {
	files, err := os.ReadDir("../journal/db/migrations")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations, error %v", len(files), err)
	}
	next, before := 14, "" // builds before v0.1.0 have those before
	for _, f := range files {
		name, _, _ := strings.Cut(f.Name(), ".")
		if name == before {
			continue
		}
		if want := fmt.Sprintf("%04d_", next); !strings.HasPrefix(name, want) {
			t.Errorf("migration %s begins with %q, want %q: take the next free number", f.Name(), f.Name()[:5], want)
		}
		next, before = next+1, name
	}
}

// Modules with other versions of one dependency build all that imports it again: the SDK, and so most of
// the service.
func TestModules_sameVersions(t *testing.T) {
	versions := map[string]string{}
	for _, name := range []string{"go.mod", "dev/go.mod", "examples/worker/go/go.mod"} {
		text := test.Value(os.ReadFile("../../" + name))(t)
		mod := test.Value(modfile.Parse(name, text, nil))(t)
		for _, r := range mod.Require {
			if v := versions[r.Mod.Path]; v != "" && v != r.Mod.Version {
				t.Errorf("%s has %s, and go.mod %s", name, r.Mod, v)
			}
			if name == "go.mod" {
				versions[r.Mod.Path] = r.Mod.Version
			}
		}
	}
	if len(versions) < 50 {
		t.Errorf("go.mod requires %d modules", len(versions))
	}
}

// Each file here breaks one rule or none, and the rules must find exactly that.
func TestRules(t *testing.T) {
	long := strings.Repeat("\t_ = 0\n", maxFunction)
	tests := []struct {
		path, text string
		want       string // part of the one thing that is wrong, "" if nothing is
	}{
		{"opt/plan.go", `import "longhaul/a2a"`, ""},
		{"a2a/task.go", `import "longhaul/opt"`, "a2a imports opt"},
		{"opt/plan.go", `import j "longhaul/internal/journal"`, "opt imports internal/journal"},
		{"api/send.go", `import "longhaul/workflows"`, "api imports workflows"},
		{"api/send.go", `import _ "longhaul/internal/journal"`, "api imports internal/journal"},
		{"api/send_test.go", `import "longhaul/internal/journal"`, ""},
		{"api/send_test.go", `import "longhaul/internal/cli"`, "api imports internal/cli"},
		{"api/wire/part.go", `import "longhaul/api"`, "api/wire imports api"},
		{"api/wire/part.go", `import "longhaul/api/service"`, ""},
		{"api/service/task.go", `import "longhaul/api/wire"`, "api/service imports api/wire"},
		{"api/service/task.go", `import "longhaul/internal/journal"`, "api/service imports internal/journal"},
		{"api/service/task.go", `import "github.com/labstack/echo/v4"`, "belongs to [api]"},
		{"api/grpc/operation.go", `import "longhaul/api"`, "api/grpc imports api"},
		{"api/send.go", `import "longhaul/api/grpc"`, "api imports api/grpc"},
		{"activities/llm/llm.go", `import "longhaul/activities/echo"`, "activities/llm imports activities/echo"},
		{"activities/llm/llm_test.go", `import "longhaul/activities/executortest"`, ""},
		{"activities/llm/llm.go", `import "longhaul/activities/executortest"`, "activities/llm imports activities/executortest"},
		{"cmd/longhaul/main.go", `import "longhaul/api"`, "cmd/longhaul imports api"},
		{"cmd/longhaul/main.go", `import "longhaul"`, ""},
		{"dev/main.go", `import ("longhaul"; "longhaul/dev/temporald")`, ""},
		{"dev/main.go", `import "longhaul/api"`, "dev imports api"},
		{"dev/e2e/kill_test.go", `import "longhaul/api"`, ""},
		{"workflows/plan.go", `import "longhaul/dev/temporald"`, "workflows imports dev/temporald"},
		{"internal/cache/cache.go", ``, "add it to the table"},
		{"billing/billing.go", ``, "add it to the table"},
		{"longhaul.go", `import "longhaul/internal/cli"`, ""},
		{"longhaul.go", `import "longhaul/internal/journal"`, ". imports internal/journal"},
		{"api/send.go", `import "longhaul"`, "api imports ."},
		{"examples/program/main.go", `import ("longhaul"; "longhaul/dev/temporald")`, ""},
		{"examples/program/main.go", `import "longhaul/internal/cli"`, "examples/program imports internal/cli"},

		{"api/send.go", `import "github.com/labstack/echo/v4"`, ""},
		{"client/send.go", `import "github.com/labstack/echo/v4"`, "belongs to [api]"},
		{"api/grpc/operation.go", `import "github.com/a2aproject/a2a-go/v2/a2apb/v1"`, ""},
		{"api/grpc/operation.go", `import "github.com/a2aproject/a2a-go/v2/a2asrv"`, "belongs to [. activities/served dev/e2e dev/e2e/*]"},
		{"api/send.go", `import "google.golang.org/grpc/status"`, "belongs to [api/grpc"},
		{"workflows/plan.go", `import "go.temporal.io/sdk/workflow"`, ""},
		{"api/send.go", `import sdk "go.temporal.io/sdk/client"`, "belongs to"},
		{"activities/echo/echo.go", `import "go.temporal.io/sdk/activity"`, "belongs to"},
		{"api/list.go", `import "database/sql"`, "belongs to"},
		{"api/list_test.go", `import "database/sql"`, "belongs to"},
		{"internal/journal/db/open.go", `import _ "modernc.org/sqlite"`, ""},
		{"internal/cli/dev.go", `import "go.temporal.io/server/temporal"`, "belongs to [dev/temporald dev/temporald/layout dev/e2e/cluster dev/e2e/faulty]"},
		{"api/send_test.go", `import "github.com/stretchr/testify/require"`, "belongs to []"},

		{"opt/plan.go", `import "sync"`, "opt is pure"},
		{"opt/plan.go", `import "net/http"`, "opt is pure"},
		{"a2a/task.go", `import "go.uber.org/zap"`, "a2a is pure"},
		{"opt/plan_test.go", `import "math/rand/v2"`, ""},

		{"workflows/plan.go", `import "time"; const hour = time.Hour`, ""},
		{"workflows/plan.go", `import "time"; var now = time.Now`, "uses time.Now"},
		{"workflows/plan.go", `import clock "time"; func f() { clock.Sleep(1) }`, "uses time.Sleep"},
		{"workflows/plan.go", `import "math/rand/v2"`, "has to replay and imports math/rand/v2"},
		{"workflows/plan.go", `import "github.com/gofrs/uuid/v5"`, "has to replay and imports"},
		{"workflows/plan.go", `func f() { go f() }`, "starts a goroutine"},
		{"workflows/plan_test.go", `import "time"; var now = time.Now`, ""},
		{"activities/run.go", `import "time"; var now = time.Now`, ""},

		{"activities/helpers/a.go", ``, `the name "helpers" says nothing`},
		{"api/init.go", `func init() {}`, "init function"},
		{"api/init.go", `type server struct{}; func (server) init() {}`, ""},
		{"api/long.go", "func f() {\n" + long + "}", "f has 62 lines"},
		{"api/many.go", "func f(a, b int, c, d string, e, g bool) {}", "f has 6 parameters"},
		{"api/long_test.go", "func f() {\n" + long + "}", ""},
		{"api/long.go", strings.Repeat("// more\n", maxFile), "the file has 60"},
		{"api/testdata/broken.go", `import "longhaul/internal/cli"`, ""},
		{"node_modules/x/x.go", `import "longhaul/internal/cli"`, ""},
	}
	for _, tt := range tests {
		sources, err := load(fstest.MapFS{tt.path: {Data: []byte("package x\n\n" + tt.text + "\n")}, "README.md": {}})
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		var got []string
		for _, s := range sources {
			for _, name := range slices.Sorted(maps.Keys(rules)) {
				got = append(got, rules[name](s)...)
			}
		}
		switch {
		case tt.want == "" && len(got) == 0:
		case tt.want == "" || len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), tt.want):
			t.Errorf("%s with %.60q: %q, want %q", tt.path, tt.text, got, tt.want)
		}
	}
}

func TestCheckTypes(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 6 {
		text := "package x\n\ntype small int\n"
		text += fmt.Sprintf("func (b *big) m%d() {}\n", i)
		if i < 3 {
			text += "func (small) m() {}\n"
		}
		files[fmt.Sprintf("api/big%d.go", i)] = &fstest.MapFile{Data: []byte(text)}
		files[fmt.Sprintf("api/big%d_test.go", i)] = &fstest.MapFile{Data: []byte("package x\n\nfunc (small) m() {}\n")}
	}
	sources := test.Value(load(files))(t)
	want := []string{"api.big has methods in 6 files, more than 3"}
	test.Equal(t, "checkTypes", want, checkTypes(sources))
}

// The table has no cycles: if one room may import another, directly or not, the
// other may not import the first.
func TestRooms_oneWay(t *testing.T) {
	for _, r := range rooms {
		var way []string
		var visit func(name string)
		visit = func(name string) {
			i := slices.IndexFunc(rooms, func(r room) bool { return r.name == name })
			if i < 0 || slices.Contains(way, name) || slices.Contains(rooms[i].imports, "*") {
				return
			}
			way = append(way, name)
			for _, next := range rooms[i].imports {
				if next != name { // siblings may import each other
					visit(next)
				}
			}
		}
		for _, next := range r.imports {
			if next != r.name {
				visit(next)
			}
		}
		if slices.Contains(way, r.name) {
			t.Errorf("from %s back to it: %v", r.name, way)
		}
	}
}

func TestAmong(t *testing.T) {
	got := map[string]bool{}
	for _, name := range []string{"api", "api/wire", "api/wire/x", "apis", "a2a"} {
		got[name] = among(name, []string{"api/*", "a2a"})
	}
	want := map[string]bool{"api": false, "api/wire": true, "api/wire/x": true, "apis": false, "a2a": true}
	test.Equal(t, "among api/* and a2a", want, got)
}
