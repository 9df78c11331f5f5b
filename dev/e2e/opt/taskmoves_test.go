package opt_test

import (
	"cmp"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// taskTable has the moves that clients may ask for, as in the extension.
var taskTable = map[opt.TaskState][]opt.TaskState{
	"pending":        {"submitted", "working", "completed", "failed", "canceled", "rejected"},
	"submitted":      {"working", "completed", "failed", "canceled", "rejected"},
	"working":        {"input-required", "auth-required", "completed", "failed", "canceled", "rejected"},
	"input-required": {"working", "completed", "failed", "canceled", "rejected"},
	"auth-required":  {"working", "completed", "failed", "canceled", "rejected"},
	"completed":      {},
	"failed":         {},
	"canceled":       {},
	"rejected":       {},
}

// taskMoves tries the 81 pairs of tasks in states that a client has set, and the
// pairs for states that the service has set.
func taskMoves(t *testing.T, s *service) {
	effects := map[string]string{}
	for from, moves := range taskTable {
		for _, to := range moves {
			effect := map[opt.TaskState]string{ // plan, objective
				"completed": "completed completed", "failed": "failed/by-hand failed", "canceled": "failed/by-hand failed", "rejected": "failed/rejected failed",
				"input-required": "blocked/input blocked/input", "auth-required": "blocked/auth blocked/auth",
			}[to]
			effects[string(from)+" "+string(to)] = cmp.Or(effect, "working working")
		}
	}
	byHand := table[opt.TaskState]{kind: "task", moves: taskTable, in: (*client).taskIn, seen: (*client).above, effects: effects}
	byHand.try(t, s)
	t.Run("of the service", func(t *testing.T) {
		byService := byHand
		byService.in = (*client).taskOfServiceIn
		byService.froms = []opt.TaskState{"working", "input-required", "completed", "failed", "canceled"} // echo reaches no others
		byService.try(t, s)
	})
}

// taskIn has a client bring the only task of a plan into a state.
func (c *client) taskIn(from opt.TaskState) subject {
	c.Helper()
	o := c.create("from "+string(from), harness.NewPlan("p", "say never"))
	s := subject{id: o.Plans[0].Tasks[0].ID}
	if from == opt.TaskInputRequired || from == opt.TaskAuthRequired {
		c.move(s.id, "working")
	}
	if from != opt.TaskPending {
		c.move(s.id, string(from))
	}
	return s
}

// taskOfServiceIn has the service bring it there.
func (c *client) taskOfServiceIn(from opt.TaskState) subject {
	c.Helper()
	s := subject{door: c.newDoor()}
	script := map[opt.TaskState]string{"input-required": "approve Go on?", "completed": "say done", "failed": "fail"}[from]
	o := c.create("from "+string(from), harness.NewPlan("p", cmp.Or(script, "await "+s.door)))
	s.id = o.Plans[0].Tasks[0].ID
	c.move(o.ID, "working")
	if script == "" {
		test.OK(c, c.control.Await(c.ctx, s.door))
	}
	if from == opt.TaskCanceled {
		c.c.MustCancel(c.ctx, c, s.id)
	}
	c.until(o.ID, "the task is "+string(from), func(o *harness.Objective) bool {
		status := opt.ObjectiveStatus(o.Status)
		return o.Plans[0].Tasks[0].Status == string(from) && from.Ended() == status.Ended() && from.Waiting() == (status == opt.ObjectiveBlocked)
	})
	return s
}

// above returns the statuses above a task.
func (c *client) above(s subject) string {
	o := c.get(objectiveOf(s.id))
	return planWord(o.Plans[0]) + " " + word(o)
}
