package read

import (
	"cmp"
	"context"
	"slices"
	"time"

	"longhaul/api/call"
	"longhaul/opt/access"
)

// A UsageReader returns how much of an [access.Spending] a tenant has used, or one of its contexts.
type UsageReader interface {
	Usage(ctx context.Context, tenant, contextID string, q access.Quota) (int64, error)
}

// Quotas lists what the work of tenants has used of their quotas.
type Quotas struct {
	Limits  access.Quotas
	Journal UsageReader
	Now     func() time.Time
}

// QuotaParams are the parameters of [Quotas.ListQuotas].
type QuotaParams struct {
	ContextID string `param:"contextId,context"` // also the quotas of this context
}

// ListQuotas returns how much of the quotas the work of the caller's tenant has used, the one nearest to its limit first.
func (s Quotas) ListQuotas(ctx context.Context, c *call.Call, p QuotaParams) ([]access.Use, error) {
	of := slices.DeleteFunc(s.Limits.Spent(c.Tenant), func(q access.Spending) bool { return q.Context && p.ContextID == "" })
	if len(of) == 0 {
		return nil, nil
	}
	list, err := s.Limits.Uses(c.Tenant, of, s.Now(), func(q access.Quota) (int64, error) {
		return s.Journal.Usage(ctx, c.Tenant, p.ContextID, q)
	})
	slices.SortStableFunc(list, func(a, b access.Use) int { return cmp.Compare(b.Share(), a.Share()) })
	return list, err
}
