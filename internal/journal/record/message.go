package record

import (
	"cmp"

	"longhaul/internal/journal/db"
)

// The kinds of messages in the tables. The values are stored.
const (
	openingMessage = "opening" // it began an attempt at an objective
	sentMessage    = "said"    // a client sent it to a task
	formerStatus   = "status"  // of a former status of the agent
)

func addMessage(r *rows, e *entry) {
	readTask(r, e.TaskID)
	insertMessage(r, e, sentMessage, e.TaskID, e.messageDigest)
}

// insertMessage adds the message of e to a task. Of messages with the same id,
// sender and task, the first stays.
func insertMessage(r *rows, e *entry, kind, taskID, digest string) {
	r.Do(`INSERT INTO messages
		(objective_id, seq, task_id, for_task, kind, kept, principal, message_id, digest, verdict, doc)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		r.objectiveID, r.seq(), taskID, e.ForTask, kind, db.Flag(e.Verdict.Kept()), e.Principal, cmp.Or(e.Key, e.Message.MessageID),
		digest, string(e.Verdict), e.message)
}

// insertStatus adds the status message of a task, which is about to be replaced.
func insertStatus(r *rows, taskID string) {
	r.Do(`INSERT INTO messages
		(objective_id, seq, task_id, for_task, kind, kept, principal, message_id, digest, verdict, doc)
		SELECT objective_id, status_seq, id, '', 'status', 1, '', status_id, '', '', said FROM tasks WHERE id = $1
		ON CONFLICT DO NOTHING`, taskID)
}
