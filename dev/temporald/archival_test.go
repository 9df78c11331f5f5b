package temporald_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"

	"longhaul/dev/temporald"
)

// The embedded server archives nothing, and archival cannot be turned on for a namespace.
func TestStart_archivesNothing(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, temporald.Config{}))
	for _, uri := range []string{"gs://bucket/histories", "s3://bucket/histories"} {
		// The server accepts the request and ignores the setting.
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

// The program is built without the clients of Google Cloud Storage and Amazon S3: with
// them, the first build takes longer by some 180 packages.
func TestProgram_withoutStores(t *testing.T) {
	if os.Getenv("GOWORK") == "off" {
		t.Log("outside of the workspace the real packages are used")
		return
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "longhaul/dev").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if path == "cloud.google.com/go/storage/internal/apiv2" || strings.HasPrefix(path, "github.com/aws/aws-sdk-go-v2/service/s3/internal") {
			t.Errorf("the program has %s: see go.work", path)
		}
	}
}
