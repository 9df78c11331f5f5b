package opt_test

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// checked holds, for each kind of event, a complete event and its required
// members.
var checked = map[opt.EventKind]struct {
	complete opt.Event
	needs    []string
}{
	opt.ObjectiveOpened:   {opt.Event{Objective: &opt.Objective{}}, []string{"Objective"}},
	opt.ObjectiveMoved:    {opt.Event{To: "working", Head: &opt.ObjectiveHead{}}, []string{"To", "Head"}},
	opt.ObjectiveStopping: {opt.Event{Head: &opt.ObjectiveHead{}}, []string{"Head"}},
	opt.ObjectivePaused:   {opt.Event{Head: &opt.ObjectiveHead{}}, []string{"Head"}},
	opt.ObjectiveResumed:  {opt.Event{Head: &opt.ObjectiveHead{}}, []string{"Head"}},
	opt.ObjectiveQueued:   {opt.Event{Head: &opt.ObjectiveHead{}}, []string{"Head"}},
	opt.ObjectiveChanged:  {opt.Event{Head: &opt.ObjectiveHead{}, Text: &opt.Text{}}, []string{"Head", "Text"}},
	opt.ObjectiveRetried:  {opt.Event{Head: &opt.ObjectiveHead{}, Attempt: 2}, []string{"Head", "Attempt"}},
	opt.PlanAdded:         {opt.Event{PlanID: plan(1), Plan: &opt.Plan{ID: plan(1)}}, []string{"PlanID", "Plan"}},
	opt.PlanChanged:       {opt.Event{PlanID: plan(1), Text: &opt.Text{}}, []string{"PlanID", "Text"}},
	opt.PlanRetried:       {opt.Event{PlanID: plan(1), Attempt: 2, PlanHead: &opt.PlanHead{}}, []string{"PlanID", "Attempt", "PlanHead"}},
	opt.PlanMoved:         {opt.Event{PlanID: plan(1), To: "working", PlanHead: &opt.PlanHead{}}, []string{"PlanID", "To", "PlanHead"}},
	opt.PlanStarted:       {opt.Event{PlanID: plan(1), PlanHead: &opt.PlanHead{}}, []string{"PlanID", "PlanHead"}},
	opt.PlanPaused:        {opt.Event{PlanID: plan(1), PlanHead: &opt.PlanHead{}}, []string{"PlanID", "PlanHead"}},
	opt.PlanResumed:       {opt.Event{PlanID: plan(1), PlanHead: &opt.PlanHead{}}, []string{"PlanID", "PlanHead"}},
	opt.PlanStopping:      {opt.Event{PlanID: plan(1), PlanHead: &opt.PlanHead{}}, []string{"PlanID", "PlanHead"}},
	opt.TasksReopened:     {opt.Event{PlanID: plan(1), Tasks: []*opt.Task{{}}}, []string{"PlanID"}},
	opt.TasksAdded:        {opt.Event{PlanID: plan(1), Tasks: []*opt.Task{{}}}, []string{"PlanID"}},
	opt.TasksOrdered:      {opt.Event{PlanID: plan(1), Order: []opt.TaskOrder{{}}}, []string{"PlanID", "Order"}},
	opt.TaskLinked:        {opt.Event{TaskID: task(1, 0), Link: "x"}, []string{"TaskID", "Link"}},
	opt.TaskMoved:         {opt.Event{TaskID: task(1, 0), To: "working"}, []string{"TaskID", "To"}},
	opt.ExchangeAdded:     {opt.Event{TaskID: task(1, 0), To: "input-required", Gate: (&opt.Gate{}).With(opt.Exchange{})}, []string{"TaskID", "To", "Gate"}},
	opt.TaskTried:         {opt.Event{TaskID: task(1, 0), To: "working", Attempt: 2}, []string{"TaskID", "To", "Attempt"}},
	opt.TaskTaken:         {opt.Event{TaskID: task(1, 0), Waited: 1}, []string{"TaskID", "Waited"}},
	opt.TaskProgressed:    {opt.Event{TaskID: task(1, 0), To: "working", Status: &a2a.Message{}}, []string{"TaskID", "To", "Status"}},
	opt.UsageAdded:        {opt.Event{Usage: &opt.Usage{}}, []string{"Usage"}},
	opt.ArtifactAdded:     {opt.Event{TaskID: task(1, 0), Chunk: &opt.Chunk{}}, []string{"TaskID", "Chunk"}},
	opt.MessageAdded:      {opt.Event{TaskID: task(1, 0), Message: &a2a.Message{}}, []string{"TaskID", "Message"}},
	opt.CommandAnswered:   {opt.Event{Answer: &opt.CommandAnswer{CommandID: "c"}}, []string{"Answer"}},
	opt.SourceRewound:     {opt.Event{Epoch: 2, Objective: &opt.Objective{}, Head: &opt.ObjectiveHead{}, Text: &opt.Text{}}, []string{"Epoch", "Objective", "Head", "Text"}},
}

