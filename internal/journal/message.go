package journal

import (
	"cmp"
	"context"
	"math"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// history returns the last messages of a task, oldest first, limited by most
// unless that is negative: those sent to the task, those sent to the root task
// for it, and its former status messages. It leaves out current, the present
// status message.
func history(c *db.Conn, objectiveID, taskID, current string, most int) ([]a2a.Message, error) {
	if most < 0 {
		most = math.MaxInt32
	}
	var list []a2a.Message
	err := eachMessage(c, `SELECT seq, task_id, doc FROM messages
			WHERE objective_id = $1 AND task_id = $2 AND kept = 1 AND (kind <> 'status' OR message_id <> $3)
		UNION ALL SELECT seq, task_id, doc FROM messages
			WHERE objective_id = $1 AND for_task = $2 AND for_task <> '' AND task_id <> $2 AND kept = 1
		ORDER BY seq DESC`+db.LimitParam(4), db.Args{objectiveID, taskID, current, most},
		func(_ string, m a2a.Message) { list = append(list, m) })
	slices.Reverse(list)
	return list, err
}

// eachMessage calls f with the messages that a query selects (seq, task_id, doc).
func eachMessage(c *db.Conn, query string, a db.Args, f func(taskID string, m a2a.Message)) error {
	return c.Each(query, a, func(row db.Scanner) error {
		var seq int64
		var taskID string
		var doc db.Content
		var m a2a.Message
		if err := row.Scan(&seq, &taskID, &doc); err != nil {
			return err
		}
		if err := db.Decode(doc, &m); err != nil {
			return err
		}
		f(taskID, m)
		return nil
	})
}

// Judgement returns the verdict on the letter with a key (mostly the id of its
// message) from a client to the tasks of an objective; ok is false if it was not
// recorded. If the key was used for several tasks, it returns the latest.
func (j eventReader) Judgement(ctx context.Context, objectiveID, principal, key string) (found shown.Judgement, ok bool, err error) {
	ok, err = j.db.Get(ctx, `SELECT seq, task_id, verdict, digest FROM messages
		WHERE objective_id = $1 AND message_id = $2 AND principal = $3 AND kind <> 'status' ORDER BY seq DESC LIMIT 1`,
		db.Args{objectiveID, key, principal}, &found.Seq, &found.TaskID, &found.Verdict, &found.Digest)
	return found, ok, err
}

// history returns the wanted part of the history of the task of v, in the wanted
// scope or in that which the conversation asks for.
func (v *viewRow) history(c *db.Conn, want shown.TaskWant) (_ []a2a.Message, err error) {
	scope := want.Scope
	if scope == "" {
		if scope, err = scopeOf(c, v.ObjectiveID, v.Task.ID); err != nil {
			return nil, err
		}
	}
	switch {
	case scope == shown.ScopeObjective:
		return wideHistory(c, v, "", want.History)
	case scope == shown.ScopePlan && v.PlanID != "":
		return wideHistory(c, v, v.PlanID, want.History)
	}
	return history(c, v.ObjectiveID, v.Task.ID, v.statusID, want.History)
}

// scopeOf returns the scope in the latest message to a task that names one, or
// else in the message that began the objective, or else the scope of the task.
func scopeOf(c *db.Conn, objectiveID, taskID string) (scope shown.HistoryScope, err error) {
	err = eachMessage(c, `SELECT seq, task_id, doc FROM messages
			WHERE objective_id = $1 AND (task_id = $2 OR kind = 'opening') AND kept = 1 AND kind <> 'status' AND `+c.Dialect.Contains("doc", 3)+`
		UNION ALL SELECT seq, task_id, doc FROM messages
			WHERE objective_id = $1 AND for_task = $2 AND for_task <> '' AND task_id <> $2 AND kept = 1 AND `+c.Dialect.Contains("doc", 3)+`
		ORDER BY seq`, db.Args{objectiveID, taskID, opt.KeyHistoryScope},
		func(_ string, m a2a.Message) {
			if named, ok := m.Metadata.String(opt.KeyHistoryScope); ok && shown.HistoryScope(named).Valid() {
				scope = shown.HistoryScope(named)
			}
		})
	return scope, err
}

// wideHistory is history for the task of v together with the others of a plan, or
// with all of the objective if planID is "". A message of the agent at a gate is
// also at the root task; here it is listed once. Each message names its task.
func wideHistory(c *db.Conn, v *viewRow, planID string, most int) ([]a2a.Message, error) {
	if most < 0 || most > math.MaxInt32/2 {
		most = math.MaxInt32 / 2
	}
	var list []a2a.Message
	err := eachMessage(c, `SELECT seq, task_id, doc FROM messages
		WHERE objective_id = $1 AND kept = 1 AND (kind <> 'status' OR message_id <> $2) AND ($3 = '' OR task_id = $4
			OR task_id IN (SELECT id FROM tasks WHERE objective_id = $1 AND plan_id = $3)
			OR for_task IN (SELECT id FROM tasks WHERE objective_id = $1 AND plan_id = $3))
		ORDER BY seq DESC`+db.LimitParam(5), db.Args{v.ObjectiveID, v.statusID, planID, v.Task.ID, 2 * most},
		func(taskID string, m a2a.Message) {
			m.TaskID = cmp.Or(m.TaskID, taskID)
			list = append(list, m)
		})
	slices.Reverse(list)
	listed := map[string]bool{}
	list = slices.DeleteFunc(list, func(m a2a.Message) bool {
		repeated := m.Role == a2a.RoleAgent && listed[m.MessageID]
		listed[m.MessageID] = listed[m.MessageID] || m.Role == a2a.RoleAgent
		return repeated
	})
	return list[max(0, len(list)-most):], err
}
