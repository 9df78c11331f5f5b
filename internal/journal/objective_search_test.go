package journal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// found returns the ids of objectives by their names in a test.
func found(list []*opt.Objective, names map[string]string) []string {
	var out []string
	for _, o := range list {
		out = append(out, names[o.ID])
	}
	return out
}

func TestSearchObjectives(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		names, ids := map[string]string{}, map[string]string{}
		for i, o := range []struct{ key, name, description, context, planner string }{
			{"a", "Write the report", "About 100% of\nsales", "reports", "playbook research"},
			{"b", "ÜBERGRÖSSE prüfen", "", "", ""},
			{"c", "Review", "the REPORT of last week", "reports", "planner llm"},
			{"d", "Übergröße messen", "", "", "playbook research"},
		} {
			n := newObjective()
			n.CreatedAt, n.Name, n.Description = at(int64(i)), o.name, o.description
			if o.context != "" {
				n.ContextID = o.context
			}
			if o.key == "b" {
				n.Principal = "bob"
			}
			if o.planner != "" && o.key != "d" {
				n.Metadata = n.Metadata.With(opt.KeyPlanner, o.planner)
			}
			s := begin(t, j, n)
			if o.key == "d" { // whose plans a worker makes
				s.record(opt.Event{Kind: opt.ObjectiveChanged, Text: &opt.Text{Name: o.name, Metadata: n.Metadata.With(opt.KeyPlanner, o.planner)}})
			}
			if o.key == "a" {
				s.record(planAdded(n, 0, 1))
				failed := s.moved(0, 0, opt.TaskFailed)
				failed.Reason = "broken"
				s.record(s.moved(0, 0, opt.TaskWorking), failed)
			}
			if o.key == "c" {
				s.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
			}
			names[n.ID], ids[o.key] = o.key, n.ID
		}
		foreign := newObjective()
		foreign.Tenant, foreign.Name, foreign.ContextID = "globex", "The report of others", "reports"
		begin(t, j, foreign)

		for name, tt := range map[string]struct {
			search shown.ObjectiveSearch
			want   string
			total  int
		}{
			"all":                    {shown.ObjectiveSearch{}, "d c b a", 4},
			"in names and texts":     {shown.ObjectiveSearch{Text: "RePort"}, "c a", 2},
			"no pattern":             {shown.ObjectiveSearch{Text: "100%"}, "a", 1},
			"over lines":             {shown.ObjectiveSearch{Text: "of\nsales"}, "a", 1},
			"nothing":                {shown.ObjectiveSearch{Text: "%"}, "a", 1},
			"umlauts":                {shown.ObjectiveSearch{Text: "übergröße"}, "d", 1},
			"capital umlauts":        {shown.ObjectiveSearch{Text: "übergrÖSSE"}, "b", 1},
			"an id":                  {shown.ObjectiveSearch{Text: ids["b"]}, "b", 1},
			"a context":              {shown.ObjectiveSearch{ContextID: "reports"}, "c a", 2},
			"a planner":              {shown.ObjectiveSearch{Planner: "playbook research"}, "d a", 2},
			"a status":               {shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Status: opt.ObjectiveWorking}}, "c", 1},
			"a status and a context": {shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Status: opt.ObjectiveSubmitted}, ContextID: "reports"}, "a", 1},
			"all conditions": {shown.ObjectiveSearch{
				ObjectiveFilter: shown.ObjectiveFilter{Status: opt.ObjectiveSubmitted, Limit: 5, After: shown.Cursor{At: at(9)}}, Text: "report", ContextID: "reports", Planner: "playbook research", Since: at(0), Until: at(1)}, "a", 1},
			"a person":                   {shown.ObjectiveSearch{Principal: "bob"}, "b", 1},
			"part of a person":           {shown.ObjectiveSearch{Principal: "bo"}, "", 0},
			"a failure":                  {shown.ObjectiveSearch{Failure: "broken"}, "a", 1},
			"another failure":            {shown.ObjectiveSearch{Failure: "broke"}, "", 0},
			"the oldest first":           {shown.ObjectiveSearch{Sort: shown.OldestFirst}, "a b c d", 4},
			"a later page of the oldest": {shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: 1, After: shown.Cursor{At: at(1), ID: ids["b"]}}, Sort: shown.OldestFirst}, "c", 4},
			"by change":                  {shown.ObjectiveSearch{Sort: shown.ChangedFirst, Principal: "bob"}, "b", 1},
			"since":                      {shown.ObjectiveSearch{Since: at(2)}, "d c", 2},
			"until":                      {shown.ObjectiveSearch{Until: at(2)}, "b a", 2},
			"a page":                     {shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: 1, After: shown.Cursor{At: at(2), ID: ids["c"]}}, Text: "r"}, "b", 4},
			"nowhere":                    {shown.ObjectiveSearch{ContextID: "nowhere"}, "", 0},
			"hostile":                    {shown.ObjectiveSearch{Text: "'; DROP TABLE objectives; --", ContextID: "'", Planner: "\x00"}, "", 0},
			"with plans":                 {shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Plans: true}, Text: "write"}, "a", 1},
		} {
			got, err := j.SearchObjectives(t.Context(), tenant, tt.search)
			if err != nil || got.Total != tt.total || got.AtLeast || got.Reached != (shown.Cursor{}) {
				t.Errorf("%s: %d in total, at least %v, reached %v, %v; want %d", name, got.Total, got.AtLeast, got.Reached, err, tt.total)
			}
			test.Equal(t, name, strings.Fields(tt.want), found(got.Objectives, names), cmp.Transformer("empty", func(l []string) string { return fmt.Sprint(l) }))
		}
	})
}

