package journal

import (
	"context"
	"math"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
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
func (j eventReader) Judgement(ctx context.Context, objectiveID, principal, key string) (found opt.Judgement, ok bool, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		ok, err = c.Get(`SELECT seq, task_id, verdict, digest FROM messages
			WHERE objective_id = $1 AND message_id = $2 AND principal = $3 AND kind <> 'status' ORDER BY seq DESC LIMIT 1`,
			db.Args{objectiveID, key, principal}, &found.Seq, &found.TaskID, &found.Verdict, &found.Digest)
		return err
	})
	return found, ok, err
}
