package access

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Quota names something of which one tenant may use a limited amount.
type Quota string

// The quotas. At its limit, new work is refused for the first three; tasks and notices wait.
const (
	OpenObjectives Quota = "open-objectives"  // that have not ended
	OpenGates      Quota = "open-gates"       // questions that wait for people
	StoredBytes    Quota = "stored-bytes"     // of events and large contents in the journal
	RunningTasks   Quota = "running-tasks"    // in one worker; those that wait are working for clients
	NoticesPerHour Quota = "notices-per-hour" // to all channels together
)

// AllQuotas lists the quotas.
var AllQuotas = []Quota{OpenObjectives, OpenGates, StoredBytes, RunningTasks, NoticesPerHour}

// Quotas are the limits of tenants. The zero value has none. A copy shares its limits.
type Quotas struct {
	limits map[quotaOf]int64
}

// A quotaOf is a quota of a tenant, "" for each that has no limit of its own.
type quotaOf struct {
	tenant string
	quota  Quota
}

// DefaultQuotas returns the limits of every tenant where callers are authenticated.
func DefaultQuotas() Quotas {
	return Quotas{map[quotaOf]int64{{"", OpenObjectives}: 10_000, {"", OpenGates}: 10_000, {"", StoredBytes}: 100 << 30, {"", NoticesPerHour}: 1_000}}
}

// Limit returns how much of a quota a tenant may use, 0 for no limit.
func (q Quotas) Limit(tenant string, quota Quota) int64 {
	if limit, ok := q.limits[quotaOf{tenant, quota}]; ok {
		return limit
	}
	return q.limits[quotaOf{"", quota}]
}

// With returns q with limits as operators write them: "open-gates=500" for each tenant,
// "acme:open-gates=50" for one alone, 0 for no limit, and bytes also in KiB, MiB, GiB or TiB.
func (q Quotas) With(texts ...string) (Quotas, error) {
	out := Quotas{map[quotaOf]int64{}}
	maps.Copy(out.limits, q.limits)
	for _, text := range texts {
		at := strings.LastIndexByte(text, '=')
		name := text[:max(at, 0)]
		of := quotaOf{"", Quota(name)}
		if colon := strings.LastIndexByte(name, ':'); colon > 0 {
			of = quotaOf{name[:colon], Quota(name[colon+1:])}
		}
		limit, ok := ParseAmount(text[at+1:], of.quota == StoredBytes)
		spending, spent := of.quota.Spending()
		if spent {
			limit, ok = spending.Parse(text[at+1:])
		}
		if !ok || !spent && !slices.Contains(AllQuotas, of.quota) {
			return q, fmt.Errorf("%q is not QUOTA=N or TENANT:QUOTA=N, such as open-gates=500, with one of %v or such as cost-per-day=50, time-per-month=90h and context-calls-in-all=9, and 0 for no limit", text, AllQuotas)
		}
		out.limits[of] = limit
	}
	return out, nil
}

// ParseAmount reads a number as operators write it, of bytes perhaps with a unit. It reports
// whether it is one of 0 or more.
func ParseAmount(text string, bytes bool) (n int64, ok bool) {
	unit := int64(1)
	for i, name := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if digits, found := strings.CutSuffix(text, name); found && bytes {
			text, unit = digits, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n * unit, err == nil && n >= 0 && n <= math.MaxInt64/unit
}
