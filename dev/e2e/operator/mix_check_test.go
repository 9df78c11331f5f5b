package operator_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// settle helps all work to its end, and checks the results.
func (m *mix) settle() {
	m.Helper()
	tasks, contexts := m.awaitEnds(), map[string]string{}
	var err error
	m.roots, err = m.allRoots(m.Context())
	test.OK(m, err)
	for _, id := range m.begun { // all is there that was acknowledged
		task := test.Value(m.c.Get(m.Context(), id))(m)
		contexts[id] = task.ContextID
	}
	m.checkTemporal()
	m.checkReaders()
	if m.Failed() {
		return
	}
	m.verify()
	for _, p := range slices.Backward(m.running) {
		p.Stop()
	}
	m.checkAcked()
	m.checkTally(contexts)
	m.checkLog()
	m.Logf("%d objectives, %d attempts at them, %d answers", tasks, len(m.roots), len(m.acked))
}

// awaitEnds helps all objectives to their ends, and returns how many there are. It waits as long as any of them moves.
func (m *mix) awaitEnds() (count int) {
	m.Helper()
	var seen []harness.Objective
	moved := time.Now()
	harness.Eventually(m.T, longest, "all objectives end", func() error {
		all, err := m.c.Objectives(m.Context())
		if err != nil {
			return err
		}
		if !cmp.Equal(all, seen) {
			seen, moved = all, time.Now()
		}
		var open []error
		for _, o := range all {
			if err := m.help(o); err != nil {
				open = append(open, err)
			}
		}
		if count, err = len(all), errors.Join(open...); err != nil && time.Since(moved) > still {
			m.Fatalf("nothing has moved for %v: %v", still, err)
		}
		return err
	})
	return count
}

// Objectives move as long as they are helped: after still without a move none will come. longest is for those that move
// for ever.
const (
	still   = 4 * time.Minute
	longest = 8 * time.Minute
)

// verify compares the journal with Temporal.
func (m *mix) verify() {
	m.Helper()
	var found struct {
		Problems []struct{ ObjectiveID, Kind, Detail string }
	}
	out, complaints, err := m.site.Try("journal", "verify", "--json", "--data-dir", m.site.Dir, "--temporal-addr", m.site.TemporalAddr)
	if json.Unmarshal([]byte(out), &found) != nil || err != nil && len(found.Problems) == 0 {
		m.Errorf("journal verify: %v\n%s%s", err, out, complaints)
	}
	for _, p := range found.Problems {
		m.Errorf("%+v\n%s", p, m.events(p.ObjectiveID))
	}
}

// help answers the gate at which an objective waits. The error says that it has not ended.
func (m *mix) help(o harness.Objective) error {
	ctx, cancel := context.WithTimeout(m.Context(), 20*time.Second)
	defer cancel()
	if endedStatus[o.Status] {
		return nil
	}
	open := fmt.Errorf("%s is %s: %v", o.ID, o.Status, o.Metadata)
	if m.retried[o.ID] && o.Status == "submitted" { // the client that has retried it may not have come through
		return errors.Join(open, m.c.Call(ctx, "objectives/update", map[string]any{"id": o.ID, "status": "working"}, nil))
	}
	if o.Metadata["longhaul/v1/statusReason"] == opt.NothingToDo { // a client has skipped its plans
		return errors.Join(open, m.c.Call(ctx, "objectives/update", map[string]any{"id": o.ID, "status": "completed"}, nil))
	}
	for n := 1; ; n++ {
		task, err := m.c.Get(ctx, opt.RootID(o.ID, n))
		if harness.Code(err) == -32001 {
			return open
		}
		if err != nil {
			return errors.Join(open, err)
		}
		open = fmt.Errorf("%w\n%s is %s: %s", open, task.ID, task.State, task.Message)
		if task.Gate != nil {
			open = errors.Join(open, m.reply(ctx, task, "accept"))
		}
	}
}

// checkReaders checks that all readers of a task have seen the same events, in their order.
func (m *mix) checkReaders() {
	m.Helper()
	for _, f := range m.readers {
		f.Stop()
		whole, err := m.c.All(m.Context(), f.TaskID, 0)
		got := f.Events()
		if err != nil || len(got) == 0 {
			m.Errorf("%s: %v, and %d events were followed", f.TaskID, err, len(got))
			continue
		}
		if got[0].Task() != nil && got[0].ID > whole[0].ID {
			whole, got = harness.After(whole, got[0].ID), got[1:]
		}
		if diff := cmp.Diff(whole[:min(len(whole), len(got))], got); diff != "" {
			m.Errorf("%s: the stream differs from the events of its reader (-stream +reader):\n%s\n%s", f.TaskID, diff, m.events(rootOf(f.TaskID)))
		}
	}
}

