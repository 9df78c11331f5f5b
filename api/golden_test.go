package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/api"
	"longhaul/internal/test"
)

// Each file in testdata/golden has all that an operation answers to the requests of the
// table in golden_requests_test.go and to spoiled copies of them, in both versions of
// JSON-RPC and over plain HTTP: a status and a body, and below it the requests that it
// answers. Bodies that differ only in one field and its problem are one, with FIELD and
// PROBLEM in their place. A request has its number, and a spoiled one the member and what
// took its place.
func TestGolden(t *testing.T) {
	for name, names := range newService(t).Names() {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			asked, ok := goldenRequests[name]
			if !ok {
				t.Fatal("no requests in the table")
			}
			old := asked.v03
			if old == nil {
				old = asked.v10
			}
			got := golden(t, "1.0", asked.v10, rpcGolden("1.0", names[1])) + golden(t, "0.3", old, rpcGolden("0.3", names[0]))
			if route, ok := api.Routes()[name]; ok {
				got += golden(t, "plain HTTP", asked.v10, restGolden(route))
			}
			wantGolden(t, filepath.Join("testdata/golden", strings.ReplaceAll(name, "/", "_")+".txt"), got)
		})
	}
}

// wantGolden compares a file with what it should have, or rewrites it.
func wantGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		test.OK(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want := test.Value(os.ReadFile(file))(t)
	if diff := cmp.Diff(indented(string(want)), indented(got)); diff != "" {
		t.Errorf("%s mismatch (-want +got):\n%s\nif that is meant: GOWORK=off go test ./api ./api/grpc -run Golden -args -update", file, diff)
	}
}

// indented returns the lines of answers, with a line for each member of their JSON.
func indented(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		var b bytes.Buffer
		if status, body, ok := strings.Cut(line, " "); ok && json.Indent(&b, []byte(body), "", "  ") == nil {
			line = status + "\n" + b.String()
		}
		lines = append(lines, strings.Split(line, "\n")...)
	}
	return lines
}

// A sender sends params to an operation; its answer is nil for params that a binding cannot
// express.
type sender func(s *fixture, t *testing.T, params string) *httptest.ResponseRecorder

func rpcGolden(version, method string) sender {
	return func(s *fixture, t *testing.T, params string) *httptest.ResponseRecorder {
		return s.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), "A2A-Version", version)
	}
}

// restGolden moves params into the path and the query of a route.
func restGolden(route string) sender {
	return func(s *fixture, t *testing.T, params string) *httptest.ResponseRecorder {
		verb, path, _ := strings.Cut(route, " ")
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(params), &members) != nil {
			return nil
		}
		for _, in := range variable.FindAllString(path, -1) {
			var value string
			if name := strings.Trim(in, "{}"); json.Unmarshal(members[name], &value) != nil || value == "" {
				return nil
			}
			path = strings.Replace(path, in, url.PathEscape(value), 1)
			delete(members, strings.Trim(in, "{}"))
		}
		if verb == "POST" {
			body, _ := json.Marshal(members)
			return s.rest(t, verb, path, string(body), "Content-Type", "application/json")
		}
		query := url.Values{}
		for name, raw := range members {
			text := string(raw)
			_ = json.Unmarshal(raw, &text) // other types stay JSON
			query.Set(name, text)
		}
		return s.rest(t, verb, path+"?"+query.Encode(), "")
	}
}

// golden returns all answers to requests, and to spoiled ones, of one server.
func golden(t *testing.T, title string, requests []string, send sender) string {
	t.Helper()
	s := newService(t, pushOn, func(c *config) { c.Extended = &c.Card })
	s.have(t)
	s.send(t, "gate", "approve it")
	s.send(t, "slow", "slow work")
	s.send(t, "done", "write")
	s.must(t, "CreateTaskPushNotificationConfig", s.filled(`{"taskId":"obj-U(slow)","id":"hook","url":"https://push.example.com/hook"}`))

	var answers answers
	for i, request := range requests {
		for _, r := range append([]spoiled{{params: request}}, spoil(t, request)...) {
			if w := send(s, t, s.filled(r.params)); w != nil {
				answers.add(fmt.Sprint(i+1, r.member), r.how, w.Code, w.Body.String())
			}
		}
	}
	return fmt.Sprintf("-- %s --\n%s", title, answers)
}

func (*fixture) filled(params string) string {
	return idOf.ReplaceAllStringFunc(params, func(ref string) string { return u(idOf.FindStringSubmatch(ref)[1]) })
}

// answers groups requests by their answers, in the order of their first.
type answers struct {
	bodies []string
	fields map[string][]string            // by body
	asked  map[string]map[string][]string // by body and field
}

