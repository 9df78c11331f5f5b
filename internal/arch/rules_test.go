package arch_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// A rule returns the mistakes in a file.
type rule func(source) []string

// rules holds all of them, by name.
var rules = map[string]rule{
	"rooms":          checkRooms,
	"owners":         checkOwners,
	"purity":         checkPurity,
	"determinism":    checkDeterminism,
	"names":          checkNames,
	"sizes":          checkSizes,
	"initialisation": checkInit,
}

func checkRooms(s source) (wrong []string) {
	i := slices.IndexFunc(rooms, func(r room) bool { return among(s.room, []string{r.name}) })
	if i < 0 {
		return []string{fmt.Sprintf("%s is no room: add it to the table", s.room)}
	}
	may := rooms[i].imports
	if s.test {
		may = slices.Concat(may, rooms[i].tests, testers, []string{s.room})
	}
	for _, p := range s.imports() {
		if to, ok := ours(p); ok && !among(to, may) {
			wrong = append(wrong, fmt.Sprintf("%s imports %s", s.room, to))
		}
	}
	return wrong
}

func checkOwners(s source) (wrong []string) {
	for _, p := range s.imports() {
		technology := ""
		for root := range owners {
			if under(p, root) && len(root) > len(technology) {
				technology = root // a part may have other owners than the whole
			}
		}
		if technology != "" && !among(s.room, owners[technology]) {
			wrong = append(wrong, fmt.Sprintf("%s imports %s, which belongs to %v", s.room, p, owners[technology]))
		}
	}
	return wrong
}

func checkPurity(s source) (wrong []string) {
	if s.test || !slices.Contains(pure, s.room) {
		return nil
	}
	for _, p := range s.imports() {
		first, _, _ := strings.Cut(p, "/")
		if first != module && strings.Contains(first, ".") && !among(p, pureToo) || among(p, outside) {
			wrong = append(wrong, fmt.Sprintf("%s is pure and imports %s", s.room, p))
		}
	}
	return wrong
}

func checkDeterminism(s source) (wrong []string) {
	if s.test || !slices.Contains(deterministic, s.room) {
		return nil
	}
	for _, p := range s.imports() {
		if among(p, chance) || strings.Contains(p, "uuid") {
			wrong = append(wrong, fmt.Sprintf("%s has to replay and imports %s", s.room, p))
		}
	}
	clock := s.called("time")
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			wrong = append(wrong, fmt.Sprintf("%s has to replay and starts a goroutine", s.room))
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && clock != "" && x.Name == clock && slices.Contains(clocks, n.Sel.Name) {
				wrong = append(wrong, fmt.Sprintf("%s has to replay and uses time.%s", s.room, n.Sel.Name))
			}
		}
		return true
	})
	return wrong
}

func checkNames(s source) []string {
	if strings.HasPrefix(s.room, "dev/stubs/") {
		return nil // the packages that they stand in for have these names
	}
	for _, name := range []string{path.Base(s.room), s.file.Name.Name} {
		if slices.Contains(vague, name) {
			return []string{fmt.Sprintf("%s: the name %q says nothing", s.room, name)}
		}
	}
	return nil
}

func checkSizes(s source) (wrong []string) {
	if s.test {
		return nil
	}
	if n := s.lines(s.file.FileStart, s.file.FileEnd); n > maxFile {
		wrong = append(wrong, fmt.Sprintf("the file has %d lines, more than %d", n, maxFile))
	}
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		if n := s.lines(f.Pos(), f.End()); n > maxFunction {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d", f.Name.Name, n, maxFunction))
		}
		if n := f.Type.Params.NumFields(); n > maxParameters {
			wrong = append(wrong, fmt.Sprintf("%s has %d parameters, more than %d", f.Name.Name, n, maxParameters))
		}
	}
	return wrong
}

// checkTypes returns the types of all sources that have methods in too many files.
func checkTypes(sources []source) (wrong []string) {
	files := map[string]int{}
	for _, s := range sources {
		here := map[string]bool{}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && !s.test {
				here[s.room+"."+receiver(f.Recv.List[0].Type)] = true
			}
		}
		for name := range here {
			files[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if n := files[name]; n > maxFiles {
			wrong = append(wrong, fmt.Sprintf("%s has methods in %d files, more than %d", name, n, maxFiles))
		}
	}
	return wrong
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// table reports whether one statement, in which there is a composite literal or
// a switch, takes up more than half of a function.
func (s source) table(body *ast.BlockStmt) bool {
	half := s.lines(body.Pos(), body.End()) / 2
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CompositeLit, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			found = found || s.lines(n.Pos(), n.End()) > half
		}
		return !found
	})
	return found
}

func checkInit(s source) (wrong []string) {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			wrong = append(wrong, "there is an init function: what starts is started where it can be read")
		}
	}
	return wrong
}
