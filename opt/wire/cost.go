package wire

import (
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A Usage is what all attempts at some work have used, under [opt.KeyUsage] in metadata.
type Usage struct {
	InputTokens  int64  `json:"inputTokens"`
	CachedTokens int64  `json:"cachedTokens,omitempty"` // of the input: read from a cache of the provider
	OutputTokens int64  `json:"outputTokens"`
	Cost         string `json:"cost,omitempty"`      // a decimal, in the currency of the operator's prices, as of the time of use
	Questions    int64  `json:"questions,omitempty"` // gates at which people were asked
	Calls        int64  `json:"calls,omitempty"`     // tasks that were handed over to other agents
	Seconds      int64  `json:"seconds,omitempty"`   // in which tasks ran, all of them added up
	Limit        *Limit `json:"budget,omitempty"`    // of the latest attempt
}

// A Limit is how much some work may use.
type Limit struct {
	Tokens int64  `json:"tokens,omitempty"` // of input and output together
	Cost   string `json:"cost,omitempty"`

	Time      int64   `json:"time,omitempty"` // seconds since the objective has begun
	Questions opt.Cap `json:"questions,omitempty"`
	Calls     opt.Cap `json:"calls,omitempty"`
}

// A CostList says what contexts, models or tenants have cost, the most expensive first.
type CostList struct {
	Costs []Cost `json:"costs"`
}

// A Cost is what one of them has cost.
type Cost struct {
	Of string `json:"of"` // the context, model or tenant; "" for work that names no model. Models have no time
	Usage
}

// UsageOf returns u, nil if nothing was used.
func UsageOf(u opt.Used) *Usage {
	if u.IsZero() {
		return nil
	}
	out := usageOf(u.Usage)
	if l := u.Limit; l != (opt.SpendLimit{}) {
		out.Limit = &Limit{l.Tokens, amount(l.Cost), l.Time, l.Questions, l.Calls}
	}
	return &out
}

func usageOf(u opt.Usage) Usage {
	return Usage{InputTokens: u.Input, CachedTokens: u.Cached, OutputTokens: u.Output, Cost: amount(u.Cost), Questions: u.Questions, Calls: u.Calls, Seconds: u.Ran}
}

func amount(m opt.Money) string {
	if m == 0 {
		return ""
	}
	return m.String()
}

// CostOf returns c.
func CostOf(c shown.Cost) Cost { return Cost{c.Of, usageOf(c.Usage)} }

// UsageIn returns the usage in the metadata of an objective, a plan or a task, in words; "" if there is none.
func UsageIn(m a2a.Metadata) string {
	var u *Usage
	if m.Decode(opt.KeyUsage, &u) != nil {
		return ""
	}
	return u.String()
}

// Used returns that usage as a number; the zero value if there is none.
func Used(m a2a.Metadata) opt.Usage {
	var u Usage
	var cost opt.Money
	_ = m.Decode(opt.KeyUsage, &u)
	_ = cost.UnmarshalText([]byte(u.Cost))
	return opt.Usage{Input: u.InputTokens, Cached: u.CachedTokens, Output: u.OutputTokens, Cost: cost}
}

// String returns u in words, with its limits; "" for none.
func (u *Usage) String() string {
	if u == nil {
		return ""
	}
	var limit Limit
	if u.Limit != nil {
		limit = *u.Limit
	}
	var list []string
	say := func(used bool, format string, args ...any) {
		if used {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	tokens := u.InputTokens + u.OutputTokens
	if limit.Tokens > 0 {
		say(true, "%s of %s tokens", opt.Grouped(tokens), opt.Grouped(limit.Tokens))
	} else {
		say(tokens > 0, "%s tokens", opt.Grouped(tokens))
	}
	say(u.Cost != "" && limit.Cost == "", "cost %s", u.Cost)
	say(u.Cost != "" && limit.Cost != "", "cost %s of %s", u.Cost, limit.Cost)
	counted := func(n int64, most opt.Cap, what string) {
		say(n > 0 && most == 0, "%s", opt.Count(int(n), what))
		say(n > 0 && most > 0, "%d of %s", n, opt.Count(int(most-1), what))
	}
	counted(u.Questions, limit.Questions, "question")
	counted(u.Calls, limit.Calls, "call")
	say(u.Time() != "", "ran %s", u.Time())
	return strings.Join(list, ", ")
}

// Time returns how long tasks ran in words; "" if that is no whole second.
func (u *Usage) Time() string {
	if u.Seconds == 0 {
		return ""
	}
	return opt.InUnits(1000*u.Seconds, 10)
}
