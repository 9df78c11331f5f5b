package crash_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/internal/witness"
	"longhaul/opt"
)

// streams holds, by task, all events that a late reader gets.
type streams map[string][]harness.Event

// settle waits until all acknowledged work has ended, checks its results and what else
// there is, reads all of its streams from the beginning, and judges what clients have seen.
func (w *world) settle() streams {
	w.t.Helper()
	all := streams{}
	for i, f := range w.followers {
		events, err := f.Wait(w.ctx())
		ended := err == nil
		if !ended {
			w.t.Errorf("%v", err)
			w.patience = time.Second // for the others: all have had the time
		}
		if all[f.TaskID] == nil {
			if all[f.TaskID], err = w.c.All(w.ctx(), f.TaskID, 0); err != nil {
				w.t.Errorf("read the stream of %s: %v", f.TaskID, err)
			}
			w.saw.Has(f.TaskID, told(all[f.TaskID]))
			w.resume(f.TaskID, all[f.TaskID])
		}
		s := witness.Stream{Subscriber: fmt.Sprint("follower ", i), Subject: f.TaskID, Ended: ended, Events: told(events)}
		if len(events) > 0 && events[0].Task() != nil { // what follows on the snapshot
			s.After, s.Events = events[0].ID, s.Events[1:]
		}
		w.saw.Saw(s)
	}
	for message, id := range w.sent {
		w.look(w.ctx(), message, id)
	}
	for id, want := range w.tasks {
		task, err := w.c.Get(w.ctx(), id)
		if err != nil {
			w.t.Errorf("acknowledged, and lost: %s: %v", id, err)
			continue
		}
		w.check(task, want)
	}
	for gate := range w.gates {
		w.decisions(w.ctx(), gate)
	}
	w.listed()
	if w.push != nil {
		w.push.settle(w, all)
	}
	w.judge()
	w.objectives()
	return all
}

// told returns events as the checker compares them.
func told(events []harness.Event) (all []witness.Event) {
	for _, e := range events {
		all = append(all, witness.Event{Number: e.ID, Content: strings.TrimPrefix(e.Data, `{"jsonrpc":"2.0","id":1,"result":`)})
	}
	return all
}

// resume has a reader resume after any event, which gets the events after it.
func (w *world) resume(taskID string, whole []harness.Event) {
	w.t.Helper()
	if len(whole) < 2 {
		return
	}
	after := whole[rand.IntN(len(whole)-1)].ID
	got, err := w.c.All(w.ctx(), taskID, after)
	w.saw.Saw(witness.Stream{Subscriber: fmt.Sprint("resumed after ", after), Subject: taskID, After: after, Ended: err == nil, Events: told(got)})
}

// listed reads the list of tasks, which has each message once.
func (w *world) listed() {
	w.t.Helper()
	begun, of, token := time.Now(), map[string]witness.Found{}, ""
	for {
		page := test.Value(w.c.List(w.ctx(), map[string]any{"pageSize": 100, "historyLength": 100, "pageToken": token}))(w.t)
		for _, task := range page.Tasks {
			if len(task.History) > 0 && objectiveOf(task.ID) == task.ID {
				of[task.History[0]] = append(of[task.History[0]], task.ID)
			}
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	for message := range w.sent {
		w.saw.Note("reader", witness.Find{Key: message}, begun, time.Now(), of[message])
	}
}

// judge judges what clients have seen, and which work ran in shared contexts and when. The
// picture of each anomaly is in a file.
func (w *world) judge() {
	w.t.Helper()
	for key, r := range harness.Rounds(harness.Tally(w.t, w.tally)) {
		task, _, _ := strings.Cut(key, ":")
		work := objectiveOf(task)
		if w.contexts[work] == "" {
			continue
		}
		for _, a := range r {
			w.saw.Note("a worker", witness.Run{Context: w.contexts[work], Work: work}, a.Began, a.Began, witness.Done{})
			var rested any = witness.Done{}
			if a.What == "" {
				a.Ended, rested = a.Began, nil // its process was killed
			}
			w.saw.Note("a worker", witness.Rest{Context: w.contexts[work], Work: work}, a.Ended, a.Ended, rested)
		}
	}
	verdict := w.saw.Judge()
	w.checked += verdict.Operations
	w.t.Logf("Checked %v", verdict)
	w.judged = verdict.Operations
	for _, subject := range verdict.Undecided {
		w.t.Errorf("%s: it takes too long to decide whether %s", subject.Name, subject.Promise)
	}
	for i, a := range verdict.Anomalies {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("%s-anomaly-%d.svg", w.t.Name(), i))
		if f, err := os.Create(path); err == nil {
			_ = errors.Join(a.WritePicture(f), f.Close()) // the text has it, too
		}
		w.t.Errorf("%sThe picture is %s", a.Text(), path)
	}
}

func (w *world) check(task *harness.Task, want *expected) {
	w.t.Helper()
	switch {
	case want.state != "" && task.State != want.state:
		w.t.Errorf("%s is %s (%s), want %s", task.ID, task.State, task.Message, want.state)
	case want.text != "" && (len(task.Artifacts) == 0 || task.Artifacts[0].Text != want.text):
		w.t.Errorf("%s made %q, want %q", task.ID, task.Artifacts, want.text)
	}
}

// checkStopped checks the files when no process runs: they are intact, every
// stream showed what the journal has, and nothing ran needlessly.
func (w *world) checkStopped(all streams) {
	w.t.Helper()
	w.site.CheckFiles(w.t)
	w.checkJournal(all, openJournal(w.t, w.site))
}

// checkJournal compares streams and runs with the journal.
func (w *world) checkJournal(all streams, j *journal) {
	w.t.Helper()
	for taskID, events := range all {
		visible := j.visible(objectiveOf(taskID), taskID)
		test.Equal(w.t, taskID+": the stream does not show what the journal has", visible, numbers(events, visible))
	}
	checkTally(w.t, w.tally, j, w.behind)
}

func objectiveOf(taskID string) string {
	rest, ok := strings.CutPrefix(taskID, "task-")
	if !ok {
		objectiveID, _ := opt.SplitRoot(taskID)
		return objectiveID
	}
	unique, _, _ := strings.Cut(rest, "-")
	return "obj-" + unique
}

// objectives checks that the journal and Temporal have exactly the acknowledged
// objectives, and those of schedules.
func (w *world) objectives() {
	w.t.Helper()
	list, err := w.c.Objectives(w.ctx())
	test.OK(w.t, err)
	scheduled := 0
	for _, o := range list {
		switch {
		case w.tasks[o.ID] != nil:
		case o.Metadata[opt.KeySchedule] != nil:
			scheduled++
		default:
			w.t.Errorf("no client has seen objective %s, which is %s", o.ID, o.Status)
		}
	}
	if got, want := len(list)-scheduled, len(w.tasks); got != want {
		w.t.Errorf("the journal has %d of %d objectives", got, want)
	}
	harness.Eventually(w.t, within, "Temporal has a workflow for each objective", func() error {
		list, err := w.c.Objectives(w.ctx())
		if err != nil {
			return err
		}
		all, running, _ := w.workflows("Objective")
		// A second attempt is another run, unless the first one still ran.
		if all < int64(len(list)) || all > int64(len(list)+w.again) || running != 0 {
			return fmt.Errorf("it has %d, of which %d run; want %d and none", all, running, len(list))
		}
		return nil
	})
}
