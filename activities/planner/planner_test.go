package planner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/executortest"
	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestPlaybooks_Plan(t *testing.T) {
	books := load(t, `
name: full
description: All that a playbook can say
match: {keywords: [tea]}
plans:
- name: 'Tea for {{short 20 .Message}}'
  description: 'As {{.Name}}{{if .Description}}: {{.Description}}{{end}}'
  tasks:
  - name: Boil
    description: "work 1s\n"
    executor: http
    retry: {attempts: 5, wait: 2s, except: [bad-input, timeout]}
    timeout: 2m
    input:
      url: https://example.org/{{.Name}}
      times: 3
      ratio: 0.5
      big: 9007199254740993
      on: {days: [2024-01-02, null, true]}
  - name: '{{.Message}}'
    dependencies: [Boil]
    attempts: 2
    optional: true
- name: Serve
  optional: true
  dependencies: ['Tea for {{short 20 .Message}}']
  tasks:
  - name: Ask
    executor: human
    human:
      description: About {{.Name}}
      questions: [{question: 'How much {{.Message}}?'}, {id: who, question: 'Who?'}]
  - name: Approve
    dependencies: [task-0]
    human:
      approve: 'Serve {{.Message}}?'
      wait:
      - {after: 90m, do: remind}
      - {after: 4h, do: escalate, to: {principals: [bob], groups: [leads]}}
      - {after: 1d12h, do: reassign, to: {groups: [leads]}}
      - {after: 7d, do: expire, action: accept}
`)
	optional := a2a.Metadata{}.With(opt.KeyOptional, true)
	want := []opt.PlanSpec{
		{Name: "Tea for green tea", Description: "As Afternoon: with milk", Tasks: []opt.TaskSpec{
			{Name: "Boil", Description: "work 1s\n", Executor: "http", Attempts: 5, Timeout: 120, Retry: opt.Retry{Wait: 2, Except: []string{"bad-input", "timeout"}},
				Input: []byte(`{"big":9007199254740993,"on":{"days":["2024-01-02",null,true]},"ratio":0.5,"times":3,"url":"https://example.org/Afternoon"}`)},
			{Name: "green tea", Dependencies: []string{"task-0"}, Metadata: optional, Attempts: 2},
		}},
		{Name: "Serve", Dependencies: []string{"plan-0"}, Metadata: optional, Tasks: []opt.TaskSpec{
			{Name: "Ask", Executor: "human", Ask: &opt.Gate{Kind: opt.Clarification, Description: "About Afternoon",
				Questions: []opt.Question{{ID: "q1", Question: "How much green tea?"}, {ID: "who", Question: "Who?"}}}},
			{Name: "Approve", Executor: "human", Dependencies: []string{"task-0"},
				Ask: &opt.Gate{Kind: opt.Approval, Title: "Serve green tea?", Actions: []opt.Action{opt.Accept, opt.Reject}, Ladder: []opt.Step{
					{Kind: opt.Remind, After: 5400}, {Kind: opt.Escalate, After: 4 * 3600, To: &opt.Responders{Principals: []string{"bob"}, Groups: []string{"leads"}}},
					{Kind: opt.Reassign, After: 36 * 3600, To: &opt.Responders{Groups: []string{"leads"}}}, {Kind: opt.Expire, After: 7 * 24 * 3600, Action: opt.Accept},
				}}},
		}},
	}
	m := message("green tea")
	got := test.Value(books.Plan(t.Context(), activities.Request{Name: "Afternoon", Description: "with milk", Message: &m}))(t)
	test.Equal(t, "plans", activities.Planned{Plans: want, Planner: "playbook full", Reason: `keyword "tea"`}, got)
}

func TestPlaybooks_Match_precedence(t *testing.T) {
	books := load(t, `
name: last
default: true
match: {keywords: [tea]}
plans: [{name: P, tasks: [{name: T}]}]
`, `
name: words
match: {keywords: [coffee, Hot Chocolate], pattern: '(?i)\bmocha\b'}
plans: [{name: P, tasks: [{name: T}]}]
`, `
name: skilled
match: {keywords: [coffee], skills: [brew]}
skills: [{id: roast, name: Roast, description: Roasts beans., tags: [beans]}]
plans: [{name: P, tasks: [{name: T}]}]
`)
	for _, tt := range []struct{ text, skill, name, reason string }{
		{"Make coffee", "", "words", `keyword "coffee"`},
		{"Make COFFEE, please", "", "words", `keyword "coffee"`},
		{"Make coffee", "roast", "skilled", `skill "roast"`},
		{"Make tea", "brew", "skilled", `skill "brew"`},
		{"Make coffee", "unheard-of", "words", `keyword "coffee"`},
		{"coffee or tea", "", "last", `keyword "tea"`},
		{"hot\nchocolate", "", "words", `keyword "Hot Chocolate"`},
		{"hot and chocolate", "", "last", "default"},
		{"Make coffees", "", "last", "default"},
		{"a Mocha", "", "words", `pattern "(?i)\\bmocha\\b"`},
		{"", "", "last", "default"},
	} {
		m := asking(tt.text, tt.skill)
		name, specs, reason, err := books.Match(m)
		if name != tt.name || reason != tt.reason || len(specs) != 1 || err != nil {
			t.Errorf("%q with skill %q: got %q by %s, error %v; want %q by %s", tt.text, tt.skill, name, reason, err, tt.name, tt.reason)
		}
	}
	want := []planner.Skill{{ID: "roast", Name: "Roast", Description: "Roasts beans.", Tags: []string{"beans"}}}
	test.Equal(t, "skills", want, books.Skills())
}

