package crash_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/go-cmp/cmp"

	"longhaul/dev/e2e/harness"
	"longhaul/opt"
)

// streams holds, by task, all events that a late reader gets.
type streams map[string][]harness.Event

// settle waits until all acknowledged work has ended, checks its results and what else
// there is, and reads all of its streams from the beginning.
func (w *world) settle() streams {
	w.t.Helper()
	all := streams{}
	for _, f := range w.followers {
		events, err := f.Wait(w.ctx())
		if err != nil {
			w.t.Errorf("%v", err)
			continue
		}
		if all[f.TaskID] == nil {
			if all[f.TaskID], err = w.c.All(w.ctx(), f.TaskID, 0); err != nil {
				w.t.Errorf("read the stream of %s: %v", f.TaskID, err)
				continue
			}
		}
		w.compare(f.TaskID, events, all[f.TaskID])
		w.resume(f.TaskID, all[f.TaskID])
	}
	for id, want := range w.tasks {
		task, err := w.c.Get(w.ctx(), id)
		if err != nil {
			w.t.Errorf("acknowledged, and lost: %s: %v", id, err)
			continue
		}
		w.check(task, want)
	}
	w.objectives()
	return all
}

// compare checks that a follower got the same events over its connections as one
// connection shows.
func (w *world) compare(taskID string, got, whole []harness.Event) {
	w.t.Helper()
	if diff := harness.Differ(whole, got); diff != "" && w.t.Failed() {
		w.t.Errorf("%s: another sequence", taskID)
	} else if diff != "" {
		w.t.Errorf("%s: another sequence (-whole +followed):\n%s", taskID, diff)
	}
}

// resume checks that a reader that resumes after any event gets the events after
// it.
func (w *world) resume(taskID string, whole []harness.Event) {
	w.t.Helper()
	if len(whole) < 2 {
		return
	}
	after := whole[rand.IntN(len(whole)-1)].ID
	got, err := w.c.All(w.ctx(), taskID, after)
	if diff := cmp.Diff(harness.After(whole, after), got); err != nil || diff != "" {
		w.t.Errorf("%s: resumed after event %d: %v, another sequence (-whole +resumed):\n%s", taskID, after, err, diff)
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
		if diff := cmp.Diff(visible, numbers(events, visible)); diff != "" {
			w.t.Errorf("%s: the stream does not show what the journal has (-journal +stream):\n%s", taskID, diff)
		}
	}
	checkTally(w.t, w.tally, j)
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
// objectives, those of schedules, and of calls with an unknown result.
func (w *world) objectives() {
	w.t.Helper()
	list, err := w.c.Objectives(w.ctx())
	if err != nil {
		w.t.Fatal(err)
	}
	unknown, scheduled := 0, 0
	for _, o := range list {
		switch {
		case w.tasks[o.ID] != nil:
		case o.Metadata[opt.KeySchedule] != nil:
			scheduled++
		default:
			unknown++
			if o.Status != "submitted" {
				w.t.Errorf("no client has seen objective %s, which is %s", o.ID, o.Status)
			}
		}
	}
	if unknown > w.lost {
		w.t.Errorf("no client has seen %d objectives; at most %d may be so", unknown, w.lost)
	}
	if got, want := len(list)-unknown-scheduled, len(w.tasks); got != want {
		w.t.Errorf("the journal has %d of %d objectives", got, want)
	}
	harness.Eventually(w.t, within, "Temporal has a workflow for each objective", func() error {
		list, err := w.c.Objectives(w.ctx())
		if err != nil {
			return err
		}
		all, running, _ := w.workflows("Objective")
		// An unacknowledged objective may be in Temporal and not yet in the journal. A second
		// attempt is another run, unless the first one still ran.
		if all < int64(len(list)) || all > int64(len(list)+w.again) || running != int64(unknown) {
			return fmt.Errorf("it has %d, of which %d run; want %d and %d", all, running, len(list), unknown)
		}
		return nil
	})
}
