package planner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"longhaul/activities/planner"
	"longhaul/internal/test"
)

// TestLoad_refuses has a file with one mistake or more for each error. "…" is replaced by
// the six lines that most files need.
func TestLoad_refuses(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"empty", "", "x.yaml:1: the file is empty"},
		{"only a comment", "# nothing", "x.yaml:1: the file is empty"},
		{"not YAML", "name: [", "x.yaml:1: not valid YAML: close each bracket, and give each member in it a value (did not find expected node content)"},
		{"not YAML either", "name: a\n\nplans:\n- name: b: c", "x.yaml:4: not valid YAML: put a text that has a colon and a space in quotation marks, and indent members of one object alike (mapping values are not allowed in this context)"},
		{"nor this", "name: a\nmatch:\n- a\nb", "x.yaml:4: not valid YAML: write a colon and a space after the name of a member, and indent the lines of a text alike (could not find expected ':')"},
		{"nor that", "name: a\nmatch: {keywords: [a}", "x.yaml:2: not valid YAML: close each bracket, put commas between the values in it, and quotes around texts with ? or : (did not find expected ',' or ']')"},
		{"two documents", "name: a\n---\nname: b\n", "x.yaml:2: a file holds one playbook"},
		{"not an object", "- a", "x.yaml:1: a playbook must be an object"},
		{"too long", strings.Repeat("#", 1<<20+1), "x.yaml:1: the file has more than 1048576 bytes"},
		{"unknown member", "…\nsteps: []", `x.yaml:7: a playbook has no member "steps"`},
		{"unknown members", "…\na: 1\nb: 2", "x.yaml:7: a playbook has no member \"a\"\nx.yaml:8: a playbook has no member \"b\""},
		{"member twice", "…\nname: again", `x.yaml:7: "name" is there twice`},
		{"key is no text", "…\n1: a", "x.yaml:7: a key must be a text"},
		{"no name", "default: true\nplans:\n- name: P\n  tasks: [{name: T}]", "x.yaml:1: a playbook needs a name"},
		{"name is empty", "name: ''\ndefault: true", `x.yaml:1: name: must not be empty`},
		{"name is a number", "name: 7", `x.yaml:1: name: must be a text; quotes make one of a number; it is "7"`},
		{"nothing leads here", "name: a\nplans:\n- name: P\n  tasks: [{name: T}]", "x.yaml:1: no request can match this playbook: give it match, skills, schedules or default: true"},
		{"a front and plans", "…\nfront: a", `x.yaml:1: "front" hands all of the work over to an agent: there are no plans beside it`},
		{"no plans", "name: a\ndefault: true", "x.yaml:1: a playbook needs plans"},
		{"default", "name: a\ndefault: maybe", `x.yaml:2: default: must be true or false; it is "maybe"`},

		{"match", "…\nmatch: always", "x.yaml:7: match must be an object"},
		{"unknown way to match", "…\nmatch:\n  words: [a]", `x.yaml:8: match has no member "words"`},
		{"keywords", "…\nmatch: {keywords: tea}", `x.yaml:7: keywords: must be a list; it is "tea"`},
		{"keyword", "…\nmatch:\n  keywords:\n  - tea\n  - '!'", "x.yaml:10: a keyword needs a letter or a digit"},
		{"pattern", "…\nmatch:\n  pattern: '(tea'", "x.yaml:8: error parsing regexp: missing closing ): `(tea`"},
		{"skill", "…\nskills:\n- id: a\n  name: A\n  description: Does a.", "x.yaml:8: a skill needs id, name, description and tags"},
		{"member of a skill", "…\nskills:\n- {id: a, name: A, description: Does a., tags: [a], modes: [b]}", `x.yaml:8: a skill has no member "modes"`},

		{"plan without tasks", "name: a\ndefault: true\nplans:\n- name: P", "x.yaml:4: a plan needs tasks"},
		{"plan without a name", "name: a\ndefault: true\nplans:\n- tasks: [{name: T}]", "x.yaml:4: a plan needs a name"},
		{"same plan", "…\n- name: P\n  tasks: [{name: T}]", `x.yaml:7: another plan has the name "P"`},
		{"member of a plan", "…\n- name: Q\n  executor: echo", `x.yaml:8: a plan has no member "executor"`},
		{"plan dependency", "…\n- name: Q\n  tasks: [{name: T}]\n  dependencies: [P, R]", `x.yaml:9: there is no plan "R" here`},
		{"plan depends on task", "…\n- name: Q\n  tasks: [{name: T}]\n  dependencies: [task-0]", `x.yaml:9: there is no plan "task-0" here`},
		{"circle of plans", "name: a\ndefault: true\nplans:\n- {name: P, tasks: [{name: T}], dependencies: [Q]}\n- {name: Q, tasks: [{name: T}], dependencies: [plan-0]}", `x.yaml:1: the dependencies form a cycle: "plan-0" waits for "plan-1", "plan-1" waits for "plan-0"`},

		{"checks without an object", "…\n  - name: U\n    human:\n      approve: a\n      checks: [{name: c, holds: 'true'}]", "x.yaml:9: checks need an object"},
		{"rounds without checks", "…\n  - name: U\n    human:\n      approve: a\n      rounds: 2", `x.yaml:9: "rounds" is for checks`},
		{"rounds without refine", "…\n  - name: U\n    human:\n      approve: a\n      object: '{{results}}'\n      actions: [accept, reject]\n      checks: [{name: c, holds: 'true'}]\n      rounds: 2", "x.yaml:9: rounds send the object back: the approval must offer refine"},
		{"standing decisions about nothing", "…\n  - name: U\n    standing: true\n    human: {approve: a}", "x.yaml:9: standing decisions are about the object of an approval"},
		{"a kept decision about nothing", "…\n  - name: U\n    human: {approve: a, keep-decision: true}", "x.yaml:8: keep-decision is about the object of an approval"},
		{"a condition", "…\n  - name: U\n    human:\n      approve: a\n      object: '{{results}}'\n      only-if: object.amount >", "x.yaml:11: the condition is not CEL: 1:16: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		{"a type of a schema", "…\n  - name: U\n    human:\n      questions:\n      - question: a\n        schema:\n          type: strng", "x.yaml:12: read schema: at /type: the value must be one of array, boolean, integer, null, number, object, string (did you mean string?)"},
		{"a bound of a schema", "…\n  - name: U\n    human:\n      questions:\n      - question: a\n        schema:\n          type: array\n          items:\n            minimum: low", "x.yaml:14: read schema: at /items/minimum: it must be a number"},
		{"a keyword of a schema", "…\n  - name: U\n    human:\n      questions:\n      - question: a\n        schema:\n          properties: {a: {enums: [b]}}", `x.yaml:12: a JSON Schema has no keyword "enums" (did you mean enum?)`},
		{"two kinds of check", "…\n  - name: U\n    human:\n      approve: a\n      checks: [{name: c, holds: 'true', executor: e}]", "x.yaml:10: a check has one of schema, holds, judge and executor"},
		{"too few judges", "…\n  - name: U\n    human:\n      approve: a\n      object: '{{results}}'\n      checks: [{name: c, judge: a, of: 3, need: 1}]", "x.yaml:9: of 3 checks more than half must agree, and at most all: not 1"},

		{"budget of nothing", "…\nbudget: {on-exceeded: ask}", "x.yaml:7: a budget needs tokens, cost, time, questions or calls"},
		{"member of a budget", "…\nbudget:\n  token: 5", `x.yaml:8: budget has no member "token" (did you mean tokens?)`},
		{"limits of a budget", "…\nbudget:\n  tokens: 0\n  cost: free\n  time: 90\n  calls: -1\n  on-exceeded: stop", "x.yaml:8: tokens: must be a whole number from 1 to 1099511627776; it is \"0\"\nx.yaml:9: cost: must be a number above 0; it is \"free\"\n" +
			"x.yaml:10: time: must be a duration of whole seconds, such as 90s, 2h or 7d; it is \"90\"\nx.yaml:11: calls: must be a whole number from 0 to 1099511627776; it is \"-1\"\nx.yaml:12: on-exceeded: must be one of ask, fail; it is \"stop\""},
		{"budget above what the operator allows", "…\nbudget: {tokens: 5, calls: 2, most: {tokens: 9, calls: 1}}", `x.yaml:7: a limit of the budget is above that in "most"`},
		{"most of a budget", "…\nbudget: {most: {most: 1}}", `x.yaml:7: most has no member "most" (did you mean cost?)`},

		{"accept of nothing", "…\n  - name: U\n    accept:\n      rounds: 2", "x.yaml:9: accept needs criteria or checks\nx.yaml:9: \"rounds\" is for checks"},
		{"accept of another result", "…\n  - name: U\n    accept:\n      checks: [{name: c, judge: 'As {{results \"T\"}}'}]", "x.yaml:9: the checks of accept are about one result: {{results}} without a name"},
		{"accept of people", "…\n  - name: U\n    human: {approve: Go}\n    accept: {criteria: a}", "x.yaml:7: a human task, and an optional one, has no accept"},
		{"accept of an optional task", "…\n  - {name: U, optional: true, accept: {criteria: a}}", "x.yaml:7: a human task, and an optional one, has no accept"},
		{"object of accept", "…\n  - {name: U, accept: {criteria: a, object: b}}", `x.yaml:7: accept has no member "object"`},
		{"rounds of accept", "…\n  - {name: U, accept: {rounds: 2, actions: [accept], checks: [{name: c, holds: 'true'}]}}", "x.yaml:7: rounds send the object back: the approval must offer refine"},
		{"criteria of messages", "…\nmessage-accept: {criteria: a}", `x.yaml:7: accept has no member "criteria"`},

		{"member of a task", "…\n  - name: U\n    exeutor: echo", `x.yaml:8: a task has no member "exeutor" (did you mean executor?)`},
		{"task without a name", "…\n  - executor: echo", "x.yaml:7: a task needs a name"},
		{"same task", "…\n  - name: T", `x.yaml:7: another task has the name "T"`},
		{"name like an index", "…\n  - name: task-0", `x.yaml:7: "task-0" cannot be a name: in dependencies it means an index`},
		{"dependency", "…\n  - name: U\n    dependencies:\n    - T\n    - V", `x.yaml:10: there is no task "V" here`},
		{"index", "…\n  - name: U\n    dependencies: [task-2]", `x.yaml:8: there is no task "task-2" here`},
		{"huge index", "…\n  - name: U\n    dependencies: [task-99999999999999999999]", `x.yaml:8: there is no task "task-99999999999999999999" here`},
		{"depends on itself", "…\n  - name: U\n    dependencies: [task-1]", "x.yaml:8: a task cannot depend on itself"},
		{"circle", "…\n  - {name: U, dependencies: [V]}\n  - {name: V, dependencies: [U]}", `x.yaml:4: the dependencies form a cycle: "task-1" waits for "task-2", "task-2" waits for "task-1"`},
		{"circle by the list", "…\n  - {name: U, dependencies: [V]}\n  - {name: V}", `x.yaml:4: the dependencies form a cycle: "task-1" waits for "task-2", "task-2" follows "task-1" in the list; to follow the list no longer, declare dependencies, [] for none`},
		{"attempts", "…\n  - name: U\n    attempts: 0", `x.yaml:8: attempts: must be a whole number from 1 to 100; it is "0"`},
		{"timeout", "…\n  - name: U\n    timeout: 90", `x.yaml:8: timeout: must be a duration of whole seconds, such as 90s, 2h or 7d, of 720h at the most; it is "90"`},
		{"timeout in parts of a second", "…\n  - name: U\n    timeout: 1500ms", `x.yaml:8: timeout: must be a duration of whole seconds, such as 90s, 2h or 7d, of 720h at the most; it is "1500ms"`},
		{"retry", "…\n  - name: U\n    retry: 3", "x.yaml:8: retry must be an object"},
		{"member of a retry", "…\n  - name: U\n    retry: {times: 3}", `x.yaml:8: retry has no member "times"`},
		{"attempts of a retry", "…\n  - name: U\n    retry:\n      attempts: 101", `x.yaml:9: attempts: must be a whole number from 1 to 100; it is "101"`},
		{"attempts twice", "…\n  - name: U\n    attempts: 3\n    retry: {attempts: 3}", `x.yaml:7: "attempts" is set twice: also in "retry"`},
		{"wait", "…\n  - name: U\n    retry: {wait: 0s}", `x.yaml:8: wait: must be a duration of whole seconds, such as 90s, 2h or 7d, of 720h at the most; it is "0s"`},
		{"exceptions", "…\n  - name: U\n    retry: {except: busy}", `x.yaml:8: except: must be a list; it is "busy"`},
		{"exception", "…\n  - name: U\n    retry: {except: [busy, '']}", `x.yaml:8: except: must not be empty`},
		{"optional", "…\n  - name: U\n    optional: yes please", `x.yaml:8: optional: must be true or false; it is "yes please"`},

		{"human without a form", "…\n  - name: U\n    executor: human", `x.yaml:7: a task for the executor human needs the member "human"`},
		{"human with another executor", "…\n  - {name: U, executor: echo, human: {approve: Go}}", `x.yaml:7: a human task cannot have the executor "echo"`},
		{"wait is no list", "…\n  - name: U\n    human:\n      approve: Go\n      wait: 7d", `x.yaml:10: wait: must be a list; it is "7d"`},
		{"wait without a time", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - do: remind", "x.yaml:11: must be between one second and 366 days after the gate opens"},
		{"wait for no duration", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - after: 7\n        do: remind", `x.yaml:11: after: must be a duration of whole seconds, such as 90m, 4h or 7d, or working time, such as 4 working hours, of 366d at the most; it is "7"`},
		{"wait for days and a half", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - after: 1.5d\n        do: remind", `x.yaml:11: after: must be a duration of whole seconds, such as 90m, 4h or 7d, or working time, such as 4 working hours, of 366d at the most; it is "1.5d"`},
		{"wait too long", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - after: 367d\n        do: remind", `x.yaml:11: after: must be a duration of whole seconds, such as 90m, 4h or 7d, or working time, such as 4 working hours, of 366d at the most; it is "367d"`},
		{"unknown step", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - {after: 1h, do: remind}\n      - {after: 2h, do: wake}", `x.yaml:12: there is no step "wake": a step is one of remind, escalate, reassign, expire`},
		{"member of a step", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - {after: 1h, remind: bob}", `x.yaml:11: a step has no member "remind"`},
		{"steps out of order", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - {after: 2h, do: remind}\n      - {after: 1h, do: remind}", "x.yaml:12: must be later than the step before"},
		{"step after the expiry", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - {after: 1h, do: expire}\n      - {after: 2h, do: remind}", "x.yaml:11: only the last step may be an expiry"},
		{"escalation to none", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - {after: 1h, do: escalate, to: {}}", "x.yaml:11: escalate needs the principals or groups that may answer then"},
		{"member of to", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - {after: 1h, do: escalate, to: {accepts: 2}}", `x.yaml:11: to has no member "accepts"`},
		{"action of an expiry", "…\n  - name: U\n    human:\n      approve: Go\n      wait:\n      - {after: 1h, do: expire, action: refine}", `x.yaml:11: an approval expires with accept or reject, not "refine"`},
		{"action of questions", "…\n  - name: U\n    human:\n      questions: [{question: 'Why?'}]\n      wait:\n      - {after: 1h, do: expire, action: accept}", "x.yaml:11: only the expiry of an approval has an action"},
		{"reassignment to too few", "…\n  - name: U\n    human:\n      approve: Go\n      responders: {accepts: 2}\n      wait:\n      - {after: 1h, do: reassign, to: {principals: [ann]}}", "x.yaml:12: 1 principals cannot accept 2 times"},
		{"human with a timeout", "…\n  - {name: U, timeout: 1h, human: {approve: Go}}", "x.yaml:7: a human task has no input, attempts, retry or timeout"},
		{"human with a retry", "…\n  - {name: U, retry: {except: [busy]}, human: {approve: Go}}", "x.yaml:7: a human task has no input, attempts, retry or timeout"},
		{"empty form", "…\n  - name: U\n    human:\n      description: Well?", `x.yaml:9: a human task needs "approve" or "questions"`},
		{"form with both", "…\n  - name: U\n    human: {approve: Go, questions: [{question: Who}]}", "x.yaml:8: a human task either approves or asks questions, not both"},
		{"same question", "…\n  - name: U\n    human: {questions: [{id: a, question: Who}, {id: a, question: When}]}", "x.yaml:8: question 2 needs a text and an id of its own"},
		{"member of a form", "…\n  - name: U\n    human:\n      aprove: Go?", `x.yaml:9: a human form has no member "aprove" (did you mean approve?)`},
		{"member of a question", "…\n  - name: U\n    human: {questions: [{text: Who}]}", `x.yaml:8: a question has no member "text"`},

		{"template", "…\n  - name: U\n    description: '{{.Message'", "x.yaml:8: unclosed action"},
		{"fact", "…\n  - name: '{{.Mesage}}'", "x.yaml:7: there is no .Mesage; a template may use .Message, .Name, .Description"},
		{"fact in a branch", "…\n  - name: '{{if .Name}}a{{else}}{{.Nam}}{{end}}'", "x.yaml:7: there is no .Nam; a template may use .Message, .Name, .Description"},
		{"printf", "…\n  - name: '{{printf \"%1000000d\" 1}}'", "x.yaml:7: printf is not allowed in a template"},
		{"loop", "…\n  - name: '{{range 10}}a{{end}}'", "x.yaml:7: {{range 10}}a{{end}} is not allowed in a template"},
		{"variable", "…\n  - name: '{{$a := 1}}'", "x.yaml:7: $a := 1 is not allowed in a template"},
		{"dot", "…\n  - name: '{{.}}'", "x.yaml:7: . is not allowed in a template"},
		{"definition", "…\n  - name: '{{define \"a\"}}a{{end}}'", "x.yaml:7: templates cannot be defined here"},
		{"call of a template", "…\n  - name: '{{template \"a\"}}'", `x.yaml:7: {{template "a"}} is not allowed in a template`},
		{"wrong length", "…\n  - name: '{{short 0 .Message}}'", "x.yaml:7: <short 0 .Message>: error calling short: short needs a length of 1 or more"},
		{"template in input", "…\n  - name: U\n    input:\n      to:\n      - '{{.Nam}}'", "x.yaml:10: there is no .Nam; a template may use .Message, .Name, .Description"},

		{"results in a name", "…\n  - name: '{{results \"T\"}}'", "x.yaml:7: " + inputAlone},
		{"results in a description", "…\n  - name: U\n    description: |\n      say {{results}}", "x.yaml:8: " + inputAlone},
		{"results in a plan", "…\n- name: '{{results}}'\n  tasks: [{name: T}]", "x.yaml:7: " + inputAlone},
		{"results in a question", "…\n  - name: U\n    human: {questions: [{question: '{{results}}'}]}", "x.yaml:8: " + inputAlone},
		{"an object that is text", "…\n  - name: U\n    human: {approve: 'Good?', object: 'the {{results}}'}", `x.yaml:8: an object is only results, such as {{results "Task"}}`},
		{"an object of questions", "…\n  - name: U\n    human: {actions: [accept], questions: [{question: 'Why?'}]}", "x.yaml:8: only an approval has actions"},
		{"an object of a later task", "…\n  - name: U\n    human: {approve: 'Good?', object: '{{results \"V\"}}'}\n  - name: V", `x.yaml:8: the task "V" does not come before this one`},
		{"too few responders", "…\n  - name: U\n    human: {approve: 'Good?', responders: {principals: [ann], accepts: 2}}", "x.yaml:8: 1 principals cannot accept 2 times"},
		{"an edit where several accept", "…\n  - name: U\n    human: {approve: 'Good?', object: '{{results}}', actions: [accept, edit-accept], responders: {accepts: 2}}", "x.yaml:8: the action edit-accept is not possible where several must accept: each of them must accept the same object"},
		{"several responders to questions", "…\n  - name: U\n    human: {questions: [{question: 'Why?'}], responders: {accepts: 2}}", "x.yaml:8: only an approval takes several responders"},
		{"an unknown action", "…\n  - name: U\n    human: {approve: 'Good?', actions: [accept, maybe]}", `x.yaml:8: there is no action "maybe": an approval offers some of accept, reject, refine, edit-accept, ask`},
		{"refine without an object", "…\n  - name: U\n    human: {approve: 'Good?', actions: [accept, refine]}", "x.yaml:8: the action refine needs an object"},
		{"an approval without accept", "…\n  - name: U\n    human: {approve: 'Good?', actions: [reject]}", "x.yaml:8: an approval must offer accept"},
		{"results in a pipe", "…\n  - {name: U, input: '{{results \"T\" | short 9}}'}", "x.yaml:7: " + standAlone},
		{"results as an argument", "…\n  - {name: U, input: '{{short 9 (results \"T\")}}'}", "x.yaml:7: " + standAlone},
		{"results in parentheses", "…\n  - {name: U, input: '{{(results \"T\")}}'}", "x.yaml:7: " + standAlone},
		{"results as a condition", "…\n  - {name: U, input: '{{if results}}a{{end}}'}", "x.yaml:7: " + standAlone},
		{"results of two", "…\n  - {name: U, input: '{{results \"T\" \"T\"}}'}", "x.yaml:7: " + oneName},
		{"results of nobody", "…\n  - {name: U, input: '{{results \"\"}}'}", "x.yaml:7: " + oneName},
		{"results of what a client names", "…\n  - {name: U, input: '{{results .Message}}'}", "x.yaml:7: " + oneName},
		{"results of an unknown task", "…\n  - name: U\n    input:\n      a:\n      - x\n      - b: '{{results \"V\"}}'", `x.yaml:11: there is no task "V" here`},
		{"results of a task of another plan", "…\n- name: Q\n  tasks:\n  - name: U\n    input: '{{results \"T\"}}'", `x.yaml:10: there is no task "T" here`},
		{"results of a later task", "…\n    input: '{{results \"U\"}}'\n  - name: U", `x.yaml:7: the task "U" does not come before this one`},
		{"results of itself", "…\n    input: '{{results \"T\"}}'", `x.yaml:7: the task "T" does not come before this one`},
		{"results by index", "…\n    input: '{{results \"task-1\"}}'", `x.yaml:7: there is no task "task-1" here`},
		{"results of a task that is not waited for", "…\n  - name: U\n  - {name: V, dependencies: [T], input: '{{results \"U\"}}'}", `x.yaml:8: the task "U" does not come before this one`},
		{"results of people", "…\n  - {name: U, human: {approve: Go}}\n  - {name: V, input: '{{results \"U\"}}'}", `x.yaml:8: the task "U" is for people and makes no text`},
		{"results of answers", "…\n  - {name: U, human: {questions: [{question: Q, id: x}]}}\n  - {name: V, input: '{{results \"U\"}}'}", `x.yaml:8: the task "U" is for people and makes no text: {{answer "U" "x"}} is what they answer`},
		{"answers to nothing", "…\n  - {name: U, human: {questions: [{question: Q, id: x}, {question: R}]}}\n  - {name: V, input: '{{answer \"U\" \"y\"}}{{answer \"T\" \"x\"}}'}",
			"x.yaml:8: the task \"U\" has no question \"y\": it has x, q2\nx.yaml:8: the task \"T\" asks no questions"},
		{"results of answers as an object", "…\n  - {name: U, human: {questions: [{question: Q}]}}\n  - {name: V, human: {approve: Go, object: '{{results \"U\"}}'}}", `x.yaml:8: the task "U" is for people and makes no object of a decision: name {{answer "U" "q1"}}, what they answer, in approve or description`},
		{"answers as an object", "…\n  - {name: U, human: {questions: [{question: Q}]}}\n  - {name: V, human: {approve: Go, object: '{{answer \"U\" \"q1\"}}'}}", "x.yaml:8: an answer cannot be the object of a decision: name it in approve or description"},
		{"one name of an answer", "…\n    input: '{{answer \"T\"}}'", "x.yaml:7: answer takes the name of one task and the id of its question, both in quotes"},
		{"answers in a condition", "…\n    input: '{{if answer \"T\" \"x\"}}y{{end}}'", `x.yaml:7: answers are not there yet when a template is worked out: they stand alone, as {{answer "Task" "question"}}`},
		{"key of a text", "…\n  - name: U\n    input:\n      longhaul/v1/text: [a]", `x.yaml:9: "longhaul/v1/text" cannot be a key: it marks texts with results`},
		{"alias", "…\n  - name: U\n    input: [&a 1, *a]", "x.yaml:8: an alias is not allowed: repeat the value"},
		{"merge", "…\n  - name: U\n    input: {<<: {a: 1}}", "x.yaml:8: a key must be a text"},
		{"key in input", "…\n  - name: U\n    input: {1: a}", "x.yaml:8: a key must be a text"},
		{"key twice in input", "…\n  - name: U\n    input: {a: 1, a: 2}", `x.yaml:8: "a" is there twice`},
		{"no number", "…\n  - name: U\n    input: [.nan]", "x.yaml:8: .nan has no JSON form"},
		{"binary", "…\n  - name: U\n    input: !!binary aGk=", "x.yaml:8: a value of type !!binary has no JSON form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := planner.Load(fstest.MapFS{"x.yaml": {Data: []byte(complete(tt.file))}}, "x.yaml")
			if err == nil {
				t.Fatalf("the file was taken, want %q", tt.want)
			}
			test.Equal(t, "error", tt.want, err.Error())
		})
	}
}

const (
	inputAlone = "results can be used only in the input of a task and in an approval: nothing else waits for results"
	standAlone = `results are not there yet when a template is worked out: they stand alone, as {{results "Task"}}`
	oneName    = "results takes the name of one task in quotes, or nothing"
)

// complete puts the first six lines of a good playbook where "…" is.
func complete(file string) string {
	return strings.Replace(file, "…", "name: a\ndefault: true\nplans:\n- name: P\n  tasks:\n  - name: T", 1)
}

func TestLoad_refusesFilesThatDoNotGoTogether(t *testing.T) {
	file := func(text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(text + "\nplans: [{name: P, tasks: [{name: T}]}]")}
	}
	fsys := fstest.MapFS{
		"a.yaml":     file("name: a\ndefault: true"),
		"same.yaml":  file("name: a\nmatch: {keywords: [tea]}"),
		"also.yaml":  file("name: b\ndefault: true"),
		"tea.yaml":   file("name: tea\nskills: [{id: tea, name: Tea, description: Makes tea., tags: [tea]}]"),
		"maker.yaml": file("name: maker\nmatch: {skills: [coffee, tea]}"),
	}
	for _, tt := range []struct {
		files []string
		want  string
	}{
		{[]string{"a.yaml", "same.yaml"}, `same.yaml:1: a.yaml also has the name "a"`},
		{[]string{"a.yaml", "also.yaml"}, "also.yaml:1: a.yaml is also the default"},
		{[]string{"tea.yaml", "maker.yaml"}, `maker.yaml:1: tea.yaml also has the skill "tea"`},
		{[]string{"tea.yaml", "gone.yaml"}, "load playbook: open gone.yaml: file does not exist"},
	} {
		test.Is(t, fmt.Sprint(tt.files), tt.want, fmt.Sprint(test.Err(planner.Load(fsys, tt.files...))))
	}
}

func TestLoadDir(t *testing.T) {
	dir := t.TempDir()
	test.Is(t, "empty directory", "load playbooks: no *.yaml in "+dir, fmt.Sprint(test.Err(planner.LoadFiles(planner.Calendars{}, dir))))
	if _, err := planner.LoadFiles(planner.Calendars{}, filepath.Join(dir, "gone")); err == nil {
		t.Error("a directory that is not there was read")
	}
	test.Is(t, "files of a program", "load playbooks: no *.yaml among the files of the program", fmt.Sprint(test.Err(planner.LoadAll(planner.Calendars{}, fstest.MapFS{"c.txt": {}}))))
	for name, text := range map[string]string{
		"b.yaml": complete("…\nskills: [{id: b, name: B, description: Is b., tags: [b]}]"),
		"a.yml":  "name: b\nskills: [{id: a, name: A, description: Is a., tags: [a]}]\nplans: [{name: P, tasks: [{name: T}]}]",
		"c.txt":  "nothing",
	} {
		test.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	books := test.Value(planner.LoadFiles(planner.Calendars{}, dir))(t)
	var got []string
	for _, s := range books.Skills() {
		got = append(got, s.ID)
	}
	test.Equal(t, "skills", []string{"a", "b"}, got)
}

// FuzzLoad checks that no file makes the program panic, and that an accepted file
// has plans for any message.
func FuzzLoad(f *testing.F) {
	demo := test.Value(os.ReadFile("playbooks/demo.yaml"))(f)
	f.Add(demo, "write an article")
	f.Add([]byte(complete("…\n  - {name: '{{short 9 .Message}}', input: {a: [1, 0x1F, .inf, ~, 2024-01-01, '{{if eq .Name \"\"}}x{{end}}']}}")), "")
	f.Add([]byte(complete("…\n  - {name: U, human: {questions: [{question: '{{.Message}}'}]}, dependencies: [task-0]}")), "x; fail")
	f.Add([]byte("&a [*a, ? {}, !!set x]\n---\n%YAML 1.1"), "")
	f.Fuzz(func(t *testing.T, data []byte, message string) {
		books, err := planner.Load(fstest.MapFS{"x.yaml": {Data: data}}, "x.yaml")
		if err != nil {
			return
		}
		books.Skills()
		checkPlans(t, books, message)
	})
}
