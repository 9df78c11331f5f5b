package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// What releases and the image link into a program is what it says about itself.
func TestVersion_linked(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text := test.Value(os.ReadFile(filepath.Join("..", "..", name)))(t)
		return string(text)
	}
	makefile := read("Makefile")
	room := regexp.MustCompile(`(?m)^linked +:= (.*)$`).FindStringSubmatch(makefile)
	if room == nil {
		t.Fatal("the Makefile does not say where the version is")
	}
	link := regexp.MustCompile(`-X \S+=\$\w+ -X \S+=\$\w+ -X \S+=\$\w+`)
	flags := link.FindString(read("Dockerfile"))
	released := regexp.MustCompile(`\$\((\w+)\)`).ReplaceAllString(strings.ReplaceAll(makefile, "$(linked)", room[1]), "$$$1")
	if got := link.FindString(released); got != flags || flags == "" {
		t.Fatalf("releases are linked with %q, the image with %q", got, flags)
	}
	values := map[string]string{"VERSION": "v1.2.3", "COMMIT": "0123456789abcdef", "TIME": "2026-01-02T03:04:05Z"}
	program := filepath.Join(t.TempDir(), "longhaul")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", os.Expand(flags, func(name string) string { return values[name] }), "-o", program, ".")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, "version").CombinedOutput()
	if want := "longhaul v1.2.3 (commit 0123456789ab, 2026-01-02)\n"; err != nil || string(out) != want {
		t.Errorf("the program says %q, %v; want %q", out, err, want)
	}
}
