package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt"
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
		test.Equal(t, fmt.Sprintf("%s for %q", tt.input, tt.message), tt.want, string(specs[0].Tasks[2].Input))
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
	test.OK(t, err)
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
	test.Equal(t, "uses", want, got)
	checkPlans(t, books, "tea")
}

// What people have answered is in later inputs, and in the texts of later approvals.
func TestPlaybooks_Plan_answers(t *testing.T) {
	books := load(t, `
name: a
default: true
plans:
- name: P
  tasks:
  - name: Limit
    human: {questions: [{id: limit, question: 'Up to which number?'}, {question: 'Why?'}]}
  - name: Approve
    human: {approve: 'Count to {{answer "Limit" "limit"}}?', description: '{{answer "Limit" "q2"}}'}
  - name: Count
    input: {to: '{{answer "Limit" "limit"}}'}
`)
	_, specs, _, err := books.Match(message("tea"))
	test.OK(t, err)
	approve, count := specs[0].Tasks[1], specs[0].Tasks[2]
	want := &opt.GateForm{Title: []opt.Piece{{Literal: "Count to "}, {Results: "task-0", Answer: "limit"}, {Literal: "?"}}, Description: []opt.Piece{{Results: "task-0", Answer: "q2"}}}
	test.Equal(t, "the approval", want, approve.Ask.Form)
	if got, want := string(count.Input), `{"to":{"longhaul/v1/text":[{"results":"task-0","answer":"limit"}]}}`; got != want || fmt.Sprint(count.Uses) != "[task-0]" {
		t.Errorf("the input is %s of %v, want %s", got, count.Uses, want)
	}
	checkPlans(t, books, "tea")
}

// FuzzPlaybooks_Plan_results checks that all input of clients stays text.
func FuzzPlaybooks_Plan_results(f *testing.F) {
	const file = "name: a\ndefault: true\nplans: [{name: P, tasks: [{name: T}, {name: U, input: 'a{{.Message}}b{{results \"T\"}}c'}]}]"
	books := test.Value(planner.Load(fstest.MapFS{"x.yaml": {Data: []byte(file)}}, "x.yaml"))(f)
	f.Add(`{{results "T"}}`)
	f.Add(`"},{"results":"all"},"`)
	f.Add(`{"longhaul/v1/text":["a",{"results":"task-0"}]}`)
	f.Fuzz(func(t *testing.T, said string) {
		_, specs, _, err := books.Match(message(said))
		test.OK(t, err)
		var input struct {
			Text []any `json:"longhaul/v1/text"`
		}
		test.OK(t, json.Unmarshal(specs[0].Tasks[1].Input, &input))
		if len(input.Text) != 3 || input.Text[2] != "c" {
			t.Fatalf("%q became %v", said, input.Text)
		}
		first, ok := input.Text[0].(string)
		if ref, named := input.Text[1].(map[string]any); !ok || !named || ref["results"] != "task-0" || len(ref) != 1 {
			t.Errorf("%q became %q and %v", said, first, input.Text[1])
		}
	})
}

// The checks of an approval are tasks before it, and dependencies mean the same tasks as in the file.
func TestPlaybooks_Plan_checks(t *testing.T) {
	books := load(t, `
name: a
default: true
plans:
- name: P
  tasks:
  - name: Order
  - name: Approve
    standing: true
    human:
      approve: Pay?
      object: '{{results "Order"}}'
      only-if: object.amount > 500
      checks:
      - {name: Form, schema: {required: [amount]}}
      - {name: Judge, judge: It is about tea., model: main, of: 3}
      - {name: Tests, executor: shell, input: {command: '{{results "Order"}}'}}
      rounds: 2
      keep-decision: true
  - name: Pay
    input: '{{results "Order"}}'
  - name: Report
    dependencies: [Pay, task-0]
`)
	_, specs, _, err := books.Match(message("tea"))
	test.OK(t, err)
	var got []string
	for _, s := range specs[0].Tasks {
		got = append(got, fmt.Sprintf("%s %q %v %v %v %s", s.Executor, s.Name, s.Check, s.Dependencies, s.Uses, s.Input))
	}
	judge := `{"model":"main","prompt":{"longhaul/v1/text":["Criteria:\nIt is about tea.\n\nThe object:\n",{"results":"task-0"}]},"schema":{"additionalProperties":false,` +
		`"properties":{"reason":{"type":"string"},"verdict":{"enum":["accept","reject","ask"]}},"required":["verdict","reason"],"type":"object"},"system":"`
	for i := range got {
		if rest, ok := strings.CutPrefix(got[i], fmt.Sprintf(`llm "Judge %d" true [task-0] [task-0 task-0] %s`, i-2, judge)); ok && len(rest) > 100 {
			got[i] = "judge"
		}
	}
	want := []string{
		` "Order" false [] [] `,
		`check "Whether to ask" true [task-0] [task-0 task-0] {"of":["task-0"],"holds":"!(object.amount \u003e 500\n)","else":"ask","reason":"It is so that object.amount \u003e 500"}`,
		`check "Form" true [task-0] [task-0 task-0] {"of":["task-0"],"schema":{"required":["amount"]}}`,
		"judge", "judge", "judge",
		`shell "Tests" true [task-0] [task-0 task-0] {"command":{"longhaul/v1/text":[{"results":"task-0"}]}}`,
		`human "Approve" false [task-0 task-1 task-2 task-3 task-4 task-5 task-6] [task-0 task-0] `,
		` "Pay" false [] [task-0] {"longhaul/v1/text":[{"results":"task-0"}]}`,
		` "Report" false [task-8 task-0] [] `,
	}
	test.Equal(t, "tasks", want, got)
	if name := specs[0].Tasks[7].Standing; name != "a/P/Approve" || specs[0].Tasks[8].Standing != "" {
		t.Errorf("standing decisions are about %q", name)
	}
	if !specs[0].Tasks[7].Ask.Keep {
		t.Error("forks keep no decision")
	}
	checks := specs[0].Tasks[7].Ask.Form.Checks
	test.Equal(t, "checks", &opt.Checks{Rounds: 2, Texts: true, Groups: []opt.CheckGroup{{Tasks: []string{"task-1"}, Need: 1}, {Tasks: []string{"task-2"}, Need: 1},
		{Tasks: []string{"task-3", "task-4", "task-5"}, Need: 2}, {Tasks: []string{"task-6"}, Need: 1}}}, checks)
	checkPlans(t, books, "tea")
}
