package operate

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.uber.org/zap"

	"longhaul/internal/namespace"
	"longhaul/internal/process"
	"longhaul/workflows"
)

// deploymentCommand is "longhaul deployment".
type deploymentCommand struct {
	List    deploymentListCommand    `cmd:"" help:"List the versions of the workers, and the open plans that stay with each."`
	Promote deploymentPromoteCommand `cmd:"" help:"Have a version begin new work, and continue all but the plans of others."`
	Move    deploymentMoveCommand    `cmd:"" help:"Have the open plans of one version continue with another, such as those of a version without workers."`
}

// deploymentSettings say where a deployment is.
type deploymentSettings struct {
	Deployment string `help:"Name of the deployment." env:"LONGHAUL_DEPLOYMENT" placeholder:"NAME"`
	namespace.Temporal
	namespace.Elsewhere
}

// withDeployment calls f with the deployment.
func (s deploymentSettings) withDeployment(p *process.Process, f func(context.Context, workflows.Deployment) error) error {
	if s.Deployment == "" {
		return process.Usagef("name the deployment with --deployment or LONGHAUL_DEPLOYMENT, as for its workers")
	}
	to, err := s.Target(s.Elsewhere)
	if err := errors.Join(err, namespace.CheckDeployment(s.Deployment)); err != nil {
		return err
	}
	temporal, err := to.Dial(workflows.DialConfig{Log: namespace.SDKLog(zap.NewNop())})
	if err != nil {
		return err
	}
	defer temporal.Close()
	err = f(p.Ctx, workflows.Deployment{Temporal: temporal, Name: s.Deployment})
	if errors.Is(err, workflows.ErrNoDeployment) {
		return fmt.Errorf("%v: %w: start one with --deployment %s and --build-id", to, err, s.Deployment)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", to, err)
	}
	return nil
}

// deploymentListCommand is "longhaul deployment list".
type deploymentListCommand struct{ deploymentSettings }

func (c *deploymentListCommand) Run(p *process.Process) error {
	return c.withDeployment(p, func(ctx context.Context, d workflows.Deployment) error {
		versions, err := d.Versions(ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, v := range versions {
			rows = append(rows, []string{v.BuildID, v.Since.UTC().Format("2006-01-02 15:04"), versionState(v), strconv.FormatInt(v.Plans, 10)})
		}
		process.WriteTable(p.Stdout, []string{"BUILD", "SINCE", "STATE", "OPEN PLANS"}, rows)
		return nil
	})
}

// versionState returns the role of a version in a word, for people.
func versionState(v workflows.Version) string {
	switch {
	case v.Current:
		return "current"
	case v.Share > 0:
		return fmt.Sprintf("begins %g %%", v.Share)
	case v.Plans > 0:
		return "needed by its plans"
	case v.Drained:
		return "not needed"
	}
	return "not in use"
}

// deploymentPromoteCommand is "longhaul deployment promote".
type deploymentPromoteCommand struct {
	deploymentSettings
	BuildID string  `arg:"" help:"Version to promote. Its workers must be running."`
	Percent float32 `help:"Percentage of new work that it begins; 100 makes it the current version." default:"100"`
}

func (c *deploymentPromoteCommand) Run(p *process.Process) error {
	if c.Percent < 0 || c.Percent > 100 {
		return process.Usagef("--percent must be between 0 and 100")
	}
	return c.withDeployment(p, func(ctx context.Context, d workflows.Deployment) error {
		if err := d.Promote(ctx, c.BuildID, c.Percent); err != nil {
			return err
		}
		done := "is the current version"
		if c.Percent < 100 {
			done = fmt.Sprintf("begins %g %% of new work", c.Percent)
		}
		_, err := fmt.Fprintf(p.Stdout, "%s %s of %s.\n", c.BuildID, done, c.Deployment)
		return err
	})
}

// deploymentMoveCommand is "longhaul deployment move".
type deploymentMoveCommand struct {
	deploymentSettings
	From string `arg:"" help:"Version that the plans began with."`
	To   string `arg:"" help:"Version to continue with. Its workers must be running."`
}

func (c *deploymentMoveCommand) Run(p *process.Process) error {
	return c.withDeployment(p, func(ctx context.Context, d workflows.Deployment) error {
		moved, err := d.Move(ctx, c.From, c.To)
		if err != nil {
			return fmt.Errorf("after %d plans: %w", moved, err)
		}
		_, err = fmt.Fprintf(p.Stdout, "%d open plans of %s continue with %s.\n", moved, c.From, c.To)
		return err
	})
}
