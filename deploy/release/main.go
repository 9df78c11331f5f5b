// Release makes the published files for programs that are built: for each an SBOM and an
// archive with its manual pages and completions, images for Linux, what installs the
// archives, and the checksums of all. It is a module of its own, so that no program gets the libraries for images.
//
// Everything follows from the programs and the flags: the same input makes the same
// bytes.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A release has the data of the source.
type release struct {
	dir     string // with the programs, and for the result
	root    string // of the source
	version string
	commit  string
	time    time.Time // of the commit
	url     string    // of the directory that the files are published in
}

// A platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// programs are the names of the programs in the directory; their platforms follow.
var programs = []string{"longhaul", "longhaul-dev"}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	r := release{}
	flags.StringVar(&r.dir, "dir", "bin/release", "directory with the programs, each as NAME-OS-ARCH, and for the result")
	flags.StringVar(&r.root, "root", ".", "directory with the source")
	flags.StringVar(&r.version, "version", "", "version of the programs")
	flags.StringVar(&r.commit, "commit", "", "commit that they were built from")
	flags.StringVar(&r.url, "url", "", "URL of the directory that the files are published in; without it there are no formulas, and the script asks for it")
	at := flags.String("time", "", "time of the commit (RFC 3339), which all files get")
	named := flags.String("platforms", "", "platforms of the programs, such as linux/amd64, separated by spaces")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if r.time, err = time.Parse(time.RFC3339, *at); err != nil {
		return fmt.Errorf("-time: %w", err)
	}
	r.time = r.time.UTC()
	platforms, err := parsePlatforms(*named)
	if err != nil {
		return err
	}
	for _, program := range programs {
		if err := r.publish(out, program, platforms); err != nil {
			return err
		}
	}
	if err := writeInstallers(r, platforms); err != nil {
		return err
	}
	return checksums(r.dir)
}

// parsePlatforms reads a list of platforms. The one of this machine has to be among
// them: its program prints the manual pages.
func parsePlatforms(list string) ([]platform, error) {
	var platforms []platform
	for name := range strings.FieldsSeq(list) {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return nil, fmt.Errorf("-platforms: %q is not a platform, such as linux/amd64", name)
		}
		platforms = append(platforms, platform{system, arch})
	}
	if here := (platform{runtime.GOOS, runtime.GOARCH}); !slices.Contains(platforms, here) {
		return nil, fmt.Errorf("-platforms: add %s, whose programs print the manual pages on this machine", here)
	}
	return platforms, nil
}

// publish writes everything about one program.
func (r release) publish(out io.Writer, program string, platforms []platform) error {
	docs, err := r.documents(program)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		path := r.path(program, p, "")
		sbom, err := r.sbom(program, path)
		if err != nil {
			return fmt.Errorf("write the SBOM of %s: %w", path, err)
		}
		if err := os.WriteFile(r.path(program, p, ".cdx.json"), sbom, 0o644); err != nil {
			return err
		}
		binary, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := append(slices.Clone(docs),
			file{name: "bin/" + program, mode: 0o755, data: binary},
			file{name: "share/doc/" + program + "/sbom.cdx.json", mode: 0o644, data: sbom})
		if err := writeArchive(r.path(program, p, ".tar.gz"), files, r.time); err != nil {
			return fmt.Errorf("write an archive: %w", err)
		}
		if program == "longhaul" && p.os == "linux" {
			digest, err := r.writeImage(r.path("longhaul-image", p, ".tar"), binary, p)
			if err != nil {
				return fmt.Errorf("write an image: %w", err)
			}
			fmt.Fprintf(out, "image for %s: %s\n", p, digest)
		}
	}
	return nil
}

func (r release) path(name string, p platform, ending string) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s-%s-%s%s", name, p.os, p.arch, ending))
}

// documents are the files of a program that are the same on all platforms, at their
// places below /usr/local.
func (r release) documents(program string) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: "share/doc/" + program + "/" + name, mode: 0o644, data: data})
	}
	path, err := filepath.Abs(r.path(program, platform{runtime.GOOS, runtime.GOARCH}, ""))
	if err != nil {
		return nil, err
	}
	scripts, err := completions(program, path)
	if err != nil {
		return nil, err
	}
	pages, err := manual(path)
	return slices.Concat(files, scripts, pages), err
}

// completions returns the scripts that complete a program's words in shells.
func completions(program, path string) (files []file, err error) {
	for shell, name := range map[string]string{
		"bash": "share/bash-completion/completions/" + program,
		"zsh":  "share/zsh/site-functions/_" + program,
		"fish": "share/fish/vendor_completions.d/" + program + ".fish",
	} {
		script, err := output(path, "completion", shell, "--name", program)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, mode: 0o644, data: script})
	}
	return files, nil
}

// manual returns the pages of a program's manual.
func manual(path string) (files []file, err error) {
	pages, err := os.MkdirTemp("", "longhaul-man")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(pages)
	if _, err := output(path, "man", "--dir", pages); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: "share/man/man1/" + filepath.Base(name), mode: 0o644, data: data})
	}
	return files, nil
}

// output runs a program and returns what it prints.
func output(program string, args ...string) ([]byte, error) {
	var errs bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stderr = &errs
	cmd.Dir = os.TempDir() // there is no file with settings
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", cmd, err, errs.String())
	}
	return out, nil
}

// checksums writes the checksums of all files in dir, as sha256sum -c reads them.
func checksums(dir string) error {
	const name = "SHA256SUMS"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, name), []byte(sums.String()), 0o644)
}
