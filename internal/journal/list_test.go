package journal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

func taskIDs(views []shown.TaskView) []string {
	var out []string
	for _, v := range views {
		out = append(out, v.Task.ID)
	}
	return out
}

func TestTasks(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		s.record(planAdded(s.objective, 0, 2), planAdded(s.objective, 1, 2)) // at 2 and 3
		g := gate(s.task(0, 1), opt.Approval, 1)
		s.record(s.rootMoved(opt.TaskWorking), s.moved(0, 0, opt.TaskCompleted), s.waits(0, 1, g)) // at 4, 5 and 6
		foreign := newObjective()
		foreign.Tenant, foreign.ContextID = "globex", s.objective.ContextID
		begin(t, j, foreign)
		other := newObjective()
		other.CreatedAt = at(100)
		begin(t, j, other)

		mine := []string{s.task(0, 1), s.task(0, 0), s.objective.ID, s.task(1, 1), s.task(1, 0)}
		all := append([]string{other.ID}, mine...)
		context := s.objective.ContextID
		for name, tt := range map[string]struct {
			filter shown.TaskFilter
			want   []string
			total  int
		}{
			"all":                     {shown.TaskFilter{}, all, 6},
			"of a context":            {shown.TaskFilter{ContextID: context}, mine, 5},
			"of an unknown context":   {shown.TaskFilter{ContextID: "nowhere"}, nil, 0},
			"submitted, also pending": {shown.TaskFilter{State: a2a.Submitted}, []string{other.ID, s.task(1, 1), s.task(1, 0)}, 3},
			"in a state, of context":  {shown.TaskFilter{State: a2a.Submitted, ContextID: context}, mine[3:], 2},
			"waiting":                 {shown.TaskFilter{State: a2a.InputRequired}, mine[:1], 1},
			"rejected":                {shown.TaskFilter{State: a2a.Rejected}, nil, 0},
			"since":                   {shown.TaskFilter{Since: at(5)}, all[:3], 3},
			"all of it":               {shown.TaskFilter{Since: at(3), State: a2a.Submitted, ContextID: context}, mine[3:], 2},
			"limited":                 {shown.TaskFilter{Limit: 2}, all[:2], 6},
			"after one":               {shown.TaskFilter{Limit: 2, After: shown.Cursor{At: at(5), ID: s.task(0, 0)}}, all[3:5], 6},
			"after one of equals":     {shown.TaskFilter{After: shown.Cursor{At: at(3), ID: s.task(1, 1)}}, all[5:], 6},
			"after the last":          {shown.TaskFilter{After: shown.Cursor{At: at(3), ID: s.task(1, 0)}}, nil, 6},
		} {
			views, total, err := j.Tasks(t.Context(), tenant, tt.filter)
			if err != nil || total != tt.total {
				t.Errorf("%s: %d in total, %v, want %d", name, total, err, tt.total)
			}
			test.Equal(t, name, tt.want, taskIDs(views))
		}
		views, _, err := j.Tasks(t.Context(), tenant, shown.TaskFilter{ContextID: context, Want: shown.TaskWant{History: -1, Artifacts: true}})
		test.OK(t, err)
		for _, v := range views {
			test.Equal(t, "a listed task is not what it is by itself", s.view(v.Task.ID), v)
		}
	})
}

func TestObjectives(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		var ids []string
		for i := range 5 {
			o := newObjective()
			o.CreatedAt = at(int64(i))
			s := begin(t, j, o)
			s.record(planAdded(o, 0, 2))
			if i%2 == 0 {
				s.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
			}
			ids = append(ids, o.ID)
		}
		slices.Reverse(ids)
		for name, tt := range map[string]struct {
			tenant string
			filter shown.ObjectiveFilter
			want   []string
			total  int
		}{
			"all":       {tenant, shown.ObjectiveFilter{}, ids, 5},
			"a page":    {tenant, shown.ObjectiveFilter{Limit: 2, After: shown.Cursor{At: at(3), ID: ids[1]}}, ids[2:4], 5},
			"in status": {tenant, shown.ObjectiveFilter{Status: opt.ObjectiveWorking, Limit: 2}, []string{ids[0], ids[2]}, 3},
			"others'":   {"globex", shown.ObjectiveFilter{}, nil, 0},
		} {
			list, total, err := j.Objectives(t.Context(), tt.tenant, tt.filter)
			var got []string
			for _, o := range list {
				got = append(got, o.ID)
				if o.Plans != nil {
					t.Errorf("%s: %s comes with plans", name, o.ID)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || total != tt.total {
				t.Errorf("%s: %d in total, %v, want %d; (-want +got):\n%s", name, total, err, tt.total, diff)
			}
		}
		list, _, err := j.Objectives(t.Context(), tenant, shown.ObjectiveFilter{Plans: true, Limit: 1})
		test.OK(t, err)
		want, err := j.Objective(t.Context(), tenant, ids[0])
		if diff := cmp.Diff(want, list[0]); diff != "" || err != nil || len(want.Plans) != 1 || len(want.Plans[0].Tasks) != 2 {
			t.Errorf("%v, with plans (-Objective +Objectives):\n%s", err, diff)
		}
	})
}

// A list is read in the index that has fewest of its rows: the database cannot know which that is.
func TestLists_useIndexes(t *testing.T) {
	t.Parallel()
	j, at := openFile(t, ""), at(1)
	working := shown.ObjectiveFilter{Status: opt.ObjectiveWorking}
	for _, list := range []struct{ got, want string }{
		{j.TaskTable(shown.TaskFilter{Since: at}), "tasks_by_time"},
		{j.TaskTable(shown.TaskFilter{State: a2a.Working, Since: at}), "tasks_by_state"},
		{j.TaskTable(shown.TaskFilter{State: a2a.Working, ContextID: "c"}), "tasks_by_context"},
		{j.ObjectiveTable(shown.ObjectiveSearch{Text: "x", Since: at}), "objectives_by_time"},
		{j.ObjectiveTable(shown.ObjectiveSearch{ObjectiveFilter: working}), "objectives_by_status"},
		{j.ObjectiveTable(shown.ObjectiveSearch{ObjectiveFilter: working, Planner: "p"}), "objectives_by_planner"},
		{j.ObjectiveTable(shown.ObjectiveSearch{ObjectiveFilter: working, Planner: "p", ContextID: "c"}), "objectives_by_context"},
	} {
		if !strings.HasSuffix(list.got, " INDEXED BY "+list.want) {
			t.Errorf("reads %s, want it by %s", list.got, list.want)
		}
	}
}
