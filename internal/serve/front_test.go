package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/served"
	"longhaul/api/card"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A server in front of an agent has the skills of that agent, with their media types, and a plan
// for every message: also for a greeting, which playbooks answer themselves.
func TestFront(t *testing.T) {
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name":"Painter","defaultInputModes":["text/plain"],"defaultOutputModes":["image/png"],"skills":[
			{"id":"draw","name":"Draw","description":"Draws","tags":["x"],"outputModes":["image/svg+xml"]},{"id":"paint","name":"Paint","description":"Paints","tags":["x"]}]}`))
	}))
	t.Cleanup(remote.Close)
	h := newHost(zap.NewNop(), Build{})
	r := &reach{log: h.log}
	p := &planning{host: h, reach: r, settings: workSettings{Front: remote.URL}, api: &apiSettings{Agent: playbooksAgent}}
	test.OK(t, h.start(t.Context(), r, p))
	t.Cleanup(func() { _ = h.Stop() })
	agent := test.Value(p.agent(playbooksAgent))(t)
	before, calls := agent.Skills(), 0
	p.follow(func() { calls++ })
	for range 2 {
		test.OK(t, p.front.read(t.Context()))
	}
	in, tags := []string{"text/plain"}, []string{"x"}
	want := []card.Skill{
		{ID: "draw", Name: "Draw", Description: "Draws", Tags: tags, InputModes: in, OutputModes: []string{"image/svg+xml"}},
		{ID: "paint", Name: "Paint", Description: "Paints", Tags: tags, InputModes: in, OutputModes: []string{"image/png"}},
	}
	if diff := cmp.Diff(want, agent.Skills()); diff != "" || len(before) != 1 || calls != 1 {
		t.Errorf("%d skills before, changed %d times, skills (-want +got):\n%s", len(before), calls, diff)
	}
	m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("hello")}, Metadata: a2a.Metadata{}.With(opt.KeySkill, "draw")}
	d, err := agent.Decide(t.Context(), m)
	if err != nil || len(d.Plans) != 1 || d.Plans[0].Tasks[0].Executor != "agent" {
		t.Errorf("it decided %+v, error %v", d, err)
	}
}

// A program with an agent has its skills, or one that takes every message, and the agent gets every
// message that no playbook takes, also with the demo on.
func TestServed(t *testing.T) {
	own := []card.Skill{{ID: "write", Name: "Write", Description: "Writes", Tags: []string{"x"}}}
	for _, skills := range [][]card.Skill{nil, own} {
		b := Build{Name: "press", Executors: map[string]activities.Executor{served.Kind: served.Executor{}}, Skills: skills}.withEcho()
		p := &planning{host: newHost(zap.NewNop(), b), api: &apiSettings{Agent: playbooksAgent}}
		test.OK(t, p.Start(t.Context()))
		agent := test.Value(p.agent(playbooksAgent))(t)
		if got := agent.Skills(); len(got) != 1 || skills != nil && got[0].ID != "write" || skills == nil && got[0].Name != "press" {
			t.Errorf("the skills are %+v", got)
		}
		d, err := agent.Decide(t.Context(), a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("hello")}})
		if err != nil || len(d.Plans) != 1 || d.Plans[0].Tasks[0].Executor != served.Kind {
			t.Errorf("it decided %+v, error %v", d, err)
		}
	}
}

// Mistakes in --front end the program before anything begins.
func TestRun_frontMistakes(t *testing.T) {
	agents := test.File(t, "agents.yaml", "agents: {front: {url: 'https://agent.example.com'}}\n")
	for want, args := range map[string]string{
		`--front "writers" is neither the URL of an agent`:         "--front writers",
		"has an agent front: name that with --front":               "--agents " + agents + " --front https://other.example.com",
		"--front: url must be an http or https URL":                "--front http://169.254.169.254",
		"--front and --agent clerk both decide about all messages": "--front https://other.example.com --agent clerk",
	} {
		test.Contains(t, args, want, refused(t, 2, Build{Agents: map[string]Agent{"clerk": clerk{}}}, strings.Fields("api "+args)...))
	}
}
