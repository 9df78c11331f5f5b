package wire

import (
	"longhaul/a2a"
	"longhaul/opt/access"
)

// A QuotaList says how much of its quotas the work of a tenant has used, that nearest to its limit first.
type QuotaList struct {
	Quotas []Quota `json:"quotas"`
}

// A Quota is how much of one is used. At its limit new work is refused, and next steps wait.
type Quota struct {
	Quota string   `json:"quota"` // such as cost-per-day
	Used  string   `json:"used"`  // a number; of costs a decimal in the currency of the operator's prices, of time seconds such as 90s
	Limit string   `json:"limit"`
	Until a2a.Time `json:"until,omitzero"` // the end of the day or the month, when the next one begins; none for a quota in all
}

// QuotaOf returns u.
func QuotaOf(u access.Use) Quota {
	return Quota{Quota: string(u.Quota), Used: u.Written(u.Used), Limit: u.Written(u.Limit), Until: a2a.At(u.Until)}
}

// Use returns q as the model has it; ok is false if it is none that this program knows.
func (q Quota) Use() (u access.Use, ok bool) {
	if u.Spending, ok = access.Quota(q.Quota).Spending(); !ok {
		return u, false
	}
	var used, limited bool
	u.Used, used = u.Parse(q.Used)
	u.Limit, limited = u.Parse(q.Limit)
	u.Until = q.Until.Time()
	return u, used && limited && u.Limit > 0
}
