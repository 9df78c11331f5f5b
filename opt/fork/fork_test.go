package fork_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/fork"
)

var (
	id     = opt.NewObjectiveID([16]byte{1})
	planID = opt.PlanID(id, 1)
	other  = opt.Objective{ID: opt.NewObjectiveID([16]byte{2}), Principal: "bob", CreatedAt: a2a.AtMillis(5)}
)

// A story is a list of events.
type story []opt.Event

// begun returns a story with a request, a note and plans.
func begun(plans ...opt.PlanSpec) story {
	o := opt.Objective{ID: id, Name: "O", Principal: "ann", Status: opt.ObjectiveSubmitted, Attempt: 1}
	s := story{
		{Kind: opt.ObjectiveOpened, Objective: &o, Message: &a2a.Message{MessageID: "m", Parts: []a2a.Part{a2a.TextPart("do it")}}},
		{Kind: opt.MessageAdded, TaskID: id, Verdict: opt.Noted, Message: &a2a.Message{MessageID: "n"}, Principal: "carol", Head: &opt.ObjectiveHead{Shapers: []string{"carol"}}},
	}
	made, err := o.NewPlans(plans, a2a.Time{})
	if err != nil {
		panic(err)
	}
	for _, p := range made {
		s = append(s, opt.Event{Kind: opt.PlanAdded, PlanID: p.ID, Plan: p})
	}
	return s
}

func (s story) moved(task string, from, to opt.TaskState, gate *opt.Gate) story {
	ref, _ := opt.ParseID(task)
	return append(s, opt.Event{Kind: opt.TaskMoved, PlanID: ref.PlanID, TaskID: task, From: string(from), To: string(to), Gate: gate})
}

// does adds that a task is done with a text.
func (s story) does(task, text string) story {
	ref, _ := opt.ParseID(task)
	s = append(s.moved(task, opt.TaskPending, opt.TaskWorking, nil), opt.Event{
		Kind: opt.ArtifactAdded, PlanID: ref.PlanID, TaskID: task, Chunk: &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: opt.ArtifactID(ref.TaskID, "out"), Parts: []a2a.Part{a2a.TextPart(text)}}},
	})
	return s.moved(task, opt.TaskWorking, opt.TaskCompleted, nil)
}

func task(n int) string { return opt.TaskID(planID, n) }

func list(names ...string) opt.PlanSpec {
	p := opt.PlanSpec{Name: "P"}
	for _, name := range names {
		p.Tasks = append(p.Tasks, opt.TaskSpec{Name: name, Executor: "e", Input: json.RawMessage(`{"a": 1}`)})
	}
	return p
}

// taken lists the tasks that an opening has taken over, as plan.task=text of what they have made.
func taken(o opt.Opening) string {
	var out []string
	for i, p := range o.Plans {
		for k, t := range p.Tasks {
			if t.Taken != nil {
				out = append(out, fmt.Sprintf("%d.%d=%s", i, k, t.Taken.Artifacts[0].Text()))
			}
		}
	}
	return strings.Join(out, " ")
}

// Tasks of the original cannot be changed in plans that take the place of theirs.
func TestPoint_Fork_changesNoneOfOtherPlans(t *testing.T) {
	s := begun(list("A", "B"))
	_, err := fork.At(s, len(s)).Fork(other, fork.Change{Plans: []opt.PlanSpec{list("C")}, Tasks: []fork.TaskChange{{ID: task(1), Name: "D"}}})
	if wrong, ok := errors.AsType[*opt.SpecError](err); !ok || wrong.Field != "tasks[0].id" {
		t.Error(err)
	}
}

