package fork_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/fork"
)

// draft is the object of the gate of kept plans.
var draft = []a2a.Part{a2a.TextPart("The draft")}

// keeping is asking, with decisions that forks keep.
func keeping(by *opt.Responders) opt.PlanSpec {
	p := asking()
	p.Tasks[1].Ask.Keep, p.Tasks[1].Ask.Responders = true, by
	return p
}

// opened returns the gate of keeping as it opens about the draft, with an id.
func opened(by *opt.Responders, id string) *opt.Gate {
	g := *keeping(by).Tasks[1].Ask
	g.ID, g.Actions, g.Object = id, []opt.Action{opt.Accept, opt.Reject, opt.EditAccept}, draft
	g.ObjectDigest = g.Digest()
	return &g
}

// A chained is a story with a chain of decisions.
type chained struct {
	story
	chain *opt.Chain
	gate  *opt.Gate // the latest
}

// asks is a story that has come to the gate of keeping.
func asks(by *opt.Responders) chained {
	s := chained{begun(keeping(by)).does(task(0), "A"), &opt.Chain{}, opened(by, opt.GateID(task(1), 1))}
	return s.shows(s.gate)
}

// shows adds that the gate is open, or is shown in another way.
func (s chained) shows(g *opt.Gate) chained {
	s.gate, s.story = g, s.moved(task(1), opt.TaskWorking, opt.TaskInputRequired, g)
	return s
}

// votes adds a decision at the gate, which closes it unless a change says no.
func (s chained) votes(by string, changes ...func(*opt.Decision)) chained {
	d := opt.Decision{
		ObjectiveID: id, PlanID: planID, Attempt: 1, TaskID: task(1), GateID: s.gate.ID, Kind: opt.Approval, Action: opt.Accept, Verdict: opt.Accepted,
		Closed: true, DecidedBy: by, ObjectDigest: s.gate.ObjectDigest, DecidedAt: a2a.AtMillis(7),
	}
	for _, change := range changes {
		change(&d)
	}
	added := s.chain.Add(d)
	s.story = append(s.story, opt.Event{
		Kind: opt.MessageAdded, PlanID: planID, TaskID: task(1), Verdict: d.Verdict, Message: &a2a.Message{MessageID: by}, Decision: added, Reply: &opt.Reply{Action: d.Action, GateID: d.GateID},
	})
	return s
}

// keeps names those whose decision the gate of an opening keeps that opens about the draft, "" if it asks.
func keeps(o opt.Opening, changes ...func(*opt.Gate)) string {
	plans, err := o.Objective.NewPlans(o.Plans, a2a.Time{})
	if err != nil {
		return err.Error()
	}
	g := *plans[0].Tasks[1].Ask
	fresh := opened(g.Responders, "new")
	fresh.Keep = g.Keep
	for _, change := range changes {
		change(fresh)
	}
	fresh.ObjectDigest = fresh.Digest()
	fresh.Original = plans[0].Tasks[1].Original(fresh.ObjectDigest)
	if !fresh.Keeps(append(o.Objective.Shapers, o.Objective.Principal)...) {
		return ""
	}
	return opt.Decided{Kept: fresh.Original}.Who()
}

