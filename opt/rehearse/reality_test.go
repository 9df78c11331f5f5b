package rehearse_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// For random playbooks, a rehearsal has the events of a run with the same outcomes and durations: the
// same ones at the same times, of each task and plan in the same order. What happens at one time may
// interleave.
func TestReality(t *testing.T) {
	kinds := map[opt.ObjectiveStatus]int{}
	for seed := range 200 {
		book, a := randomBook(rand.New(rand.NewPCG(7, uint64(seed))))
		a.At = servicetest.Start
		plan := planOf(t, book)
		r, err := rehearse.Run(plan, message("go"), a)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, book)
		}
		kinds[r.Status]++
		real := newReality(t, plan, a)
		real.play()
		want, got := real.events(), timed(r.Events)
		for key, list := range want {
			if !slices.Equal(list, got[key]) {
				t.Errorf("seed %d: %s: the run has\n%s\nthe rehearsal\n%s", seed, key, strings.Join(list, "\n"), strings.Join(got[key], "\n"))
			}
		}
		if len(got) != len(want) || t.Failed() {
			t.Fatalf("seed %d: events of %d, rehearsed of %d: %v, in\n%s", seed, len(want), len(got), a, book)
		}
	}
	t.Logf("%v", kinds)
	if kinds[opt.ObjectiveCompleted] < 50 || kinds[opt.ObjectiveFailed] < 20 {
		t.Errorf("the playbooks show too little: %v", kinds)
	}
}

// timed returns events in short, by what they are about. The objective and its root task, which show
// all plans, have the last event of a time alone: those before depend on which plan was first.
func timed(events []opt.Event) map[string][]string {
	out, last := map[string][]string{}, map[string]opt.Event{}
	for _, e := range events {
		of := cmp.Or(e.TaskID, e.PlanID, "objective")
		from := e.From
		if before := last[of]; e.PlanID == "" {
			from = ""
			if before.At == e.At && before.Kind == e.Kind {
				out[of] = out[of][:len(out[of])-1]
			}
		}
		last[of] = e
		text := fmt.Sprint(e.At.Millis(), " ", e.Kind, " ", from, ">", e.To, " ", e.Reason, e.Step, " ", e.Round, ".", e.Attempt, " ", e.Verdict, e.Principal)
		if e.Gate != nil {
			text += fmt.Sprint(" gate ", e.Gate.ID, " ", e.Gate.Responders, " votes ", len(e.Gate.Votes), " of ", e.Gate.ObjectDigest)
		}
		if d := e.Decision; d != nil {
			text += fmt.Sprint(" decision ", d.Action, d.DecidedBy, d.Closed)
		}
		if e.Usage != nil {
			text += fmt.Sprint(" used ", *e.Usage)
		}
		out[of] = append(out[of], text)
	}
	return out
}

// A reality is a run of an objective by the engine for tests, with the journal.
type reality struct {
	t     *testing.T
	a     rehearse.Assumptions
	world *servicetest.World
	id    string
	due   []appointment
	begun map[string]bool // attempts and questions that are under way
}

type appointment struct {
	at time.Time
	do func()
}

