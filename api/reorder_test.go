package api_test

import (
	"slices"
	"strings"
	"testing"

	"longhaul/opt"
)

// What a plan depends on can be changed before it has begun, with the rest of it.
func TestPlanUpdate_reorders(t *testing.T) {
	second := opt.PlanID(objectiveID, 2)
	for name, tc := range map[string]struct {
		set    func(*opt.Objective)
		change string
		want   string // the second plan, and the revision
	}{
		"before the start": {nil, `"dependencies":["PLAN"],"name":"New"`, `["PLAN"] pending New 2`},
		"while it waits": {func(o *opt.Objective) {
			o.Status, o.Started, o.Root = opt.ObjectiveWorking, true, opt.TaskWorking
			o.Plans[0].Status, o.Plans[0].Started, o.Plans[0].Tasks[0].State = opt.PlanWorking, true, opt.TaskWorking
		}, `"dependencies":["PLAN"]`, `["PLAN"] blocked Plan 2 2`},
		"held no more": {func(o *opt.Objective) {
			o.Status, o.Started, o.Root = opt.ObjectiveWorking, true, opt.TaskWorking
			o.Plans[0].Status, o.Plans[0].Started, o.Plans[0].Tasks[0].State = opt.PlanWorking, true, opt.TaskWorking
			o.Plans[1].Dependencies, o.Plans[1].Status, o.Plans[1].Reason = []string{o.Plans[0].ID}, opt.PlanBlocked, opt.BlockedByDependencies
		}, `"dependencies":[]`, `[] pending Plan 2 2`},
		"null":              {nil, `"dependencies":null,"name":"New"`, `[] pending New 2`},
		"none":              {func(o *opt.Objective) { o.Plans[1].Dependencies = []string{o.Plans[0].ID} }, `"dependencies":[]`, `[] pending Plan 2 2`},
		"sent back as read": {func(o *opt.Objective) { o.Plans[1].Dependencies = []string{o.Plans[0].ID} }, `"dependencies":["PLAN"]`, `["PLAN"] pending Plan 2 1`},
		"as read, of one that works": {func(o *opt.Objective) {
			o.Status, o.Started, o.Root = opt.ObjectiveWorking, true, opt.TaskWorking
			o.Plans[1].Status, o.Plans[1].Started, o.Plans[1].Tasks[0].State = opt.PlanWorking, true, opt.TaskWorking
		}, `"dependencies":[],"name":"New","status":"working"`, `[] working New 2`},
		"by a client that has seen it": {nil, `"dependencies":["PLAN"],"longhaul/v1/revision":1`, `["PLAN"] pending Plan 2 2`},
	} {
		s := newService(t)
		s.have(t, tc.set)
		ids := strings.NewReplacer("PLAN", planID)
		n := s.call(t, "plans/update", ids.Replace(`{"id":"`+second+`",`+tc.change+`}`))
		p := n.at("result", "plan")
		revision := s.call(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("result", "objective", "metadata", "longhaul/v1/revision")
		got := p.at("dependencies").String() + " " + p.at("status").String() + " " + p.at("name").String() + " " + revision.String()
		if want := ids.Replace(tc.want); got != want {
			t.Errorf("%s: %s, want %s: %v", name, got, want, n)
		}
	}
}

func TestPlanUpdate_reordersNothing(t *testing.T) {
	works := func(o *opt.Objective) {
		o.Status, o.Started, o.Root = opt.ObjectiveWorking, true, opt.TaskWorking
		o.Plans[0].Status, o.Plans[0].Started = opt.PlanWorking, true
	}
	second := opt.PlanID(objectiveID, 2)
	for name, tc := range map[string]struct {
		set      func(*opt.Objective)
		change   string
		code, at string // at is the field, or the reason, of the error
	}{
		"itself":                   {nil, `"dependencies":["PLAN"]`, "-32602", "dependencies[0]"},
		"nothing there":            {nil, `"dependencies":["SECOND","plan-x"]`, "-32602", "dependencies[1]"},
		"a task":                   {nil, `"dependencies":["TASK"]`, "-32602", "dependencies[0]"},
		"no list":                  {nil, `"dependencies":"SECOND"`, "-32602", "dependencies"},
		"no text":                  {nil, `"dependencies":[5]`, "-32602", "dependencies[0]"},
		"a circle":                 {func(o *opt.Objective) { o.Plans[1].Dependencies = []string{planID} }, `"dependencies":["SECOND"]`, "-32602", "dependencies"},
		"begun":                    {works, `"dependencies":["SECOND"]`, "-32001", "INVALID_STATE_TRANSITION"},
		"ended":                    {func(o *opt.Objective) { o.Plans[0].Status = opt.PlanSkipped }, `"dependencies":["SECOND"]`, "-32001", "INVALID_STATE_TRANSITION"},
		"of an ended objective":    {func(o *opt.Objective) { o.Status, o.Root = opt.ObjectiveCanceled, opt.TaskCanceled }, `"dependencies":["SECOND"]`, "-32001", "INVALID_STATE_TRANSITION"},
		"together with a status":   {nil, `"dependencies":["SECOND"],"status":"working"`, "-32602", "dependencies"},
		"by one that has not seen": {nil, `"dependencies":["SECOND"],"longhaul/v1/revision":7`, "-32001", "STALE_REVISION"},
	} {
		s := newService(t)
		s.have(t, tc.set)
		s.unchanged(t, func() {
			n := s.call(t, "plans/update", `{"id":"`+planID+`",`+strings.NewReplacer("PLAN", planID, "SECOND", second, "TASK", taskID).Replace(tc.change)+`}`)
			wantCode(t, n, tc.code)
			if got := field(n) + n.at("error", "data", "0", "reason").String(); got != tc.at {
				t.Errorf("%s: %q is wrong, want %q", name, got, tc.at)
			}
		})
	}
	// Of two clients one comes first.
	s := newService(t)
	s.have(t, nil)
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.revise(o, nil)
		return opt.ErrStale
	})
	n := s.call(t, "plans/update", `{"id":"`+planID+`","dependencies":["`+second+`"],"longhaul/v1/revision":1}`)
	if wantCode(t, n, "-32001"); !slices.Equal(s.engine.seen, []int64{1}) {
		t.Errorf("seen %v: %v", s.engine.seen, n)
	}
}

// The answer waits until the plan shows that it is held.
func TestPlanUpdate_reorderWaits(t *testing.T) {
	s := newService(t)
	second := opt.PlanID(objectiveID, 2)
	s.have(t, func(o *opt.Objective) {
		o.Status, o.Started, o.Root = opt.ObjectiveWorking, true, opt.TaskWorking
		o.Plans[0].Status, o.Plans[0].Started, o.Plans[0].Tasks[0].State = opt.PlanWorking, true, opt.TaskWorking
	})
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.journal.play(o.ID, opt.Event{Kind: opt.PlanChanged, PlanID: second, Change: &opt.Change{Dependencies: []string{planID}}})
		e.revise(o, nil)
		return nil
	})
	s.later(func(e *engine, o *opt.Objective) { e.follow(o.ID) })
	if n := s.call(t, "plans/update", `{"id":"`+second+`","dependencies":["`+planID+`"]}`); n.at("result", "plan", "status").String() != "blocked" {
		t.Errorf("the plan is %v", n)
	}
}
