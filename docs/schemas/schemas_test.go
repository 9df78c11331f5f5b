// Package schemas_test makes the JSON Schemas of this directory from the Go types, so
// that they cannot differ.
//
//	go test ./docs/schemas -args -update
package schemas_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"longhaul/a2a"
	"longhaul/opt"
)

var update = flag.Bool("update", false, "write the schemas")

// A callback is the body of a request to a callback URL.
type callback struct {
	Text     string        `json:"text,omitempty"`      // progress, for clients
	Artifact *a2a.Artifact `json:"artifact,omitempty"`  // a piece of an artifact, whose id is local to the task
	Append   bool          `json:"append,omitempty"`    // the piece goes behind those before it; else it replaces them
	Last     bool          `json:"lastChunk,omitempty"` // no piece of the artifact follows
	Outcome  *opt.Outcome  `json:"outcome,omitempty"`   // ends the round
}

// roots are the schemas by the names of their files.
var roots = map[string]struct {
	title string
	of    reflect.Type
}{
	"work.json":     {"The work of a task, as executors in every language get it", reflect.TypeFor[opt.Work]()},
	"outcome.json":  {"The outcome of a task, as executors in every language return it", reflect.TypeFor[opt.Outcome]()},
	"callback.json": {"The body of a request to a callback URL", reflect.TypeFor[callback]()},
}

// allowed are the members that external workers may set, for types that have more.
var allowed = map[string][]string{
	"Outcome":  {"state", "artifacts", "code", "message", "gate", "usage"},
	"Gate":     {"kind", "title", "description", "actions", "questions", "object", "artifactId", "responders", "ladder"},
	"Step":     {"kind", "after", "to", "action"},
	"Question": {"id", "question", "schema"},
	"Part":     {"text", "raw", "url", "data", "filename", "mediaType", "metadata"},
}

// required are the required members of types in which Go also writes optional ones.
var required = map[string][]string{"Gate": {"kind"}, "Question": {"id", "question"}}

// An object is a JSON object.
type object = map[string]any

// A maker makes the schemas of types.
type maker struct {
	comments map[string]string // of types and of their fields, as "Type.Field"
	defs     object
}

func (m *maker) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
		return object{}
	case reflect.TypeFor[a2a.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.schema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": m.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object"}
	case reflect.Struct:
		if m.defs[t.Name()] == nil {
			m.defs[t.Name()] = object{} // it may have itself as a member
			m.defs[t.Name()] = m.members(t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	}
	panic("no schema for " + t.String())
}

func (m *maker) members(t reflect.Type) object {
	members, needed := object{}, []string{}
	for f := range fieldsOf(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if only := allowed[t.Name()]; name == "" || name == "-" || only != nil && !slices.Contains(only, name) {
			continue
		}
		s := m.schema(f.Type)
		if about := m.comments[t.Name()+"."+f.Name]; about != "" {
			s["description"] = about
		}
		members[name] = s
		if !strings.Contains(options, "omit") {
			needed = append(needed, name)
		}
	}
	if only := required[t.Name()]; only != nil {
		needed = only
	}
	out := object{"type": "object", "properties": members}
	if len(needed) > 0 {
		out["required"] = needed
	}
	if about := m.comments[t.Name()]; about != "" {
		out["description"] = about
	}
	return out
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if !yield(f) {
				return
			}
		}
	}
}

// read reads the comments of the types in a directory.
func (m *maker) read(t *testing.T, dir string) {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				for _, spec := range n.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && !n.Lparen.IsValid() {
						m.comments[s.Name.Name] = line(n.Doc.Text())
					}
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						for _, field := range f.Names {
							m.comments[n.Name.Name+"."+field.Name] = line(f.Comment.Text())
						}
					}
				}
			}
			return true
		})
	}
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// made returns the text of a schema.
func made(t *testing.T, name string) []byte {
	t.Helper()
	m := &maker{comments: map[string]string{}, defs: object{}}
	for _, dir := range []string{"../../a2a", "../../opt", "."} {
		m.read(t, dir)
	}
	root := m.members(roots[name].of)
	root["$schema"], root["title"] = "https://json-schema.org/draft/2020-12/schema", roots[name].title
	delete(root, "description")
	if len(m.defs) > 0 {
		root["$defs"] = m.defs
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The schemas in the directory are made from the types.
func TestSchemas(t *testing.T) {
	for name := range roots {
		want := made(t, name)
		if *update {
			if err := os.WriteFile(name, want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the types (%v): run go test ./docs/schemas -args -update", name, err)
		}
	}
}

// Documents that Longhaul writes are valid under the schemas; typical mistakes are not.
func TestSchemas_fit(t *testing.T) {
	gate := `{"kind":"approval","title":"Go on?","actions":["accept","reject"]}`
	work, err := json.Marshal(opt.Work{
		Name: "Count", Key: "key", Round: 1, Attempt: 1, Messages: []a2a.Message{{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}},
		Results: []opt.Result{{TaskID: "t", Artifacts: []a2a.Artifact{{ArtifactID: "a", Parts: []a2a.Part{a2a.DataPart(1)}}}}},
		Replies: []opt.Reply{{GateID: "g", Action: opt.Accept}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		schema, text string
		fits         bool
	}{
		{"work.json", string(work), true},
		{"work.json", `{"name":1}`, false},
		{"outcome.json", `{"state":"completed","artifacts":[{"artifactId":"a","parts":[{"text":"x"}]}]}`, true},
		{"outcome.json", `{"state":"input-required","gate":` + gate + `}`, true},
		{"outcome.json", `{"artifacts":[]}`, false},
		{"outcome.json", `{"state":"completed","artifacts":[{"parts":[{"text":"x"}]}]}`, false},
		{"outcome.json", `{"state":"input-required","gate":{"title":"Go on?"}}`, false},
		{"callback.json", `{"text":"Half of it."}`, true},
		{"callback.json", `{"artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":true}`, true},
		{"callback.json", `{"outcome":{"state":"failed","code":"no-paper","message":"No paper."}}`, true},
		{"callback.json", `{"outcome":"done"}`, false},
		{"callback.json", `{}`, true},
	} {
		s, err := jsonschema.NewCompiler().Compile(tt.schema)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != tt.fits {
			t.Errorf("%s with %s: %v", tt.schema, tt.text, err)
		}
	}
}
