package serve

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/api/card"
	"longhaul/internal/test"
	"longhaul/opt"
)

const teaBook = `
name: tea
skills: [{id: brew, name: Brew, description: Brews tea, tags: [x]}]
plans: [{name: Brew, tasks: [{name: Boil}]}]
`

// The planner that --planner names has its skills on the card, after those of playbooks.
func TestWorkSettings_planner(t *testing.T) {
	own := fstest.MapFS{"books/tea.yaml": {Data: []byte(teaBook)}}
	planners := map[string]activities.Planner{"poet": poet{}, "clerk": poet{}}
	for _, tt := range []struct {
		settings workSettings
		echo     bool
		skills   []string
		err      string
	}{
		{settings: workSettings{Planner: "playbooks"}, skills: []string{"brew"}},
		{settings: workSettings{Planner: "playbooks"}, echo: true, skills: []string{"brew"}}, // echo is for the bundled playbook
		{settings: workSettings{Planner: "playbooks", Playbooks: []string{"../../activities/planner/playbooks"}}, skills: []string{"research-and-write"}},
		{settings: workSettings{Planner: "poet"}, skills: []string{"brew", "rhyme"}},
		{settings: workSettings{Planner: "poet"}, echo: true, skills: []string{"brew", "rhyme"}},
		{settings: workSettings{Fallback: "echo"}, err: "--fallback echo has the default executor do messages, and there is none: turn on echo with --echo, for the API and the workers"},
		{settings: workSettings{Front: "http://127.0.0.1:9999"}, skills: []string{"brew"}},
		{settings: workSettings{Front: "writers", Planner: "poet"}, err: "--front takes every message: set neither --fallback echo nor a planner (--planner playbooks turns off that of the file of --models)"},
		{settings: workSettings{Planner: "bard"}, err: `--planner "bard": this program has playbooks, clerk, poet`},
		{settings: workSettings{Planner: "poet", Fallback: "echo"}, err: "--planner, or a planner in the file of --models, and --fallback echo are both for messages that no playbook takes: set one of them"},
	} {
		b := Build{Playbooks: own}
		if tt.echo {
			b = b.withEcho()
		}
		books, err := tt.settings.loadPlaybooks(b, planners)
		if tt.err != "" {
			test.Is(t, fmt.Sprintf("%+v", tt.settings), tt.err, fmt.Sprint(err))
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", tt.settings, err)
		}
		var skills []string
		for _, s := range books.Skills() {
			skills = append(skills, s.ID)
		}
		test.Equal(t, fmt.Sprintf("%+v: skills", tt.settings), tt.skills, skills)
	}
}

// A worker asks the planner about messages that no playbook takes, and carries out its
// plans. A message for which it has none fails.
func TestWorkSettings_plannerWorks(t *testing.T) {
	books := test.Value(workSettings{Planner: "poet"}.loadPlaybooks(Build{}, map[string]activities.Planner{"poet": poet{}}))(t)
	for text, want := range map[string]string{"Sing a song": "completed", "Dance": "failed No plan could be made. planner poet: no plan: it is no song"} {
		m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
		test.Is(t, text+": ended", want, strings.TrimSpace(ended(t, books, m)))
	}
}

// poet is a planner with a skill.
type poet struct{}

func (poet) Plan(_ context.Context, r activities.Request) (activities.Planned, error) {
	if !strings.Contains(r.Message.Text(), "song") {
		return activities.Planned{}, fmt.Errorf("%w: it is no song", activities.ErrNoPlan)
	}
	return activities.Planned{Plans: []opt.PlanSpec{{Name: "Song", Tasks: []opt.TaskSpec{{Name: "Rhyme", Executor: "echo", Description: "say La"}}}}}, nil
}

func (poet) Skills() []card.Skill { return []card.Skill{{ID: "rhyme"}} }

// A planner in the file of --models is used without --planner, and has a skill on the
// card. Without one the card has no such skill.
func TestWorkSettings_modelPlanner(t *testing.T) {
	own := fstest.MapFS{"tea.yaml": {Data: []byte(teaBook)}}
	const model = "models: {main: {provider: openai, url: 'http://127.0.0.1:1', model: m, key: NONE}}\n"
	for _, tt := range []struct {
		file, flag string
		skills     []string
	}{
		{"", "", []string{"brew"}},
		{model, "", []string{"brew"}},
		{model + "planner: {model: main}", "", []string{"brew", "general"}},
		{model + "planner: {model: main}", "llm", []string{"brew", "general"}},
		{model + "planner: {model: main}", "playbooks", []string{"brew"}},
	} {
		path := ""
		if tt.file != "" {
			path = test.File(t, "models.yaml", tt.file)
		}
		p := &planning{host: newHost(zap.NewNop(), Build{Playbooks: own}), settings: workSettings{Planner: tt.flag, Models: path}}
		test.OK(t, p.Start(t.Context()))
		books := p.playbooks.Books()
		var skills []string
		for _, k := range books.Skills() {
			skills = append(skills, k.ID)
		}
		test.Equal(t, fmt.Sprintf("%+v: skills", tt), tt.skills, skills)
	}
}
