package arch_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A program is all packages of the repository without their tests, with the types of what
// they use of each other. Packages of others are empty in it, so that nothing has to be
// compiled: values of their types have no type.
type program struct {
	packages map[string]*unit // by room
}

// A unit is one package.
type unit struct {
	*types.Package
	sources []source
	info    types.Info
	checked bool
}

func newProgram(sources []source) *program {
	p := &program{packages: map[string]*unit{}}
	for _, s := range sources {
		if s.test {
			continue
		}
		if p.packages[s.room] == nil {
			p.packages[s.room] = &unit{}
		}
		p.packages[s.room].sources = append(p.packages[s.room].sources, s)
	}
	for room := range p.packages {
		p.check(room)
	}
	return p
}

// check finds out the types of one package and those that it imports.
func (p *program) check(room string) *types.Package {
	u := p.packages[room]
	if u.checked {
		return u.Package
	}
	u.checked = true
	u.info = types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	cfg := types.Config{Importer: p, Error: func(error) {}, FakeImportC: true}
	var files []*ast.File
	for _, s := range u.sources {
		files = append(files, s.file)
	}
	u.Package, _ = cfg.Check(path.Join(module, room), u.sources[0].set, files, &u.info)
	return u.Package
}

var majorVersion = regexp.MustCompile(`/v\d+$`)

// Import makes p the importer of its packages.
func (p *program) Import(importPath string) (*types.Package, error) {
	if room, ok := ours(importPath); ok && p.packages[room] != nil {
		return p.check(room), nil
	}
	empty := types.NewPackage(importPath, path.Base(majorVersion.ReplaceAllString(importPath, "")))
	empty.MarkComplete()
	return empty, nil
}

// methods returns the number of methods that can be called on each struct of a package:
// its own, the ones of the structs that it embeds, and of the types that wrap it alone.
func (p *program) methods(room string) map[string]int {
	scope := p.packages[room].Scope()
	structs := map[string]*types.Named{}
	wraps := map[*types.Named]*types.Named{}
	for _, name := range scope.Names() {
		named, s := structOf(scope.Lookup(name).Type())
		if obj, isType := scope.Lookup(name).(*types.TypeName); s == nil || !isType || obj.IsAlias() {
			continue
		}
		structs[name] = named
		if s.NumFields() == 1 && s.Field(0).Embedded() {
			wraps[named], _ = structOf(s.Field(0).Type())
		}
	}
	all := map[string]int{}
	for name, named := range structs {
		all[name] = promoted(named, map[*types.Named]bool{})
		for wrapper := range wraps {
			if wrapsAll(wraps, wrapper, named) {
				all[name] += wrapper.NumMethods()
			}
		}
	}
	return all
}

// wrapsAll reports whether wrapper consists of inner alone, through others or not.
func wrapsAll(wraps map[*types.Named]*types.Named, wrapper, inner *types.Named) bool {
	for range len(wraps) { // they may form a cycle
		if wrapper = wraps[wrapper]; wrapper == nil || wrapper == inner {
			break
		}
	}
	return wrapper != nil && wrapper == inner
}

// promoted counts the methods of a struct and of our structs that it embeds.
func promoted(t *types.Named, seen map[*types.Named]bool) int {
	if seen[t] {
		return 0
	}
	seen[t] = true
	n := t.NumMethods()
	_, s := structOf(t)
	for i := range s.NumFields() {
		if inner, _ := structOf(s.Field(i).Type()); inner != nil && s.Field(i).Embedded() {
			n += promoted(inner, seen)
		}
	}
	return n
}

// structOf returns the named struct that t is or points to, nil if there is none.
func structOf(t types.Type) (*types.Named, *types.Struct) {
	if t == nil {
		return nil, nil
	}
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return nil, nil
	}
	named = named.Origin()
	s, ok := named.Underlying().(*types.Struct)
	if !ok {
		return nil, nil
	}
	return named, s
}

// calls returns for each file of a package the files with functions that it uses.
func (u *unit) calls() map[string][]string {
	at := map[types.Object]string{} // the files of the functions
	for _, s := range u.sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				at[u.info.Defs[f.Name]] = s.path
			}
		}
	}
	calls := map[string][]string{}
	for _, s := range u.sources {
		to := map[string]bool{}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if f, ok := u.info.Uses[id].(*types.Func); ok && at[f.Origin()] != "" {
					to[at[f.Origin()]] = true
				}
			}
			return true
		})
		calls[s.path] = slices.Sorted(maps.Keys(to))
	}
	return calls
}

// inCircles counts the files in circles of more than three that reach each other.
func inCircles(calls map[string][]string) (n int) {
	reach := map[string]map[string]bool{}
	for from := range calls {
		reached := map[string]bool{}
		for next := slices.Clone(calls[from]); len(next) > 0; next = next[1:] {
			if !reached[next[0]] {
				reached[next[0]] = true
				next = append(next, calls[next[0]]...)
			}
		}
		reach[from] = reached
	}
	for from := range calls {
		circle := 0
		for to := range reach[from] {
			if reach[to][from] {
				circle++
			}
		}
		if circle > maxCircle {
			n++
		}
	}
	return n
}

// holders counts the variables, fields, parameters and results of a package that have a
// whole value of a type.
func (u *unit) holders(whole string) (n int) {
	for _, obj := range u.info.Defs {
		if v, ok := obj.(*types.Var); ok {
			if named, _ := structOf(v.Type()); named != nil && named.Obj().Pkg().Path()+"."+named.Obj().Name() == path.Join(module, whole) {
				n++
			}
		}
	}
	return n
}

// complexity returns the cyclomatic complexity of a function with the literals in it.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// nameOf returns the name of a function with its receiver.
func (s source) nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return s.room + "." + f.Name.Name
	}
	return strings.Join([]string{s.room, receiver(f.Recv.List[0].Type), f.Name.Name}, ".")
}
