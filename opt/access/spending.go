package access

import (
	"fmt"
	"math"
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
	spendKinds   = []string{"tokens", "cost", "questions", "calls", "time"}
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

// Amount returns what counts of a usage: the cost in millionths, the time in seconds.
func (s Spending) Amount(u opt.Usage) int64 {
	return map[string]int64{"tokens": u.Input + u.Output, "cost": int64(u.Cost), "questions": u.Questions, "calls": u.Calls, "time": u.Ran}[s.Kind]
}

// Text returns an amount for people.
func (s Spending) Text(n int64) string {
	if s.Kind == "time" {
		return opt.InUnits(1000*n, math.MaxInt64)
	}
	return s.Written(n)
}

// Written returns an amount as [Spending.Parse] reads it.
func (s Spending) Written(n int64) string {
	switch s.Kind {
	case "cost":
		return opt.Money(n).String()
	case "time":
		return strconv.FormatInt(n, 10) + "s"
	}
	return strconv.FormatInt(n, 10)
}

// A Use is how much of a [Spending] is used.
type Use struct {
	Spending
	Used, Limit int64
	Until       time.Time // when the present period ends; zero for never
}

// Full reports whether the quota is used up: new work is refused, and next steps wait.
func (u Use) Full() bool { return u.Used >= u.Limit }

// Share returns how much of the limit is used; 1 is all.
func (u Use) Share() float64 { return float64(u.Used) / float64(u.Limit) }

// Of returns whose quota it is.
func (u Use) Of() string {
	if u.Context {
		return "context"
	}
	return "tenant"
}

// Wait says why a step waits, and until when.
func (u Use) Wait() string {
	return fmt.Sprintf("Waits for the quota %s of the %s: %s of %s used, %s.", u.Quota, u.Of(), u.Text(u.Used), u.Text(u.Limit), u.End())
}

// End says until when work waits for a quota that is used up.
func (u Use) End() string {
	if u.Until.IsZero() {
		return "until the limit is raised"
	}
	return "until " + u.Until.Format("2006-01-02 15:04 MST")
}

// Parse reads an amount, and reports whether it is one of 0 or more.
func (s Spending) Parse(text string) (n int64, ok bool) {
	switch s.Kind {
	case "cost":
		var cost opt.Money
		err := cost.UnmarshalText([]byte(text))
		return int64(cost), err == nil && cost >= 0
	case "time":
		d, err := opt.ParseSpan(text)
		return int64(d / time.Second), err == nil && d >= 0 && (d == 0 || d >= time.Second)
	}
	return ParseAmount(text, false)
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

// Uses returns how much of some quotas of a tenant is used, as used says.
func (q Quotas) Uses(tenant string, of []Spending, now time.Time, used func(Quota) (int64, error)) (list []Use, err error) {
	for _, s := range of {
		u := Use{Spending: s, Limit: q.Limit(tenant, s.Quota)}
		_, u.Until = s.Begins(now)
		if u.Used, err = used(s.Quota); err != nil {
			return nil, fmt.Errorf("read the use of the quota %s: %w", s.Quota, err)
		}
		list = append(list, u)
	}
	return list, nil
}

// Longest returns the use that keeps work waiting for the longest time; ok is false if none does.
func Longest(list []Use) (longest Use, ok bool) {
	for _, u := range list {
		if u.Full() && (!ok || !longest.Until.IsZero() && (u.Until.IsZero() || u.Until.After(longest.Until))) {
			longest, ok = u, true
		}
	}
	return longest, ok
}

// Counts reports whether a quota limits what the work of a tenant uses of a kind, such as questions.
func (q Quotas) Counts(tenant, kind string) bool {
	return slices.ContainsFunc(q.Spent(tenant), func(s Spending) bool { return s.Kind == kind })
}
