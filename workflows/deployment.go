package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// ErrNoDeployment means that no worker of a deployment, or of one of its versions, has
// worked in the namespace yet.
var ErrNoDeployment = errors.New("no worker of it has been seen")

// A Deployment is the versions of our workers in Temporal. Plans stay with the version
// that began them, everything else continues with the current one.
type Deployment struct {
	Temporal client.Client
	Name     string
}

// A Version is one build of the workers of a deployment.
type Version struct {
	BuildID string
	Since   time.Time
	Current bool
	Share   float32 // of new work in percent, while it ramps up
	Plans   int64   // open ones that stay with it
	Drained bool    // Temporal has found that no open workflow needs it
}

// Versions lists the versions, the newest first. Temporal forgets those that are drained
// and have no workers.
func (d Deployment) Versions(ctx context.Context) ([]Version, error) {
	found, err := d.handle().Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	if err != nil {
		return nil, d.explain("read deployment "+d.Name, err)
	}
	routing := found.Info.RoutingConfig
	var out []Version
	for _, s := range found.Info.VersionSummaries {
		v := Version{BuildID: s.Version.BuildID, Since: s.CreateTime, Drained: s.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDrained}
		v.Current = routing.CurrentVersion != nil && routing.CurrentVersion.BuildID == v.BuildID
		if routing.RampingVersion != nil && routing.RampingVersion.BuildID == v.BuildID {
			v.Share = routing.RampingVersionPercentage
		}
		count, err := d.Temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: d.pinned(v.BuildID)})
		if err != nil {
			return nil, fmt.Errorf("count the plans of version %s: %w", v.BuildID, err)
		}
		v.Plans = count.GetCount()
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b Version) int { return b.Since.Compare(a.Since) })
	return out, nil
}

// Promote makes a version the current one, or, with a share below 100, has it begin that
// percentage of new work. Its workers must be running. A repeat is harmless.
func (d Deployment) Promote(ctx context.Context, buildID string, share float32) error {
	var err error
	if share < 100 {
		_, err = d.handle().SetRampingVersion(ctx, client.WorkerDeploymentSetRampingVersionOptions{BuildID: buildID, Percentage: share})
	} else {
		_, err = d.handle().SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: buildID})
	}
	return d.explain("promote version "+buildID, err)
}

// Move has the open plans of one version continue with another, whose workers must know
// their histories. It returns how many were moved. After an error, a repeat moves the rest.
func (d Deployment) Move(ctx context.Context, from, to string) (moved int, err error) {
	if _, err := d.handle().DescribeVersion(ctx, client.WorkerDeploymentDescribeVersionOptions{BuildID: to}); err != nil {
		return 0, d.explain("read version "+to, err)
	}
	change := client.WorkflowExecutionOptionsChanges{VersioningOverride: &client.VersioningOverrideChange{
		Value: &client.PinnedVersioningOverride{Version: worker.WorkerDeploymentVersion{DeploymentName: d.Name, BuildID: to}},
	}}
	for w, err := range listed(ctx, d.Temporal.ListWorkflow, d.pinned(from)) {
		if err != nil {
			return moved, fmt.Errorf("list the plans of version %s: %w", from, err)
		}
		_, err := d.Temporal.UpdateWorkflowExecutionOptions(ctx, client.UpdateWorkflowExecutionOptionsRequest{
			WorkflowId: w.GetWorkflowId(), RunId: w.GetRunId(), WorkflowExecutionOptionsChanges: change,
		})
		var ended *serviceerror.NotFound
		switch {
		case errors.As(err, &ended): // meanwhile
		case err != nil:
			return moved, fmt.Errorf("move %s: %w", w.GetWorkflowId(), err)
		default:
			moved++
		}
	}
	return moved, nil
}

// pinned is the query for the open workflows that stay with a version.
func (d Deployment) pinned(buildID string) string {
	return fmt.Sprintf("TemporalWorkerDeploymentVersion = '%s:%s' AND TemporalWorkflowVersioningBehavior = 'Pinned' AND ExecutionStatus = 'Running'",
		quoted(d.Name), quoted(buildID))
}

// quoted returns text for between the quotes of a query.
func quoted(text string) string { return strings.ReplaceAll(text, "'", "''") }

func (d Deployment) handle() client.WorkerDeploymentHandle {
	return d.Temporal.WorkerDeploymentClient().GetHandle(d.Name)
}

// explain adds the operation to err, and the reason if there are no workers.
func (d Deployment) explain(doing string, err error) error {
	var none *serviceerror.NotFound
	switch {
	case err == nil:
		return nil
	case errors.As(err, &none):
		return fmt.Errorf("%s: %w", doing, ErrNoDeployment)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
