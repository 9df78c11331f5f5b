package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// exitForState returns the exit code for the last state of a task: 0 if it completed, 3
// if it waits for a person, 1 if it ended in another way.
func exitForState(state a2a.TaskState) error {
	switch {
	case state.Interrupted():
		return &process.ExitError{Code: process.ExitWaits, Text: "the task waits for a person"}
	case state.Terminal() && state != a2a.Completed:
		return &process.ExitError{Code: 1, Text: "the task was not completed: " + string(state)}
	}
	return nil
}

// watchCommand is "longhaul watch".
type watchCommand struct {
	remoteSettings
	Task         string `arg:"" help:"Id of the task."`
	After        string `help:"Show only events after this one." placeholder:"SEQ"`
	UntilWaiting bool   `help:"End also when the task waits for a person, with the exit code 3, as send does."`
	JSON         bool   `help:"Print each event as a line of JSON, as the agent sent it."`
}

func (c *watchCommand) Run(p *process.Process, r *remote) error {
	id, err := wholeID(p.Ctx, r, c.Task)
	if err != nil {
		return err
	}
	c.Task = taskIDOf(id)
	ctx, stop := process.Interruptible(p.Ctx)
	defer stop()
	w := taskWatcher{display: r.display(c.JSON, false), noRepeat: r.noRepeat, outage: r.outage, askAtOnce: true, untilWaiting: c.UntilWaiting, taskID: c.Task, last: c.After}
	state, err := w.run(ctx, func(ctx context.Context) eventStream { return r.client.Subscribe(ctx, c.Task, c.After) })
	w.display.end()
	if err != nil {
		return w.interrupted(r.explain(err), r.command("watch"))
	}
	return exitForState(state)
}

// A taskWatcher shows the events of one task.
type taskWatcher struct {
	display      display
	noRepeat     *client.Client
	outage       *outage
	askAtOnce    bool             // show questions at once, not when the stream is over
	untilWaiting bool             // stop when the task waits for a person
	tick         <-chan time.Time // when to read the plans again; nil: every second

	taskID      string
	contextID   string
	last        string            // id of the last event
	queued      bool              // it waits for its turn in its context
	idle        int               // ticks since the task was seen waiting for a worker
	objectiveID string            // whose plans to show; "" for none
	objective   *client.Objective // as it was read last
	artifactID  string            // of the last event that was about one
	state       a2a.TaskState
	waiting     bool // the task waits for a person, as far as the last event shows
}

// An eventStream yields the events of a stream.
type eventStream = iter.Seq2[client.Event, error]

type streamItem struct {
	event client.Event
	err   error
}

// run shows events until there are no more, and returns the last state of the
// task. It leaves the stream of a send when an authorization is needed, since
// that may take long.
func (w *taskWatcher) run(ctx context.Context, stream func(context.Context) eventStream) (a2a.TaskState, error) {
	ctx, cancel := context.WithCancel(ctx)
	arrivals := arrivalsOf(ctx, stream)
	defer func() {
		cancel()
		for range arrivals { // until the goroutine has ended
		}
	}()
	tick := w.tick
	if tick == nil {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-tick:
			w.progress(ctx)
			w.printIdle()
		case a, ok := <-arrivals:
			switch {
			case !ok:
				return w.state, context.Cause(ctx)
			case a.err != nil:
				return w.state, a.err
			}
			if w.show(ctx, a.event); w.leaves() {
				return w.state, nil
			}
		}
	}
}

// leaves reports whether the stream is left before its end.
func (w *taskWatcher) leaves() bool {
	return w.untilWaiting && w.waiting || !w.askAtOnce && w.state == a2a.AuthRequired
}

