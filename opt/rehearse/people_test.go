package rehearse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/opt/rehearse"
)

// paid has a question for one person, which passes to another one, and one that standing decisions may answer.
const paid = `
name: pay
default: true
plans:
  - name: Pay
    tasks:
      - {name: Order, executor: shell}
      - name: Approve
        standing: true
        human:
          approve: Pay it?
          object: '{{results "Order"}}'
          responders: {principals: [ann, dora], accepts: 2}
          wait: [{after: 1h, do: escalate, to: {principals: [head], groups: [office]}}, {after: 2h, do: expire}]
`

func crew(names ...string) (list []rehearse.Person) {
	for _, name := range names {
		list = append(list, rehearse.Person{Name: name})
	}
	return list
}

// Deputies answer for those who are away, each place once; standing decisions for as many as the gate asks, if
// they could have made them.
func TestRun_insteadOfPeople(t *testing.T) {
	deputy := rehearse.Person{Name: "eve", For: []string{"dora"}}
	stands := map[string]rehearse.Work{"Approve": {Stands: true}}
	for name, tt := range map[string]struct {
		a    rehearse.Assumptions
		want string
	}{
		"a deputy":                       {rehearse.Assumptions{People: append(crew("ann"), deputy)}, "accept eve"},
		"a deputy for no one who may":    {rehearse.Assumptions{People: append(crew("ann"), rehearse.Person{Name: "eve", For: []string{"bob"}})}, "reject longhaul:timer"},
		"a deputy, who asks for it":      {rehearse.Assumptions{Requester: "eve", People: append(crew("ann"), deputy)}, "reject longhaul:timer"},
		"a standing decision":            {rehearse.Assumptions{Tasks: stands}, "accept longhaul:standing"},
		"a standing decision of too few": {rehearse.Assumptions{Tasks: stands, People: crew("ann")}, "reject longhaul:timer"},
	} {
		r := rehearsed(t, paid, tt.a)
		if g := r.Gates[len(r.Gates)-1]; string(g.Action)+" "+g.By != tt.want {
			t.Errorf("%s: got\n%s", name, lines(r))
		}
	}
}

// What no condition sees is for people, also if a standing decision or a check is assumed: an answer and a text are
// not one object.
func TestRun_mixedObject(t *testing.T) {
	const book = `
name: mixed
default: true
plans:
  - name: Mixed
    tasks:
      - name: Ask
        dependencies: []
        human: {questions: [{question: "Which?"}]}
      - {name: Order, executor: shell, dependencies: []}
      - name: Approve
        dependencies: [ORDER]
        standing: true
        human: {approve: 'Go on?', object: '{{results}}', only-if: object.amount > 5}
`
	a := rehearse.Assumptions{Tasks: map[string]rehearse.Work{"Approve": {Stands: true}}, People: crew("ann")}
	for before, want := range map[string]string{"Order": "accept longhaul:checks", "Ask": "accept longhaul:checks", "Ask, Order": "accept ann"} {
		r := rehearsed(t, strings.Replace(book, "ORDER", before, 1), a)
		if g := r.Gates[len(r.Gates)-1]; string(g.Action)+" "+g.By != want {
			t.Errorf("after %s: want %s, got\n%s", before, want, lines(r))
		}
	}
}

// A report without names has groups, and no people who are named in the playbook.
func TestRun_unnamed(t *testing.T) {
	for _, a := range []rehearse.Assumptions{{}, {People: crew("ann")}, {People: crew("head")}} {
		named, err := json.Marshal(rehearsed(t, paid, a))
		if err != nil || !strings.Contains(string(named), "head") || !strings.Contains(string(named), "dora") {
			t.Errorf("with names: %v: %s", err, named)
		}
		a.Unnamed = true
		text, err := json.Marshal(rehearsed(t, paid, a))
		for _, name := range []string{"ann", "dora", "head"} {
			if err != nil || strings.Contains(strings.ReplaceAll(string(text), `"planner`, ""), name) {
				t.Errorf("it has the name %s: %v: %s", name, err, text)
			}
		}
		if !strings.Contains(string(text), "office") || !strings.Contains(string(text), "a person who is named") {
			t.Errorf("who is asked is missing: %s", text)
		}
	}
}
