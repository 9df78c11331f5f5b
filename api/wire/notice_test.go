package wire_test

import (
	"fmt"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestVersion_Notice(t *testing.T) {
	at := a2a.At(time.Date(2026, 3, 1, 9, 30, 4, 0, time.UTC))
	update := func(state a2a.TaskState) a2a.StatusUpdate {
		return a2a.StatusUpdate{TaskID: "t", ContextID: "c", Status: a2a.TaskStatus{State: state, At: at}, Metadata: a2a.Metadata{}.With(opt.KeyObjectiveID, "o")}
	}
	for _, tt := range []struct {
		v          wire.Version
		state      a2a.TaskState
		want, kind string
	}{
		{wire.V10, a2a.Completed, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-03-01T09:30:04.000Z"},"metadata":{"opt/v1/objectiveId":"o"}}}`, "application/a2a+json"},
		{wire.V10, a2a.AuthRequired, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_AUTH_REQUIRED","timestamp":"2026-03-01T09:30:04.000Z"},"metadata":{"opt/v1/objectiveId":"o"}}}`, "application/a2a+json"},
		{wire.V03, a2a.Completed, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed","timestamp":"2026-03-01T09:30:04.000Z"},"final":true,"metadata":{"opt/v1/objectiveId":"o"}}`, "application/json"},
		{wire.V03, a2a.Working, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","timestamp":"2026-03-01T09:30:04.000Z"},"final":false,"metadata":{"opt/v1/objectiveId":"o"}}`, "application/json"},
	} {
		kind, body, err := wire.Notice(tt.v, update(tt.state))
		test.OK(t, err)
		test.Equal(t, fmt.Sprintf("%s %s", tt.v, tt.state), []string{tt.kind, tt.want}, []string{kind, string(body)})
	}
}
