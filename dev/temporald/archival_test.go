package temporald_test

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"

	"longhaul/dev/temporald"
)

// The embedded server archives nothing, and nobody can turn that on for a namespace.
func TestStart_archivesNothing(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, temporald.Config{}))
	for _, uri := range []string{"gs://bucket/histories", "s3://bucket/histories"} {
		// The server accepts the request, and leaves the archival as it is.
		_, err := c.WorkflowService().UpdateNamespace(t.Context(), &workflowservice.UpdateNamespaceRequest{
			Namespace: "default",
			Config:    &namespacepb.NamespaceConfig{HistoryArchivalState: enumspb.ARCHIVAL_STATE_ENABLED, HistoryArchivalUri: uri},
		})
		if err != nil {
			t.Logf("%s: %v", uri, err)
		}
	}
	found, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if got := found.GetConfig().GetHistoryArchivalState(); got == enumspb.ARCHIVAL_STATE_ENABLED {
		t.Errorf("archival is %v", got)
	}
}