// TestPlaybooks_Match_fallback is about requests that no playbook matches: one
// task, whose description the default executor gets as it was sent.
func TestPlaybooks_Match_fallback(t *testing.T) {
	long := strings.Repeat("ä", opt.MaxDescription)
	for _, tt := range []struct{ text, suggested, name, description string }{
		{"work 2s; approve Ship it?; say done", "", "work 2s; approve Ship it?; say done", "work 2s; approve Ship it?; say done"},
		{"Make\n tea", "", "Make tea", "Make\n tea"},
		{"Make tea", "Afternoon", "Afternoon", "Make tea"},
		{"", "Afternoon", "Afternoon", "Afternoon"},
		{" ", "", "Work", ""},
		{long, "", strings.Repeat("ä", 79) + "…", long[:opt.MaxDescription]},
	} {
		m := message(tt.text)
		if tt.suggested != "" {
			m.Metadata = a2a.Metadata{}.With(opt.KeySuggestedName, tt.suggested)
		}
		var books planner.Playbooks
		name, specs, reason, err := books.Match(m)
		want := []opt.PlanSpec{{Name: "Work", Tasks: []opt.TaskSpec{{Name: tt.name, Description: tt.description}}}}
		if diff := cmp.Diff(want, specs); diff != "" || name != "" || reason != "no playbook matches the request, so it is one task" || err != nil {
			t.Errorf("%.20q: playbook %q by %s, error %v; plans mismatch (-want +got):\n%s", tt.text, name, reason, err, diff)
		}
	}
}

// All plans of a playbook have its budget, which limits all of the work, and their own beside it.
func TestPlaybooks_Plan_budget(t *testing.T) {
	p := test.Value(planner.Load(fstest.MapFS{"x.yaml": {Data: []byte("name: a\ndefault: true\nbudget: {cost: 2.5, time: 2h, calls: 0, on-exceeded: fail, most: {tokens: 100}}\nplans:\n- {name: P, tasks: [{name: T}]}\n- {name: Q, budget: {tokens: 5}, tasks: [{name: T}]}")}}, "x.yaml"))(t)
	_, specs, _, err := p.Match(a2a.Message{})
	if own := specs[1].Own; err != nil || specs[0].Own != nil || own == nil || *own != (opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 5}}) {
		t.Errorf("the plan alone: %+v, %v", specs, err)
	}
	want := opt.Budget{SpendLimit: opt.SpendLimit{Cost: 2_500_000, Time: 7200, Calls: 1}, Most: opt.SpendLimit{Tokens: 100}, OnExceeded: opt.FailBudget}
	if err != nil || len(specs) != 2 || *specs[0].Budget != want || *specs[1].Budget != want {
		t.Errorf("%+v, %v", specs, err)
	}
}

// Planned says who made the plans and why: a request that no playbook matches is
// split into the steps that it names, or is one task.
func TestPlaybooks_Plan_saysWhy(t *testing.T) {
	books := load(t, "name: tea\nmatch: {keywords: [tea], skills: [brew]}\nplans: [{name: P, tasks: [{name: T}]}]")
	for _, tt := range []struct {
		text, skill     string
		planner, reason string
		tasks           int
	}{
		{"Make tea", "", "playbook tea", `keyword "tea"`, 1},
		{"Make coffee", "brew", "playbook tea", `skill "brew"`, 1},
		{"Make coffee", "", "rules", "no playbook matches the request, so it is one task", 1},
		{"First grind, then pour", "", "rules", "no playbook matches the request, so each step that it names is a task", 2},
	} {
		m := asking(tt.text, tt.skill)
		got, err := books.Plan(t.Context(), activities.Request{Message: &m})
		if got.Planner != tt.planner || got.Reason != tt.reason || err != nil || len(got.Plans) != 1 || len(got.Plans[0].Tasks) != tt.tasks {
			t.Errorf("%q: %+v, error %v", tt.text, got, err)
		}
	}
}

