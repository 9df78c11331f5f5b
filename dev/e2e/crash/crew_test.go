package crash_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/witness"
)

// The crew are clients that compete for the same gates and revisions. What they may see
// depends on the order of their calls, so that only the checker can judge it.
var crew = []scenario{{"contested", (*world).contested}, {"revised", (*world).revised}, {"voted", (*world).voted}, {"crowd", (*world).crowd}}

// quorum is the playbook for messages that begin with the word: three of four accept.
const quorum = `name: quorum
match: {pattern: "^quorum "}
plans:
- name: Quorum
  tasks:
  - name: Approve
    human: {approve: "Good?", responders: {principals: [ann, bob, carol, dave], accepts: 3}}
  - {name: Write, executor: echo, description: say written}
`

// crowd brings several objectives into one context, one after another, so that some wait.
func (w *world) crowd(ctx context.Context, n int) error {
	for i := range 4 {
		m := harness.Message{ID: fmt.Sprintf("%s-%d", id(n), i), Text: "crowd", ContextID: fmt.Sprint("crowd-", n), Plan: harness.NewPlan("crowd", "work 400ms", say(n))}
		if _, err := w.begin(ctx, m, completes(n)); err != nil {
			return err
		}
	}
	return nil
}

// contested has one principal accept and reject at the same time, under several ids, one of
// them twice.
func (w *world) contested(ctx context.Context, n int) error {
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "contested", Plan: harness.NewPlan("contested", "approve Go on?; "+say(n))}, expected{})
	if err != nil {
		return err
	}
	var ballots []ballot
	for i := range 4 {
		ballots = append(ballots, ballot{w.c, w.principal(), fmt.Sprintf("vote-%d-%d", n, i%3), i%3%2 == n%2})
	}
	return w.ballots(ctx, f, 1, ballots)
}

// voted has four principals vote, of whom three must accept. One of them votes twice, every
// other time before the others, and one sends the same vote twice.
func (w *world) voted(ctx context.Context, n int) error {
	if w.voters == nil {
		return w.contested(ctx, n)
	}
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "quorum " + id(n)}, expected{})
	if err != nil {
		return err
	}
	first := n%4 == 3
	var ballots []ballot
	for i, voter := range []string{"bob", "bob", "ann", "carol", "dave", "ann"} {
		id := fmt.Sprintf("vote-%d-%s", n, voter)
		if i == 0 {
			id += "-first"
		}
		ballots = append(ballots, ballot{w.voters[voter], voter, id, voter != "bob" || i == 0 || first})
	}
	if first {
		if err := w.ballots(ctx, f, 3, ballots[:2]); err != nil {
			return err
		}
		ballots = ballots[2:]
	}
	return w.ballots(ctx, f, 3, ballots)
}

// A ballot is one vote of one principal.
type ballot struct {
	client *harness.Client
	voter  string
	id     string
	accept bool
}

