// Package payload_test runs work whose payloads in Temporal are encrypted, and looks for
// its text in all that Temporal stores.
package payload_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/seal"
	"longhaul/internal/test"
	"longhaul/workflows"
)

const within = 90 * time.Second

// canary is the text that has to be found nowhere.
const canary = "canary-7d02"

// The keys of the tests, in the form of the setting.
var (
	oldKey   = key(1)
	newKey   = key(2)
	wrongKey = key(3)
)

func key(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }

// env is the setting with keys.
func env(keys ...string) string { return "LONGHAUL_PAYLOAD_KEYS=" + strings.Join(keys, ",") }

// cipher returns what encrypts with keys; nil for none.
func cipher(t *testing.T, keys ...string) workflows.Cipher {
	t.Helper()
	if len(keys) == 0 {
		return nil
	}
	list := test.Value(seal.Parse(strings.Join(keys, ",")))(t)
	box := test.Value(seal.New(list...))(t)
	return box
}

// newSite returns a site whose messages go through the playbook of this package. args
// are added.
func newSite(t *testing.T, args ...string) *harness.Site {
	t.Helper()
	path := test.Value(filepath.Abs("playbook.yaml"))(t)
	return harness.NewSite(t, harness.Dev, append([]string{"--playbooks", path}, args...)...)
}

// startElsewhere starts a worker of another team, which has keys, until stop or the end
// of the test. Its activity fails once with the canary in the text of its error.
func startElsewhere(t *testing.T, site *harness.Site, keys ...string) (stop func()) {
	t.Helper()
	c := cipher(t, keys...)
	connection, err := client.Dial(client.Options{
		HostPort: site.TemporalAddr, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)), DataConverter: workflows.NewDataConverter(c), FailureConverter: workflows.NewFailureConverter(c),
	})
	test.OK(t, err)
	w := worker.New(connection, "elsewhere", worker.Options{DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(try, activity.RegisterOptions{Name: "try"})
	test.OK(t, w.Start())
	stop = sync.OnceFunc(func() { w.Stop(); connection.Close() })
	t.Cleanup(stop)
	return stop
}

// try is the activity of the other team.
func try(ctx context.Context, work struct {
	Input struct{ Text string }
}) (string, error) {
	activity.RecordHeartbeat(ctx, map[string]string{"text": "At work on " + work.Input.Text})
	if activity.GetInfo(ctx).Attempt == 1 {
		return "", errors.New("not yet " + work.Input.Text)
	}
	return "Done with " + work.Input.Text, nil
}

// send begins work with the canary in a text of so many bytes.
func send(t *testing.T, c *harness.Client, id string, size int) string {
	t.Helper()
	return c.MustSendUntil(t.Context(), t, harness.Message{ID: id, Text: canary + " " + strings.Repeat("x", size)}).ID
}

// reply answers at a gate with the canary.
func reply(t *testing.T, c *harness.Client, id string, gate *harness.Gate) {
	t.Helper()
	c.MustSendUntil(t.Context(), t, harness.Message{ID: id, TaskID: gate.TaskID, Text: "take " + canary})
}

// histories returns the histories of all workflows, by their ids, and what lists show of
// them.
func histories(t *testing.T, site *harness.Site) (all map[string]*historypb.History, shown []byte) {
	t.Helper()
	c := site.Temporal(t)
	defer c.Close()
	all = map[string]*historypb.History{}
	list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000})
	test.OK(t, err)
	for _, info := range list.GetExecutions() {
		id := info.GetExecution().GetWorkflowId()
		described, err := c.DescribeWorkflowExecution(t.Context(), id, "")
		test.OK(t, err)
		shown = append(append(shown, marshal(t, described)...), marshal(t, info)...)
		h := &historypb.History{}
		for events := c.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			e := test.Value(events.Next())(t)
			h.Events = append(h.Events, e)
		}
		all[id] = h
	}
	return all, shown
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	data := test.Value(proto.Marshal(m))(t)
	return data
}

// replay runs the code of this program against a history.
func replay(h *historypb.History, c workflows.Cipher) error {
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: workflows.NewDataConverter(c), FailureConverter: workflows.NewFailureConverter(c),
	})
	if err != nil {
		return err
	}
	r.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
	r.RegisterWorkflowWithOptions(workflows.Plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
	r.RegisterWorkflowWithOptions(workflows.Context, workflow.RegisterOptions{Name: workflows.ContextWorkflow})
	return r.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), h)
}

// filesWith lists the files of the embedded Temporal that have a text. It must not run.
func filesWith(t *testing.T, site *harness.Site, text string) (found []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(site.Dir, "temporal*"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("the files of Temporal are %v, %v", paths, err)
	}
	for _, path := range paths {
		data := harness.ReadFile(t, path)
		if bytes.Contains(data, []byte(text)) || bytes.Contains(data, []byte(base64.StdEncoding.EncodeToString([]byte(text))[:8])) {
			found = append(found, filepath.Base(path))
		}
	}
	slices.Sort(found)
	return found
}

// isFailure reports whether an error of an activity has the canary.
func isFailure(h *historypb.History, c workflows.Cipher) bool {
	for _, e := range h.GetEvents() {
		if f := e.GetActivityTaskStartedEventAttributes().GetLastFailure(); f != nil {
			var app *temporal.ApplicationError
			return errors.As(workflows.NewFailureConverter(c).FailureToError(f), &app) && strings.Contains(app.Message(), canary)
		}
	}
	return false
}
