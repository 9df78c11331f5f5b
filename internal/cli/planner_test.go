package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/activities"
	apiservice "longhaul/api/service"
	"longhaul/opt"
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
		{settings: workSettings{Planner: "poet", Fallback: "echo"}, err: "--planner, or a planner in the file of --models, and --fallback echo are both for messages that no playbook takes: set one of them"},
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

// A worker asks the planner about messages that no playbook takes, and carries out its
// plans. A message for which it has none fails.
func TestWorkSettings_plannerWorks(t *testing.T) {
	books, err := workSettings{Planner: "poet"}.load(nil, map[string]activities.Planner{"poet": poet{}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"Sing a song": "completed", "Dance": "failed No plan could be made. planner poet: no plan: it is no song"} {
		m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
		if got := strings.TrimSpace(ended(t, books, m)); got != want {
			t.Errorf("%s: ended %q, want %q", text, got, want)
		}
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

func (poet) Skills() []apiservice.Skill { return []apiservice.Skill{{ID: "rhyme"}} }