// ballots waits for the gate of a task and has all vote at the same time. The gate is read
// meanwhile.
func (w *world) ballots(ctx context.Context, f *harness.Follower, needed int, ballots []ballot) error {
	var gate string
	_, err := f.Until(ctx, func(e harness.Event) bool {
		g := e.Gate()
		if t := e.Task(); t != nil {
			g = t.Gate
		}
		if g != nil {
			gate = g.ID
		}
		return g != nil
	})
	if err != nil {
		return fmt.Errorf("wait for a gate: %w", err)
	}
	var group sync.WaitGroup
	errs := make([]error, len(ballots))
	for i, b := range ballots {
		group.Go(func() {
			errs[i] = w.vote(ctx, b.client, witness.Vote{Gate: gate, Voter: b.voter, Message: b.id, Accept: b.accept, Needed: needed}, f.TaskID)
			w.decisions(ctx, gate)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// revised has three clients change an idle objective, each the revision that it has read,
// and starts it then.
func (w *world) revised(ctx context.Context, n int) error {
	objectiveID, err := w.create(ctx, n, completes(n))
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		group.Go(func() {
			for round := range 3 {
				errs[i] = errors.Join(errs[i], w.revise(ctx, objectiveID, n, fmt.Sprintf("%d-%d-%d", n, i, round)))
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return w.wake(ctx, n, objectiveID, say(n))
}

// revise reads an objective, and changes its name to one that no other client uses. The change names
// every other revision alone: one that is named also keeps a repeat from being applied. The change is
// sent twice at the same time, and again after that.
func (w *world) revise(ctx context.Context, objectiveID string, n int, name string) error {
	client := "client " + name
	var seen witness.Revision
	err := w.recorded(ctx, client, witness.Read{Of: objectiveID}, func(ctx context.Context) (any, error) {
		o, err := w.c.Objective(ctx, objectiveID)
		if err != nil {
			return nil, err
		}
		seen = witness.Revision{N: o.Revision(), Value: o.Name}
		if o.Name == id(n) {
			seen.Value = ""
		}
		return seen, nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", objectiveID, err)
	}
	params, expect := map[string]any{"id": objectiveID, "name": name}, 0
	if seen.N%2 == 1 {
		expect = seen.N
		params["longhaul/v1/revision"] = expect
	}
	change := func(client string) error {
		err := w.recorded(ctx, client, witness.Change{Of: objectiveID, Key: name, Expect: expect, Value: name}, func(ctx context.Context) (any, error) {
			return witness.Changed{}, w.c.With("Idempotency-Key", "revise-"+name).Call(ctx, "objectives/update", params, nil)
		})
		if err != nil && harness.Reason(err) != "STALE_REVISION" {
			return fmt.Errorf("change %s: %w", objectiveID, err)
		}
		return nil
	}
	var twin sync.WaitGroup
	twin.Go(func() { _ = change("twin of " + client) }) // which is judged
	err = change(client)
	twin.Wait()
	return errors.Join(err, change(client))
}

// schedule makes a schedule that starts an objective every two seconds.
func (w *world) schedule(ctx context.Context) error {
	body := `{"id": "tick", "text": "say tick", "every": "2s", "overlap": "allow-all"}`
	return harness.Repeat(ctx, func(ctx context.Context) error {
		return w.c.ReadPage(ctx, http.MethodPost, "/v1/schedules", body, &struct{}{})
	})
}

// ticks ends the schedule and waits until what it has started is complete. Each time of it
// has one objective.
func (w *world) ticks(ctx context.Context) error {
	err := harness.Repeat(ctx, func(ctx context.Context) error {
		return w.c.ReadPage(ctx, http.MethodPatch, "/v1/schedules/tick", `{"paused": true}`, &struct{}{})
	})
	if err != nil {
		return fmt.Errorf("pause the schedule: %w", err)
	}
	var of map[string]witness.Found
	err = harness.Repeat(ctx, func(ctx context.Context) error {
		of = map[string]witness.Found{}
		list, err := w.c.Objectives(ctx)
		for _, o := range list {
			if o.Metadata["longhaul/v1/schedule"] != "tick" {
				continue
			}
			at := fmt.Sprint(o.Metadata["longhaul/v1/scheduledFor"])
			if of[at] = append(of[at], o.ID); o.Status != "completed" {
				err = fmt.Errorf("the objective of %s is %s", at, o.Status)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("wait for the schedule: %w", err)
	}
	for at, ids := range of {
		due, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return err
		}
		slices.Sort(ids)
		w.saw.Note("the schedule", witness.Make{Key: "tick of " + at}, due, due, nil)
		w.saw.Note("reader", witness.Find{Key: "tick of " + at}, time.Now(), time.Now(), ids)
		for _, id := range ids {
			w.ack(id, expected{state: "COMPLETED", text: "tick"})
		}
	}
	w.t.Log(strconv.Itoa(len(of)) + " times of the schedule")
	return nil
}
