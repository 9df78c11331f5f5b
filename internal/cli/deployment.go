package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"go.uber.org/zap"

	"longhaul/worker"
	"longhaul/workflows"
)

// versionSettings say which version of a deployment a worker is.
type versionSettings struct {
	Deployment string `help:"Name of the deployment of workers whose versions Temporal keeps apart: plans end with the version that began them. Without it, any worker continues any work. See docs/upgrades.md." env:"LONGHAUL_DEPLOYMENT" placeholder:"NAME"`
	BuildID    string `name:"build-id" help:"Version of this worker within its deployment; the default is the version of the program." env:"LONGHAUL_BUILD_ID" placeholder:"ID"`
}

// version returns the version of a worker, the zero value for one without a deployment.
func (s versionSettings) version(b Build) (worker.Version, error) {
	switch {
	case s.Deployment == "" && s.BuildID != "":
		return worker.Version{}, newUsageError("--build-id needs --deployment, which names the deployment that it is a version of")
	case s.Deployment == "":
		return worker.Version{}, nil
	}
	return worker.Version{Deployment: s.Deployment, BuildID: cmp.Or(s.BuildID, b.id())}, checkDeployment(s.Deployment)
}

// checkDeployment refuses names that Temporal does not take.
func checkDeployment(name string) error {
	if strings.ContainsAny(name, ".:'") || strings.HasPrefix(name, "__") {
		return newUsageError("--deployment %q must not have dots, colons or quotation marks, or begin with __", name)
	}
	return nil
}

// deploymentCommand is "longhaul deployment".
type deploymentCommand struct {
	List    deploymentListCommand    `cmd:"" help:"List the versions of the workers, and the open plans that stay with each."`
	Promote deploymentPromoteCommand `cmd:"" help:"Have a version begin new work, and continue all but the plans of others."`
	Move    deploymentMoveCommand    `cmd:"" help:"Have the open plans of one version continue with another, such as those of a version without workers."`
}

// deploymentSettings say where a deployment is.
type deploymentSettings struct {
	Deployment string `help:"Name of the deployment." env:"LONGHAUL_DEPLOYMENT" placeholder:"NAME"`
	temporalSettings
	elsewhereSettings
}

// withDeployment calls f with the deployment.
func (s deploymentSettings) withDeployment(p *program, f func(context.Context, workflows.Deployment) error) error {
	if s.Deployment == "" {
		return newUsageError("name the deployment with --deployment or LONGHAUL_DEPLOYMENT, as for its workers")
	}
	to, err := s.elsewhere(s.elsewhereSettings)
	if err := errors.Join(err, checkDeployment(s.Deployment)); err != nil {
		return err
	}
	temporal, err := workflows.Dial(workflows.DialConfig{
		Addr: to.addr.value, Namespace: to.namespace.value, Connection: to.connection, Local: isLocal(to.addr.value), Log: sdkLog(zap.NewNop()), Adjust: p.build.Temporal,
	})
	if err != nil {
		return err
	}
	defer temporal.Close()
	err = f(p.ctx, workflows.Deployment{Temporal: temporal, Namespace: to.namespace.value, Name: s.Deployment})
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

func (c *deploymentListCommand) Run(p *program) error {
	return c.withDeployment(p, func(ctx context.Context, d workflows.Deployment) error {
		versions, err := d.Versions(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "BUILD\tSINCE\tSTATE\tOPEN PLANS")
		for _, v := range versions {
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", v.BuildID, v.Since.UTC().Format("2006-01-02 15:04"), versionState(v), v.Plans)
		}
		return table.Flush()
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

func (c *deploymentPromoteCommand) Run(p *program) error {
	if c.Percent < 0 || c.Percent > 100 {
		return newUsageError("--percent must be between 0 and 100")
	}
	return c.withDeployment(p, func(ctx context.Context, d workflows.Deployment) error {
		if err := d.Promote(ctx, c.BuildID, c.Percent); err != nil {
			return err
		}
		done := "is the current version"
		if c.Percent < 100 {
			done = fmt.Sprintf("begins %g %% of new work", c.Percent)
		}
		_, err := fmt.Fprintf(p.stdout, "%s %s of %s.\n", c.BuildID, done, c.Deployment)
		return err
	})
}

// deploymentMoveCommand is "longhaul deployment move".
type deploymentMoveCommand struct {
	deploymentSettings
	From string `arg:"" help:"Version that the plans began with."`
	To   string `arg:"" help:"Version to continue with. Its workers must be running."`
}

func (c *deploymentMoveCommand) Run(p *program) error {
	return c.withDeployment(p, func(ctx context.Context, d workflows.Deployment) error {
		moved, err := d.Move(ctx, c.From, c.To)
		if err != nil {
			return fmt.Errorf("after %d plans: %w", moved, err)
		}
		_, err = fmt.Fprintf(p.stdout, "%d open plans of %s continue with %s.\n", moved, c.From, c.To)
		return err
	})
}

// warnOfNoVersion warns if a worker will get no work because no version of its
// deployment was promoted.
func (n namespace) warnOfNoVersion(ctx context.Context, v worker.Version) {
	if v == (worker.Version{}) {
		return
	}
	log := n.log.With(zap.String("deployment", v.Deployment), zap.String("buildId", v.BuildID))
	versions, err := workflows.Deployment{Temporal: n.temporal, Namespace: n.target.namespace.value, Name: v.Deployment}.Versions(ctx)
	if err == nil && slices.ContainsFunc(versions, func(v workflows.Version) bool { return v.Current }) {
		log.Info("This worker gets the work of its version")
		return
	}
	log.Warn("This worker gets no work until a version of its deployment is promoted", zap.String("run", "longhaul deployment promote "+v.BuildID))
}
