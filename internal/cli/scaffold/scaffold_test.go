package scaffold_test

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/modfile"

	"longhaul/internal/cli/scaffold"
	"longhaul/internal/test"
)

const root = "../../.."

var update = flag.Bool("update", false, "write the files of examples/program")

// The example is the output of the command new, apart from its go.mod: as part of the
// workspace it needs few requirements.
func TestFiles_example(t *testing.T) {
	want := test.Value(scaffold.Files(scaffold.Config{Module: "example.com/release"}))(t)
	dir := filepath.Join(root, "examples", "program")
	for name, text := range want {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if *update {
			test.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
			test.OK(t, os.WriteFile(path, text, 0o644))
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		test.Equal(t, fmt.Sprintf("examples/program/%s is not what longhaul new writes (go test ./internal/cli/scaffold -update writes it):", name), string(text), string(got))
	}
}

func TestFiles_formatted(t *testing.T) {
	for _, module := range []string{"example.com/release", "aaa", "zzz.example.com/a-long/path/v2-tool"} {
		files := test.Value(scaffold.Files(scaffold.Config{Module: module}))(t)
		for name, text := range files {
			if strings.Contains(string(text), "[[") {
				t.Errorf("%s of %s has a delimiter of templates", name, module)
			}
			if filepath.Ext(name) != ".go" {
				continue
			}
			formatted := test.Value(format.Source(text))(t)
			test.Equal(t, fmt.Sprintf("%s of %s: not formatted", name, module), string(formatted), string(text))
		}
	}
}

func TestWrite(t *testing.T) {
	source := absolute(t)
	dir := filepath.Join(t.TempDir(), "deep", "press")
	names := test.Value(scaffold.Write(scaffold.Config{Dir: dir, Source: source, Module: "example.com/press"}))(t)
	want := []string{".github/workflows/test.yml", ".gitignore", ".ko.yaml", "README.md", "checksum/checksum.go", "checksum/checksum_test.go", "dist/hello.txt", "go.mod", "go.sum", "main.go", "main_test.go", "playbooks/release.yaml"}
	test.Equal(t, "files", want, names)
	mod := goMod(t, dir)
	var direct []string
	for _, r := range mod.Require {
		if !r.Indirect {
			direct = append(direct, r.Mod.Path)
		}
	}
	replaced := replacements(mod)
	if !slices.Equal(direct, []string{"longhaul", "longhaul/dev"}) || mod.Module.Mod.Path != "example.com/press" {
		t.Errorf("module %s requires %q", mod.Module.Mod.Path, direct)
	}
	for module, dir := range map[string]string{"longhaul": ".", "longhaul/dev": "dev", "cloud.google.com/go/storage": "dev/stubs/storage"} {
		test.Is(t, module+" is replaced by", filepath.Join(source, dir), replaced[module])
	}
	for module, dir := range replaced {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			t.Errorf("%s is replaced by no module: %v", module, err)
		}
	}
	if _, err := scaffold.Write(scaffold.Config{Dir: dir, Source: source, Module: "example.com/press"}); err == nil || err.Error() != dir+" is not empty: choose a new directory" {
		t.Errorf("a second time: error %v", err)
	}
}

// The workflow has go.mod find Longhaul where it has cloned it.
func TestWrite_workflow(t *testing.T) {
	dir := t.TempDir()
	test.OK(t, test.Err(scaffold.Write(scaffold.Config{Dir: dir, Source: absolute(t), Module: "example.com/press"})))
	text := test.Value(os.ReadFile(filepath.Join(dir, ".github", "workflows", "test.yml")))(t)
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	test.OK(t, yaml.Unmarshal(text, &workflow))
	for _, step := range workflow.Jobs["test"].Steps {
		if strings.HasPrefix(step.Run, "sed ") {
			cmd := exec.Command("sh", "-c", step.Run)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", step.Run, err, out)
			}
		}
	}
	for module, at := range replacements(goMod(t, dir)) {
		if rest, ok := strings.CutPrefix(at, "./longhaul"); !ok || rest != "" && rest[0] != '/' {
			t.Errorf("%s is replaced by %s, which is not in the clone", module, at)
		}
	}
}

// goMod reads the go.mod of a program.
func goMod(t *testing.T, dir string) *modfile.File {
	t.Helper()
	text := test.Value(os.ReadFile(filepath.Join(dir, "go.mod")))(t)
	mod := test.Value(modfile.Parse("go.mod", text, nil))(t)
	return mod
}

// replacements are the directories that replace modules, by module.
func replacements(mod *modfile.File) map[string]string {
	dirs := map[string]string{}
	for _, r := range mod.Replace {
		dirs[r.Old.Path] = r.New.Path
	}
	return dirs
}

// Nothing is written if the program could not be built.
func TestWrite_refuses(t *testing.T) {
	for _, tt := range []struct{ module, source, want string }{
		{"a program", absolute(t), `the path of a module, such as example.com/program: malformed import path "a program": invalid char ' '`},
		{"example.com/press", t.TempDir(), "no such file"},
	} {
		dir := filepath.Join(t.TempDir(), "press")
		_, err := scaffold.Write(scaffold.Config{Dir: dir, Source: tt.source, Module: tt.module})
		test.Fails(t, tt.module, tt.want, err)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: there is a directory", tt.module)
		}
	}
}

func TestIsSource(t *testing.T) {
	for dir, want := range map[string]bool{root: true, root + "/dev": false, root + "/internal": false, t.TempDir(): false} {
		test.Is(t, fmt.Sprintf("IsSource(%s)", dir), want, scaffold.IsSource(dir))
	}
}

func absolute(t *testing.T) string {
	t.Helper()
	dir := test.Value(filepath.Abs(root))(t)
	return dir
}
