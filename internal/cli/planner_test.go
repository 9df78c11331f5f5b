package cli

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"longhaul/activities"
	apiservice "longhaul/api/service"
)

// The planner that --planner names has its skills on the card, after those of playbooks.
func TestWorkSettings_planner(t *testing.T) {
	own := fstest.MapFS{"books/tea.yaml": {Data: []byte(`
name: tea
skills: [{id: brew, name: Brew, description: Brews tea, tags: [x]}]
plans: [{name: Brew, tasks: [{name: Boil}]}]
`)}}
	planners := map[string]activities.Planner{"poet": poet{}, "clerk": poet{}}
	for _, tt := range []struct {
		settings workSettings
		skills   []string
		err      string
	}{
		{settings: workSettings{Planner: "playbooks"}, skills: []string{"brew"}},
		{settings: workSettings{Planner: "playbooks", scripts: true}, skills: []string{"brew"}}, // echo is for the bundled playbook
		{settings: workSettings{Planner: "playbooks", Playbooks: []string{"../../activities/planner/playbooks"}}, skills: []string{"research-and-write"}},
		{settings: workSettings{Planner: "poet"}, skills: []string{"brew", "rhyme"}},
		{settings: workSettings{Planner: "poet", scripts: true}, skills: []string{"brew", "rhyme"}},
		{settings: workSettings{Planner: "bard"}, err: `--planner "bard": this program has playbooks, clerk, poet`},
		{settings: workSettings{Planner: "poet", Fallback: "echo"}, err: "--planner and --fallback echo are both for messages that no playbook takes: set one of them"},
	} {
		books, err := tt.settings.load(own, planners)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%+v: error %v, want %s", tt.settings, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", tt.settings, err)
		}
		var skills []string
		for _, s := range books.Skills() {
			skills = append(skills, s.ID)
		}
		if diff := cmp.Diff(tt.skills, skills); diff != "" {
			t.Errorf("%+v: skills (-want +got):\n%s", tt.settings, diff)
		}
	}
}

// poet is a planner with a skill.
type poet struct{}

func (poet) Plan(context.Context, activities.Request) (activities.Planned, error) {
	return activities.Planned{}, nil
}

func (poet) Skills() []apiservice.Skill { return []apiservice.Skill{{ID: "rhyme"}} }
