package serve

import (
	"fmt"

	"longhaul/internal/process"
	"longhaul/opt"
)

// quotas returns the limits of tenants: those of the settings, and defaults where callers are
// authenticated. By default a tenant leaves a quarter of the tasks of a worker to others.
func (s workSettings) quotas(authenticated bool, maxTasks int) (opt.Quotas, error) {
	var q opt.Quotas
	var err error
	if authenticated {
		q, err = opt.DefaultQuotas().With(fmt.Sprintf("%s=%d", opt.RunningTasks, max(1, maxTasks*3/4)))
	}
	if err == nil {
		q, err = q.With(s.Quotas...)
	}
	if err != nil {
		return q, process.Usagef("--quota %v", err)
	}
	return q, nil
}