func TestPlaybooks_Plan_withoutMessage(t *testing.T) {
	books := load(t, "name: tea\nmatch: {keywords: [tea]}\nplans: [{name: 'For {{.Name}}', tasks: [{name: T}]}]")
	got, err := books.Plan(t.Context(), activities.Request{Name: "Afternoon", Description: "Make tea"})
	if err != nil || len(got.Plans) != 1 || got.Plans[0].Name != "For Afternoon" {
		t.Errorf("got %+v, error %v", got, err)
	}
}

// TestPlaybooks_Plan_cutsTexts is for requests whose text would make a name or
// a description longer than it may be, or empty.
func TestPlaybooks_Plan_cutsTexts(t *testing.T) {
	books := load(t, "name: a\ndefault: true\nplans: [{name: '{{.Message}}', description: '{{.Message}}{{.Message}}', tasks: [{name: '{{.Message}}', input: '{{.Message}}'}]}]")
	for _, text := range []string{"", " \n", "a;b", strings.Repeat("ä\n", 40_000)} {
		checkPlans(t, books, text)
	}
	_, specs, _, _ := books.Match(message(strings.Repeat("a", 1<<20)))
	test.Is(t, "an input holds bytes of a long message", opt.MaxDescription+len(`""`), len(specs[0].Tasks[0].Input))
	got := test.Value(books.Plan(t.Context(), activities.Request{}))(t)
	test.Is(t, "without a text", "Plan 1", got.Plans[0].Name)
	test.Is(t, "without a text", "Task 1", got.Plans[0].Tasks[0].Name)
}

// TestPlaybooks_Plan_neverFits is for a form that has no text for one request:
// the error is final.
func TestPlaybooks_Plan_neverFits(t *testing.T) {
	books := load(t, "name: a\ndefault: true\nplans: [{name: P, tasks: [{name: T, human: {approve: '{{.Message}}'}}]}]")
	_, err := books.Plan(t.Context(), activities.Request{})
	if !errors.Is(err, activities.ErrNoPlan) || err.Error() != `playbook a: no plan: a human task needs "approve" or "questions"` {
		t.Errorf("got %v", err)
	}
}

func TestPlaybooks_Plan_isUsedByMany(t *testing.T) {
	books := test.Value(planner.Bundled())(t)
	m := message("Research tea")
	want := test.Value(books.Plan(t.Context(), activities.Request{Message: &m}))(t)
	var ended sync.WaitGroup
	for range 8 {
		ended.Go(func() {
			got, err := books.Plan(context.WithoutCancel(t.Context()), activities.Request{Message: &m})
			test.Is(t, "error", nil, err)
			test.Equal(t, "plans", want, got)
		})
	}
	ended.Wait()
}

func TestPlaybooks_CheckExecutors(t *testing.T) {
	books := load(t, `
name: a
default: true
plans:
- name: P
  tasks:
  - {name: T, executor: htpp}
  - {name: U, executor: echo}
  - {name: V}
  - {name: W, human: {approve: Go}}
`)
	for _, tt := range []struct {
		fallback string
		known    []string
		want     string
	}{
		{"echo", []string{"echo", "http"}, `0.yaml:7: there is no executor "htpp" (did you mean http?); known are echo, http`},
		{"echo", []string{"echo", "htpp"}, ""},
		{"", []string{"echo", "htpp"}, "0.yaml:9: the task names no executor, and there is no default; known are echo, htpp"},
		{"gone", []string{"echo", "htpp"}, `0.yaml:9: there is no executor "gone"; known are echo, htpp`},
	} {
		err := books.CheckExecutors(tt.fallback, tt.known...)
		if got := fmt.Sprint(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("default %q, known %v: error %v, want %q", tt.fallback, tt.known, err, tt.want)
		}
	}
}

// An input that names what the files do not have is found at the line of the name, an unknown
// executor at that of the executor. A name that is made for each request is left to the worker.
func TestPlaybooks_CheckInputs(t *testing.T) {
	books := load(t, `
name: a
default: true
plans:
- name: P
  tasks:
  - name: T
    executor: shell
    input:
      command: contu
  - name: U
    executor: shell
    input: {command: count}
  - name: V
    executor: shell
    input: {command: "{{.Message}}"}
  - name: W
    input: {values: {a: b}}
  - name: X
    executor: shel
`)
	named := []activities.Named{{Member: "command", Names: []string{"count", "sort"}}}
	for usual, want := range map[string]string{
		"":      `0.yaml:10: there is no command "contu" (did you mean count?); known are count, sort`,
		"shell": `0.yaml:10: there is no command "contu" (did you mean count?); known are count, sort` + "\n" + `0.yaml:17: the input needs a member "command": known are count, sort`,
	} {
		test.Is(t, "default "+usual, want, fmt.Sprint(books.CheckInputs("shell", usual, named)))
	}
	named[0].Names, named[0].Optional = []string{"contu", "count"}, true
	test.OK(t, books.CheckInputs("shell", "shell", named))
	if err := books.CheckExecutors("shell", "shell"); err == nil || !strings.HasPrefix(err.Error(), "0.yaml:20: ") {
		t.Errorf("error %v, want it at the line of the executor", err)
	}
}

