// Package schemas_test makes the JSON Schemas of this directory from the Go types, so
// that they cannot differ, and those that the OpenAPI description of the API has for the extension
// and the pages below /v1.
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
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/wire"
)

var update = flag.Bool("update", false, "write the schemas")

// roots are the schemas by the names of their files.
var roots = map[string]struct {
	title string
	of    reflect.Type
}{
	"work.json":     {"The work of a task, as executors in every language get it", reflect.TypeFor[opt.Work]()},
	"outcome.json":  {"The outcome of a task, as executors in every language return it", reflect.TypeFor[opt.Outcome]()},
	"callback.json": {"The body of a request to a callback URL", reflect.TypeFor[wire.Callback]()},
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
var required = map[string][]string{"Gate": {"kind"}, "Question": {"id", "question"}, "NewSchedule": {"text"}}

// pages are the types of the extension and of the pages below /v1, which have schemas in the
// description of the API with all types of their members.
var pages = []reflect.Type{
	reflect.TypeFor[wire.PageError](), reflect.TypeFor[wire.Objective](), reflect.TypeFor[wire.TaskRecord](), reflect.TypeFor[wire.Run](), reflect.TypeFor[wire.DeliveryList](),
	reflect.TypeFor[wire.InterruptPage](), reflect.TypeFor[wire.GateAnswer](), reflect.TypeFor[wire.Answered](), reflect.TypeFor[wire.DecisionPage](), reflect.TypeFor[wire.CostList](), reflect.TypeFor[wire.QuotaList](), reflect.TypeFor[wire.Comparison](),
	reflect.TypeFor[wire.StandingList](), reflect.TypeFor[wire.NewStanding](), reflect.TypeFor[wire.AbsenceList](), reflect.TypeFor[wire.NewAbsence](), reflect.TypeFor[wire.ScheduleList](), reflect.TypeFor[wire.NewSchedule](), reflect.TypeFor[wire.ScheduleChange](),
	reflect.TypeFor[wire.Deleted](), reflect.TypeFor[wire.TriggerRequest](), reflect.TypeFor[wire.Triggered](), reflect.TypeFor[wire.BackfillRequest](), reflect.TypeFor[wire.Backfilled](),
}

// pagesFile has the schemas of pages.
const pagesFile = "../../api/openapi_pages.json"

// hidden are the members that clients never see.
var hidden = []string{"Interrupt.object", "Interrupt.sources", "Interrupt.form"}

// texts describe, for clients, types and members whose comments are for programs in Go.
var texts = map[string]string{
	"Interrupt.artifactId":    "Of the artifact to be decided on.",
	"Interrupt.artifactType":  "The media type of the object.",
	"Interrupt.artifactData":  "The object, unless it is large or has several parts: the status message of the task has all of it.",
	"Interrupt.objectDigest":  "Of the object: sha256: and hexadecimal digits.",
	"Interrupt.responders":    "Who may decide. Without it everyone with the scope, alone.",
	"Interrupt.noted":         "A digest of the notes that clients have written while the gate is open. They are among its exchanges, and objectDigest covers them.",
	"Interrupt.exchanges":     "Questions and comments at the gate, the latest 20, the oldest first.",
	"Interrupt.omitted":       "How many questions and comments came before exchanges. objectDigest covers the notes among them.",
	"Interrupt.nextStep":      "What happens next if the gate is still open then.",
	"Interrupt.ladder":        "All steps, in order of time. The first of them, as many as taken says, have been taken.",
	"Interrupt.taken":         "How many steps have been taken.",
	"Responders":              "Who may decide at a gate. Without it everyone who has the scope, alone.",
	"Step.action":             "Of expire, at an approval: accept or reject; reject without it.",
	"Responders.noVeto":       "It takes as many rejections as accepts to reject; otherwise one is enough.",
	"Responders.anonymousMay": "notRequester does not hold where callers are not authenticated.",
	"Vote.groups":             "Of decidedBy, or of for, that may decide.",
	"Vote.for":                "The place of an absent principal, in which decidedBy has decided as its deputy.",
	"Vote.objectDigest":       "That decidedBy has seen, if the reply had it.",
	"Exchange.cut":            "The message has more than question: a longer text, or parts that are no text.",
	"Decision":                "A reply to a gate, accepted or refused, or the expiry of a gate. hash is the SHA-256 of the canonical JSON (RFC 8785) of the other members.",
	"Decision.n":              "In the chain of this attempt at the plan.",
	"Decision.epoch":          "Of the plan, if it was set back in Temporal: its decisions from then on are a chain of their own.",
	"Decision.decidedBy":      "longhaul:timer, without a messageId, for a gate that expired; longhaul:checks for findings; longhaul:standing for a standing decision.",
	"Decision.checks":         "Findings about the object, from before people were asked.",
	"Decision.standing":       "The use of the standing decision that has decided.",
	"Interrupt.original":      "What a person has decided about the same object in the original of a fork. It decides nothing.",
	"Original.taskId":         "Of the task that has waited.",
	"Original.objectDigest":   "That the decision covers.",
	"Original.for":            "The place of an absent principal, in which decidedBy has decided as its deputy.",
	"Interrupt.standing":      "The name of the gates of this task in all runs of a playbook, about which standing decisions may decide.",
	"Standing.gates":          "That it is about, as in standing of an interrupt.",
	"Standing.interruptId":    "Of the gate whose rules say who may be behind it.",
	"Decision.groups":         "Of decidedBy, or of for, that may decide.",
	"Decision.for":            "The place of an absent principal, in which decidedBy has decided as its deputy.",
	"Decision.byHand":         "The principal has moved or canceled the task, in place of a reply.",
	"Decision.replyDigest":    "Of the parts of the reply.",
	"Decision.previous":       "The hash before it, empty for the first.",
	"DecisionHead.signature":  "A JWS of the canonical JSON of the other members, by a key of /.well-known/jwks.json.",
	"GateAnswer.interruptId":  "That of the path.",
}

// values are those of members that have others than the constants of their type; nil for any text.
var values = map[string][]string{
	"TaskRecord.interruptKind": {"approval", "clarification"},
	"Vote.action":              {"accept", "reject"},
	"NextStep.action":          {"accept", "reject"},
	"Step.action":              {"accept", "reject"},
	"Decision.action":          nil, // as the sender has written it
	"Decision.verdict":         {"accepted", "not-waiting", "not-offered", "not-allowed", "has-voted", "other-object"},
	"Refinement.scope":         {"whole", "section", "items"},
	"Delivery.notice":          {"opened", "remind", "escalate", "reassign", "expire"},
}

// closed are the types without further members.
var closed = []string{"TaskRecord", "PushRecord"}

// An object is a JSON object.
type object = map[string]any

// A maker makes the schemas of types.
type maker struct {
	comments map[string]string   // of types and of their fields, as "package.Type.Field"
	enums    map[string][]string // constants by their types; nil for schemas that allow others
	at       string              // where defs are
	defs     object
	named    map[string]reflect.Type // that defs are of
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
	if t == reflect.TypeFor[opt.Money]() {
		t = reflect.TypeFor[float64]() // read as a decimal
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.schema(t.Elem())
	case reflect.String:
		if values := m.enums[t.String()]; values != nil {
			return object{"enum": values}
		}
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
			m.named[t.Name()] = t
			m.defs[t.Name()] = m.members(t)
		}
		if m.named[t.Name()] != t {
			panic("two types are called " + t.Name())
		}
		return object{"$ref": m.at + t.Name()}
	}
	panic("no schema for " + t.String())
}