// events lists the events of an objective, for a failure.
func (m *mix) events(objectiveID string) string {
	db := m.openJournal()
	defer db.Close()
	rows, err := db.Query("SELECT seq, doc FROM events WHERE objective_id = '" + objectiveID + "' ORDER BY seq")
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var seq int64
		var doc string
		if err := rows.Scan(&seq, &doc); err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "%4d %.500s\n", seq, doc)
	}
	return b.String()
}

// openJournal opens the database of the journal.
func (m *mix) openJournal() *sql.DB {
	m.Helper()
	driver, name := "sqlite", "file:"+filepath.Join(m.site.Dir, "journal.db")
	if m.postgres != nil {
		driver, name = "pgx", m.postgres.URL("journal")
	}
	db := test.Value(sql.Open(driver, name))(m)
	return db
}

// checkAcked checks that the journal has each answer that was acknowledged, once, and that no event is missing.
func (m *mix) checkAcked() {
	m.Helper()
	db := m.openJournal()
	defer db.Close()
	rows := test.Value(db.Query("SELECT objective_id, seq, doc FROM events ORDER BY objective_id, seq"))(m)
	defer rows.Close()
	last, judged := map[string]int64{}, map[string]int{}
	for rows.Next() {
		var id, doc string
		var seq int64
		var e struct {
			Kind    string
			Message *struct {
				ID string `json:"messageId"`
			}
		}
		test.OK(m, rows.Scan(&id, &seq, &doc))
		test.OK(m, json.Unmarshal([]byte(doc), &e))
		if seq != last[id]+1 {
			m.Errorf("%s: event %d follows event %d", id, seq, last[id])
		}
		if last[id] = seq; e.Kind == "message" {
			judged[e.Message.ID]++
		}
	}
	test.OK(m, rows.Err())
	for reply, task := range m.acked {
		if judged[reply] == 0 {
			m.Errorf("%s of %s was acknowledged, and the journal does not have it", reply, task)
		}
	}
}

// A stay is a time in which something ran.
type stay struct {
	key        string
	pid        int
	begin, end time.Time
}

// stays returns when the tasks have run, by their lines in the tally. One that has not ended has done so with
// its process.
func (m *mix) stays() (all []stay) {
	m.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, round := range harness.Rounds(harness.Tally(m, m.tally)) {
		for _, a := range round {
			end := a.Ended
			if a.What == "" {
				if end = m.ended[a.PID]; end.IsZero() {
					m.Errorf("%s, attempt %d: has not ended", key, a.N)
				}
			}
			all = append(all, stay{key, a.PID, a.Began, end})
		}
	}
	slices.SortFunc(all, func(a, b stay) int { return a.begin.Compare(b.begin) })
	return all
}

// checkTally checks that nothing has run twice at a time under the same key, and that no two objectives of a
// context have worked at once. What an operator has stopped runs until its worker hears of it.
func (m *mix) checkTally(contexts map[string]string) {
	m.Helper()
	all := m.stays()
	for i, a := range all {
		for n, b := range all[i+1:] {
			if !b.begin.Before(a.end) {
				continue
			}
			mine, other := rootOf(a.key), rootOf(b.key)
			began := func(c stay) bool { return c.key == b.key && m.stopped(other, c.begin, b.begin) } // it begins again after a reset
			switch {
			case a.key == b.key:
				m.Errorf("%s ran twice at a time: in %d from %v to %v, and in %d from %v", a.key, a.pid, a.begin, a.end, b.pid, b.begin)
			case mine == other || contexts[mine] != contexts[other] || contexts[mine] == "":
			case !m.stopped(mine, a.begin, b.begin) && !slices.ContainsFunc(all[:i+1+n], began):
				m.Errorf("%s ran from %v to %v, and %s of the same context from %v", a.key, a.begin, a.end, b.key, b.begin)
			}
		}
	}
}

// slow is how long a worker may take to hear that its task was stopped.
const slow = 20 * time.Second

// stopped reports whether the operator has acted on an objective or a plan of it between two times, not long before the
// later one.
func (m *mix) stopped(objectiveID string, after, before time.Time) bool {
	unique := strings.TrimPrefix(objectiveID, "obj-")
	return slices.ContainsFunc(m.acts, func(a operatorAct) bool {
		return strings.Contains(a.id, unique) && a.at.After(after) && a.at.Before(before) && before.Sub(a.at) < slow
	})
}

// rootOf returns the objective of the key of a round.
func rootOf(key string) string {
	if ref, ok := opt.ParseID(strings.Split(key, ":")[0]); ok {
		return ref.ObjectiveID
	}
	return ""
}