func TestPoint_Fork_takesOver(t *testing.T) {
	description := "another"
	gated := list("a", "ask", "c")
	gated.Tasks[1].Ask = &opt.Gate{Kind: opt.Approval}
	beside := list("a", "b", "c")
	beside.Tasks[1].Dependencies, beside.Tasks[2].Dependencies = []string{}, []string{"task-0"}
	plain := opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	changed := fork.Change{Tasks: []fork.TaskChange{{ID: task(1), Description: &description}}}
	abc := begun(list("a", "b", "c")).does(task(0), "A").does(task(1), "B").does(task(2), "C")
	for name, tc := range map[string]struct {
		of     story
		n      int // events; 0 for all
		change fork.Change
		want   string
	}{
		"all":                                  {of: abc, want: "0.0=A 0.1=B 0.2=C"},
		"up to an event":                       {of: abc, n: 6, want: "0.0=A"},
		"what had begun and was done later":    {of: abc, n: 7, want: "0.0=A 0.1=B"},
		"nothing before the plan":              {of: abc, n: 2},
		"what comes before a changed task":     {of: begun(plain).does(task(0), "A").does(task(1), "B").does(task(2), "C"), change: changed, want: "0.0=A"},
		"another request":                      {of: abc, change: fork.Change{Message: []a2a.Part{a2a.TextPart("else")}, Plans: []opt.PlanSpec{list("a")}}},
		"the same request":                     {of: abc, change: fork.Change{Message: []a2a.Part{a2a.TextPart("do it")}, Plans: []opt.PlanSpec{list("a", "x")}}, want: "0.0=A"},
		"other plans":                          {of: abc, change: fork.Change{Plans: []opt.PlanSpec{list("a", "b", "x", "c")}}, want: "0.0=A 0.1=B"},
		"other input":                          {of: abc, change: fork.Change{Plans: []opt.PlanSpec{{Name: "P", Tasks: []opt.TaskSpec{{Name: "a", Executor: "e"}}}}}},
		"another executor":                     {of: abc, change: fork.Change{Plans: []opt.PlanSpec{{Name: "P", Tasks: []opt.TaskSpec{{Name: "a", Executor: "f", Input: json.RawMessage(`{"a": 1}`)}}}}}},
		"what comes before a decision":         {of: begun(gated).does(task(0), "A").moved(task(1), opt.TaskPending, opt.TaskWorking, nil).moved(task(1), opt.TaskWorking, opt.TaskCompleted, nil).does(task(2), "C"), want: "0.0=A"},
		"nothing of one that has asked":        {of: begun(list("a")).moved(task(0), opt.TaskPending, opt.TaskWorking, nil).moved(task(0), opt.TaskWorking, opt.TaskInputRequired, &opt.Gate{ID: "g"}).moved(task(0), opt.TaskInputRequired, opt.TaskWorking, nil).moved(task(0), opt.TaskWorking, opt.TaskCompleted, nil)},
		"what does not depend on a failed one": {of: begun(beside).does(task(1), "B").moved(task(0), opt.TaskPending, opt.TaskWorking, nil).moved(task(0), opt.TaskWorking, opt.TaskFailed, nil), want: "0.1=B"},
		"plans after plans that are done":      {of: begun(list("a"), list("b")).does(task(0), "A").does(opt.TaskID(opt.PlanID(id, 2), 0), "B"), want: "0.0=A 1.0=B"},
		"no plan after one that is not done":   {of: begun(list("a", "x"), list("b")).does(task(0), "A").does(opt.TaskID(opt.PlanID(id, 2), 0), "B"), want: "0.0=A"},
	} {
		n := tc.n
		if n == 0 {
			n = len(tc.of)
		}
		o, err := fork.At(tc.of, n).Fork(other, tc.change)
		if err != nil || taken(o) != tc.want {
			t.Errorf("%s: %q is taken over, want %q: %v", name, taken(o), tc.want, err)
		}
	}
}

// Tasks that have begun and have no recorded end are repeated only for a caller who says so.
func TestPoint_Fork_repeats(t *testing.T) {
	s := begun(list("a", "b")).does(task(0), "A").moved(task(1), opt.TaskPending, opt.TaskWorking, nil)
	_, err := fork.At(s, len(s)).Fork(other, fork.Change{})
	if begun, ok := errors.AsType[*fork.BegunError](err); !ok || !slices.Equal(begun.Tasks, []string{task(1)}) {
		t.Errorf("the error is %v", err)
	}
	o, err := fork.At(s, len(s)).Fork(other, fork.Change{Repeat: true})
	if err != nil || taken(o) != "0.0=A" {
		t.Errorf("%q is taken over: %v", taken(o), err)
	}
	s = s.moved(task(1), opt.TaskWorking, opt.TaskFailed, nil)
	test.Error(t, "with a recorded end", nil, test.Err(fork.At(s, len(s)-1).Fork(other, fork.Change{})))
}