func (m *maker) members(t reflect.Type) object {
	members, needed := object{}, []string{}
	for f := range fieldsOf(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if only := allowed[t.Name()]; name == "" || name == "-" || only != nil && m.enums == nil && !slices.Contains(only, name) {
			continue
		}
		if slices.Contains(hidden, t.Name()+"."+name) {
			continue
		}
		s := m.schema(f.Type)
		if only, ok := values[t.Name()+"."+name]; ok && m.enums != nil {
			s = object{"type": "string"}
			if only != nil {
				s["enum"] = only
			}
		}
		if about := m.about(t.Name()+"."+name, ownerOf(t, f)+"."+f.Name); about != "" {
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
	if slices.Contains(closed, t.Name()) {
		out["additionalProperties"] = false
	}
	if len(needed) > 0 {
		out["required"] = needed
	}
	if about := m.about(t.Name(), t.String()); about != "" {
		out["description"] = about
	}
	return out
}

// about returns the description of a type or a member, which has a name in JSON and one in Go.
func (m *maker) about(name, inGo string) string {
	text := m.comments[inGo]
	switch {
	case m.enums == nil || text == "" && texts[name] == "":
		return text
	case texts[name] != "":
		return texts[name]
	}
	return strings.TrimSuffix(strings.ToUpper(text[:1])+text[1:], ".") + "."
}

// ownerOf returns the name, with its package, of the type that declares a field of t, t or one that t embeds.
func ownerOf(t reflect.Type, f reflect.StructField) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t.String()
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
		file := test.Value(parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				for _, spec := range n.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && !n.Lparen.IsValid() {
						m.comments[file.Name.Name+"."+s.Name.Name] = line(n.Doc.Text())
					}
				}
			case *ast.ValueSpec:
				m.readConstants(file.Name.Name, n)
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						for _, field := range f.Names {
							m.comments[file.Name.Name+"."+n.Name.Name+"."+field.Name] = line(f.Comment.Text())
						}
					}
				}
			}
			return true
		})
	}
}

