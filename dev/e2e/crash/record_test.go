package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/witness"
)

// begun returns how many messages have begun work.
func (w *world) begun() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sent)
}

// principal returns who calls with w.c.
func (w *world) principal() string {
	if w.voters == nil {
		return "local"
	}
	return "ann"
}

// recorded makes a call until its result is known, and records each attempt. result is
// that of an attempt without an error, nil for one that says nothing yet.
func (w *world) recorded(ctx context.Context, client string, ask witness.Ask, call func(context.Context) (result any, err error)) error {
	return harness.Repeat(ctx, func(ctx context.Context) error {
		end := w.saw.Begin(client, ask)
		result, err := call(ctx)
		switch {
		case harness.MayRepeat(err):
			result = nil
		case err != nil:
			result = refusal(err)
		case result == nil:
			err = errors.New("the result is not known yet")
		}
		end(result)
		return err
	})
}

// refusal is the result of a call that was refused.
func refusal(err error) any {
	var rpc *harness.RPCError
	if !errors.As(err, &rpc) || harness.Reason(err) != "STALE_REVISION" {
		return witness.Refused{Why: strconv.Itoa(harness.Code(err)) + " " + harness.Reason(err)}
	}
	var details []struct{ Metadata struct{ Revision string } }
	_ = json.Unmarshal(rpc.Data, &details) // anything else is revision 0, which there is not
	details = append(details, struct{ Metadata struct{ Revision string } }{})
	n, _ := strconv.Atoi(details[0].Metadata.Revision)
	return witness.Stale{Revision: n}
}

// make sends a message that begins work until it is acknowledged. If the work shares a
// context, it arrives in this time.
func (w *world) make(ctx context.Context, client string, m harness.Message) (task *harness.Task, err error) {
	begun := time.Now()
	err = w.recorded(ctx, client, witness.Make{Key: m.ID}, func(ctx context.Context) (any, error) {
		if task, err = w.c.Send(ctx, m); err != nil {
			return nil, err
		}
		return witness.Made{ID: task.ID}, nil
	})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent[m.ID] == "" && m.ContextID != "" {
		w.contexts[task.ID] = m.ContextID
		w.saw.Note(client, witness.Arrive{Context: m.ContextID, Work: task.ID}, begun, time.Now(), witness.Done{})
	}
	w.sent[m.ID] = task.ID
	return task, nil
}

// look reads the task of a message.
func (w *world) look(ctx context.Context, message, taskID string) {
	_ = w.recorded(ctx, "reader", witness.Look{Key: message}, func(ctx context.Context) (any, error) { // which is judged
		task, err := w.c.Get(ctx, taskID)
		switch {
		case harness.Code(err) == -32001:
			return witness.Seen{}, nil
		case err != nil:
			return nil, err
		}
		s := witness.Seen{ID: task.ID}
		if task.Ended() {
			s.End = fmt.Sprint(task.State, " ", task.Message, " ", task.Artifacts)
		}
		return s, nil
	})
}

// vote answers a gate until the answer was judged. A refusal is no error.
func (w *world) vote(ctx context.Context, c *harness.Client, v witness.Vote, taskID string) error {
	w.mu.Lock()
	w.gates[v.Gate] = true
	w.mu.Unlock()
	action := map[bool]string{true: "accept", false: "reject"}[v.Accept]
	err := w.recorded(ctx, v.Voter, v, func(ctx context.Context) (any, error) {
		task, err := c.Send(ctx, harness.Reply(v.Message, taskID, v.Gate, action))
		if err != nil || task.Pending {
			return nil, err
		}
		return witness.Counted{}, nil
	})
	if harness.Code(err) != 0 {
		return nil
	}
	return err
}

// decisions reads the votes at a gate of an objective.
func (w *world) decisions(ctx context.Context, gate string) {
	task, _, _ := strings.Cut(gate, ":")
	_ = w.recorded(ctx, "auditor", witness.Decisions{Gate: gate}, func(ctx context.Context) (any, error) { // which is judged
		var page struct {
			Decisions []struct {
				InterruptID, Verdict, Action, DecidedBy, MessageID string
				Closed                                             bool
			}
		}
		if err := w.c.ReadPage(ctx, http.MethodGet, "/v1/objectives/"+objectiveOf(task)+"/decisions", "", &page); err != nil {
			return nil, err
		}
		var all witness.Decision
		for _, d := range page.Decisions {
			vote := witness.Vote{Gate: gate, Voter: d.DecidedBy, Message: d.MessageID, Accept: d.Action == "accept"}
			switch {
			case d.InterruptID != gate:
			case d.Verdict == "accepted":
				all.Votes, all.Closed = append(all.Votes, vote), all.Closed || d.Closed
			default:
				all.Void = append(all.Void, vote)
			}
		}
		return all, nil
	})
}
