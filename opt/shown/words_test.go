package shown_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// worked returns an objective whose plan has a task that waits for people after one that is done, and one that works.
func worked() *opt.Objective {
	done := &opt.Task{ID: "t0", Name: "Write", State: opt.TaskCompleted}
	asks := &opt.Task{
		ID: "t1", Index: 1, Name: "Approve", State: opt.TaskInputRequired, Ask: &opt.Gate{Kind: opt.Approval},
		Gate: &opt.Gate{ID: "t1:1", Kind: opt.Approval, Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine}, Sources: []string{"t0"}, RequestedAt: at(9),
			Responders: &opt.Responders{Principals: []string{"ann", "bob"}}},
	}
	next := &opt.Task{ID: "t2", Index: 2, Name: strings.Repeat("Pay ", 30), State: opt.TaskPending}
	p := &opt.Plan{ID: "p1", Name: "Book", Status: opt.PlanBlocked, Started: true, Tasks: []*opt.Task{done, asks, next}}
	return &opt.Objective{ID: "o", Principal: "carl", Status: opt.ObjectiveBlocked, Started: true, Plans: []*opt.Plan{p}}
}

func TestEventText(t *testing.T) {
	status := a2a.AgentMessage("c", "t", ":m", "It is\n\u202egone")
	for want, e := range map[string]opt.Event{
		"carl asked for it":                                  {Kind: opt.ObjectiveOpened},
		"1 task was added to plan “Book”":                    {Kind: opt.TasksAdded, PlanID: "p1", Tasks: []*opt.Task{{}}},
		"2 tasks were added to plan a plan":                  {Kind: opt.TasksAdded, PlanID: "p9", Tasks: []*opt.Task{{}, {}}},
		"The order was changed: “Write” waits for “Approve”": {Kind: opt.TasksOrdered, PlanID: "p1", Order: []opt.TaskOrder{{ID: "t0", Dependencies: []string{"t1"}}}},
		"failed. It is ‹U+202E›gone":                         {Kind: opt.TaskMoved, To: string(opt.TaskFailed), Status: status},
		"waits for an answer: a question":                    {Kind: opt.TaskMoved, Gate: &opt.Gate{Kind: opt.Clarification}},
		"A message of ann was refused: others decide there":  {Kind: opt.MessageAdded, Principal: "ann", Verdict: opt.NotAllowed},
		"made “out”":                                         {Kind: opt.ArtifactAdded, Chunk: &opt.Chunk{Artifact: a2a.Artifact{Name: "out"}}},
	} {
		test.Is(t, string(e.Kind), want, shown.EventText(worked(), e))
	}
}

func TestWhyOf(t *testing.T) {
	task := func(o *opt.Objective, i int) *opt.Task { return o.Plans[0].Tasks[i] }
	for want, change := range map[string]func(*opt.Objective){
		"Waits for ann or bob: a decision ":                      func(*opt.Objective) {},
		"It is paused. People who may change it can resume it. ": func(o *opt.Objective) { o.Paused = true },
		"Works on Write ": func(o *opt.Objective) { task(o, 0).State, task(o, 1).Gate = opt.TaskWorking, nil },
		"It failed at Write no such file": func(o *opt.Objective) {
			o.Status, task(o, 0).State, task(o, 0).Failure = opt.ObjectiveFailed, opt.TaskFailed, "no such\nfile"
		},
		"": func(o *opt.Objective) { o.Status = opt.ObjectiveCompleted },
		"Waits for its turn in its context, at place 2. It begins when those before it have ended: ": func(o *opt.Objective) { o.QueuedAt = at(3) },
	} {
		o := worked()
		change(o)
		w := shown.WhyOf(o, &shown.Course{Tasks: map[string][]shown.Span{"t0": {{From: at(1)}}}}, 2)
		got := w.Before + " " + w.After
		if w.Name != "" {
			got = w.Before + " " + w.Name + " " + w.After
		}
		test.Is(t, "why", strings.TrimSpace(want), strings.TrimSpace(got))
	}
}

func TestFollowOf(t *testing.T) {
	p := worked().Plans[0]
	f := shown.FollowOf(p.Tasks[1].Gate, p, p.Tasks[1])
	cut := strings.Repeat("Pay ", 30)[:79] + "…"
	test.Equal(t, "what follows", shown.Follow{Accept: cut, Reject: "the plan “Book” fails, without: " + cut, Refine: "made again: Write"}, f)
}

func TestGist(t *testing.T) {
	for want, g := range map[string]opt.Gate{
		"amount 12 · risk low · about rent": {Object: []a2a.Part{{Data: json.RawMessage(`{"about":"rent","risk":"low","amount":12,"lines":[1]}`)}}},
		"Title · one":                       {Object: []a2a.Part{a2a.TextPart("# **Title**\n\n> one\n")}},
		"scan.png, image/png":               {Object: []a2a.Part{{Filename: "scan.png", MediaType: "image/png; q=1", Raw: []byte{1}}}},
		"Why":                               {Description: "Why", ArtifactData: json.RawMessage(`{"a":"b"}`)},
	} {
		test.Is(t, "the gist", want, shown.Gist(&g))
	}
}