// readConstants notes the texts of constants that have a type.
func (m *maker) readConstants(in string, n *ast.ValueSpec) {
	of, ok := n.Type.(*ast.Ident)
	if !ok || m.enums == nil {
		return
	}
	for _, v := range n.Values {
		if text, ok := v.(*ast.BasicLit); ok && text.Kind == token.STRING {
			m.enums[in+"."+of.Name] = append(m.enums[in+"."+of.Name], strings.Trim(text.Value, `"`))
		}
	}
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// made returns the text of a schema.
func made(t *testing.T, name string) []byte {
	t.Helper()
	m := &maker{comments: map[string]string{}, at: "#/$defs/", defs: object{}, named: map[string]reflect.Type{}}
	for _, dir := range []string{"../../a2a", "../../opt", "../../opt/outbox", "../../opt/standing", "../../opt/timetable", "../../opt/wire"} {
		m.read(t, dir)
	}
	root := m.members(roots[name].of)
	root["$schema"], root["title"] = "https://json-schema.org/draft/2020-12/schema", roots[name].title
	delete(root, "description")
	if len(m.defs) > 0 {
		root["$defs"] = m.defs
	}
	return indented(t, root)
}

// madePages returns the text of the schemas of pages.
func madePages(t *testing.T) []byte {
	t.Helper()
	m := &maker{comments: map[string]string{}, enums: map[string][]string{}, at: "#/components/schemas/", defs: object{}, named: map[string]reflect.Type{}}
	for _, dir := range []string{"../../a2a", "../../opt", "../../opt/outbox", "../../opt/standing", "../../opt/timetable", "../../opt/wire"} {
		m.read(t, dir)
	}
	for _, of := range pages {
		m.schema(of)
	}
	return indented(t, m.defs)
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	test.OK(t, e.Encode(v))
	return b.Bytes()
}

// The schemas in the directory are made from the types.
func TestSchemas(t *testing.T) {
	files := map[string][]byte{pagesFile: madePages(t)}
	for name := range roots {
		files[name] = made(t, name)
	}
	for name, want := range files {
		if *update {
			test.OK(t, os.WriteFile(name, want, 0o600))
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the types: run GOWORK=off go test ./docs/schemas -args -update", name)
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
	test.OK(t, err)
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
		s := test.Value(jsonschema.NewCompiler().Compile(tt.schema))(t)
		v := test.Value(jsonschema.UnmarshalJSON(strings.NewReader(tt.text)))(t)
		if err := s.Validate(v); (err == nil) != tt.fits {
			t.Errorf("%s with %s: %v", tt.schema, tt.text, err)
		}
	}
}
