package opt_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A subject is a thing in a certain status, to try moves on.
type subject struct {
	id   string
	door string // where its tasks or planner wait, if any run
}

// A table is one of the tables of moves, with the functions to try them.
type table[S ~string] struct {
	kind  string
	moves map[S][]S
	froms []S // first statuses, nil for all
	in    func(c *client, from S) subject
	// The result of a move, as seen returns it, by "<from> <to>". "" checks only
	// the move.
	effects map[string]string
	pauses  bool // it can be paused in its status: then it waits for two things
	seen    func(c *client, s subject) string
}

// try tries all pairs. A refused move changes nothing, so the refused moves of a
// status share a thing.
func (tb table[S]) try(t *testing.T, s *service) {
	words := slices.Sorted(maps.Keys(tb.moves))
	for _, from := range words {
		if tb.froms != nil && !slices.Contains(tb.froms, from) {
			continue
		}
		s.each(t, "from "+string(from), func(c *client) {
			thing := tb.in(c, from)
			for _, to := range words {
				if to == from && tb.pauses {
					c.Run("to "+string(to), func(t *testing.T) { tb.pause(s.client(t), thing, from) })
				} else if to == from || !slices.Contains(tb.moves[from], to) {
					c.Run("to "+string(to), func(t *testing.T) { tb.stay(s.client(t), thing, from, to) })
				}
			}
		})
		for _, to := range tb.moves[from] {
			name := string(from) + " to " + string(to)
			s.each(t, name, func(c *client) {
				if err := tb.move(c, from, to); err != nil {
					c.Error(err)
				}
			})
		}
	}
}

// stay asks for the current status, which must change nothing.
func (tb table[S]) stay(c *client, thing subject, from, to S) {
	c.unchanged(objectiveOf(thing.id), func() {
		raw, err := c.try(mover(thing.id), params{"id": thing.id, "status": to})
		if from != to {
			c.refused(err, string(from), string(to))
		} else if got := status(raw, thing.id); err != nil || got != string(to) {
			c.Errorf("asked to stay, it is %q: %v", got, err)
		}
	})
}

// pause pauses and resumes a waiting thing, which must show the pause in addition
// to what it waits for.
func (tb table[S]) pause(c *client, thing subject, status S) {
	for _, to := range []string{string(status), "working"} {
		c.move(thing.id, to)
		paused := to == string(status)
		o := c.get(objectiveOf(thing.id))
		shown, _ := metadataOf(o, thing.id)["longhaul/v1/paused"].(bool)
		if got := statusIn(o, thing.id); got != string(status) || shown != paused {
			c.Errorf("directed to be %s it is %s, paused: %v", to, got, shown)
		}
	}
}

// move makes one move and returns an error about its result.
func (tb table[S]) move(c *client, from, to S) error {
	thing := tb.in(c, from)
	word := string(to)
	if tb.kind == "task" && len(from)%2 == 0 { // the spelling of A2A 1.0 is allowed, too
		word = "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(word, "-", "_"))
	}
	before := c.get(objectiveOf(thing.id)).Revision()
	raw, err := c.try(mover(thing.id), params{"id": thing.id, "status": word})
	if err != nil {
		return err
	}
	if got := status(raw, thing.id); got != string(to) {
		return fmt.Errorf("the answer shows %q", got)
	}
	if got := statusIn(c.get(objectiveOf(thing.id)), thing.id); got != string(to) {
		return fmt.Errorf("then it is %q", got)
	}
	if now := c.get(objectiveOf(thing.id)).Revision(); tb.kind != "task" && now <= before {
		return fmt.Errorf("the revision was %d and is %d", before, now)
	}
	want, ok := tb.effects[string(from)+" "+string(to)]
	if !ok {
		return errors.New("the table of effects has nothing about it")
	}
	return c.eventually(objectiveOf(thing.id), settling, func() error {
		if got := tb.seen(c, thing); got != want {
			return fmt.Errorf("around it there is %q, want %q", got, want)
		}
		return nil
	})
}

// status returns the status of the thing with an id in an answer.
func status(raw json.RawMessage, id string) string {
	var s answered
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	switch mover(id) {
	case "objectives/update":
		return s.Objective.Status
	case "plans/update":
		return s.Plan.Status
	}
	return s.Task.Status
}

// metadataOf returns the metadata of an objective or of one of its plans.
func metadataOf(o *harness.Objective, id string) map[string]any {
	for _, p := range o.Plans {
		if p.ID == id {
			return p.Metadata
		}
	}
	return o.Metadata
}