// A search that no index answers looks at a part of the journal at a time. All parts
// together are the journal.
func TestSearchObjectives_looksAtPartsInTurn(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		var want, got []string
		for i := range 25 {
			o := newObjective()
			o.CreatedAt = at(int64(i / 3)) // some at the same time
			if i%6 != 0 {
				o.Name = "Needle"
				want = append(want, o.ID)
			}
			begin(t, j, o)
		}
		f := shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: 10}, Text: "needle", Reach: 4}
		pages := 0
		for ; pages < 50; pages++ {
			page := test.Value(j.SearchObjectives(t.Context(), tenant, f))(t)
			if !page.AtLeast || page.Total > 4 {
				t.Errorf("page %d says that there are %d, at least %v", pages, page.Total, page.AtLeast)
			}
			for _, o := range page.Objectives {
				got = append(got, o.ID)
				f.After = shown.Cursor{At: o.CreatedAt, ID: o.ID}
			}
			if len(page.Objectives) < f.Limit {
				if page.Reached == (shown.Cursor{}) {
					break
				}
				f.After = page.Reached
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || pages < 25/4 {
			t.Errorf("%d pages (-want +got):\n%s", pages, diff)
		}
	})
}

func TestStandings(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		s.record(planAdded(s.objective, 0, 3), s.rootMoved(opt.TaskWorking), s.moved(0, 0, opt.TaskCompleted),
			s.waits(0, 1, gate(s.task(0, 1), opt.Approval, 1)), s.waits(0, 2, gate(s.task(0, 2), opt.Approval, 1)))
		bare := begin(t, j, newObjective())
		foreign := newObjective()
		foreign.Tenant = "globex"
		begin(t, j, foreign)
		got := test.Value(j.Standings(t.Context(), tenant, []string{s.objective.ID, bare.objective.ID, foreign.ID, "obj-nowhere"}))(t)
		want := map[string]shown.Standing{
			s.objective.ID:    {Progress: s.view(s.objective.ID).Progress, Waiting: 2},
			bare.objective.ID: {},
		}
		if diff := cmp.Diff(want, got); diff != "" || want[s.objective.ID].Progress == nil {
			t.Errorf("standings mismatch (-want +got):\n%s", diff)
		}
	})
}

func TestOverview(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		hours := func(n int) a2a.Time {
			return a2a.At(epoch.Truncate(time.Hour).Add(time.Duration(n)*time.Hour + time.Minute))
		}
		ended := func(tenant string, n int, state opt.TaskState) {
			o := newObjective()
			o.Tenant, o.CreatedAt = tenant, hours(n)
			s := begin(t, j, o)
			moved := s.rootMoved(state)
			moved.At = hours(n)
			s.record(opt.Event{Kind: opt.ObjectiveMoved, To: string(state), At: hours(n)}, moved)
		}
		ended(tenant, 0, opt.TaskCompleted) // before
		ended(tenant, 1, opt.TaskCompleted)
		ended(tenant, 1, opt.TaskCompleted)
		ended(tenant, 1, opt.TaskFailed)
		ended(tenant, 3, opt.TaskCanceled)
		ended("globex", 3, opt.TaskCompleted)
		begin(t, j, newObjective())
		s := begin(t, j, newObjective())
		s.record(planAdded(s.objective, 0, 2), opt.Event{Kind: opt.ObjectiveMoved, To: "working"}, s.waits(0, 0, gate(s.task(0, 0), opt.Approval, 1)), s.waits(0, 1, gate(s.task(0, 1), opt.Approval, 1)))
		foreign := newObjective()
		foreign.Tenant = "globex"
		f := begin(t, j, foreign)
		f.record(planAdded(f.objective, 0, 1), f.waits(0, 0, gate(f.task(0, 0), opt.Approval, 1)))

		got := test.Value(j.Overview(t.Context(), tenant, hours(1), hours(5)))(t)
		begun := func(n int) a2a.Time { return a2a.At(hours(n).Time().Truncate(time.Hour)) }
		want := shown.Overview{
			Open:  map[opt.ObjectiveStatus]int{opt.ObjectiveSubmitted: 1, opt.ObjectiveWorking: 1},
			Gates: 2, Oldest: s.view(s.task(0, 0)).Task.Status.At,
			Ended: []shown.Ended{{At: begun(1), State: a2a.Completed, N: 2}, {At: begun(1), State: a2a.Failed, N: 1}, {At: begun(3), State: a2a.Canceled, N: 1}},
		}
		month, ages := 0, 0
		for _, e := range got.Month {
			month += e.N
		}
		for _, n := range got.Ages {
			ages += n.N
		}
		if month != 5 || ages != 2 { // with what ended before since
			t.Errorf("%d have ended in 30 days, %d are open: %+v", month, ages, got)
		}
		got.Month, got.Ages = nil, nil
		test.Equal(t, "overview", want, got)
	})
}
