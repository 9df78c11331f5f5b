package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

var (
	allTaskStates = []opt.TaskState{
		opt.TaskPending, opt.TaskSubmitted, opt.TaskWorking, opt.TaskInputRequired, opt.TaskAuthRequired,
		opt.TaskCompleted, opt.TaskFailed, opt.TaskCanceled, opt.TaskRejected,
	}
	allStatuses = []opt.ObjectiveStatus{
		opt.ObjectiveSubmitted, opt.ObjectivePlanning, opt.ObjectiveWorking, opt.ObjectiveBlocked,
		opt.ObjectiveCompleted, opt.ObjectiveFailed, opt.ObjectiveCanceled,
	}
	allTenants = []string{tenant, "globex", "initech"}
)

// A churn makes random changes to objectives of its own.
type churn struct {
	t      *testing.T
	j      *journal.Journal
	random *rand.Rand
	living []*scribe
}

func (c *churn) step() {
	if len(c.living) == 0 || c.random.IntN(5) == 0 {
		o := newObjective()
		o.Tenant = allTenants[c.random.IntN(len(allTenants))]
		c.living = append(c.living, begin(c.t, c.j, o))
		return
	}
	i := c.random.IntN(len(c.living))
	s := c.living[i]
	err := c.j.Record(c.t.Context(), s.batch(c.events(s)...))
	switch {
	case errors.Is(err, journal.ErrEarly) || errors.Is(err, journal.ErrGap): // it was removed
		c.living = append(c.living[:i], c.living[i+1:]...)
	case err != nil:
		c.t.Error(err)
	}
}

// events returns some changes of s.
func (c *churn) events(s *scribe) (list []opt.Event) {
	state := func() opt.TaskState { return allTaskStates[c.random.IntN(len(allTaskStates))] }
	for range 1 + c.random.IntN(3) {
		plan := len(s.heads.plans)
		switch kind := c.random.IntN(6); {
		case kind == 0 && plan < 3:
			e := planAdded(s.objective, plan, 3)
			for _, t := range e.Plan.Tasks {
				t.State = state()
			}
			s.heads.plans[e.PlanID] = e.Plan.Head()
			list = append(list, e)
		case kind == 1:
			status := allStatuses[c.random.IntN(len(allStatuses))]
			list = append(list, opt.Event{Kind: opt.ObjectiveMoved, To: string(status)})
		case kind == 2 && s.heads.head.Status.Ended():
			s.objective.Attempt++
			list = append(list, opt.Event{Kind: opt.ObjectiveRetried, To: "submitted", Attempt: s.objective.Attempt})
		case kind < 5 && plan > 0:
			list = append(list, s.moved(c.random.IntN(plan), c.random.IntN(3), state()))
		default:
			list = append(list, s.rootMoved(state()))
		}
	}
	return list
}

// TestTallies has processes write, move, retry and remove objectives at the same time.
// At each moment the tallies agree with the rows, and the totals of lists are correct.
func TestTallies(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		const writers, steps = 6, 150
		journals := []*journal.Journal{open(), open()}
		var wg sync.WaitGroup
		for i := range writers {
			c := &churn{t: t, j: journals[i%2], random: rand.New(rand.NewPCG(uint64(i), 1))}
			wg.Go(func() {
				for range steps {
					c.step()
				}
			})
		}
		done, watched := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(watched)
			for over := false; !over; {
				select {
				case <-done:
					over = true
				default:
				}
				test.Error(t, "purge", nil, test.Err(journals[1].Purge(t.Context(), time.Now(), 2)))
				if wrong, err := journals[0].Maintenance.Miscounts(t.Context()); err != nil || len(wrong) > 0 {
					t.Errorf("wrong tallies %+v, error %v", wrong, err)
				}
			}
		}()
		wg.Wait()
		close(done)
		<-watched
		compareTotals(t, journals[0])
	})
}

