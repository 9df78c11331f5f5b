package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// published is a directory that "make release" has filled; without it tests release a
// small program.
var published = flag.String("published", "", "directory with a release to test")

// A small program takes the place of both: it prints the output that the release asks
// for, its user, and the contents of its file system.
const standIn = `package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "man" {
		os.WriteFile(filepath.Join(os.Args[3], "longhaul.1"), []byte(".TH LONGHAUL 1\n"), 0o644)
	}
	fmt.Println("longhaul v9", os.Args[1:])
}
`

// build releases the stand-in and returns the directory.
func build(t *testing.T) string {
	t.Helper()
	if *published != "" {
		return *published
	}
	source, dir := t.TempDir(), filepath.Join(t.TempDir(), "release")
	write(t, filepath.Join(source, "main.go"), standIn)
	write(t, filepath.Join(source, "go.mod"), "module longhaul\n\ngo 1.26.0\n")
	for _, name := range programs {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, fmt.Sprintf("%s-%s-%s", name, runtime.GOOS, runtime.GOARCH)), ".")
		cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	makeAll(t, dir)
	return dir
}

func makeAll(t *testing.T, dir string) {
	t.Helper()
	args := []string{"-dir", dir, "-root", "../..", "-version", "v9", "-commit", "0123", "-time", "2026-01-02T03:04:05Z", "-platforms", runtime.GOOS + "/" + runtime.GOARCH}
	if err := run(args, io.Discard); err != nil {
		t.Fatal(err)
	}
}

// The same programs make the same files, and there are checksums of all.
func TestRun(t *testing.T) {
	dir := build(t)
	cmd := exec.Command("sha256sum", "-c", "--quiet", "SHA256SUMS")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	sums := read(t, filepath.Join(dir, "SHA256SUMS"))
	here := runtime.GOOS + "-" + runtime.GOARCH
	for _, name := range []string{"longhaul-" + here, "longhaul-dev-" + here + ".tar.gz", "longhaul-" + here + ".cdx.json", "longhaul-image-linux-" + runtime.GOARCH + ".tar"} {
		if !strings.Contains(sums, "  "+name+"\n") {
			t.Errorf("no checksum of %s:\n%s", name, sums)
		}
	}
	if *published != "" {
		return
	}
	makeAll(t, dir)
	if again := read(t, filepath.Join(dir, "SHA256SUMS")); again != sums {
		t.Errorf("a second time: got\n%s\nwant\n%s", again, sums)
	}
}

func TestRun_wrongArguments(t *testing.T) {
	for _, tt := range []struct{ platforms, time, want string }{
		{"plan9/mips", "2026-01-02T03:04:05Z", "add " + runtime.GOOS},
		{"linux", "2026-01-02T03:04:05Z", "not a platform"},
		{"", "yesterday", "-time"},
	} {
		err := run([]string{"-dir", t.TempDir(), "-time", tt.time, "-platforms", tt.platforms}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v", tt, err)
		}
	}
}

// An archive has the program, its documents and its completions where systems look for
// them.
func TestArchive(t *testing.T) {
	dir := build(t)
	for _, program := range programs {
		data := read(t, filepath.Join(dir, fmt.Sprintf("%s-%s-%s.tar.gz", program, runtime.GOOS, runtime.GOARCH)))
		z, err := gzip.NewReader(strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		modes := map[string]int64{}
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			modes[h.Name] = h.Mode
		}
		for name, mode := range map[string]int64{
			"bin/": 0o755, "bin/" + program: 0o755, "share/man/man1/longhaul.1": 0o644, "share/doc/" + program + "/LICENSE": 0o644, "share/doc/" + program + "/sbom.cdx.json": 0o644,
			"share/bash-completion/completions/" + program: 0o644, "share/zsh/site-functions/_" + program: 0o644, "share/fish/vendor_completions.d/" + program + ".fish": 0o644,
		} {
			if got, ok := modes[name]; !ok || got != mode {
				t.Errorf("%s: %s has mode %o (there: %v), want %o", program, name, got, ok, mode)
			}
		}
	}
}