// A fork has the notes and the budgets, and those who shaped the original have shaped it.
func TestPoint_Fork_opening(t *testing.T) {
	limited := list("a", "b")
	limited.Budget, limited.Own = &opt.Budget{OnExceeded: opt.FailBudget}, &opt.Budget{OnExceeded: opt.AskBudget}
	s := begun(limited).does(task(0), "A")
	before := test.Value(json.Marshal(s))(t)
	o := test.Value(fork.At(s, len(s)).Fork(other, fork.Change{}))(t)
	if got := strings.Join(o.Objective.Shapers, " "); got != "ann carol" || o.Objective.Name != "O" || o.Message.Text() != "do it" || o.Idle {
		t.Errorf("it was shaped by %s: %+v", got, o)
	}
	if n := o.Notes[0]; len(o.Notes) != 1 || n.TaskID != other.ID || n.Principal != "carol" || n.Message.MessageID != o.Message.MessageID+"-1" {
		t.Errorf("the notes are %+v", o.Notes)
	}
	if p := o.Plans[0]; p.Budget == nil || p.Own == nil || *p.Budget != *limited.Budget || *p.Own != *limited.Own {
		t.Errorf("the budgets are %+v and %+v", p.Budget, p.Own)
	}
	own := &opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 5}}
	replaced, err := fork.At(s, len(s)).Fork(other, fork.Change{Plans: []opt.PlanSpec{list("a", "b"), {Name: "Q", Own: own}}})
	if err != nil || *replaced.Plans[0].Budget != *limited.Budget || replaced.Plans[0].Own != nil || *replaced.Plans[1].Budget != *limited.Budget || replaced.Plans[1].Own != own {
		t.Errorf("the plans that a fork describes: %+v, %v", replaced.Plans, err)
	}
	if got := o.Plans[0].Tasks[0].Taken; got.TaskID != task(0) || got.Artifacts[0].ArtifactID != opt.ArtifactID(opt.TaskID(opt.PlanID(other.ID, 1), 0), "out") {
		t.Errorf("taken over is %+v", got)
	}
	if after, _ := json.Marshal(s); string(after) != string(before) {
		t.Error("the events have changed")
	}
	for _, id := range []string{"task-x", task(1)} {
		if _, err := fork.At(s, len(s)).Fork(other, fork.Change{Tasks: []fork.TaskChange{{ID: id, Name: "x"}}}); !errors.As(err, new(*opt.SpecError)) {
			t.Errorf("a change of %s, which is not there or has an executor: %v", id, err)
		}
	}
}

// notes lists the notes of an opening to its root task, and those to the first task of its plan, as author:id.
func notes(o opt.Opening) (root, own []string) {
	for _, l := range o.Notes {
		root = append(root, l.Principal+":"+l.Message.Text())
	}
	for _, m := range o.Plans[0].Tasks[0].Notes {
		author, _ := m.Metadata.String(opt.KeyAuthor)
		own = append(own, author+":"+m.Text())
	}
	return root, own
}

// A fork has each note once, with its author: those to the root task, to a task and at its gate, also after a
// reset of the original, which records them again.
func TestPoint_Fork_notes(t *testing.T) {
	said := func(to, forTask, text string) opt.Event {
		e := opt.Event{Kind: opt.MessageAdded, TaskID: to, ForTask: forTask, Verdict: opt.Noted, Principal: "carol", Message: &a2a.Message{MessageID: text, Parts: []a2a.Part{a2a.TextPart(text)}}}
		if to != id || forTask != "" {
			e.PlanID = planID
		}
		return e
	}
	root, own, comment := said(id, "", "to all"), said(task(0), "", "to one"), said(id, task(0), "at its gate")
	s := append(begun(list("a")), root, own, comment)
	p := *fork.At(s, len(s)).Objective.Plans[0]
	s = append(s, opt.Event{Kind: opt.SourceRewound, PlanID: planID, Plan: &p}, own, comment, opt.Event{Kind: opt.SourceRewound, Objective: &opt.Objective{ID: id, Plans: []*opt.Plan{{ID: planID}}}}, root)
	for n := len(s) - 6; n <= len(s); n++ {
		o := test.Value(fork.At(s, n).Fork(other, fork.Change{}))(t)
		toAll, toOne := notes(o)
		test.Equal(t, "notes to the root task", []string{"carol:", "carol:to all"}, toAll)
		if n > len(s)-5 {
			test.Equal(t, "notes to the task", []string{"carol:to one", "carol:at its gate"}, toOne)
		}
	}
}
