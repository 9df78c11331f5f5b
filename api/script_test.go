package api_test

import (
	"context"
	"encoding/json"
	"strings"

	"longhaul/a2a"
	"longhaul/api/message"
	"longhaul/api/service/servicetest"
	"longhaul/opt"
)

// The first word of a message says how it is handled: "quiet": no worker works on
// it; "slow": its task runs until the test ends it; "approve", "clarify", "count", "auth"
// and "two" wait for a person first; "outline" shows a person what a task has made,
// "guarded" does so to two of three; "fail" fails. Other messages complete at
// once.
func word(m *a2a.Message) string {
	if m == nil {
		return "slow" // begun without a message: the test ends the tasks
	}
	first, _, _ := strings.Cut(m.Text(), " ")
	return first
}

func sleeps(o opt.Opening) bool { return o.Message != nil && word(o.Message) == "quiet" }

// makePlans is a planner that makes a plan of one task; for "two", of two
// concurrent tasks and one after them. It never ends for "quiet".
func makePlans(_ opt.Objective, request *a2a.Message) (servicetest.Made, bool) {
	plan := opt.PlanSpec{Name: "The plan", Tasks: []opt.TaskSpec{{Name: "First"}}}
	if first := word(request); first == "outline" || first == "guarded" {
		gate := opt.TaskSpec{Name: "Approve", Ask: &opt.Gate{
			Kind: opt.Approval, Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask},
			Form: &opt.GateForm{Title: []opt.Piece{{Literal: "Good? "}, {Results: opt.AllResults}}, Object: []string{"task-0"}},
		}, Uses: []string{"task-0"}}
		if word(request) == "guarded" {
			gate.Ask.Responders = &opt.Responders{Principals: []string{"ann", "bob", "carol"}, NotRequester: true, Accepts: 2}
		}
		plan.Tasks = append(plan.Tasks, gate, opt.TaskSpec{Name: "Last"})
	}
	if word(request) == "two" {
		plan.Tasks = append(plan.Tasks, opt.TaskSpec{Name: "Second", Dependencies: []string{}}, opt.TaskSpec{Name: "Third", Dependencies: []string{"task-0", "task-1"}})
	}
	return servicetest.Made{Plans: []opt.PlanSpec{plan}}, request != nil && word(request) != "quiet"
}

// play does what the first message of the work says.
func play(w opt.Work) servicetest.Play {
	if len(w.Messages) == 0 {
		return servicetest.Play{}
	}
	switch first := word(&w.Messages[0]); {
	case first == "slow" || first == "quiet":
		return servicetest.Play{}
	case first == "fail":
		return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskFailed, Code: "broken", Message: "It did not work."}}
	case first == "outline" || first == "guarded":
		return outline(w)
	case len(w.Replies) == 0 && w.Name != "Third":
		if g := gateFor(first); g != nil {
			return servicetest.Play{Outcome: &opt.Outcome{State: g.State(), Gate: g}}
		}
	case len(w.Replies) == 0:
	case w.Replies[len(w.Replies)-1].Action == opt.Reject:
		return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskFailed, Code: "approval_rejected"}}
	}
	return finish()
}

// gateFor returns the gate that a word opens, nil for none.
func gateFor(word string) *opt.Gate {
	switch word {
	case "approve", "two":
		return approval()
	case "clarify":
		return &opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "audience", Question: "For whom?"}}}
	case "count":
		return &opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "n", Question: "How many?", Schema: json.RawMessage(`{"type":"integer","minimum":1}`)}}}
	case "auth":
		return &opt.Gate{Kind: opt.Credential, Title: "Sign in at https://example.com/auth"}
	}
	return nil
}

func approval() *opt.Gate {
	return &opt.Gate{Kind: opt.Approval, Title: "Publish?", Actions: []opt.Action{opt.Accept, opt.Reject}}
}

// outline makes an outline with the remarks that came back; its last task returns its
// input.
func outline(w opt.Work) servicetest.Play {
	text := "Outline"
	for _, r := range w.Refined {
		text += ", " + r.Remark()
	}
	if w.Name == "Last" {
		text = "From: " + w.Results[0].Artifacts[0].Text()
	}
	return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{
		{ArtifactID: w.TaskID, Parts: []a2a.Part{a2a.TextPart(text)}},
	}}}
}

// finish streams a post in two pieces and completes its task.
func finish() servicetest.Play {
	one, two := post("Durable "), post("agents.")
	two.Append, two.Last = true, true
	whole := one.Artifact
	whole.Parts = append([]a2a.Part{}, one.Artifact.Parts[0], two.Artifact.Parts[0])
	return servicetest.Play{
		Chunks:  []opt.Chunk{one, two},
		Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{whole}, Streamed: []string{"post"}},
	}
}

func post(text string) opt.Chunk {
	return opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "post", Name: "Post", Parts: []a2a.Part{a2a.TextPart(text)}}}
}

// finish makes a running task stream a post and complete.
func (s *fixture) finish(taskID string) {
	p := finish()
	s.world.Stream(taskID, p.Chunks...)
	s.world.End(taskID, *p.Outcome)
}

// An oracle answers greetings itself.
type oracle struct{}

func (oracle) Decide(_ context.Context, m a2a.Message) (message.Decision, error) {
	switch {
	case strings.HasPrefix(m.Text(), "hello"):
		return message.Decision{Answer: &a2a.Message{Parts: []a2a.Part{a2a.TextPart("Hello.")}}}, nil
	case strings.HasPrefix(m.Text(), "nobody takes"):
		return message.Decision{Refusal: "No skill takes this message."}, nil
	case strings.HasPrefix(m.Text(), "panic"):
		panic("the oracle is out")
	case strings.HasPrefix(m.Text(), "playbook"):
		return message.Decision{Planner: "playbook", Reason: "it said so", Plans: []opt.PlanSpec{{Name: "Known", Tasks: []opt.TaskSpec{{Name: "Only"}}}}}, nil
	}
	return message.Decision{}, nil
}