// Plans are checked against the limits of the API, which may be above the defaults
// and below.
func TestPlaybooks_CheckLimits(t *testing.T) {
	var many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "\n  - {name: T%d, dependencies: [%s]}", i, []string{"", "T0"}[min(i, 1)])
	}
	books := load(t, "name: a\ndefault: true\nplans:\n- name: P\n  tasks:"+many.String()+"\n- name: Q\n  tasks: [{name: T}]\n")
	for _, tc := range []struct {
		limits opt.Limits
		want   string
	}{
		{opt.Limits{Plans: 2, Tasks: 60}, ""},
		{opt.Limits{}, "0.yaml:4: a plan has at most 50 tasks (--max-plan-tasks), this one 60"},
		{opt.Limits{Plans: 1, Tasks: 60}, "0.yaml:1: a playbook has at most 1 plans (--max-plans), this one 2"},
	} {
		err := books.CheckLimits(tc.limits)
		if got := fmt.Sprint(err); err != nil && got != tc.want || err == nil && tc.want != "" {
			t.Errorf("%+v: error %v, want %q", tc.limits, err, tc.want)
		}
	}
}

// TestBundled runs the demo with the echo executor, and checks that it takes long
// enough to kill a process meanwhile.
func TestBundled(t *testing.T) {
	books := test.Value(planner.Bundled())(t)
	test.OK(t, books.CheckExecutors("", "echo"))
	for _, text := range append([]string{"demo", "Research AI safety papers and write a summary", "Please write me a poem; panic"}, books.Skills()[0].Examples...) {
		name, specs, _, err := books.Match(message(text))
		if name != "demo" || err != nil || len(specs) != 2 {
			t.Errorf("%q: got playbook %q, error %v", text, name, err)
			continue
		}
		var took time.Duration
		var gates int
		synctest.Test(t, func(t *testing.T) { took, gates = perform(t, specs) })
		if took < 9*time.Second || took > 12*time.Second || gates != 1 {
			t.Errorf("%q: the demo takes %v and has %d approvals, want about 10 s and one", text, took, gates)
		}
	}
	for _, script := range []string{"work 2s; approve Ship it?; say done", "fail 2; say I write poems", "ask What shall I write?"} {
		if name, _, reason, _ := books.Match(message(script)); name != "" {
			t.Errorf("the script %q matches the playbook %q by its %s", script, name, reason)
		}
	}
	checkPlans(t, books, "Research tea")
}

// perform runs all tasks with echo, and returns how long they take and how many
// of them wait for a person.
func perform(t *testing.T, specs []opt.PlanSpec) (took time.Duration, gates int) {
	t.Helper()
	for _, p := range specs {
		for _, task := range p.Tasks {
			if task.Ask != nil {
				gates++
				continue
			}
			began := time.Now()
			out, err := echo.Executor{}.Execute(t.Context(), activities.Work{Name: task.Name, Description: task.Description, Input: json.RawMessage(`"1. Here\n2. Now\n3. Next"`), Attempt: 1}, &executortest.Stream{})
			took += time.Since(began)
			if err != nil || out.State != opt.TaskCompleted {
				t.Errorf("task %q: got %+v, error %v", task.Name, out, err)
			}
		}
	}
	return took, gates
}

// checkPlans checks that the engine accepts the plans for a message.
func checkPlans(t *testing.T, books *planner.Playbooks, text string) {
	t.Helper()
	_, specs, _, err := books.Match(message(text))
	if err != nil {
		test.Error(t, text, activities.ErrNoPlan, err)
		return
	}
	objective := &opt.Objective{ID: opt.NewObjectiveID([16]byte{1})}
	if _, err := objective.NewPlans(specs, a2a.Time{}); err != nil {
		t.Errorf("%.20q: %v", text, err)
	}
}

// load reads playbooks that must be good.
func load(t *testing.T, files ...string) *planner.Playbooks {
	t.Helper()
	fsys := fstest.MapFS{}
	var names []string
	for i, text := range files {
		name := string(rune('0'+i)) + ".yaml"
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	books := test.Value(planner.Load(fsys, names...))(t)
	return books
}

func message(text string) a2a.Message {
	return a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
}

// asking returns a message that asks for a skill; "" for none.
func asking(text, skill string) a2a.Message {
	m := message(text)
	if skill != "" {
		m.Metadata = a2a.Metadata{}.With(opt.KeySkill, skill)
	}
	return m
}
