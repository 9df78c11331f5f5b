// Package opt has clients create, change and end objectives, plans and tasks over
// HTTP, with the whole service as a process. All tests run on one site at the
// same time; in the end the events of every objective must follow the rules, and
// every task must have run as often as the rules say.
package opt_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/journal"
	"longhaul/internal/test"
)

// Bounds, on a busy machine.
const (
	within   = 3 * time.Minute  // of a test
	settling = 60 * time.Second // of one expected change
	look     = 50 * time.Millisecond
)

// flags set long waits, so that a loaded machine does not change what clients
// see. Power cuts are not tested here.
var flags = []string{
	"--call-timeout=180s", "--blocking-wait=60s", "--reply-wait=10m", "--cancel-wait=10m", "--sync=normal", "--stop-after=100ms",
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil { // the tests wait for the service most of the time
		panic(err)
	}
	os.Exit(m.Run())
}

var parts = []struct {
	name string
	run  func(t *testing.T, s *service)
}{
	{"objective moves", objectiveMoves},
	{"plan moves", planMoves},
	{"task moves", taskMoves},
	{"steering", steering},
	{"changing", changing},
	{"limits", limits},
	{"the largest objective", big},
	{"transcripts", transcripts},
	{"random schedules", randomly},
}

func TestOPT(t *testing.T) {
	s := start(t)
	t.Run("service", func(t *testing.T) {
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.run(t, s)
			})
		}
	})
	s.audit(t)
	s.process.Stop()
	s.site.CheckFiles(t)
}

// A service is the service that all tests share, each with its own objectives.
type service struct {
	site    *harness.Site
	process *harness.Process
	tally   string // the record of runs
	plain   *harness.Client
	c       *harness.Client  // the same client with the extension
	journal *journal.Journal // that the service writes
	control *harness.Control
	doors   atomic.Int64
}

func start(t *testing.T) *service {
	t.Helper()
	site := harness.NewSite(t, harness.Crashable, flags...)
	s := &service{site: site, tally: filepath.Join(filepath.Dir(site.Dir), "tally"), plain: site.Client(), control: harness.NewControl(t)}
	s.c = s.plain.With("A2A-Extensions", harness.Extension)
	s.process = site.Start(harness.AllInOne, "CRASHABLE_TALLY="+s.tally, s.control.Env())
	var err error
	if s.journal, err = journal.Open(t.Context(), journal.Config{Path: filepath.Join(site.Dir, "journal.db")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		test.Error(t, "the call", nil, s.journal.Close())
	})
	return s
}

// runs returns how tasks were run, by round.
func (s *service) runs() (map[string]harness.Round, error) {
	lines, err := harness.ReadTally(s.tally)
	return harness.Rounds(lines), err
}

// A client is a test that calls the service. An unexpected error ends the test.
type client struct {
	*testing.T
	*service
	ctx context.Context
}

// client returns one for a test.
func (s *service) client(t *testing.T) *client {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return &client{t, s, ctx}
}

// each runs a test in parallel with others.
func (s *service) each(t *testing.T, name string, run func(c *client)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		run(s.client(t))
	})
}

// params are the params of a call.
type params map[string]any

// try calls a method.
func (c *client) try(method string, p params) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.c.Call(c.ctx, method, p, &raw)
	return raw, err
}

// call calls a method that must succeed.
func (c *client) call(method string, p params) json.RawMessage {
	c.Helper()
	raw, err := c.try(method, p)
	if err != nil {
		c.Fatalf("%s %v: %v", method, p, err)
	}
	return raw
}

// answered is what a method of the extension answers with.
type answered struct {
	Objective *harness.Objective
	Plan      *harness.ObjectivePlan
	Task      *harness.TaskOfPlan
}

func (c *client) shown(method string, p params) (s answered) {
	c.Helper()
	test.OK(c, json.Unmarshal(c.call(method, p), &s))
	return s
}

// create makes an objective that waits, with plans.
func (c *client) create(name string, plans ...*harness.Plan) *harness.Objective {
	c.Helper()
	o := c.shown("objectives/create", params{"name": name}).Objective
	for _, p := range plans {
		c.add(o.ID, p)
	}
	return c.get(o.ID)
}

// add adds a plan to an objective.
func (c *client) add(objectiveID string, p *harness.Plan) *harness.ObjectivePlan {
	c.Helper()
	plan := test.Value(c.c.CreatePlan(c.ctx, objectiveID, p))(c)
	return plan
}

// get returns the current objective.
func (c *client) get(id string) *harness.Objective {
	c.Helper()
	o := test.Value(c.c.Objective(c.ctx, id))(c)
	return o
}

// move moves an objective, a plan or a task to a status.
func (c *client) move(id, status string) answered {
	c.Helper()
	return c.shown(mover(id), params{"id": id, "status": status})
}

// mover returns the method that moves the thing with an id.
func mover(id string) string {
	switch kind, _, _ := strings.Cut(id, "-"); kind {
	case "obj":
		return "objectives/update"
	case "plan":
		return "plans/update"
	}
	return "tasks/updateStatus"
}

// objectiveOf returns the objective of the thing with an id.
func objectiveOf(id string) string { return "obj-" + strings.Split(id, "-")[1] }

// unchanged runs f, which must not change a byte of an objective.
func (c *client) unchanged(objectiveID string, f func()) {
	c.Helper()
	p := params{"id": objectiveID}
	before := c.call("objectives/get", p)
	f()
	if after := c.call("objectives/get", p); string(before) != string(after) {
		c.Errorf("the objective has changed from\n%s\nto\n%s", before, after)
	}
}

// refused checks that a call was refused as a move that is not in the tables.
func (c *client) refused(err error, from, to string) {
	c.Helper()
	var rpc *harness.RPCError
	want := fmt.Sprintf("Invalid status transition: %s → %s", from, to)
	if harness.Code(err) != -32001 || harness.Reason(err) != "INVALID_STATE_TRANSITION" {
		c.Errorf("got %v, want -32001 INVALID_STATE_TRANSITION", err)
	} else if errors.As(err, &rpc) && rpc.Message != want {
		c.Errorf("message is %q, want %q", rpc.Message, want)
	}
}

// until waits until is returns true for an objective, and returns it.
func (c *client) until(id, what string, is func(*harness.Objective) bool) (o *harness.Objective) {
	c.Helper()
	err := c.eventually(id, settling, func() error {
		if o = c.get(id); !is(o) {
			return errors.New(text(o))
		}
		return nil
	})
	if err != nil {
		c.Fatalf("not within %v: %s; it is %v", settling, what, err)
	}
	return o
}

// eventually calls check, at once and with every change of an objective, until it
// returns nil. It returns check's last error if that takes too long.
func (c *client) eventually(id string, within time.Duration, check func() error) error {
	ctx, cancel := context.WithTimeout(c.ctx, within)
	defer cancel()
	err := check()
	if err == nil {
		return nil
	}
	f := c.c.Follow(ctx, id, harness.Fresh)
	defer f.Stop()
	if _, ended := f.Until(ctx, func(harness.Event) bool {
		err = check()
		return err == nil
	}); ended == nil {
		return nil
	}
	tick := time.NewTicker(look) // for changes after the end of the root task's stream
	defer tick.Stop()
	for err != nil {
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
			err = check()
		}
	}
	return nil
}

// text shows an objective in a failure.
func text(o *harness.Objective) string {
	raw, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// newDoor returns a new name for a door.
func (s *service) newDoor() string { return fmt.Sprintf("door-%d", s.doors.Add(1)) }
