package opt_test

import (
	"fmt"
	"slices"
	"strings"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// shape returns the statuses of an objective, its plans and their tasks.
func shape(o *harness.Objective) string {
	words := []string{word(o)}
	for _, p := range o.Plans {
		var tasks []string
		for _, t := range p.Tasks {
			tasks = append(tasks, t.Status)
		}
		words = append(words, fmt.Sprintf("%s%v", planWord(p), tasks))
	}
	return strings.Join(words, " ")
}

// is checks the shape of an objective that an answer shows.
func (c *client) is(o *harness.Objective, want string) {
	c.Helper()
	if got := shape(o); got != want {
		c.Fatalf("it is  %s\nwant   %s", got, want)
	}
}

// becomes waits until an objective has a shape.
func (c *client) becomes(id, want string) (o *harness.Objective) {
	c.Helper()
	err := c.eventually(id, settling, func() error {
		o = c.get(id)
		if got := shape(o); got != want {
			return fmt.Errorf("it is  %s\nwant   %s", got, want)
		}
		return nil
	})
	test.OK(c, err)
	return o
}

// await waits until a task has come to a door.
func (c *client) await(door string) {
	c.Helper()
	test.OK(c, c.control.Await(c.ctx, door))
}

// atDoor begins an objective whose first plan has one task, which waits at a door, and
// waits until it is there. The other plans come after that one.
func (c *client) atDoor(others ...*harness.Plan) (o *harness.Objective, door string) {
	c.Helper()
	door = c.newDoor()
	o = c.create("x", append([]*harness.Plan{harness.NewPlan("p", "await "+door)}, others...)...)
	c.move(o.ID, "working")
	c.await(door)
	return o, door
}

// stopped waits until the work at a door was stopped.
func (c *client) stopped(door string) {
	c.Helper()
	test.OK(c, c.control.AwaitLeft(c.ctx, door))
}

// newDoors returns new names for doors.
func (c *client) newDoors(n int) (doors []string) {
	for range n {
		doors = append(doors, c.newDoor())
	}
	return doors
}

// ran checks how often each task of an objective was run, in order.
func (c *client) ran(o *harness.Objective, want ...int) {
	c.Helper()
	rounds := test.Value(c.runs())(c)
	var got []int
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			n := 0
			for key, r := range rounds {
				if ref, ok := opt.ParseID(strings.SplitN(key, ":", 2)[0]); ok && ref.TaskID == t.ID {
					n += len(r)
				}
			}
			got = append(got, n)
		}
	}
	if !slices.Equal(got, want) {
		c.Errorf("tasks were run %v times, want %v: %s", got, want, c.tries(o.ID))
	}
}

// tries lists why tasks of an objective were run again.
func (c *client) tries(objectiveID string) (list []string) {
	events := test.Value(c.journal.Events(c.Context(), objectiveID, 0, 0))(c)
	for _, e := range events {
		if e.Event.Kind == opt.TaskTried {
			list = append(list, fmt.Sprintf("%s attempt %d, try %d: %s %s", e.Event.TaskID, e.Event.Attempt, e.Event.Try, e.Event.Reason, e.Event.Cause))
		}
	}
	return list
}

// root returns the A2A task of an attempt at an objective or a plan task, without
// the extension.
func (c *client) root(objectiveID string, attempt int) *harness.Task {
	c.Helper()
	task := test.Value(c.plain.Get(c.ctx, opt.RootID(objectiveID, attempt)))(c)
	return task
}

// say sends a message and waits for the result.
func (c *client) say(m harness.Message) *harness.Task {
	c.Helper()
	m.ID, m.Wait = c.Name()+" "+m.ID, true
	return c.c.MustSend(c.ctx, c, m)
}
