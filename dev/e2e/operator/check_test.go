package operator_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// mostRepeats is how often one line of the log may say the same of the same objective.
const mostRepeats = 25

// eachCall is the text of a line of each call that comes while a database is away.
const eachCall = "Service unavailable"

// checkTemporal checks that no workflow runs of an objective that has ended, and that no
// task, plan or question of one is open. An objective that was set back after it had ended
// asks again.
func (w *world) checkTemporal() {
	w.Helper()
	harness.Eventually(w.T, within, "no workflow runs any more", func() error {
		w.answerGates()
		open, err := w.operator.Open(w.Context())
		if err == nil && len(open) > 0 {
			err = fmt.Errorf("these run: %v", open)
		}
		return err
	})
	harness.Eventually(w.T, within, "nothing is open", func() error { // deleted workflows are found once a minute
		all, err := w.c.Objectives(w.Context())
		return errors.Join(append(stillOpen(all), err)...)
	})
	for _, id := range w.roots {
		w.checkStream(id)
	}
}

// stillOpen lists all that is open of objectives that should have ended.
func stillOpen(all []harness.Objective) (open []error) {
	for _, o := range all {
		if !endedStatus[o.Status] {
			open = append(open, fmt.Errorf("%s is %s", o.ID, o.Status))
		}
		for _, p := range o.Plans {
			if !endedStatus[p.Status] {
				open = append(open, fmt.Errorf("%s is %s, plan %s is %s", o.ID, o.Status, p.ID, p.Status))
			}
			for _, t := range p.Tasks {
				if p.Status != "skipped" && !endedStatus[t.Status] {
					open = append(open, fmt.Errorf("plan %s is %s, task %s is %s", p.ID, p.Status, t.ID, t.Status))
				}
			}
		}
	}
	return open
}

var endedStatus = map[string]bool{"completed": true, "failed": true, "canceled": true, "skipped": true, "rejected": true}

// checkStream checks that a stream from the beginning ends in the state that a read shows.
func (w *world) checkStream(id string) {
	w.Helper()
	task := test.Value(w.c.Get(w.Context(), id))(w)
	events, err := w.c.All(w.Context(), id, 0)
	if err != nil {
		w.Errorf("%v: %+v", err, events)
		return
	}
	if last := events[len(events)-1].State(); last != task.State {
		w.Errorf("the stream of %s ends %q, and the task is %s: %+v", id, last, task.State, events)
	}
}

// checkLog checks that no process has logged the same again and again.
func (w *world) checkLog() {
	w.Helper()
	for _, p := range w.site.Started() {
		said := map[string]int{}
		file := test.Value(os.Open(p.LogPath))(w)
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var line struct{ Level, Msg, ObjectiveID, WorkflowID, Error string }
			if json.Unmarshal(lines.Bytes(), &line) != nil || line.Msg == eachCall || strings.EqualFold(line.Level, "debug") || strings.EqualFold(line.Level, "info") {
				continue
			}
			said[strings.Join([]string{line.Msg, line.ObjectiveID, line.WorkflowID, line.Error}, " | ")]++
		}
		_ = file.Close()
		for what, times := range said {
			if times > mostRepeats {
				w.Errorf("%v has logged %d times: %s", p, times, what)
			}
		}
	}
}