func TestEvent_Check(t *testing.T) {
	for kind, tt := range checked {
		e := tt.complete
		e.Kind, e.N = kind, 1
		if err := e.Check(); err != nil {
			t.Errorf("complete %s: %v", kind, err)
		}
		if kind != opt.SourceRewound { // the first event of an epoch may be about nothing that was recorded before
			tt.needs = append(tt.needs, "N")
		}
		for _, member := range tt.needs {
			lacks := e
			reflect.ValueOf(&lacks).Elem().FieldByName(member).SetZero()
			wantMalformed(t, string(kind)+" without "+member, lacks)
		}
	}
	for name, e := range map[string]opt.Event{
		"of no kind":                     {N: 1},
		"of a kind that does not exist":  {N: 1, Kind: "plan-reported"},
		"a first attempt as a retry":     {N: 1, Kind: opt.ObjectiveRetried, Head: &opt.ObjectiveHead{}, Attempt: 1},
		"a first attempt at a plan":      {N: 1, Kind: opt.PlanRetried, PlanID: plan(1), PlanHead: &opt.PlanHead{}, Attempt: 1},
		"a first attempt at a task":      {N: 1, Kind: opt.TaskTried, TaskID: task(1, 0), To: "working", Attempt: 1},
		"another plan":                   {N: 1, Kind: opt.PlanAdded, PlanID: plan(1), Plan: &opt.Plan{ID: plan(2)}},
		"a plan with a task that is nil": {N: 1, Kind: opt.PlanAdded, PlanID: plan(1), Plan: &opt.Plan{ID: plan(1), Tasks: []*opt.Task{nil}}},
		"a retry of a task that is nil":  {N: 1, Kind: opt.PlanRetried, PlanID: plan(1), PlanHead: &opt.PlanHead{}, Attempt: 2, Tasks: []*opt.Task{nil}},
		"a new task that is nil":         {N: 1, Kind: opt.TasksAdded, PlanID: plan(1), Tasks: []*opt.Task{{}, nil}},
		"a plan without its head":        {N: 1, Kind: opt.SourceRewound, Epoch: 2, PlanID: plan(1), Plan: &opt.Plan{}, Objective: &opt.Objective{}, Head: &opt.ObjectiveHead{}, Text: &opt.Text{}},
		"an answer to no command":        {N: 1, Kind: opt.CommandAnswered, Answer: &opt.CommandAnswer{}},
	} {
		wantMalformed(t, name, e)
	}
}

// The table above has every kind.
func TestEvent_Check_everyKind(t *testing.T) {
	source := test.Value(os.ReadFile("event.go"))(t)
	kinds := regexp.MustCompile(`EventKind += "([a-z-]+)"`).FindAllSubmatch(source, -1)
	if len(kinds) != len(checked) {
		t.Errorf("%d kinds of event, %d in the table", len(kinds), len(checked))
	}
	for _, m := range kinds {
		if _, ok := checked[opt.EventKind(m[1])]; !ok {
			t.Errorf("%s is not in the table", m[1])
		}
	}
}

func wantMalformed(t *testing.T, name string, e opt.Event) {
	t.Helper()
	if err := e.Check(); !errors.Is(err, opt.ErrMalformed) {
		t.Errorf("%s: %v, want ErrMalformed", name, err)
	}
}

// A later round, attempt or try has a higher fence than all that came before.
func TestEvent_Fence(t *testing.T) {
	var before int64 = -1
	for _, e := range []opt.Event{{}, {Try: 1}, {Attempt: 1}, {Attempt: 1, Try: 20}, {Attempt: 2}, {Round: 1}, {Round: 1, Attempt: 1, Try: 1}, {Round: 2}} {
		if e.Fence() <= before {
			t.Errorf("round %d, attempt %d, try %d has fence %d after %d", e.Round, e.Attempt, e.Try, e.Fence(), before)
		}
		before = e.Fence()
	}
}
