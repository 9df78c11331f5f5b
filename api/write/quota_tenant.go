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

// A Usage returns how much of a quota a tenant uses, or one of its contexts: of [access.OpenObjectives],
// [access.OpenGates], [access.StoredBytes] and each [access.Spending].
type Usage interface {
	Usage(ctx context.Context, tenant, contextID string, q access.Quota) (int64, error)
}

// Quotas refuses what would add to the use of a tenant that has reached a limit. Work that was
// accepted is never refused: it may go above a limit, and so may calls at the same time, each by
// what it adds.
type Quotas struct {
	Limits   access.Quotas
	Journal  Usage
	Observer call.Observer
	Now      func() time.Time
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
		used, err := q.Journal.Usage(ctx, tenant, "", name)
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

// Counted returns the limits of an objective of a tenant, with what its quotas count.
func (q Quotas) Counted(l opt.Limits, tenant string) opt.Limits {
	l.CountsQuestions = q.Limits.Counts(tenant, "questions")
	return l
}

// AdmitWork is Admit for new or more work in a context, which also counts what work there has used.
func (q Quotas) AdmitWork(ctx context.Context, tenant, contextID string, names ...access.Quota) error {
	if err := q.Admit(ctx, tenant, names...); err != nil {
		return err
	}
	uses, err := q.Limits.Uses(tenant, q.Limits.Spent(tenant), q.Now(), func(name access.Quota) (int64, error) { return q.Journal.Usage(ctx, tenant, contextID, name) })
	if err != nil {
		return err
	}
	if u, full := access.Longest(uses); full {
		q.Observer.Exceeded(string(u.Quota))
		return spendingExceeded(u, q.Now())
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
	if len(names) > 1 {
		return q.AdmitWork(ctx, o.Tenant, o.ContextID, names...)
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

// spendingExceeded returns the fault for work in a period that has used what it may. The next one has room again.
func spendingExceeded(u access.Use, now time.Time) *call.Fault {
	f := &call.Fault{
		Kind: call.QuotaExceeded, Reason: call.ReasonQuota,
		Message: fmt.Sprintf("The %s has reached its quota of %s: it has used %s of %s", u.Of(), u.Quota, u.Text(u.Used), u.Text(u.Limit)),
		Info:    map[string]string{"quota": string(u.Quota), "used": u.Written(u.Used), "limit": u.Written(u.Limit)},
	}
	if !u.Until.IsZero() {
		f.Retry = u.Until.Sub(now).Round(time.Second)
	}
	return f
}