// compareTotals compares the totals of all lists with the numbers of rows.
func compareTotals(t *testing.T, j *journal.Journal) {
	t.Helper()
	rows := 0
	compare := func(what string, total int, err error, condition string) {
		t.Helper()
		want, counting := j.CountRows(t.Context(), condition)
		if rows += want; total != want || err != nil || counting != nil {
			t.Errorf("%s: %d in total, %v, want %d, %v", what, total, err, want, counting)
		}
	}
	for _, tenant := range allTenants {
		of := fmt.Sprintf(" WHERE tenant = '%s'", tenant)
		_, total, err := j.Tasks(t.Context(), tenant, shown.TaskFilter{Limit: 1})
		compare("tasks of "+tenant, total, err, "tasks"+of)
		for _, state := range allTaskStates[1:] {
			_, total, err := j.Tasks(t.Context(), tenant, shown.TaskFilter{State: state.A2A(), Limit: 1})
			compare(fmt.Sprintf("%s tasks of %s", state, tenant), total, err, fmt.Sprintf("tasks%s AND shown = '%s'", of, state))
		}
		_, total, err = j.Objectives(t.Context(), tenant, shown.ObjectiveFilter{Limit: 1})
		compare("objectives of "+tenant, total, err, "objectives"+of)
		for _, status := range allStatuses {
			_, total, err := j.Objectives(t.Context(), tenant, shown.ObjectiveFilter{Status: status, Limit: 1})
			compare(fmt.Sprintf("%s objectives of %s", status, tenant), total, err, fmt.Sprintf("objectives%s AND status = '%s'", of, status))
		}
	}
	if rows == 0 {
		t.Error("there is nothing to count")
	}
}

// Triggers count, so numbers also hold for rows that a hand has changed.
func TestTallies_byHand(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := brief(t, j, 1)
		begin(t, j, newObjective())
		test.OK(t, j.Fill(t.Context(), s.objective.ID, 50, time.Second))
		compareTotals(t, j)
		test.OK(t, j.Script(t.Context(), "UPDATE tasks SET shown = 'rejected', ended = 1 WHERE plan_id <> ''; DELETE FROM objectives WHERE id LIKE '%7'"))
		compareTotals(t, j)
	})
}

// Processes of the program before may write while another one brings the tables up to date.
func TestMigrate_whileOthersWrite(t *testing.T) {
	t.Parallel()
	url := database(t)
	var churns []*churn
	for i := range 6 {
		j := openWith(t, journal.Config{URL: url, Migrate: true, Connections: 3}) // one writes, and is there from the start
		churns = append(churns, &churn{t: t, j: j, random: rand.New(rand.NewPCG(uint64(i), 2))})
	}
	more := map[int64]string{}
	for n := range int64(3) {
		var wg sync.WaitGroup
		done := make(chan struct{})
		for _, c := range churns {
			for range 5 {
				c.step()
			}
			wg.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						c.step()
					}
				}
			})
		}
		more[9000+n] = fmt.Sprintf("ALTER TABLE tasks ADD COLUMN later%d BIGINT NOT NULL DEFAULT 0; ALTER TABLE objectives ADD COLUMN later%d BIGINT NOT NULL DEFAULT 0", n, n)
		err := churns[0].j.Migrate(t.Context(), more)
		close(done)
		wg.Wait()
		test.OK(t, err)
		compareTotals(t, churns[0].j)
	}
}

// Recount corrects what a restore without triggers, or a hand, has made wrong.
func TestRecount(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		brief(t, j, 1)
		test.OK(t, j.Script(t.Context(), "DELETE FROM tallies WHERE subject = 'tasks'; DELETE FROM tally_changes WHERE subject = 'tasks'; INSERT INTO tally_changes VALUES ('acme', 'objectives', 'failed', 4)"))
		want := []journal.Miscount{
			{Tenant: tenant, Subject: "objectives", State: "failed", Tallied: 4},
			{Tenant: tenant, Subject: "tasks", State: "completed", Counted: 3},
		}
		test.Equal(t, "miscounts", want, test.Value(j.Maintenance.Miscounts(t.Context()))(t))
		for _, want := range []int64{2, 0} {
			test.Is(t, "corrected", want, test.Value(j.Maintenance.Recount(t.Context()))(t))
			compareTotals(t, j)
		}
	})
}

// In PostgreSQL the changes that writers leave are added up from time to time.
func TestTallies_fold(t *testing.T) {
	t.Parallel()
	j := openURL(t, database(t))
	const written = 1200
	many(t, j, written)
	left, err := j.CountRows(t.Context(), "tally_changes")
	if err != nil || left >= 4*journal.FoldAfter {
		t.Errorf("%d changes are left, %v", left, err)
	}
	compareTotals(t, j)
	_, total, err := j.Objectives(t.Context(), tenant, shown.ObjectiveFilter{Status: opt.ObjectiveCompleted, Limit: 1})
	if total != written || err != nil {
		t.Errorf("%d objectives, %v, want %d", total, err, written)
	}
}
