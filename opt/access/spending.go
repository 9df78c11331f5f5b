package access

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"longhaul/opt"
)

// A Spending is a quota of what the work of a tenant uses, or that of one of its contexts, such as cost-per-day
// and context-tokens-in-all. At the limit new work is refused, and the next steps of tasks wait.
type Spending struct {
	Quota   Quota
	Context bool   // of each context
	Kind    string // "cost" …
	Period  string // "per-day" …
}

// Kinds and periods of [Spending]. Days and months are those of UTC.
var (
	spendKinds   = []string{"tokens", "cost", "questions", "calls"}
	spendPeriods = []string{"per-day", "per-month", "in-all"}
)

// Spendings lists all quotas of what work uses.
func Spendings() (list []Quota) {
	for _, of := range []string{"", "context-"} {
		for _, kind := range spendKinds {
			for _, period := range spendPeriods {
				list = append(list, Quota(of+kind+"-"+period))
			}
		}
	}
	return list
}

// Spending returns q as a quota of what work uses; ok is false for another one.
func (q Quota) Spending() (s Spending, ok bool) {
	s.Quota = q
	var name string
	name, s.Context = strings.CutPrefix(string(q), "context-")
	s.Kind, s.Period, _ = strings.Cut(name, "-")
	return s, slices.Contains(spendKinds, s.Kind) && slices.Contains(spendPeriods, s.Period)
}

// Begins returns when the period began that contains now, and when it ends; zero times for all of time.
func (s Spending) Begins(now time.Time) (begin, end time.Time) {
	y, m, d := now.UTC().Date()
	switch s.Period {
	case "per-day":
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC), time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	case "per-month":
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC), time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return begin, end
}

// Of returns what counts of a usage: the cost in millionths.
func (s Spending) Of(u opt.Usage) int64 {
	return map[string]int64{"tokens": u.Input + u.Output, "cost": int64(u.Cost), "questions": u.Questions, "calls": u.Calls}[s.Kind]
}

// Text returns an amount for people.
func (s Spending) Text(n int64) string {
	if s.Kind == "cost" {
		return opt.Money(n).String()
	}
	return strconv.FormatInt(n, 10)
}

// Spent lists the quotas of what work uses that limit a tenant, in a stable order.
func (q Quotas) Spent(tenant string) (list []Spending) {
	if len(q.limits) == 0 {
		return nil
	}
	for _, name := range Spendings() {
		if s, ok := name.Spending(); ok && q.Limit(tenant, name) > 0 {
			list = append(list, s)
		}
	}
	return list
}