func newReality(t *testing.T, plan rehearse.Planner, a rehearse.Assumptions) *reality {
	r := &reality{t: t, a: a, begun: map[string]bool{}, id: opt.DerivedObjectiveID(opt.DefaultTenant, a.Requester, "m")}
	r.world = servicetest.New(t, servicetest.Config{Prompt: true, Planner: func(o opt.Objective, m *a2a.Message) (servicetest.Made, bool) {
		made := plan(o, m)
		return servicetest.Made{Plans: made.Plans, Planner: made.Planner, Reason: made.Reason, Failure: made.Failure}, true
	}})
	m, at := message("go"), a2a.At(a.At)
	m.TaskID, m.ContextID = r.id, r.id
	_, err := r.world.Start(t.Context(), opt.Opening{Message: &m, Objective: opt.Objective{
		ID: r.id, ContextID: r.id, Tenant: opt.DefaultTenant, Principal: a.Requester, Name: "Rehearsal", Status: opt.ObjectiveSubmitted,
		CreatedAt: at, UpdatedAt: at, Revision: 1, Attempt: 1, Root: opt.TaskSubmitted, Limits: a.Limits,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// play has tasks take their time and people answer until nothing is due.
func (r *reality) play() {
	for range 10_000 {
		o := r.world.Objective(r.id)
		if o.Settled() {
			return
		}
		for _, p := range o.Plans {
			for _, task := range p.Tasks {
				r.look(task)
			}
		}
		slices.SortStableFunc(r.due, func(x, y appointment) int { return x.at.Compare(y.at) })
		timer, ok := servicetest.Due(r.world)
		switch {
		case len(r.due) > 0 && (!ok || !r.due[0].at.After(timer)):
			next := r.due[0]
			r.due = r.due[1:]
			r.world.Advance(next.at.Sub(r.world.Now()))
			next.do()
		case ok:
			r.world.Advance(timer.Sub(r.world.Now()))
		default:
			return
		}
	}
	r.t.Fatal("the run does not end")
}

// after has something happen after a time, unless it was planned before.
func (r *reality) after(key string, wait time.Duration, do func()) {
	if !r.begun[key] {
		r.begun[key] = true
		r.due = append(r.due, appointment{r.world.Now().Add(wait), do})
	}
}

// look begins what a task does, and what people do at its gate.
func (r *reality) look(t *opt.Task) {
	if work, runs := r.world.Running(t.A2AID()); runs {
		is := r.a.Tasks[t.Name]
		r.after(fmt.Sprint(t.A2AID(), work.Round, work.Attempt, len(t.Refined)), is.Takes[0], func() { r.end(t, work, is) })
	}
	if t.Gate == nil {
		return
	}
	for _, p := range r.a.People {
		if t.Gate.Responders.Allow(p.Name, p.Groups, r.a.Requester) {
			r.after(t.Gate.ID+p.Name, p.After[0], func() { r.answer(t.A2AID(), t.Gate.ID, p) })
		}
	}
}

// end ends an attempt at a task, unless it was stopped meanwhile.
func (r *reality) end(t *opt.Task, work opt.Work, is rehearse.Work) {
	now, runs := r.world.Running(t.A2AID())
	if !runs || now.Attempt != work.Attempt || now.Round != work.Round {
		return
	}
	if work.Attempt <= is.Fails {
		r.world.FailAttempt(t.A2AID(), "failed", "The attempt fails, as it is assumed to.")
		return
	}
	out := opt.Outcome{State: cmp.Or(is.Ends, opt.TaskCompleted)}
	if is.Cost != nil {
		out.Usage = &opt.Usage{Cost: is.Cost[0]}
	}
	switch {
	case out.State != opt.TaskCompleted:
		out.Code, out.Message = string(out.State), t.Name+" ends so, as it is assumed to."
	case t.Check:
		out.Artifacts = made(t.Name, a2a.DataPart(map[string]string{"verdict": string(cmp.Or(is.Verdict, opt.Accept)), "reason": "As it is assumed."}))
	default:
		out.Artifacts = made(t.Name, a2a.TextPart("What "+t.Name+" makes"))
	}
	r.world.End(t.A2AID(), out)
}

func made(name string, p a2a.Part) []a2a.Artifact {
	return []a2a.Artifact{{ArtifactID: "result", Name: name, Parts: []a2a.Part{p}}}
}

// answer has a person answer at a gate, unless it was closed meanwhile.
func (r *reality) answer(taskID, gateID string, p rehearse.Person) {
	ref, _ := opt.ParseID(taskID)
	plan := r.world.Objective(r.id).Plan(ref.PlanID)
	g := plan.Task(taskID).Gate
	if g == nil || g.ID != gateID {
		return
	}
	reply := &opt.Reply{GateID: g.ID, ObjectDigest: g.ObjectDigest, Action: opt.Accept}
	switch {
	case g.Kind == opt.Clarification:
		*reply = opt.Reply{GateID: g.ID, Answers: []opt.Answer{{ID: g.Questions[0].ID, Answer: []byte(`"…"`)}}}
	case p.Action == opt.Refine && g.Allows(opt.Refine) && g.Again() == "":
		reply.Action, reply.Refine = opt.Refine, &opt.Refinement{Scope: "whole", Text: "As it is assumed."}
	case p.Action == opt.Reject:
		reply.Action = opt.Reject
	}
	err := r.world.Letter(r.t.Context(), opt.Letter{
		ObjectiveID: r.id, PlanID: ref.PlanID, TaskID: taskID, Principal: p.Name, Groups: p.Groups, Reply: reply,
		Message: a2a.Message{MessageID: "answer " + gateID + " " + p.Name, TaskID: taskID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("As it is assumed.")}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *reality) events() map[string][]string {
	var list []opt.Event
	for _, e := range r.world.Events(r.id) {
		list = append(list, e.Event)
	}
	return timed(list)
}
