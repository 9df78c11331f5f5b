package planner_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt/timetable"
)

// A playbook may be there for its schedules alone. Their messages ask for it.
func TestPlaybooks_Schedules(t *testing.T) {
	books := load(t, `
name: tea
plans: [{name: P, tasks: [{name: T}]}]
schedules:
  - {name: daily, text: Brew, cron: 0 5 * * *}
  - name: often
    text: Look
    every: 90s
    cron: ["@daily", 0 0 1 1 *]
    time-zone: Asia/Tokyo
    jitter: 1m
    overlap: allow-all
    catch-up: 1d
    context: kitchen
    tenant: acme
    principal: ann
`)
	want := []timetable.Schedule{
		{
			ID: "playbook:tea:daily", Tenant: "default", Principal: "longhaul:schedules", Playbook: "tea", Text: "Brew", Skill: "tea",
			Times: timetable.Times{Cron: []string{"0 5 * * *"}}, Overlap: timetable.OverlapSkip, CatchUp: 3600,
		},
		{
			ID: "playbook:tea:often", Tenant: "acme", Principal: "ann", Playbook: "tea", Text: "Look", Skill: "tea", ContextID: "kitchen",
			Times: timetable.Times{Cron: []string{"@daily", "0 0 1 1 *"}, Every: 90, TimeZone: "Asia/Tokyo", Jitter: 60}, Overlap: timetable.OverlapAllow, CatchUp: 86400,
		},
	}
	test.Equal(t, "schedules", want, books.Schedules())
}

func TestPlaybooks_Schedules_refused(t *testing.T) {
	for file, want := range map[string]string{
		"…\nschedules: daily":               `x.yaml:7: schedules: must be a list; it is "daily"`,
		"…\nschedules: [{when: 1}]":         "x.yaml:7: a schedule has no member \"when\"",
		"…\nschedules: [{name: s}]":         "x.yaml:7: text of the schedule \"s\" is required: the message that each objective starts with",
		"…\nschedules: [{text: Go}]":        "x.yaml:7: a schedule needs a name",
		"…\nschedules:\n- {name: a b}":      "x.yaml:8: name of the schedule \"a b\" must be 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit",
		"…\nschedules: [{every: 1ms}]":      `x.yaml:7: every: must be a duration of whole seconds, such as 90s, 2h or 7d; it is "1ms"`,
		"…\nschedules: [{time-zone: Moon}]": `x.yaml:7: time-zone: must be a name of the IANA time zone database, such as Europe/Berlin; it is "Moon"`,
		"…\nschedules:\n- {name: s, text: Go, every: 1h}\n- {name: s, text: Go, every: 1h}": "x.yaml:9: another schedule has the name \"s\"",
		"…\nschedules:\n- {name: s, text: Go, every: 1h, catch-up: 1s}":                     "x.yaml:8: catch-up of the schedule \"s\" must be from 10s to 366d",
		"name: a b\nplans: [{name: P, tasks: [{name: T}]}]\nschedules: [{name: s, text: Go, every: 1h}]": "x.yaml:1: a playbook with schedules needs a name of 1 to 64 letters, digits, dots, " +
			"dashes and underscores, the first a letter or a digit",
	} {
		_, err := planner.Load(fstest.MapFS{"x.yaml": {Data: []byte(complete(file))}}, "x.yaml")
		test.Is(t, file, want, fmt.Sprint(err))
	}
}
