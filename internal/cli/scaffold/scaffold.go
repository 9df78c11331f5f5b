// Package scaffold writes the source of a new program: an executor, a playbook with an
// approval, their tests and a README.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"golang.org/x/mod/module"
)

//go:embed all:template
var templates embed.FS

// Config describes the program and its directory.
type Config struct {
	Dir    string // which does not exist, or is empty
	Source string // directory with the source of Longhaul
	Module string // path of the new module; its last element is the name of the program
}

// Name is the name of the program.
func (c Config) Name() string { return path.Base(c.Module) }

// Title is Name with a capital letter.
func (c Config) Title() string {
	r := []rune(c.Name())
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// CheckModule returns why path cannot be the path of a module, nil if it can.
func CheckModule(path string) error {
	if err := module.CheckImportPath(path); err != nil {
		return fmt.Errorf("the path of a module, such as example.com/program: %w", err)
	}
	return nil
}

// Write writes the program and returns the paths of its files below Dir. It writes
// nothing if there is something in Dir already.
func Write(c Config) ([]string, error) {
	if err := CheckModule(c.Module); err != nil {
		return nil, err
	}
	files, err := Files(c)
	if err != nil {
		return nil, err
	}
	if files["go.mod"], err = c.goMod(); err != nil {
		return nil, err
	}
	if files["go.sum"], err = os.ReadFile(filepath.Join(c.Source, devModule, "go.sum")); err != nil {
		return nil, err
	}
	if err := checkEmpty(c.Dir); err != nil {
		return nil, err
	}
	return write(c.Dir, files)
}

// Files returns the files of Write, except for go.mod and go.sum, by paths with slashes.
func Files(c Config) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(templates, "template", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		// Playbooks are full of the usual delimiters.
		t, err := template.New(path.Base(name)).Delims("[[", "]]").ParseFS(templates, name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, c); err != nil {
			return err
		}
		files[strings.TrimSuffix(strings.TrimPrefix(name, "template/"), ".tmpl")] = b.Bytes()
		return nil
	})
	return files, err
}

// checkEmpty refuses a directory that has something in it.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: choose a new directory", dir)
	}
	return nil
}

// write writes files below dir, and returns their names in order.
func write(dir string, files map[string][]byte) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, files[name], 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