// arrivalsOf reads a stream in a goroutine until it or ctx ends.
func arrivalsOf(ctx context.Context, stream func(context.Context) eventStream) <-chan streamItem {
	arrivals := make(chan streamItem)
	go func() {
		defer close(arrivals)
		for e, err := range stream(ctx) {
			select {
			case arrivals <- streamItem{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return arrivals
}

func (w *taskWatcher) show(ctx context.Context, e client.Event) {
	w.outage.recovered()
	w.last, w.taskID = cmp.Or(e.ID, w.last), cmp.Or(e.TaskID(), w.taskID)
	if e.Task != nil {
		w.contextID = e.Task.ContextID
	}
	if o, ok := client.ObjectiveOf(e.Metadata()); ok {
		w.objectiveID, w.objective = o.ID, o
	} else {
		w.objectiveID = cmp.Or(rootOf(w.taskID), w.objectiveID)
	}
	// Changes of the plans are shown before the change of the task that they
	// caused.
	changed := e.Status != nil
	if e.Artifact != nil {
		id := e.Artifact.Artifact.ArtifactID
		changed, w.artifactID = changed || id != w.artifactID, id
	}
	if changed {
		w.progress(ctx)
	}
	w.display.event(e)
	if s, ok := e.TaskStatus(); ok {
		w.state, w.waiting = s.State, s.State.Interrupted() && !closedSince(e)
		w.queued = e.Metadata().Has(opt.KeyQueuePosition)
		if w.askAtOnce {
			w.ask(ctx)
		}
	}
}

// ask shows what the task waits for, and the questions of other gates that are
// open under it. Like progress it ignores errors.
func (w *taskWatcher) ask(ctx context.Context) {
	if w.objective == nil && w.state.Interrupted() {
		w.progress(ctx)
	}
	w.display.showWaiting(func() []*opt.Gate {
		waiting := waitingTasks(w.objective)
		if len(waiting) < 2 {
			return nil // the gate of the only task is at the root task, too
		}
		gates, _ := readGates(ctx, w.noRepeat, waiting)
		return gates
	})
}

// waitingTasks returns the ids of the tasks of o that wait; o may be nil.
func waitingTasks(o *client.Objective) (ids []string) {
	if o == nil {
		return nil
	}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if t.Status.Waiting() && t.A2ATaskID != "" {
				ids = append(ids, t.A2ATaskID)
			}
		}
	}
	return ids
}

// readGates returns the open gates of tasks.
func readGates(ctx context.Context, agent *client.Client, taskIDs []string) (gates []*opt.Gate, err error) {
	for _, id := range taskIDs {
		t, err := agent.Get(ctx, id, 0)
		if err != nil {
			return nil, err
		}
		if g, ok := client.Gate(t.Metadata); ok {
			gates = append(gates, g)
		}
	}
	return gates, nil
}

// progress reads the plans and shows the changes. It ignores errors, since
// this output is not essential.
func (w *taskWatcher) progress(ctx context.Context) {
	if w.objectiveID == "" {
		return
	}
	o, err := w.noRepeat.GetObjective(ctx, w.objectiveID)
	if err != nil {
		return
	}
	w.objective = o
	if l, ok := w.display.(*live); ok && w.contextID != "" {
		if page, err := w.noRepeat.List(ctx, client.ListOptions{ContextID: w.contextID, PageSize: 100}); err == nil {
			l.observe(page.Items)
		}
	}
	w.display.progress(o)
}

// idleTicks is after how many ticks without a beginning printIdle prints.
const idleTicks = 5

// printIdle prints once that no worker has begun the task, or that another objective of its
// context has the turn.
func (w *taskWatcher) printIdle() {
	if w.state != a2a.Submitted {
		w.idle = 0
		return
	}
	if w.idle++; w.idle != idleTicks {
		return
	}
	text := "no worker has begun the task yet. It is stored, and begins as soon as a worker runs.\n" + w.outage.startHint
	if w.queued {
		text = "the task waits for its turn in its context\n"
	}
	w.outage.note(fmt.Sprintf("%s: %s", w.outage.program, text))
}

// interrupted returns err, with the command to continue if the task is known. watch is
// the beginning of that command.
func (w *taskWatcher) interrupted(err error, watch string) error {
	stopped := errors.Is(err, context.Canceled)
	if w.taskID == "" || w.last == "" && !stopped {
		return err
	}
	watch += " " + w.taskID
	if w.last != "" {
		watch += " --after " + w.last
	}
	hint := "The task continues. To see the rest:\n\n  " + watch
	if stopped {
		return &process.ExitError{Code: process.ExitInterrupted, Text: "stopped watching. " + hint}
	}
	return &process.Advised{Err: err, Hint: hint}
}
