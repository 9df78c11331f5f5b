package planner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Requests that neither a playbook nor the fallback takes are rejected with the
// skills; those that ask for a skill get that one or none.
func TestPlaybooks_With(t *testing.T) {
	books := load(t, `
name: tea
match: {keywords: [tea]}
skills: [{id: brew, name: Brew, description: Brews tea, tags: [x], examples: [Brew a cup, Another]}]
plans: [{name: Brew, tasks: [{name: Boil}]}]
`)
	skills := "\n- brew: Brews tea, for example \"Brew a cup\"\n- echo: Repeats"
	tests := []struct{ name, text, skill, want, executor string }{
		{"a playbook takes it", "some tea", "", "Boil", ""},
		{"the fallback takes it", "say hello", "", "say hello", ""},
		{"nothing takes it", "Sing a song", "", "No skill takes this message. The skills are:" + skills, "refuse"},
		{"steps that nothing takes", "First sing, then dance", "", "No skill takes this message. The skills are:" + skills, "refuse"},
		{"without a text", "", "", "No skill takes this message. The skills are:" + skills, "refuse"},
		{"a skill by its id", "Sing a song", "brew", "Boil", ""},
		{"a playbook by its name", "Sing a song", "tea", "Boil", ""},
		{"the skill of the fallback", "Sing a song", "echo", "Sing a song", ""},
		{"an unknown skill", "some tea", "coffee", "There is no skill \"coffee\". The skills are:" + skills, "refuse"},
	}
	strict := books.With(planner.Fallback{Takes: echo.IsScript, Skills: []planner.Skill{{ID: "echo", Description: "Repeats"}}})
	for _, tt := range tests {
		m := asking(tt.text, tt.skill)
		planned, err := strict.Plan(t.Context(), activities.Request{Message: &m})
		if err != nil || len(planned.Plans) != 1 || len(planned.Plans[0].Tasks) != 1 {
			t.Fatalf("%s: planned %+v, error %v", tt.name, planned, err)
		}
		task := planned.Plans[0].Tasks[0]
		got := task.Description
		if got == "" {
			got = task.Name
		}
		test.Equal(t, tt.name+":", opt.TaskSpec{Description: tt.want, Executor: tt.executor}, opt.TaskSpec{Description: got, Executor: task.Executor})
		refusal := ""
		if tt.executor == "refuse" {
			refusal = tt.want
		}
		test.Is(t, tt.name+": the refusal", refusal, strict.Refusal(m))
	}
	m := message("Sing a song")
	planned := test.Value(books.Plan(t.Context(), activities.Request{Message: &m}))(t)
	test.Is(t, "without a fallback", "", planned.Plans[0].Tasks[0].Executor)
	nothing := load(t, `
name: none
default: false
match: {keywords: [x]}
plans: [{name: P, tasks: [{name: T}]}]
`).With(planner.Fallback{Takes: func(string) bool { return false }})
	if planned, err := nothing.Plan(t.Context(), activities.Request{Message: &m}); err != nil || planned.Plans[0].Tasks[0].Description != "No skill takes this message. The skills are:\n- none: a playbook for messages with x" {
		t.Errorf("without skills: %+v, error %v", planned, err)
	}
}

// A replan that no skill takes is refused with the skills, so that the plans continue: it made
// a plan that rejects the request, in the place of good ones.
func TestPlaybooks_With_replan(t *testing.T) {
	books := load(t, `
name: tea
default: false
match: {keywords: [tea]}
plans: [{name: Brew, tasks: [{name: Boil}]}]
`).With(planner.Fallback{Takes: func(string) bool { return false }, Skills: []planner.Skill{{ID: "coffee", Description: "Makes coffee"}}})
	m := message("Sing a song")
	got, err := books.Plan(t.Context(), activities.Request{Message: &m, Replan: true})
	if !errors.Is(err, activities.ErrNoPlan) || !strings.Contains(err.Error(), "Makes coffee") || len(got.Plans) > 0 {
		t.Errorf("got %+v, error %v", got, err)
	}
}

// The planner of the fallback plans requests that match no playbook, also again.
func TestPlaybooks_With_planner(t *testing.T) {
	poet := &poet{}
	books := load(t, `
name: tea
match: {keywords: [tea]}
plans: [{name: Brew, tasks: [{name: Boil}]}]
`).With(planner.Fallback{Takes: planner.Everything, Planner: poet, Name: "poet"})
	for _, tt := range []struct {
		text, skill   string
		keep          bool
		plan, planner string
	}{
		{text: "some tea", plan: "Brew", planner: "playbook tea"},
		{text: "some tea", keep: true},
		{text: "Sing a song", plan: "Verses", planner: "planner poet"},
		{text: "Sing a song", keep: true, plan: "Verses", planner: "planner poet"},
		{text: "Sing a song", skill: "dance", plan: "Skills", planner: "rules"},
		{text: "Sing a song", skill: "dance", keep: true},
	} {
		m := asking(tt.text, tt.skill)
		got, err := books.Plan(t.Context(), activities.Request{Message: &m, Keep: tt.keep})
		plan := ""
		if len(got.Plans) > 0 {
			plan = got.Plans[0].Name
		}
		if err != nil || plan != tt.plan || got.Planner != tt.planner {
			t.Errorf("%+v: got %+v, error %v", tt, got, err)
		}
	}
	poet.err = activities.ErrNoPlan
	m := message("Sing a song")
	if _, err := books.Plan(t.Context(), activities.Request{Message: &m}); !errors.Is(err, activities.ErrNoPlan) || err.Error() != "planner poet: no plan" {
		t.Errorf("error %v", err)
	}
}

// poet is a planner with one plan for everything.
type poet struct{ err error }

func (p *poet) Plan(context.Context, activities.Request) (activities.Planned, error) {
	return activities.Planned{Plans: []opt.PlanSpec{{Name: "Verses", Tasks: []opt.TaskSpec{{Name: "Rhyme"}}}}}, p.err
}

// Playbooks without any, and with a fallback that takes nothing, reject every request.
func TestPlaybooks_None(t *testing.T) {
	nothing := planner.Fallback{Takes: planner.Nothing}
	some := load(t, "name: tea\ndefault: true\nplans: [{name: Brew, tasks: [{name: Boil}]}]\n")
	for name, tt := range map[string]struct {
		books *planner.Playbooks
		want  bool
	}{
		"none":                  {(&planner.Playbooks{}).With(nothing), true},
		"the default executor":  {&planner.Playbooks{}, false},
		"a fallback with skill": {(&planner.Playbooks{}).With(planner.Fallback{Takes: echo.IsScript, Skills: []planner.Skill{{ID: "echo"}}}), false},
		"a planner":             {(&planner.Playbooks{}).With(planner.Fallback{Takes: planner.Everything, Planner: some}), false},
		"a playbook":            {some.With(nothing), false},
	} {
		test.Is(t, name, tt.want, tt.books.None())
	}
}
