package operator_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"longhaul/client"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The end of work whose workflow was terminated reaches all that waits for it: a task that is
// linked to it fails, its push config gets the state, and its schedule starts the next objective.
func TestOperator_terminatedTellsOthers(t *testing.T) {
	t.Parallel()
	site := harness.NewSite(t, harness.Crashable, "--allow-private-egress")
	site.Start(harness.AllInOne)
	w := &world{T: t, site: site, c: site.Client(), operator: harness.Operator{Namespace: "default"}}
	w.connect()
	waits := func(id string) string {
		t.Helper()
		task := w.c.MustSendUntil(t.Context(), t, harness.Message{ID: id, Text: "x", Plan: harness.NewPlan("p", "approve Go on?")})
		w.c.AwaitGate(t, within, task.ID)
		return task.ID
	}
	root, ofPlan := waits("root"), waits("plan")
	linked, linkedToTask := w.linked(root), w.linked("task-"+ofPlan[len("obj-"):]+"-1-0")
	url, delivered := failures(t)
	for _, id := range []string{root, ofPlan} {
		test.OK(t, w.c.Call(t.Context(), "CreateTaskPushNotificationConfig", map[string]any{"taskId": id, "id": "c", "url": url}, nil))
	}
	first := w.scheduled("nightly", "")

	for _, id := range []string{root, planOf(ofPlan), first} {
		test.OK(t, w.operator.Terminate(t.Context(), id))
	}
	for _, id := range []string{linked, linkedToTask} {
		if task := w.c.AwaitEnd(t, within, id); task.State != "FAILED" {
			t.Errorf("the linked %s is %s", id, task.State)
		}
	}
	for _, id := range []string{root, ofPlan} {
		harness.Eventually(t, within, "a delivery that says that "+id+" failed", func() error {
			return delivered(id)
		})
	}
	w.scheduled("nightly", first)
}

// linked begins an objective whose task is linked to another task.
func (w *world) linked(to string) (id string) {
	w.Helper()
	o := w.c.MustCreateObjective(w.Context(), w, "for "+to)
	p := test.Value(w.c.CreatePlan(w.Context(), o.ID, harness.NewPlan("p", "say never")))(w)
	test.OK(w, w.c.Call(w.Context(), "tasks/link", map[string]any{"id": p.Tasks[0].ID, "a2aTaskId": to}, nil))
	test.OK(w, w.c.Call(w.Context(), "objectives/update", map[string]any{"id": o.ID, "status": "working"}, nil))
	w.c.AwaitState(w.T, within, o.ID, "WORKING")
	return o.ID
}

// scheduled makes a schedule of objectives that wait, unless before is its latest objective, and
// returns the next one that waits.
func (w *world) scheduled(name, before string) (id string) {
	w.Helper()
	schedules := client.New(client.Config{URL: w.site.URL()})
	if before == "" {
		if _, err := schedules.CreateSchedule(w.Context(), name, client.ScheduleChange{Text: "approve Go on?", Every: "1s"}); err != nil {
			w.Fatal(err)
		}
	}
	harness.Eventually(w.T, within, "the schedule starts an objective after "+before, func() error {
		x, err := schedules.Schedule(w.Context(), name)
		if err != nil {
			return err
		}
		for _, r := range x.Runs {
			if r.ObjectiveID != before && r.Status == opt.ObjectiveBlocked {
				id = r.ObjectiveID
				return nil
			}
		}
		return fmt.Errorf("its runs are %+v", x.Runs)
	})
	return id
}

// failures returns the URL of a receiver of deliveries, and a function that returns nil once one
// has come that says that a task failed.
func failures(t *testing.T) (url string, delivered func(taskID string) error) {
	bodies := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a cut body is repeated
		bodies <- string(body)
	}))
	t.Cleanup(server.Close)
	var all []string
	return server.URL, func(taskID string) error {
		for len(bodies) > 0 {
			all = append(all, <-bodies)
		}
		for _, body := range all {
			if strings.Contains(body, taskID) && strings.Contains(body, "TASK_STATE_FAILED") {
				return nil
			}
		}
		return errors.New("there is none: " + strings.Join(all, "\n"))
	}
}
