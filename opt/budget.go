package opt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
)

// A SpendLimit is the most that may be used, by kind. The zero value of a member is no limit.
type SpendLimit struct {
	Tokens    int64 `json:"tokens,omitempty" yaml:"tokens"` // of input and output together
	Cost      Money `json:"cost,omitempty" yaml:"cost"`     // in the currency of the configured prices
	Time      int64 `json:"time,omitempty" yaml:"-"`        // seconds since the objective has begun
	Questions Cap   `json:"questions,omitempty" yaml:"-"`
	Calls     Cap   `json:"calls,omitempty" yaml:"-"`
}

// A Cap is the most of what is counted one by one, where 0 is a limit, too. It is one more than
// the limit, as JSON the limit itself.
type Cap int64

// MarshalJSON implements [json.Marshaler].
func (c Cap) MarshalJSON() ([]byte, error) { return json.Marshal(int64(c) - 1) }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Cap) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var n int64
	if err := json.Unmarshal(data, &n); err != nil || n < 0 || n > most {
		return cmp.Or(err, fmt.Errorf("%s is no limit", data))
	}
	*c = Cap(n + 1)
	return nil
}

// each returns f of each kind of limit in a and b.
func each(a, b SpendLimit, f func(a, b int64) int64) SpendLimit {
	return SpendLimit{
		f(a.Tokens, b.Tokens), Money(f(int64(a.Cost), int64(b.Cost))), f(a.Time, b.Time),
		Cap(f(int64(a.Questions), int64(b.Questions))), Cap(f(int64(a.Calls), int64(b.Calls))),
	}
}

// Within returns the lower of the limits in l and to.
func (l SpendLimit) Within(to SpendLimit) SpendLimit {
	return each(l, to, func(a, b int64) int64 {
		if a == 0 || b > 0 && b < a {
			return b
		}
		return a
	})
}

// Highest returns the higher of the limits in l and to, where no limit is the lowest.
func (l SpendLimit) Highest(to SpendLimit) SpendLimit {
	return each(l, to, func(a, b int64) int64 { return max(a, b) })
}

// Or returns the limits in l, and those in other of the kinds for which l has none.
func (l SpendLimit) Or(other SpendLimit) SpendLimit {
	return each(l, other, func(a, b int64) int64 { return cmp.Or(a, b) })
}

// Over returns the limits in l by which a step may not begin: it needs more of a kind than is left after spent. A
// step whose needs are not known in advance needs 1 of what it may use.
func (l SpendLimit) Over(spent, needs Usage) SpendLimit {
	after := spent.Plus(needs)
	wanted := SpendLimit{Questions: Cap(after.Questions + 1), Calls: Cap(after.Calls + 1)}
	wanted.Tokens, wanted.Cost, wanted.Time = after.Input+after.Output, after.Cost, after.Seconds
	asks := SpendLimit{needs.Input + needs.Output, needs.Cost, needs.Seconds, Cap(needs.Questions), Cap(needs.Calls)}
	wanted = each(wanted, asks, func(wanted, asks int64) int64 {
		if asks == 0 {
			return 0
		}
		return wanted
	})
	return each(l, wanted, func(limit, wanted int64) int64 {
		if limit > 0 && wanted > limit {
			return limit
		}
		return 0
	})
}

// Next returns the limits that are proposed in place of l, which spent has reached: the next multiple of each.
func (l SpendLimit) Next(spent Usage) SpendLimit {
	next := func(limit, spent int64) int64 {
		if limit == 0 {
			return 0
		}
		return limit * (spent/limit + 1)
	}
	one := func(c Cap, spent int64) Cap {
		if c == 0 {
			return 0
		}
		return Cap(next(max(1, int64(c)-1), spent) + 1)
	}
	return SpendLimit{
		next(l.Tokens, spent.Input+spent.Output), Money(next(int64(l.Cost), int64(spent.Cost))), next(l.Time, spent.Seconds),
		one(l.Questions, spent.Questions), one(l.Calls, spent.Calls),
	}
}

// Text says how much of the limits in l was used.
func (l SpendLimit) Text(spent Usage) string {
	var list []string
	say := func(limited bool, format string, args ...any) {
		if limited {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	span := func(seconds int64) string { return Span(time.Duration(seconds) * time.Second) }
	say(l.Tokens > 0, "%s of %s tokens", Grouped(spent.Input+spent.Output), Grouped(l.Tokens))
	say(l.Cost > 0, "cost %s of %s", spent.Cost, l.Cost)
	say(l.Time > 0, "%s of %s", span(spent.Seconds), span(l.Time))
	say(l.Questions > 0, "%d of %d questions to people", spent.Questions, l.Questions-1)
	say(l.Calls > 0, "%d of %d calls of agents", spent.Calls, l.Calls-1)
	return strings.Join(list, ", ")
}

// Left returns the rest of l after spent. ok is false if work for models and other agents may not begin with it.
func (l SpendLimit) Left(spent Usage) (left SpendLimit, ok bool) {
	ok = l.Over(spent, Usage{Output: 1, Cost: 1, Seconds: 1}) == SpendLimit{}
	used := SpendLimit{spent.Input + spent.Output, spent.Cost, spent.Seconds, Cap(spent.Questions), Cap(spent.Calls)}
	left = each(l, used, func(limit, used int64) int64 { return max(limit-used, 0) })
	if l.Questions > 0 {
		left.Questions = max(left.Questions, 1)
	}
	if l.Calls > 0 {
		left.Calls = max(left.Calls, 1)
	}
	return left, ok
}

// A Budget is the value of [a2a.ExtensionBudget] in the message that begins work: what this may
// spend. 0 is no limit.
type Budget struct {
	SpendLimit
	OnExceeded string `json:"onExceeded,omitempty"`
}

// Values of Budget.OnExceeded. "" is Ask.
const (
	AskBudget  = "ask"  // the one who set the budget may raise it
	FailBudget = "fail" // the task fails
)

// OnExceeded lists the values of Budget.OnExceeded.
var OnExceeded = []string{AskBudget, FailBudget}

// BudgetOf returns the budget in a request, zero for none.
func BudgetOf(request ...a2a.Message) (b Budget) {
	for _, m := range request {
		_ = m.Metadata.Decode(a2a.ExtensionBudget, &b) // it was checked when it came
	}
	return b
}

// AuthorsOf lists the principals who sent a request, none where callers are not known.
func AuthorsOf(request ...a2a.Message) (list []string) {
	for _, m := range request {
		author, _ := m.Metadata.String(KeyAuthor)
		if author == "" || author == Anonymous {
			return nil
		}
		list = append(list, author)
	}
	return list
}

// CodeBudget is the code of tasks that end because a budget is spent.
const CodeBudget = "budget"

// A Bill is the value of [a2a.ExtensionBudget] in the metadata of a root task.
type Bill struct {
	Spent Usage `json:"spent"`
}
