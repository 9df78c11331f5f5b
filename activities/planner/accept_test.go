package planner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt"
)

// described returns tasks in one line each, and what approvals are about below them.
func described(t *testing.T, books *planner.Playbooks, m a2a.Message) (out []string) {
	t.Helper()
	_, specs, _, err := books.Match(m)
	test.OK(t, err)
	for _, p := range specs {
		for _, s := range p.Tasks {
			line := fmt.Sprintf("%s %q %v", s.Executor, s.Name, s.Dependencies)
			if s.Ask != nil {
				form := *s.Ask.Form
				checks := opt.Checks{}
				if form.Checks != nil {
					checks = *form.Checks
				}
				line += fmt.Sprintf(" %q %q %v of %v by %v, %d rounds", s.Ask.Title, s.Ask.Description, s.Ask.Actions, form.Object, checks.Groups, checks.Rounds)
				if checks.Requested {
					line += ", as requested"
				}
			} else if s.Check && s.Executor == "check" {
				line += " " + string(s.Input)
			}
			out = append(out, line)
		}
	}
	test.Error(t, "the call", nil, test.Err((&opt.Objective{ID: opt.NewObjectiveID([16]byte{})}).NewPlans(specs, a2a.Time{})))
	return out
}

// What waits for a task waits for its acceptance, and works with what the task has made.
func TestPlaybooks_Plan_accept(t *testing.T) {
	books := load(t, `
name: a
default: true
accept: {criteria: 'All of {{.Message}}.'}
plans:
- name: P
  tasks:
  - name: First
  - name: 'Order {{.Name}}'
    accept:
      criteria: It is for people.
      checks: [{name: Form, schema: {}}, {name: J, judge: It is cheap.}]
      rounds: 2
      responders: {groups: [buyers]}
  - name: Pay
    input: '{{results "Order {{.Name}}"}}'
  - {name: Ship, dependencies: [task-1]}
  - {name: Tell, dependencies: [task-0]}
- name: Q
  dependencies: []
  tasks: [{name: Other}]
  accept: {checks: [{name: Set, holds: 'true'}]}
`)
	want := []string{
		` "First" []`,
		` "Order tea" []`,
		`check "Form" [task-1] {"of":["task-1"],"schema":{}}`,
		`llm "J" [task-1]`,
		`human "Accept: Order tea" [task-1 task-2 task-3] "Accept the result of \"Order tea\"?" "It is for people." [accept reject refine edit-accept] of [task-1] by [{[task-2] 1} {[task-3] 1}], 2 rounds`,
		` "Pay" []`,
		` "Ship" [task-4]`,
		` "Tell" [task-0]`,
		`human "Accept: P" [task-5 task-6 task-7] "Accept the result of \"P\"?" "All of tea." [accept reject refine edit-accept] of [all] by [], 0 rounds`,
		` "Other" []`,
		`check "Set" [task-0] {"of":["all"],"holds":"true"}`,
		`human "Accept: Q" [task-0 task-1] "Accept the result of \"Q\"?" "" [accept reject refine edit-accept] of [all] by [{[task-1] 1}], 0 rounds`,
		`human "Accept: Q" [task-2] "Accept the result of \"Q\"?" "All of tea." [accept reject refine edit-accept] of [all] by [], 0 rounds`,
	}
	test.Equal(t, "tasks", want, described(t, books, message("tea")))
	_, specs, _, _ := books.Match(message("tea"))
	test.Contains(t, "the judge", `["Criteria:\nIt is for people.\nIt is cheap.\n\nThe object:\n",{"results":"task-1"}]`, string(specs[0].Tasks[3].Input))
	if uses := specs[0].Tasks[5].Uses; len(uses) != 1 || uses[0] != "task-1" {
		t.Errorf("the task after it uses %v", uses)
	}
}

// asks returns a message that asks for an acceptance.
func asks(accept string) a2a.Message {
	m := message("tea")
	m.Metadata = m.Metadata.With(opt.KeyAccept, json.RawMessage(accept))
	return m
}