// The SBOM names the program with its hash, and each module once.
func TestSBOM(t *testing.T) {
	dir := build(t)
	for _, program := range programs {
		path := filepath.Join(dir, fmt.Sprintf("%s-%s-%s", program, runtime.GOOS, runtime.GOARCH))
		var bom struct {
			BOMFormat, SpecVersion string
			Metadata               struct {
				Component struct {
					Name   string
					Hashes []struct{ Content string }
				}
			}
			Components []struct {
				Name, PURL, Description string
				BOMRef                  string `json:"bom-ref"`
			}
		}
		if err := json.Unmarshal([]byte(read(t, path+".cdx.json")), &bom); err != nil {
			t.Fatal(err)
		}
		if bom.BOMFormat != "CycloneDX" || bom.Metadata.Component.Name != program || !strings.Contains(read(t, filepath.Join(dir, "SHA256SUMS")), bom.Metadata.Component.Hashes[0].Content+"  "+filepath.Base(path)+"\n") {
			t.Errorf("%s: %s %s of %+v", program, bom.BOMFormat, bom.SpecVersion, bom.Metadata.Component)
		}
		var names, refs []string
		for _, c := range bom.Components {
			names, refs = append(names, c.Name), append(refs, c.BOMRef)
			if c.PURL == "" && c.Description == "" {
				t.Errorf("%s: %s has neither a package URL nor a description", program, c.Name)
			}
		}
		if !slices.Contains(names, "std") {
			t.Errorf("%s: no standard library among %s", program, names)
		}
		slices.Sort(refs)
		if n := len(slices.Compact(slices.Clone(refs))); n != len(refs) {
			t.Errorf("%s: %d of %d references are different", program, n, len(refs))
		}
	}
}

// The image is valid, has the settings of Dockerfile, and the program runs in it without
// rights.
func TestImage(t *testing.T) {
	img, config := openImage(t)
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	if got := dockerfile(config.Config); !slices.Equal(got, instructions(t)) {
		t.Errorf("the image has %q, Dockerfile %q", got, instructions(t))
	}
	if config.Config.Labels["org.opencontainers.image.version"] == "" || config.Architecture != runtime.GOARCH {
		t.Errorf("labels %v, architecture %s", config.Config.Labels, config.Architecture)
	}

	if os.Getuid() != 0 {
		t.Log("not root: the program is not run in the image")
		return
	}
	root := unpack(t, img)
	out, err := inImage(root, config.Config.Env, "/longhaul", "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "longhaul ") {
		t.Errorf("in the image: %v: %s", err, out)
	}
	t.Logf("in the image: %s", out)
	for name, mode := range map[string]os.FileMode{"data": 0o755 | os.ModeDir, "tmp": 0o777 | os.ModeDir | os.ModeSticky, "longhaul": 0o755, "etc/passwd": 0o644} {
		if s, err := os.Stat(filepath.Join(root, name)); err != nil || s.Mode() != mode {
			t.Errorf("%s: %v, error %v; want mode %v", name, s, err, mode)
		}
	}
	if s, err := os.Stat(filepath.Join(root, "data")); err != nil || s.Sys().(*syscall.Stat_t).Uid != user {
		t.Errorf("the data directory has another owner: %+v, error %v", s, err)
	}
	if n := strings.Count(read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")), "BEGIN CERTIFICATE"); n < 80 {
		t.Errorf("%d certificates", n)
	}
}

// openImage opens the image for this machine.
func openImage(t *testing.T) (v1.Image, *v1.ConfigFile) {
	t.Helper()
	img, err := tarball.ImageFromPath(filepath.Join(build(t), "longhaul-image-linux-"+runtime.GOARCH+".tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return img, config
}

// dockerfile writes the settings of an image as instructions of a Dockerfile.
func dockerfile(c v1.Config) []string {
	var ports, volumes []string
	for port := range c.ExposedPorts {
		ports = append(ports, strings.TrimSuffix(port, "/tcp"))
	}
	slices.Sort(ports)
	for volume := range c.Volumes {
		volumes = append(volumes, volume)
	}
	list := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	return []string{
		"ENV " + strings.Join(slices.DeleteFunc(slices.Clone(c.Env), func(s string) bool { return strings.HasPrefix(s, "PATH=") }), " "),
		"VOLUME " + strings.Join(volumes, " "),
		"USER " + c.User,
		"EXPOSE " + strings.Join(ports, " "),
		fmt.Sprintf("HEALTHCHECK --interval=%s --timeout=%s --start-period=%s CMD %s", seconds(c.Healthcheck.Interval), seconds(c.Healthcheck.Timeout), seconds(c.Healthcheck.StartPeriod), list(c.Healthcheck.Test[1:])),
		"ENTRYPOINT " + list(c.Entrypoint),
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0fs", d.Seconds()) }

// instructions are the lines of the last stage of Dockerfile that say how the image runs.
func instructions(t *testing.T) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(read(t, "../../Dockerfile")) {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "FROM":
			found = nil
		case "ENV", "VOLUME", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT":
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// unpack writes the file system of an image to a directory.
func unpack(t *testing.T, img v1.Image) string {
	t.Helper()
	root := t.TempDir()
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // for the user without rights
			t.Fatal(err)
		}
	}
	files := mutate.Extract(img)
	defer files.Close()
	cmd := exec.Command("tar", "-x", "-p", "--same-owner", "-C", root)
	cmd.Stdin = files
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return root
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