var (
	oneProblem = regexp.MustCompile(`Invalid parameters: ((?:\\.|[^":\\]|:[^" ])+): ((?:\\.|[^"\\])*)"`)
	longText   = regexp.MustCompile(`x{100,}`)
)

func (a *answers) add(member, how string, status int, body string) {
	body = fmt.Sprintf("%d %s", status, strings.TrimSpace(body))
	body = longText.ReplaceAllStringFunc(body, func(x string) string { return fmt.Sprintf("x*%d", len(x)) })
	field := ""
	if m := oneProblem.FindStringSubmatch(body); m != nil {
		field = m[1] + ": " + m[2]
		body = strings.NewReplacer(
			`: `+field+`"`, `: FIELD: PROBLEM"`,
			fmt.Sprintf(`"field":"%s","description":"%s"`, m[1], m[2]), `"field":"FIELD","description":"PROBLEM"`).Replace(body)
	}
	if a.fields == nil {
		a.fields, a.asked = map[string][]string{}, map[string]map[string][]string{}
	}
	if a.asked[body] == nil {
		a.bodies, a.asked[body] = append(a.bodies, body), map[string][]string{}
	}
	if a.asked[body][field] == nil {
		a.fields[body] = append(a.fields[body], field)
	}
	asked := a.asked[body][field]
	if last := len(asked) - 1; last >= 0 && strings.HasPrefix(asked[last], member+": ") {
		asked[last] += ", " + how
	} else {
		a.asked[body][field] = append(asked, strings.TrimSuffix(member+": "+how, ": "))
	}
}

func (a answers) String() string {
	var b strings.Builder
	for _, body := range a.bodies {
		fmt.Fprintln(&b, body)
		for _, field := range a.fields[body] {
			fmt.Fprintf(&b, "\t%s\n", strings.TrimPrefix(field+" <- "+strings.Join(a.asked[body][field], "; "), " "))
		}
	}
	return b.String()
}

// A spoiled request has one member that is wrong.
type spoiled struct{ member, how, params string }

// namedMember is the name of a member whose value is one of few: an enum or an id.
var namedMember = regexp.MustCompile(`(?:[iI]d|role|status|kind|action|scheme|historyScope)$`)

// spoil returns copies of params: each without one of its members, or with null, another
// type, a list of it, a text that is too long or an unknown name in its place.
func spoil(t *testing.T, params string) (all []spoiled) {
	t.Helper()
	var visit func(path []any, v any)
	visit = func(path []any, v any) {
		for _, s := range substitutes(path, v) {
			all = append(all, spoiled{pathText(path), s.how, replaced(t, params, path, s.with)})
		}
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				visit(append(slices.Clip(path), name), v[name])
			}
		case []any:
			for i := range v {
				visit(append(slices.Clip(path), i), v[i])
			}
		}
	}
	visit(nil, parse(t, []byte(params)).v)
	return all
}

type absent struct{}

type substitute struct {
	how  string
	with any
}

// substitutes returns wrong values for v, which is at path.
func substitutes(path []any, v any) []substitute {
	if len(path) == 0 {
		return []substitute{{"empty", map[string]any{}}, {"a list", []any{v}}}
	}
	all := []substitute{{"null", nil}, {"in a list", []any{v}}}
	name, member := path[len(path)-1].(string)
	if member {
		all = append(all, substitute{"absent", absent{}})
	}
	text, ok := v.(string)
	if !ok {
		return append(all, substitute{"a text", "text"})
	}
	all = append(all, substitute{"a number", 5}, substitute{"empty", ""}, substitute{"too long", text + strings.Repeat("x", 70_000)})
	if namedMember.MatchString(name) {
		all = append(all, substitute{"unknown", "unknown"})
	}
	return all
}

func pathText(path []any) (text string) {
	for _, step := range path {
		if i, ok := step.(int); ok {
			text += fmt.Sprintf("[%d]", i)
		} else {
			text += "." + step.(string)
		}
	}
	return text
}

// replaced returns params with another value at path.
func replaced(t *testing.T, params string, path []any, with any) string {
	t.Helper()
	root := []any{parse(t, []byte(params)).v}
	var at any = root
	steps := append([]any{0}, path...)
	for _, step := range steps[:len(steps)-1] {
		if i, ok := step.(int); ok {
			at = at.([]any)[i]
		} else {
			at = at.(map[string]any)[step.(string)]
		}
	}
	switch last := steps[len(steps)-1].(type) {
	case int:
		at.([]any)[last] = with
	case string:
		if at.(map[string]any)[last] = with; with == (any)(absent{}) {
			delete(at.(map[string]any), last)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	test.OK(t, e.Encode(root[0]))
	return strings.TrimSpace(b.String())
}