// statusIn returns the status of the thing with an id in its objective.
func statusIn(o *harness.Objective, id string) string {
	if o.ID == id {
		return o.Status
	}
	for _, p := range o.Plans {
		if p.ID == id {
			return p.Status
		}
		for _, t := range p.Tasks {
			if t.ID == id {
				return t.Status
			}
		}
	}
	return "not there"
}

// except returns moves with those from one status replaced.
func except[S ~string](moves map[S][]S, from S, to ...S) map[S][]S {
	moves = maps.Clone(moves)
	moves[from] = to
	return moves
}

// objectiveMoves tries the 49 pairs of objectives, and the pairs of an objective that
// is blocked but not paused: it cannot be moved to working.
func objectiveMoves(t *testing.T, s *service) {
	t.Run("at a gate", func(t *testing.T) {
		table[opt.ObjectiveStatus]{
			kind: "objective at a gate", pauses: true, in: (*client).objectiveAtGate, seen: (*client).below, froms: []opt.ObjectiveStatus{"blocked"},
			moves: except(opt.ObjectiveMoves, "blocked", "planning", "failed", "canceled"),
			effects: map[string]string{
				"blocked planning": "blocked/input input-required INPUT_REQUIRED",
				"blocked failed":   "skipped canceled FAILED",
				"blocked canceled": "skipped canceled CANCELED",
			},
		}.try(t, s)
	})
	table[opt.ObjectiveStatus]{
		kind: "objective", moves: opt.ObjectiveMoves, in: (*client).objectiveIn, seen: (*client).below,
		effects: map[string]string{ // plan, task, root tasks
			"submitted planning": "pending pending WORKING",
			"submitted working":  "working working WORKING",
			"submitted canceled": "skipped canceled CANCELED",

			"planning working":  "WORKING",
			"planning blocked":  "WORKING",
			"planning failed":   "FAILED",
			"planning canceled": "CANCELED",

			"working blocked":   "blocked/operator working WORKING",
			"working completed": "failed/objective-ended canceled COMPLETED",
			"working failed":    "failed/failed canceled FAILED",
			"working canceled":  "failed/canceled canceled CANCELED",

			"blocked planning": "blocked/operator working WORKING",
			"blocked working":  "working working WORKING",
			"blocked failed":   "skipped canceled FAILED",
			"blocked canceled": "skipped canceled CANCELED",

			"failed submitted":   "pending pending FAILED SUBMITTED",
			"failed planning":    "pending pending FAILED WORKING",
			"canceled submitted": "pending pending CANCELED SUBMITTED",
		},
	}.try(t, s)
}

// objectiveIn brings an objective into a status. Its planner and its one task, if
// it has one, wait at a door.
func (c *client) objectiveIn(from opt.ObjectiveStatus) subject {
	c.Helper()
	door := c.newDoor()
	s := subject{door: door}
	o := c.shown("objectives/create", params{"name": "from " + string(from), "description": "await " + door}).Objective
	s.id = o.ID
	script := "await " + c.newDoor()
	switch from {
	case opt.ObjectivePlanning:
		c.move(o.ID, "planning")
		return s
	case opt.ObjectiveCompleted:
		script = "say done"
	case opt.ObjectiveFailed:
		script = "fail"
	}
	c.add(o.ID, harness.NewPlan("p", script))
	switch from {
	case opt.ObjectiveSubmitted:
		return s
	case opt.ObjectiveCanceled:
		c.move(o.ID, "canceled")
		return s
	}
	c.move(o.ID, "working")
	if from == opt.ObjectiveBlocked || from == opt.ObjectiveWorking {
		test.OK(c, c.control.Await(c.ctx, strings.TrimPrefix(script, "await ")))
	}
	if from == opt.ObjectiveBlocked {
		c.move(o.ID, "blocked")
	}
	c.until(o.ID, "it is "+string(from), func(o *harness.Objective) bool { return o.Status == string(from) })
	return s
}

// objectiveAtGate makes an objective that waits for a person.
func (c *client) objectiveAtGate(opt.ObjectiveStatus) subject {
	c.Helper()
	door := c.newDoor()
	o := c.shown("objectives/create", params{"name": "at a gate", "description": "await " + door}).Objective
	c.add(o.ID, harness.NewPlan("p", "approve Go on?"))
	c.move(o.ID, "working")
	c.becomes(o.ID, "blocked/input blocked/input[input-required]")
	return subject{o.ID, door}
}

// below returns the statuses below an objective, and its root tasks.
func (c *client) below(s subject) string {
	var words []string
	for _, p := range c.get(s.id).Plans {
		words = append(words, planWord(p))
		for _, t := range p.Tasks {
			words = append(words, t.Status)
		}
	}
	for n := 1; ; n++ {
		task, err := c.c.Get(c.ctx, opt.RootID(s.id, n))
		if err != nil {
			return strings.Join(words, " ")
		}
		words = append(words, task.State)
	}
}

