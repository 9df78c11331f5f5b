package access_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"longhaul/internal/test"
	"longhaul/opt/access"
)

func TestQuotas(t *testing.T) {
	before := access.DefaultQuotas()
	q := test.Value(before.With("open-gates=500", "acme:open-gates=50", "a:b:open-gates=0", "stored-bytes=2GiB", "cost-per-day=2.5", "acme:context-tokens-in-all=9", "acme:stored-bytes=7", "time-per-day=1d8h", "acme:time-per-day=0"))(t)
	for _, tt := range []struct {
		of     access.Quotas
		tenant string
		quota  access.Quota
		want   int64
	}{
		{q, "globex", access.OpenGates, 500},
		{q, "acme", access.OpenGates, 50},
		{q, "a:b", access.OpenGates, 0},
		{q, "globex", access.StoredBytes, 2 << 30},
		{q, "acme", access.StoredBytes, 7},
		{q, "acme", access.OpenObjectives, 10_000},
		{q, "acme", access.RunningTasks, 0},
		{q, "globex", "cost-per-day", 2_500_000},
		{q, "acme", "context-tokens-in-all", 9},
		{q, "globex", "time-per-day", 32 * 3600},
		{q, "acme", "time-per-day", 0},
		{before, "acme", access.OpenGates, 10_000}, // it has not changed
		{access.Quotas{}, "acme", access.OpenGates, 0},
	} {
		test.Is(t, fmt.Sprintf("%s of %s", tt.quota, tt.tenant), tt.want, tt.of.Limit(tt.tenant, tt.quota))
	}
	for _, wrong := range []string{"", "open-gates", "open-gates=", "open-gates=-1", "open-gates=1GiB", "stored-bytes=9000000TiB", "gates=1", "=1", ":open-gates=1", "open-gates=1=2", "cost-per-day=x", "cost-per-day=-1", "tokens-per-day=1.5", "time-per-day=1", "time-per-day=-1h", "time-per-day=1ms", "tokens-per-week=1"} {
		test.Fails(t, fmt.Sprintf("%q", wrong), "open-objectives", test.Err(before.With(wrong)))
	}
}

// Days and months are those of UTC, and the quotas that limit a tenant have an order.
func TestSpending(t *testing.T) {
	q := test.Value(access.Quotas{}.With("tokens-per-month=5", "acme:cost-in-all=1", "globex:tokens-per-month=0", "context-calls-per-day=1", "open-gates=1"))(t)
	now := time.Date(2026, 12, 31, 23, 59, 0, 0, time.FixedZone("", -3600)) // the first of January
	var got []string
	for _, s := range q.Spent("acme") {
		begin, end := s.Begins(now)
		got = append(got, fmt.Sprintf("%s %t %s %s", s.Quota, s.Context, begin.Format(time.DateOnly), end.Format(time.DateOnly)))
	}
	want := []string{"tokens-per-month false 2027-01-01 2027-02-01", "cost-in-all false 0001-01-01 0001-01-01", "context-calls-per-day true 2027-01-01 2027-01-02"}
	if !slices.Equal(got, want) || len(q.Spent("globex")) != 1 || access.DefaultQuotas().Spent("acme") != nil {
		t.Errorf("%q, want %q; and %v", got, want, q.Spent("globex"))
	}
}

// Of the quotas that are used up, the one that lasts the longest is named, with its end: the next midnight, or the next
// month in UTC, or never by itself.
func TestUses(t *testing.T) {
	q := test.Value(access.Quotas{}.With("cost-per-day=50", "tokens-per-month=5", "acme:calls-in-all=1", "context-questions-per-day=2", "context-time-in-all=8h"))(t)
	const midnight = "until 2028-03-01 00:00 UTC."
	now := time.Date(2028, 2, 29, 23, 59, 59, 999, time.UTC)
	for name, tt := range map[string]struct {
		tenant string
		used   map[access.Quota]int64
		want   string
	}{
		"below":      {"acme", map[access.Quota]int64{"cost-per-day": 49_999_999, "tokens-per-month": 4}, ""},
		"a day":      {"acme", map[access.Quota]int64{"cost-per-day": 50_000_000}, "Waits for the quota cost-per-day of the tenant: 50.00 of 50.00 used, " + midnight},
		"a context":  {"globex", map[access.Quota]int64{"context-questions-per-day": 3, "calls-in-all": 9}, "Waits for the quota context-questions-per-day of the context: 3 of 2 used, " + midnight},
		"the time":   {"globex", map[access.Quota]int64{"context-time-in-all": 100_800}, "Waits for the quota context-time-in-all of the context: 1 d 4 h of 8 h used, until the limit is raised."},
		"the longer": {"acme", map[access.Quota]int64{"cost-per-day": 60_000_000, "calls-in-all": 1, "tokens-per-month": 9}, "Waits for the quota calls-in-all of the tenant: 1 of 1 used, until the limit is raised."},
	} {
		uses, err := q.Uses(tt.tenant, q.Spent(tt.tenant), now, func(of access.Quota) (int64, error) { return tt.used[of], nil })
		longest, full := access.Longest(uses)
		if full != (tt.want != "") || err != nil || full && longest.Wait() != tt.want {
			t.Errorf("%s: %q %t, %v, want %q", name, longest.Wait(), full, err, tt.want)
		}
	}
	if _, err := q.Uses("acme", q.Spent("acme"), now, func(access.Quota) (int64, error) { return 0, errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without the use: %v", err)
	}
	if !q.Counts("acme", "calls") || q.Counts("globex", "calls") {
		t.Error("a quota of one tenant counts for another")
	}
}
