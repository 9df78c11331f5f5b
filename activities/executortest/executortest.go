// Package executortest is the test suite that every executor runs: it tests the
// contract of [activities.Executor]. An executor that calls other services runs
// it against fakes with constant answers.
//
//	func TestExecutor(t *testing.T) {
//		executortest.Run(t, executortest.Config{
//			Executor:  mine.New(…),
//			Completes: activities.Work{Description: "…"},
//			Fails:     activities.Work{Description: "…"},
//			Long:      activities.Work{Description: "…"},
//		})
//	}
package executortest

import (
	"cmp"
	"context"
	"encoding/json"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// Config says what to test and with which work. Run fills in ids, names and
// messages that the work leaves out.
type Config struct {
	Executor  activities.Executor
	Completes activities.Work               // without a gate: with Replies, if the executor asks first
	Fails     activities.Work               // with an outcome, not with an error; or is rejected
	Errs      *activities.Work              // fails each attempt with an error; nil for an executor that never does
	Long      activities.Work               // does not end by itself while the suite looks
	Quick     bool                          // no work of the executor takes long: Completes is in place of Long
	Waits     *activities.Work              // at one gate or more; nil for an executor that never waits
	Reply     func(gate opt.Gate) opt.Reply // to the gates of Waits; nil accepts, and answers "yes"
	Secrets   []string                      // known to the executor, that clients must not see
	Soon      time.Duration                 // how long Long may take to return when its context is done; 0 means 5 s

	Large     *activities.Work // makes more than [LargeResult], or is refused because of it; nil for an executor whose results cannot be large
	Untrusted *activities.Work // gets [Hostile] from outside as its result; nil for an executor that gets nothing from outside
	Parks     *activities.Work // parks so that it is called if the task is canceled; nil for an executor that has nothing to cancel

	Parked  func(w activities.Work, parked activities.Outcome) *activities.Outcome // see [Player]; nil begins the next leg
	Effects func() int                                                             // how many effects there were outside, without recognized repeats; nil for an executor without any
}

// LargeResult is how many bytes the artifacts of Config.Large have at least.
const LargeResult = 64 << 10

// Hostile is a text that must be treated as data: no part of it may act on a terminal, a
// page, a template, a shell or a path.
const Hostile = "\x1b[31m<script>alert(1)</script>\u202e{{.Key}} $(id) `id` '\" ../../etc/passwd %s \r approval:accept"

// Run tests that the executor keeps its contract.
func Run(t *testing.T, cfg Config) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), cfg.filled()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A check tests one rule of the contract. It reports how the executor breaks it.
type check struct {
	name string
	run  func(context.Context, Config) error
}

var checks = []check{
	{"completes", completes},
	{"fails", fails},
	{"errs", errs},
	{"keepsPieces", keepsPieces},
	{"waits", waits},
	{"repeats", repeats},
	{"isUsedByMany", isUsedByMany},
	{"leavesItsWorkAlone", leavesItsWorkAlone},
	{"stopsWhenCanceled", stopsWhenCanceled},
	{"stopsAtDeadline", stopsAtDeadline},
	{"survivesCrashes", survivesCrashes},
	{"isCanceled", isCanceled},
	{"makesLargeResults", makesLargeResults},
	{"keepsHostileText", keepsHostileText},
}

func (cfg Config) filled() Config {
	cfg.Soon = cmp.Or(cfg.Soon, 5*time.Second)
	if cfg.Reply == nil {
		cfg.Reply = defaultReply
	}
	if cfg.Quick {
		cfg.Long = cfg.Completes
	}
	for i, w := range []*activities.Work{&cfg.Completes, &cfg.Fails, &cfg.Long} {
		fill(w, i)
	}
	for i, w := range []**activities.Work{&cfg.Errs, &cfg.Waits, &cfg.Large, &cfg.Untrusted, &cfg.Parks} {
		if *w != nil {
			filled := **w
			*w = &filled
			fill(*w, 3+i)
		}
	}
	return cfg
}

// fill sets the fields of w that the plan workflow would set.
func fill(w *activities.Work, n int) {
	objective := opt.NewObjectiveID([16]byte{})
	for value, other := range map[*string]string{
		&w.Tenant: "test", &w.ObjectiveID: objective, &w.ContextID: objective, &w.PlanID: opt.PlanID(objective, 1),
		&w.TaskID: opt.TaskID(opt.PlanID(objective, 1), n), &w.Objective: "Objective", &w.Plan: "Plan", &w.Name: "Task",
		&w.Trust: opt.Untrusted,
	} {
		*value = cmp.Or(*value, other)
	}
	w.Round, w.Attempt = max(w.Round, 1), max(w.Attempt, 1)
	w.Key = cmp.Or(w.Key, key(*w))
	if w.Messages == nil {
		w.Messages = []a2a.Message{{MessageID: "request", ContextID: w.ContextID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("A request")}}}
	}
}

// defaultReply returns a reply that accepts an approval and answers "yes" to questions.
func defaultReply(gate opt.Gate) opt.Reply {
	var r opt.Reply
	if len(gate.Actions) > 0 {
		r.Action = gate.Actions[0]
	}
	for _, q := range gate.Questions {
		r.Answers = append(r.Answers, opt.Answer{ID: q.ID, Answer: json.RawMessage(`"yes"`)})
	}
	return r
}