// A fork keeps the decision of people in the original about the same object, if they were asked the same
// and may decide now as well. All others it leaves to people.
func TestPoint_Fork_keeps(t *testing.T) {
	open := func(d *opt.Decision) { d.Closed = false }
	seat := func(d *opt.Decision) { d.For = &opt.Seat{AbsenceID: "a", Principal: "carol"} }
	action := func(a opt.Action) func(*opt.Decision) { return func(d *opt.Decision) { d.Action = a } }
	two := &opt.Responders{Principals: []string{"carol", "dora", "eve"}, Accepts: 2}
	escalated := opened(&opt.Responders{Principals: []string{"carol", "dora"}}, opt.GateID(task(1), 1))
	noted := opened(nil, opt.GateID(task(1), 1))
	noted = noted.Extended(*noted.WithNote(opt.Exchange{Question: "for tea", AskedBy: "ann"}))
	again := func(s chained) chained { return s.shows(opened(nil, opt.GateID(task(1), 2))) }
	for name, tc := range map[string]struct {
		of   chained
		less int // events at the end that come after the fork
		gate func(*opt.Gate)
		want string
	}{
		"the same":                    {of: asks(nil).votes("carol"), want: "carol in the original"},
		"who has asked, too":          {of: asks(nil).votes("bob"), want: "bob in the original"},
		"a requester of the original": {of: asks(&opt.Responders{NotRequester: true}).votes("ann")},
		"who makes the fork":          {of: asks(&opt.Responders{NotRequester: true}).votes("bob")},
		"who may not any more":        {of: asks(&opt.Responders{Principals: []string{"dora"}}).votes("carol")},
		"both of two":                 {of: asks(two).votes("carol", open).votes("dora"), want: "carol, dora in the original"},
		"one of two has no part":      {of: asks(&opt.Responders{NotRequester: true, Accepts: 2}).votes("carol", open).votes("bob")},
		"one vote is not there":       {of: asks(two).votes("dora")},
		"one has two votes":           {of: asks(two).votes("dora", open).votes("dora")},
		"a rejection before two":      {of: asks(two).votes("eve", open, action(opt.Reject)).votes("carol", open).votes("dora"), want: "carol, dora in the original"},
		"a refused reply":             {of: asks(two).votes("mallory", open, func(d *opt.Decision) { d.Verdict = opt.NotAllowed }).votes("carol", open).votes("dora"), want: "carol, dora in the original"},
		"after the fork":              {of: asks(nil).votes("carol"), less: 1},
		"another one after the fork":  {of: again(asks(nil).votes("carol")).votes("dora", action(opt.Reject)), less: 2},
		"rejected":                    {of: asks(nil).votes("carol", action(opt.Reject))},
		"accepted, then rejected":     {of: again(asks(nil).votes("carol")).votes("carol", action(opt.Reject))},
		"accepted, then expired":      {of: again(asks(nil).votes("carol")).votes(opt.ByTimer, action(opt.Reject))},
		"accepted, then by hand":      {of: again(asks(nil).votes("carol")).votes("carol", func(d *opt.Decision) { d.ByHand = true })},
		"rejected, then accepted":     {of: again(asks(nil).votes("carol", action(opt.Reject))).votes("dora"), want: "dora in the original"},
		"edited":                      {of: asks(nil).votes("carol", action(opt.EditAccept))},
		"sent back":                   {of: asks(nil).votes("carol", action(opt.Refine))},
		"by a deputy":                 {of: asks(nil).votes("dora", seat)},
		"one of two by a deputy":      {of: asks(two).votes("dora", open, seat).votes("eve")},
		"a time limit":                {of: asks(nil).votes(opt.ByTimer)},
		"checks":                      {of: asks(nil).votes(opt.ByChecks)},
		"a standing decision":         {of: asks(nil).votes(opt.ByStanding, func(d *opt.Decision) { d.Standing = &opt.StandingUse{ID: "s"} })},
		"not closed":                  {of: asks(nil).votes("carol", open)},
		"escalated before":            {of: asks(&opt.Responders{Principals: []string{"dora"}}).shows(escalated).votes("carol")},
		"a note before":               {of: asks(nil).shows(noted).votes("carol")},
		"a decision that was changed": {of: asks(nil).votes("carol").changed(func(d *opt.Decision) { d.DecidedBy = "dora" })},
		"one before was changed":      {of: asks(two).votes("eve", open).changed(func(d *opt.Decision) { d.DecidedBy = "carol" }).votes("dora")},
		"set back":                    {of: asks(nil).votes("carol").setBack(planID)},
		"set back as a whole":         {of: asks(nil).votes("carol").setBack("")},
		"another plan was set back":   {of: asks(nil).votes("carol").setBack(opt.PlanID(id, 2)), want: "carol in the original"},
		"another title":               {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Title = "Delete all?" }},
		"another description":         {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Description = "All of it." }},
		"other actions":               {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Actions = []opt.Action{opt.Accept} }},
		"other responders":            {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Responders = &opt.Responders{Principals: []string{"carol"}} }},
		"findings of checks":          {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Checks = []opt.Finding{{Check: "c", Verdict: opt.Reject}} }},
		"another object":              {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Object = []a2a.Part{a2a.TextPart("Another")} }},
		"not by the rule any more":    {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Keep = false }},
		"about a budget":              {of: asks(nil).votes("carol"), gate: func(g *opt.Gate) { g.Budget = true }},
	} {
		o, err := fork.At(tc.of.story, len(tc.of.story)-tc.less).Fork(other, fork.Change{Repeat: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		change := tc.gate
		if change == nil {
			change = func(*opt.Gate) {}
		}
		test.Is(t, name+": it keeps the decision of", tc.want, keeps(o, change))
	}
}

// changed changes the latest decision after it was recorded.
func (s chained) changed(change func(*opt.Decision)) chained {
	last := &s.story[len(s.story)-1]
	d := *last.Decision
	change(&d)
	last.Decision = &d
	return s
}

// setBack adds that a plan, or the objective for "", was reset to its present state.
func (s chained) setBack(plan string) chained {
	e := opt.Event{Kind: opt.SourceRewound, Epoch: 2, PlanID: plan}
	point := fork.At(s.story, len(s.story)).Objective
	if e.Plan = point.Plan(plan); plan == "" {
		e.Objective, e.Text, e.Head = &point, &opt.Text{Name: point.Name}, &opt.ObjectiveHead{}
	}
	s.story = append(s.story, e)
	return s
}

// Where the playbook does not say so, and in plans of a client, a fork keeps nothing.
func TestPoint_Fork_keepsByRule(t *testing.T) {
	s := asks(nil)
	s.story[2].Plan.Tasks[1].Ask.Keep, s.gate.Keep = false, false
	s = s.votes("carol")
	o, err := fork.At(s.story, len(s.story)).Fork(other, fork.Change{})
	if got := keeps(o); got != "" || err != nil {
		t.Errorf("it keeps the decision of %s: %v", got, err)
	}
	s = asks(nil).votes("carol")
	p := keeping(nil)
	p.Tasks[1].Ask.Title = "Good enough?"
	if o, err = fork.At(s.story, len(s.story)).Fork(other, fork.Change{Plans: []opt.PlanSpec{p}}); keeps(o) != "" || err != nil {
		t.Errorf("it keeps the decision of %s: %v", keeps(o), err)
	}
}

// A fork of a fork names those who have decided, in the objective in which they did.
func TestPoint_Fork_keepsOfFork(t *testing.T) {
	s := asks(nil).votes("carol")
	second := test.Value(fork.At(s.story, len(s.story)).Fork(other, fork.Change{}))(t)
	stored := firstPlan(t, second)
	asked := stored.Tasks[1]
	begin := story{{Kind: opt.ObjectiveOpened, Objective: &second.Objective, Message: second.Message}, {Kind: opt.PlanAdded, PlanID: stored.ID, Plan: stored}}
	record := opt.Decision{
		ObjectiveID: second.Objective.ID, PlanID: stored.ID, Attempt: 1, TaskID: asked.ID, GateID: opt.GateID(asked.ID, 1), Kind: opt.Approval, Action: opt.Accept,
		Verdict: opt.Accepted, Closed: true, DecidedBy: opt.ByOriginal, ObjectDigest: s.gate.ObjectDigest, Kept: asked.Original(s.gate.ObjectDigest),
	}
	third := other
	third.ID, third.Principal = opt.NewObjectiveID([16]byte{3}), "dora"
	rejected := record
	rejected.DecidedBy, rejected.Kept, rejected.Action = "dora", nil, opt.Reject
	for name, tc := range map[string]struct {
		then []opt.Decision
		want string
	}{
		"before it was kept":  {nil, "carol in the original"},
		"after it was kept":   {[]opt.Decision{record}, "carol in the original"},
		"rejected there":      {[]opt.Decision{rejected}, ""},
		"expired there":       {[]opt.Decision{{ObjectiveID: record.ObjectiveID, PlanID: stored.ID, Attempt: 1, TaskID: asked.ID, Kind: opt.Approval, Closed: true, DecidedBy: opt.ByTimer, ObjectDigest: s.gate.ObjectDigest}}, ""},
		"kept, then rejected": {[]opt.Decision{record, rejected}, ""},
	} {
		chain, events := opt.Chain{}, begin
		for _, d := range tc.then {
			events = append(events, opt.Event{Kind: opt.TaskMoved, PlanID: stored.ID, TaskID: asked.ID, To: string(opt.TaskWorking), Decision: chain.Add(d)})
		}
		last, err := fork.At(events, len(events)).Fork(third, fork.Change{})
		if got := keeps(last); got != tc.want || err != nil {
			t.Errorf("%s: it keeps the decision of %q, want %q: %v", name, got, tc.want, err)
		}
		if of := last.Plans[0].Tasks[1].Earlier; tc.want != "" && (of[len(of)-1].ObjectiveID != id || of[len(of)-1].Head.N != 1 || of[len(of)-1].GateID != s.gate.ID) {
			t.Errorf("%s: it names %+v", name, of)
		}
	}
}
