package write

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/access"
)

// A Usage returns how much of a quota a tenant uses: of [access.OpenObjectives],
// [access.OpenGates] and [access.StoredBytes].
type Usage interface {
	Usage(ctx context.Context, tenant string, q access.Quota) (int64, error)
}

// Quotas refuses what would add to the use of a tenant that has reached a limit. Work that was
// accepted is never refused: it may go above a limit, and so may calls at the same time, each by
// what it adds.
type Quotas struct {
	Limits   access.Quotas
	Journal  Usage
	Observer call.Observer
}

// OfNewWork are the quotas that an objective or a new attempt at one adds to.
var OfNewWork = []access.Quota{access.OpenObjectives, access.OpenGates, access.StoredBytes}

// OfMoreWork are the quotas that more work in an open objective adds to.
var OfMoreWork = OfNewWork[1:]

// Admit returns a fault if a tenant has reached the limit of one of some quotas.
func (q Quotas) Admit(ctx context.Context, tenant string, names ...access.Quota) error {
	for _, name := range names {
		limit := q.Limits.Limit(tenant, name)
		if limit == 0 {
			continue
		}
		used, err := q.Journal.Usage(ctx, tenant, name)
		if err != nil {
			return fmt.Errorf("read the use of a quota: %w", err)
		}
		if used >= limit {
			q.Observer.Exceeded(string(name))
			return quotaExceeded(name, used, limit)
		}
	}
	return nil
}

// AdmitCommand is admit for a command to an objective. One that ends, pauses or continues work
// is never refused.
func (q Quotas) AdmitCommand(ctx context.Context, o *opt.Objective, cmd opt.Command) error {
	var names []access.Quota
	p := o.Plan(cmd.PlanID)
	switch {
	case o.Status.Ended(): // a new attempt
		names = OfNewWork
	case cmd.Adds(), cmd.Starts() && (!o.Started || p != nil && p.Status.Ended()):
		names = OfMoreWork
	case cmd.Change != nil:
		names = []access.Quota{access.StoredBytes}
	}
	return q.Admit(ctx, o.Tenant, names...)
}

// quotaRetry is when clients should ask again for work that waits for the end of other work.
const quotaRetry = 30 * time.Second

func quotaExceeded(name access.Quota, used, limit int64) *call.Fault {
	f := &call.Fault{
		Kind: call.QuotaExceeded, Reason: call.ReasonQuota, Retry: quotaRetry,
		Message: fmt.Sprintf("The tenant has reached its quota of %s: it uses %d of %d", name, used, limit),
		Info:    map[string]string{"quota": string(name), "used": strconv.FormatInt(used, 10), "limit": strconv.FormatInt(limit, 10)},
	}
	if name == access.StoredBytes { // until old work is removed
		f.Retry = 0
	}
	return f
}
