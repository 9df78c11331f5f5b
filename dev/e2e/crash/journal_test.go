package crash_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A journal is the content of the journal's file, with which streams are
// compared. It is read when no process runs.
type journal struct {
	events map[string][]event // by objective, in order
	ended  map[string]*event  // by plan task: what ended it
}

// An event is one row of the events.
type event struct {
	Seq     int64  `json:"-"`
	Kind    string `json:"kind"`
	Millis  any    `json:"at"`
	TaskID  string `json:"taskId"`
	RootID  string `json:"rootId"`
	To      string `json:"to"`
	Reason  string `json:"reason"`
	Attempt int    `json:"attempt"`
	Gate    *struct {
		ID string `json:"interruptId"`
	} `json:"gate"`
	Message *struct {
		ID string `json:"messageId"`
	} `json:"message"`

	round int // of the task, for an event that ends it
}

func (e *event) at() time.Time {
	text, _ := e.Millis.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Unix(1<<40, 0)
	}
	return at.Add(time.Millisecond) // times are cut to milliseconds
}

// openJournal reads the journal of a site and checks that the events of every
// objective are numbered without a gap.
func openJournal(t *testing.T, site *harness.Site) *journal {
	t.Helper()
	db := test.Value(sql.Open("sqlite", "file:"+filepath.Join(site.Dir, "journal.db")))(t)
	defer db.Close()
	return readJournal(t, db)
}

// readJournal is openJournal for a database.
func readJournal(t *testing.T, db *sql.DB) *journal {
	t.Helper()
	rows := test.Value(db.Query("SELECT objective_id, seq, doc FROM events ORDER BY objective_id, seq"))(t)
	defer rows.Close()
	j := &journal{events: map[string][]event{}, ended: map[string]*event{}}
	for rows.Next() {
		var id, doc string
		var e event
		test.OK(t, rows.Scan(&id, &e.Seq, &doc))
		test.OK(t, json.Unmarshal([]byte(doc), &e))
		j.events[id] = append(j.events[id], e)
		if n := len(j.events[id]); e.Seq != int64(n) {
			t.Errorf("%s: event %d has number %d", id, n, e.Seq)
		}
	}
	test.OK(t, rows.Err())
	j.index(t)
	return j
}

// index notes how tasks ended, and checks that each did so once, and that each message was
// judged once.
func (j *journal) index(t *testing.T) {
	t.Helper()
	for id, events := range j.events {
		gates, judged := map[string]int{}, map[string]bool{}
		for i := range events {
			e := &events[i]
			if e.Kind == "message" {
				if judged[e.Message.ID] {
					t.Errorf("%s: message %s was judged twice", id, e.Message.ID)
				}
				judged[e.Message.ID] = true
			}
			if e.Kind != "task-moved" {
				continue
			}
			if before := j.ended[e.TaskID]; before != nil {
				t.Errorf("%s: %s in event %d, after %s in event %d", e.TaskID, e.To, e.Seq, before.To, before.Seq)
			}
			if e.Gate != nil {
				gates[e.TaskID]++
			}
			switch e.To {
			case "completed", "failed", "canceled", "rejected":
				e.round = gates[e.TaskID] + 1
				j.ended[e.TaskID] = e
			}
		}
	}
}

// visible lists the numbers of the events that a stream of a task shows.
func (j *journal) visible(objectiveID, taskID string) []int64 {
	var out []int64
	for _, e := range j.events[objectiveID] {
		if e.TaskID == taskID && (e.Kind == "task-moved" || e.Kind == "task-tried" || e.Kind == "artifact") || e.RootID == taskID && e.Kind == "artifact" {
			out = append(out, e.Seq)
		}
	}
	return out
}

// numbers lists the numbers of events. Besides the visible ones, a stream may report the
// progress of a root task with the number of an event of one of its tasks.
func numbers(events []harness.Event, visible []int64) []int64 {
	var out []int64
	for _, e := range events {
		if !e.Progress() || slices.Contains(visible, e.ID) {
			out = append(out, e.ID)
		}
	}
	return out
}