// A message adds an acceptance after all that the playbook asks for. Its words are never a template, and
// for people unless the playbook has a judge for them; its people edit nothing.
func TestPlaybooks_Plan_requested(t *testing.T) {
	book := `
name: a
default: true
plans:
- {name: Before, tasks: [{name: Early}]}
- name: P
  dependencies: [Before]
  tasks: [{name: Make}, {name: Free, dependencies: []}]
  accept: {criteria: Ours., responders: {not-requester: true}}
- {name: Q, dependencies: [], tasks: [{name: Other}]}
`
	words := `{"criteria":"{{.Name}} \"{{results}}\"","checks":[{"name":"All","holds":"true"}]}`
	requested := func(deps string, rest string) string {
		return fmt.Sprintf(`human "Accept as requested" %s "Is the result as the request wants it?" "{{.Name}} \"{{results}}\"" %s, as requested`, deps, rest)
	}
	condition := `{"of":["all"],"holds":"true"}`
	forPeople := `{"of":["all"],"holds":"false","else":"ask","reason":"{{.Name}} \"{{results}}\""}`
	ours := []string{` "Early" []`, ` "Make" []`, ` "Free" []`, `human "Accept: P" [task-0 task-1] "Accept the result of \"P\"?" "Ours." [accept reject refine edit-accept] of [all] by [], 0 rounds`}
	want := append(ours,
		`check "All" [task-2] `+condition, `check "Criteria" [task-2] `+forPeople,
		requested("[task-2 task-3 task-4]", "[accept reject] of [all] by [{[task-3] 1} {[task-4] 1}], 0 rounds"),
		` "Other" []`, `check "All" [task-0] `+condition, `check "Criteria" [task-0] `+forPeople,
		requested("[task-0 task-1 task-2]", "[accept reject] of [all] by [{[task-1] 1} {[task-2] 1}], 0 rounds"))
	test.Equal(t, "tasks", want, described(t, load(t, book), asks(words)))

	judged := load(t, strings.Replace(book, "plans:", "message-accept: {checks: [{name: J, judge: It is safe., model: main, of: 3}], rounds: 1, responders: {groups: [buyers]}}\nplans:", 1))
	got := described(t, judged, asks(words))
	last := requested("[task-2 task-3 task-4 task-5 task-6]", "[accept reject refine] of [all] by [{[task-3 task-4 task-5] 2} {[task-6] 1}], 1 rounds")
	if got[4] != `llm "J 1" [task-2]` || got[7] != `check "All" [task-2] `+condition || got[8] != last {
		t.Errorf("with a judge of the playbook: %s", strings.Join(got, "\n"))
	}
	_, specs, _, _ := judged.Match(asks(words))
	test.Contains(t, "the judge", `{"longhaul/v1/text":["Criteria:\n{{.Name}} \"{{results}}\"\nIt is safe.\n\nThe object:\n",{"results":"all"}]}`, string(specs[1].Tasks[3].Input))
	if who := specs[1].Tasks[7].Ask.Responders; who == nil || who.Groups[0] != "buyers" {
		t.Errorf("the responders are %v", who)
	}
	m := asks(words)
	planned, err := books(t, book).With(planner.Fallback{Takes: planner.Everything, Planner: judged, Name: "p"}).Plan(t.Context(), activities.Request{Message: &m})
	if err != nil || len(planned.Plans[1].Tasks) != 8 {
		t.Errorf("a planner that has it from a playbook: %d tasks, %v", len(planned.Plans[1].Tasks), err)
	}
}

// books returns playbooks that take nothing but what asks for them by name.
func books(t *testing.T, book string) *planner.Playbooks {
	return load(t, strings.Replace(book, "default: true", "match: {keywords: [coffee]}", 1))
}

// A message brings nothing that acts for the operator: no program, no model, no people and no rounds.
func TestPlaybooks_Plan_requested_refused(t *testing.T) {
	none := &planner.Playbooks{}
	for accept, want := range map[string]string{
		`{}`:                                    "must have criteria or checks",
		`"fine"`:                                "all else is the operator's",
		`{"checks":[{"name":"a","judge":"b"}]}`: `unknown field "judge"`,
		`{"checks":[{"name":"a","executor":"shell"}]}`:                         `unknown field "executor"`,
		`{"criteria":"a","rounds":100}`:                                        `unknown field "rounds"`,
		`{"criteria":"a","responders":{"principals":["me"]}}`:                  `unknown field "responders"`,
		`{"checks":[{"holds":"true"}]}`:                                        "checks[0]: a check needs a name",
		`{"checks":[{"name":"a","holds":"object.b >"}]}`:                       "checks[0]: the condition is not CEL",
		`{"checks":[{"name":"a","holds":"true","schema":{}}]}`:                 "checks[0]: a check has either a schema or a condition",
		`{"checks":[{"name":"a","schema":{"type":3}}]}`:                        "checks[0]: ",
		`{"criteria":"` + strings.Repeat("a", 4097) + `"}`:                     "at most 4096 bytes",
		`{"checks":[` + strings.Repeat(`{"name":"a"},`, 10) + `{"name":"a"}]}`: "at most 10",
	} {
		m := asks(accept)
		_, _, _, err := none.Match(m)
		if wrong, ok := errors.AsType[*planner.AcceptError](err); !ok || !strings.Contains(wrong.Problem, want) {
			t.Errorf("%s: %v, want %s", accept, err, want)
		}
		if _, err := none.Plan(t.Context(), activities.Request{Message: &m}); !errors.Is(err, activities.ErrNoPlan) {
			t.Errorf("%s: a worker gets %v", accept, err)
		}
	}
}
