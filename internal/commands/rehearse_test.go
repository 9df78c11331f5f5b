package commands

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/process"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// planned is a planner with one plan: a task, and an approval of its result.
type planned struct{}

func (planned) Rehearsing(string, string) (plan rehearse.Planner, skill string, err error) {
	return func(opt.Objective, *a2a.Message) rehearse.Planned {
		ask := &opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept, opt.Reject}, Responders: &opt.Responders{Groups: []string{"leads"}, NotRequester: true}}
		ask.Ladder = []opt.Step{{Kind: opt.Remind, After: 1800}, {Kind: opt.Expire, After: 86400}}
		return rehearse.Planned{Planner: "playbook ship", Reason: "default", Plans: []opt.PlanSpec{{Name: "Ship", Tasks: []opt.TaskSpec{{Name: "Build", Executor: "shell"}, {Name: "Approve", Executor: "human", Ask: ask}}}}}
	}, "", nil
}

// mistaken is a planner whose playbook has a mistake.
type mistaken struct{}

func (mistaken) Rehearsing(string, string) (plan rehearse.Planner, skill string, err error) {
	return nil, "", errors.New("ship.yaml:3: no plan")
}

// A mistake in the playbook is named without a server, also if past runs are to count.
func TestRehearse_mistakeFirst(t *testing.T) {
	f := newFakeAgent(t)
	r := f.run(&rehearsing{rehearseCommand{Playbook: "ship.yaml", Message: "go", Past: 5}, mistaken{}})
	test.Fails(t, "the rehearsal", "ship.yaml:3", r.err)
	test.Is(t, "calls", 0, len(f.calls))
}

// A rehearsing is a command that its Run method gives the planner, planned for nil.
type rehearsing struct {
	rehearseCommand
	by Planning
}

func (c *rehearsing) Run(p *process.Process, r *remote) error {
	return c.rehearseCommand.Run(p, r, cmp.Or[Planning](c.by, planned{}))
}

func TestRehearse(t *testing.T) {
	f := newFakeAgent(t)
	f.want(f.run(&rehearsing{rehearseCommand{Playbook: "ship.yaml", Message: "go"}, nil}), 0, `
completed after 1h0m1s, by assumptions: without others, a task takes 1s and an answer 1 hour
Plans of playbook ship: default

*  TASK            STATE      BEGINS  ENDS
*  Ship / Build    completed  0s      1s
*  Ship / Approve  completed  1s      1h0m1s

Approve: Ship it?
  after 1s: the group leads, but not who asked for the work.
  after 30m1s: remind
  after 1h0m1s: accepted by one of leads
  without an answer after 24h0m1s: expire
`)
}

// Assumptions come from a file, whose mistakes are named; times and costs from past runs.
func TestRehearse_assumptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "assume.yaml")
	write := func(text string) {
		test.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	u := strings.Repeat("a", 26)
	run := func(n string) string {
		task := func(i int, metadata string) string {
			return fmt.Sprintf(`{"id":"task-%s-1-%d","planId":"plan-%s-1","status":"completed","a2aTaskId":"task-%s-1-%d","metadata":{%s}}`, u, i, u, u, i, metadata)
		}
		return fmt.Sprintf(`{"id":"obj-%s","status":"completed","createdAt":"2026-03-01T09:00:00.000Z","plans":[{"name":"Ship","tasks":[%s,%s]}]}`, u, task(0, `"longhaul/v1/usage":{"outputTokens":3,"cost":"`+n+`"}`), task(1, ""))
	}
	ended := func(at string) func(http.ResponseWriter) {
		return sendResult(`{"id":"task","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-03-01T` + at + `.000Z"}}`)
	}
	used := func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"quotas":[{"quota":"cost-per-day","used":"98.00","limit":"99.00","until":"2026-03-02T00:00:00.000Z"},{"quota":"later","used":"1","limit":"1"}]}`)
	}
	f := newFakeAgent(t, used, sendResult(`{"objectives":[`+run("1.50")+`,`+run("2.50")+`]}`), ended("09:10:00"), ended("10:00:00"), ended("09:20:00"), ended("10:00:00"))
	write("within: 30m\nbudget: {cost: 1}\npeople: [{name: ann, groups: [leads], after: 5m..10m..1h, action: reject}]\n")
	r := f.run(&rehearsing{rehearseCommand{Playbook: "ship.yaml", Message: "go", Assume: file, Past: 5}, nil})
	for _, want := range []string{"failed after 25m (", " in 33% of runs)", "from 2 past runs", "Costs 2.00 (", "rejected by ann", "WARNING Build after ", "WARNING cost-per-day after ", "WARNING all of it after "} {
		if !strings.Contains(r.stdout.String(), want) || r.err != nil {
			t.Errorf("%v: no %q in\n%s", r.err, want, r.stdout.String())
		}
	}
	for text, want := range map[string]string{
		"tasks: {Build: {takes: soon}}":        "Build: ",
		"tasks: {Build: {ends: canceled}}":     `Build: a task ends as completed, failed or rejected, not "canceled"`,
		"people: [{name: ann, action: maybe}]": `ann: "maybe" is none of accept`,
		"quotas: [gates=1]":                    "quotas: ",
		"task: {}":                             `member "task" is unknown`,
	} {
		write(text)
		if r := f.run(&rehearsing{rehearseCommand{Playbook: "ship.yaml", Message: "go", Assume: file}, nil}); r.err == nil || !strings.Contains(r.err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, r.err, want)
		}
	}
}
