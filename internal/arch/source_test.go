package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const module = "longhaul"

// A source is one Go file.
type source struct {
	path string // from the root of the repository
	room string // its directory
	test bool
	set  *token.FileSet
	file *ast.File
}

// repository returns the sources of this repository, which several tests read.
var repository = sync.OnceValues(func() ([]source, error) { return load(os.DirFS("../..")) })

// load parses every Go file of the repository, in all of its modules. It does not
// run a command for that: the cache of test results does not notice files that a
// command reads.
func load(repository fs.FS) (sources []source, err error) {
	set := token.NewFileSet()
	err = fs.WalkDir(repository, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" || base == "bin"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources = append(sources, source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), set, file})
		return nil
	})
	return sources, err
}

// imports lists the paths that s imports.
func (s source) imports() (paths []string) {
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// called returns the name by which s calls the package at an import path, ""
// if it does not import it.
func (s source) called(importPath string) string {
	for _, spec := range s.file.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

// lines counts the lines from one place to another, both included.
func (s source) lines(from, to token.Pos) int {
	return s.set.Position(to).Line - s.set.Position(from).Line + 1
}

// ours returns the room that an import path means, and whether it is ours.
func ours(importPath string) (room string, ok bool) {
	if importPath == module {
		return ".", true
	}
	room, ok = strings.CutPrefix(importPath, module+"/")
	return room, ok
}

// among reports whether name is one of patterns, of which those that end in
// "/*" mean everything below, and "*" means everything.
func among(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		below, all := strings.CutSuffix(p, "*")
		return name == p || all && strings.HasPrefix(name, below)
	})
}

// under reports whether an import path is a module's or a package's, or below.
func under(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}