// planWord is the status of a plan and its reason.
func planWord(p harness.ObjectivePlan) string {
	why, _ := cmp.Or(p.Metadata["opt/v1/blockedReason"], p.Metadata["opt/v1/failureReason"]).(string)
	if why != "" {
		return p.Status + "/" + why
	}
	return p.Status
}

// planMoves tries the 36 pairs of plans, and the pairs of plans that are blocked but
// not paused: they cannot be moved to working.
func planMoves(t *testing.T, s *service) {
	for name, in := range map[string]func(*client, opt.PlanStatus) subject{"at a gate": (*client).planAtGate, "after another": (*client).planAfter} {
		t.Run(name, func(t *testing.T) {
			table[opt.PlanStatus]{
				kind: "plan " + name, pauses: name == "at a gate", in: in, seen: (*client).around, froms: []opt.PlanStatus{"blocked"},
				moves:   except(opt.PlanMoves, "blocked", "failed", "skipped"),
				effects: map[string]string{"blocked failed": "canceled working working", "blocked skipped": "canceled working working"},
			}.try(t, s)
		})
	}
	table[opt.PlanStatus]{
		kind: "plan", moves: opt.PlanMoves, in: (*client).planIn, seen: (*client).around,
		effects: map[string]string{ // its task, the plan after it, its objective
			"pending working": "working pending working",
			"pending skipped": "canceled pending submitted",

			"working blocked":   "working pending blocked/plan-paused",
			"working completed": "canceled working working",
			"working failed":    "canceled working working",

			"blocked working": "working pending working",
			"blocked failed":  "canceled working working",
			"blocked skipped": "canceled working working",

			"failed pending": "pending working working",
			"failed working": "working working working",
		},
	}.try(t, s)
}

// planIn brings a plan into a status, with another plan after it. The plan is
// optional, so its failure does not matter.
func (c *client) planIn(from opt.PlanStatus) subject {
	c.Helper()
	door := c.newDoor()
	script := "await " + door
	switch from {
	case opt.PlanCompleted:
		script = "say done"
	}
	first := harness.NewPlan("p", script)
	first.Metadata = harness.Optional()
	o := c.create("from "+string(from), first, harness.NewPlan("after", "await "+c.newDoor()))
	s := subject{id: o.Plans[0].ID, door: door}
	switch from {
	case opt.PlanPending:
		return s
	case opt.PlanSkipped:
		c.move(s.id, "skipped")
	}
	c.move(o.ID, "working")
	switch from {
	case opt.PlanWorking, opt.PlanBlocked, opt.PlanFailed:
		c.await(door)
	}
	switch from {
	case opt.PlanBlocked, opt.PlanFailed:
		c.move(s.id, string(from))
	}
	c.until(o.ID, "it is "+string(from), func(o *harness.Objective) bool {
		ended := from == opt.PlanCompleted || from == opt.PlanFailed || from == opt.PlanSkipped
		return o.Plans[0].Status == string(from) && (!ended || o.Plans[1].Tasks[0].Status == "working")
	})
	return s
}

// planAtGate makes a plan that waits for a person, with another after it.
func (c *client) planAtGate(opt.PlanStatus) subject {
	c.Helper()
	first := harness.NewPlan("p", "approve Go on?")
	first.Metadata = harness.Optional()
	o := c.create("at a gate", first, harness.NewPlan("after", "await "+c.newDoor()))
	c.move(o.ID, "working")
	c.becomes(o.ID, "blocked/input blocked/input[input-required] pending[pending]")
	return subject{id: o.Plans[0].ID}
}

// planAfter makes a plan that waits for another.
func (c *client) planAfter(opt.PlanStatus) subject {
	c.Helper()
	o := c.create("after another", harness.NewPlan("before", "await "+c.newDoor()))
	second := harness.NewPlan("p", "say never")
	second.Metadata, second.Dependencies = harness.Optional(), []string{o.Plans[0].ID}
	s := subject{id: c.add(o.ID, second).ID}
	c.move(o.ID, "working")
	c.becomes(o.ID, "working working[working] blocked/dependencies[pending]")
	return s
}

// around returns the statuses below, beside and above a plan.
func (c *client) around(s subject) string {
	o := c.get(objectiveOf(s.id))
	plan, other := o.Plans[0], o.Plans[1]
	if other.ID == s.id {
		plan, other = other, plan
	}
	return plan.Tasks[0].Status + " " + other.Status + " " + word(o)
}

// word returns the status of an objective and why it is blocked.
func word(o *harness.Objective) string {
	if why, _ := o.Metadata["opt/v1/blockedReason"].(string); why != "" {
		return o.Status + "/" + why
	}
	return o.Status
}
