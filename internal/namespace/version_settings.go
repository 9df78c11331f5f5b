package namespace

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.uber.org/zap"

	"longhaul/internal/process"
	"longhaul/worker"
	"longhaul/workflows"
)

// WorkerVersion say which version of a deployment a worker is.
type WorkerVersion struct {
	Deployment string `help:"Name of the deployment of workers whose versions Temporal keeps apart: plans end with the version that began them. Without it, any worker continues any work. See docs/upgrades.md." env:"LONGHAUL_DEPLOYMENT" placeholder:"NAME"`
	BuildID    string `name:"build-id" help:"Version of this worker within its deployment; the default is the version of the program." env:"LONGHAUL_BUILD_ID" placeholder:"ID"`
}

// Version returns the version of a worker, the zero value for one without a deployment.
// program is that of the program, "" for that of Longhaul.
func (s WorkerVersion) Version(program string) (worker.Version, error) {
	switch {
	case s.Deployment == "" && s.BuildID != "":
		return worker.Version{}, process.Usagef("--build-id needs --deployment, which names the deployment that it is a version of")
	case s.Deployment == "":
		return worker.Version{}, nil
	}
	return worker.Version{Deployment: s.Deployment, BuildID: cmp.Or(s.BuildID, process.NewRelease(program).ID())}, CheckDeployment(s.Deployment)
}

// CheckDeployment refuses names that Temporal does not take.
func CheckDeployment(name string) error {
	if strings.ContainsAny(name, ".:'") || strings.HasPrefix(name, "__") {
		return process.Usagef("--deployment %q must not have dots, colons or quotation marks, or begin with __", name)
	}
	return nil
}

// WarnOfNoVersion warns if a worker will get no work because no version of its
// deployment was promoted.
func (n Namespace) WarnOfNoVersion(ctx context.Context, v worker.Version) {
	if v == (worker.Version{}) {
		return
	}
	log := n.log.With(zap.String("deployment", v.Deployment), zap.String("buildId", v.BuildID))
	versions, err := workflows.Deployment{Temporal: n.temporal, Name: v.Deployment}.Versions(ctx)
	if err == nil && slices.ContainsFunc(versions, func(v workflows.Version) bool { return v.Current }) {
		log.Info("This worker gets the work of its version")
		return
	}
	log.Warn("This worker gets no work until a version of its deployment is promoted", zap.String("run", "longhaul deployment promote "+v.BuildID))
}
