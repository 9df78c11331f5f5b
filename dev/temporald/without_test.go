package temporald_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	deploymentpb "go.temporal.io/api/deployment/v1"
	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"longhaul/dev/temporald"
	"longhaul/internal/test"
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
	found := test.Value(c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"}))(t)
	if got := found.GetConfig().GetHistoryArchivalState(); got == enumspb.ARCHIVAL_STATE_ENABLED {
		t.Errorf("archival is %v", got)
	}
}

// The embedded server starts no workers of its own, and says so.
func TestStart_startsNoWorkers(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, temporald.Config{}))
	_, err := c.WorkflowService().ValidateWorkerDeploymentVersionComputeConfig(t.Context(), &workflowservice.ValidateWorkerDeploymentVersionComputeConfigRequest{
		Namespace: "default", DeploymentVersion: &deploymentpb.WorkerDeploymentVersion{DeploymentName: "d", BuildId: "b"},
	})
	var refused *serviceerror.InvalidArgument
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "not built into this program") {
		t.Errorf("error %v", err)
	}
}

// The program is built without the clients of clouds and the SDKs of models: with them the
// first build takes twice as long.
func TestProgram_withoutClients(t *testing.T) {
	if os.Getenv("GOWORK") == "off" {
		t.Log("outside of the workspace the real packages are used")
		return
	}
	out := test.Value(exec.CommandContext(t.Context(), "go", "list", "-deps", "longhaul/dev").Output())(t)
	without := []string{
		"cloud.google.com/go/auth", "cloud.google.com/go/run", "cloud.google.com/go/storage/", "google.golang.org/api/internal", "github.com/aws/aws-sdk-go-v2/service/s3/internal", "github.com/aws/aws-sdk-go-v2/service/sts",
		"go.temporal.io/auto-scaled-workers/wci/workflow/compute_provider", "github.com/openai/", "github.com/anthropics/",
	}
	for path := range strings.FieldsSeq(string(out)) {
		for _, prefix := range without {
			if strings.HasPrefix(path, prefix) {
				t.Errorf("the program has %s: see go.work", path)
			}
		}
	}
}
