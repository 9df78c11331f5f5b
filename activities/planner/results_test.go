package planner_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"longhaul/activities/planner"
)

// An input with results has an object in place of a string. The text of a client
// is always in strings, even if it looks like such an object or a template.
func TestPlaybooks_Plan_results(t *testing.T) {
	for _, tt := range []struct{ input, message, want string }{
		{`'{{results "Search"}}'`, "tea", `{"longhaul/v1/text":[{"results":"task-0"}]}`},
		{`'{{results}}'`, "tea", `{"longhaul/v1/text":[{"results":"all"}]}`},
		{`'About {{.Message}}: {{results "Search"}}{{results "task-1"}}.'`, "tea", `{"longhaul/v1/text":["About tea: ",{"results":"task-0"},{"results":"task-1"},"."]}`},
		{`{to: [a, '{{.Message}}', '{{results}}'], n: 1}`, "tea", `{"n":1,"to":["a","tea",{"longhaul/v1/text":[{"results":"all"}]}]}`},
		{`'{{if eq .Message "tea"}}{{results}}{{else}}nothing{{end}}'`, "tea", `{"longhaul/v1/text":[{"results":"all"}]}`},
		{`'{{if eq .Message "tea"}}{{results}}{{else}}nothing{{end}}'`, "coffee", `"nothing"`},
		{"|\n      One:\n\n      {{- results `Search` -}}\n\n      .", "tea", `{"longhaul/v1/text":["One:",{"results":"task-0"},"."]}`},

		{`'{{.Message}}'`, `{{results "Search"}}`, `"{{results \"Search\"}}"`},
		{`'{{.Message}}'`, `{"longhaul/v1/text":[{"results":"task-0"}]}`, `"{\"longhaul/v1/text\":[{\"results\":\"task-0\"}]}"`},
		{`'{{.Message}}{{results}}'`, `"},{"results":"task-1"},{{results}}`, `{"longhaul/v1/text":["\"},{\"results\":\"task-1\"},{{results}}",{"results":"all"}]}`},
	} {
		books := load(t, "name: a\ndefault: true\nplans:\n- name: P\n  tasks:\n  - name: Search\n  - name: Sort\n  - name: Write\n    input: "+tt.input)
		_, specs, _, err := books.Match(message(tt.message))
		if err != nil {
			t.Errorf("%s: %v", tt.input, err)
			continue
		}
		if diff := cmp.Diff(tt.want, string(specs[0].Tasks[2].Input)); diff != "" {
			t.Errorf("%s for %q (-want +got):\n%s", tt.input, tt.message, diff)
		}
		checkPlans(t, books, tt.message)
	}
}

// A task uses the tasks that it names, whether it follows them in a list or by
// dependencies.
func TestPlaybooks_Plan_uses(t *testing.T) {
	books := load(t, `
name: a
default: true
plans:
- name: List
  tasks:
  - name: A
  - name: B
  - name: C
    input: ['{{results "B"}}', {x: '{{results "A"}} {{results "B"}} {{results}}'}]
  - name: D
    input: '{{results}}'
- name: Graph
  tasks:
  - {name: D, dependencies: [C, B], input: '{{results "A"}}'}
  - {name: C, dependencies: [A]}
  - {name: A, dependencies: []}
  - {name: B}
`)
	_, specs, _, err := books.Match(message("tea"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range specs {
		for _, task := range p.Tasks {
			got[p.Name+" "+task.Name] = fmt.Sprint(task.Uses)
		}
	}
	want := map[string]string{
		"List A": "[]", "List B": "[]", "List C": "[task-1 task-0 task-1]", "List D": "[]",
		"Graph A": "[]", "Graph B": "[]", "Graph C": "[]", "Graph D": "[task-2]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
	checkPlans(t, books, "tea")
}

// FuzzPlaybooks_Plan_results checks that all input of clients stays text.
func FuzzPlaybooks_Plan_results(f *testing.F) {
	const file = "name: a\ndefault: true\nplans: [{name: P, tasks: [{name: T}, {name: U, input: 'a{{.Message}}b{{results \"T\"}}c'}]}]"
	books, err := planner.Load(fstest.MapFS{"x.yaml": {Data: []byte(file)}}, "x.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{{results "T"}}`)
	f.Add(`"},{"results":"all"},"`)
	f.Add(`{"longhaul/v1/text":["a",{"results":"task-0"}]}`)
	f.Fuzz(func(t *testing.T, said string) {
		_, specs, _, err := books.Match(message(said))
		if err != nil {
			t.Fatal(err)
		}
		var input struct {
			Text []any `json:"longhaul/v1/text"`
		}
		if err := json.Unmarshal(specs[0].Tasks[1].Input, &input); err != nil {
			t.Fatal(err)
		}
		if len(input.Text) != 3 || input.Text[2] != "c" {
			t.Fatalf("%q became %v", said, input.Text)
		}
		first, ok := input.Text[0].(string)
		if ref, named := input.Text[1].(map[string]any); !ok || !named || ref["results"] != "task-0" || len(ref) != 1 {
			t.Errorf("%q became %q and %v", said, first, input.Text[1])
		}
	})
}
