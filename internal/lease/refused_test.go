//go:build unix

package lease_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"longhaul/internal/lease"
)

// A workflow task that this worker refuses is given back while it runs and when it stops, unless the SDK answers
// it: it answers each that fails for the first time.
func TestKeeper_returnsRefused(t *testing.T) {
	t.Parallel()
	to := &temporal{answer: map[string]error{"workflow task refused": serviceerror.NewUnavailable("not now")}}
	k := keeper(lease.Files{Dir: t.TempDir()}, to)
	poll := func(token string, attempt int32) {
		call(k, &workflowservice.PollWorkflowTaskQueueRequest{}, &workflowservice.PollWorkflowTaskQueueResponse{
			TaskToken: []byte(token), Attempt: attempt, WorkflowExecution: &commonpb.WorkflowExecution{RunId: "run of " + token},
		}, nil)
	}
	for _, token := range []string{"refused", "answered", "done"} {
		poll(token, 2)
	}
	poll("first", 1)
	for _, token := range []string{"refused", "answered", "first", "not taken"} {
		k.Taken.Refuse("run of " + token)
	}
	call(k, &workflowservice.RespondWorkflowTaskFailedRequest{TaskToken: []byte("answered")}, nil, nil)
	stop := run(t, k)
	eventually(t, "given back again", func() bool { return len(to.noted()) > 1 })
	to.mu.Lock()
	to.answer = nil
	to.mu.Unlock()
	before := len(to.noted())
	eventually(t, "given back", func() bool { return len(to.noted()) > before })
	poll("later", 9)
	k.Taken.Refuse("run of later")
	stop()
	want := []string{"workflow task refused", "workflow task later"}
	if diff := cmp.Diff(want, slices.Compact(to.noted())); diff != "" {
		t.Error(diff)
	}
}
