package opt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"longhaul/a2a"
)

// A Usage counts what work has used, in the kinds that a [SpendLimit] limits. Costs are worked out once, when they
// arise. Executors say what models and calls have used; the plan itself counts questions and time.
type Usage struct {
	Input  int64  `json:"inputTokens,omitempty"`
	Cached int64  `json:"cachedTokens,omitempty"` // of the input tokens: read from a cache of the provider
	Output int64  `json:"outputTokens,omitempty"`
	Cost   Money  `json:"cost,omitempty"`  // in the currency of the operator's prices
	Model  string `json:"model,omitempty"` // that was used; "" for a sum

	Seconds   int64 `json:"seconds,omitempty"`   // since the objective has begun; only where a budget is checked
	Questions int64 `json:"questions,omitempty"` // gates at which people were asked
	Calls     int64 `json:"calls,omitempty"`     // tasks that were handed over to other agents
	Ran       int64 `json:"ran,omitempty"`       // seconds in which tasks ran, all of them added up: the plan measures it, and no budget counts it
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Output: u.Output + v.Output, Cost: u.Cost + v.Cost,
		Seconds: u.Seconds + v.Seconds, Questions: u.Questions + v.Questions, Calls: u.Calls + v.Calls, Ran: u.Ran + v.Ran,
	}
}

// Minus returns u without v.
func (u Usage) Minus(v Usage) Usage {
	return u.Plus(Usage{-v.Input, -v.Cached, -v.Output, -v.Cost, "", -v.Seconds, -v.Questions, -v.Calls, -v.Ran})
}

// Reported returns what counts of a usage that comes from an executor: questions reach people through the plan, and
// the plan measures time.
func (u Usage) Reported() Usage {
	u.Questions, u.Seconds, u.Ran = 0, 0, 0
	return u
}

// TimeAlone reports whether nothing but time was used.
func (u Usage) TimeAlone() bool { return u == Usage{Ran: u.Ran} }

// IsZero reports whether nothing was used.
func (u Usage) IsZero() bool { return u.Plus(Usage{}) == Usage{} }

// most is the largest number of tokens, and of millionths, that one report may have: the sum of millions fits an int64.
const most = 1 << 40

// Plausible reports whether a usage from outside the server can be added up.
func (u Usage) Plausible() bool {
	for _, n := range []int64{u.Input, u.Cached, u.Output, int64(u.Cost), u.Seconds, u.Questions, u.Calls, u.Ran} {
		if n < 0 || n > most {
			return false
		}
	}
	return u.Cached <= u.Input && len(u.Model) <= MaxName
}

// Money is an amount in millionths of the operator's currency, so that sums are exact. As JSON it is a decimal
// number with up to six digits after the point. It reads decimal numbers and strings of these, and rounds them,
// but none to zero: a budget of zero is no limit.
type Money int64

// million is the number of millionths.
const million = 1_000_000

// String returns m as a decimal with two digits after the point, and up to six where it needs them.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	text := strings.TrimRight(fmt.Sprintf("%06d", m%million), "0")
	return fmt.Sprintf("%s%d.%s%s", sign, m/million, text, "00"[min(2, len(text)):])
}

// MarshalJSON implements [json.Marshaler].
func (m Money) MarshalJSON() ([]byte, error) {
	return []byte(strings.TrimSuffix(strings.TrimRight(m.String(), "0"), ".")), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Money) UnmarshalJSON(data []byte) error {
	return m.UnmarshalText([]byte(strings.Trim(string(data), `"`)))
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *Money) UnmarshalText(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := strconv.ParseFloat(string(text), 64)
	if n *= million; err != nil || !(math.Abs(n) <= 1<<53) {
		return fmt.Errorf("%q is no amount", text)
	}
	if *m = Money(math.Round(n)); *m == 0 && n > 0 {
		*m = 1
	}
	return nil
}

// A Price is the price of a million tokens.
type Price struct {
	Input  Money `yaml:"input"`
	Cached Money `yaml:"cached"` // of input from a cache; 0 for that of other input
	Output Money `yaml:"output"`
}

// Of returns what u costs, rounded once.
func (p Price) Of(u Usage) Money {
	cached := p.Cached
	if cached == 0 {
		cached = p.Input
	}
	sum := (u.Input-u.Cached)*int64(p.Input) + u.Cached*int64(cached) + u.Output*int64(p.Output)
	return Money((sum + million/2) / million)
}

// Grouped returns a number with commas between thousands, for people.
func Grouped(n int64) string {
	digits := []byte(strconv.FormatInt(n, 10))
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = slices.Insert(digits, i, ',')
	}
	return string(digits)
}

// Budgets are what one task, its plan and all tasks of its objective may spend.
type Budgets struct {
	Task      SpendLimit `json:"task,omitzero"`
	Objective SpendLimit `json:"objective,omitzero"`
	Plan      SpendLimit `json:"plan,omitzero"`
}

// A Used is what readers see of the usage of an objective, a plan or a task, in all its attempts.
type Used struct {
	Usage
	Limit SpendLimit // of the latest attempt
}

// IsZero reports whether readers see no usage. Of questions alone they see the gates.
func (u Used) IsZero() bool {
	u.Questions = 0
	return u.Usage.IsZero()
}

// Share returns how much of its limits is used, of the kind that is nearest to its end; 1 is all.
func (u Used) Share() (most float64) {
	for _, k := range [][2]int64{
		{u.Input + u.Output, u.Limit.Tokens}, {int64(u.Cost), int64(u.Limit.Cost)}, {u.Seconds, u.Limit.Time},
		{u.Questions, int64(u.Limit.Questions) - 1}, {u.Calls, int64(u.Limit.Calls) - 1},
	} {
		if used, limit := k[0], k[1]; limit > 0 {
			most = max(most, float64(used)/float64(limit))
		}
	}
	return most
}

// AddUsed adds u, of an A2A task, to what readers see of o. "" is for what belongs to no task.
func AddUsed(o *Objective, taskID string, u Usage) {
	o.Used.Usage = o.Used.Plus(u)
	ref, _ := ParseID(taskID)
	if p := o.Plan(ref.PlanID); p != nil {
		p.Used.Usage = p.Used.Plus(u)
		for _, t := range p.Tasks {
			if t.ID == ref.TaskID {
				t.Used.Usage = t.Used.Plus(u)
			}
		}
	}
}

// UsedBy returns what plans have used, by their ids, without those that have used nothing.
func UsedBy(plans []*Plan) map[string]Usage {
	used := map[string]Usage{}
	for _, p := range plans {
		if !p.Used.Usage.IsZero() {
			used[p.ID] = p.Used.Usage
		}
	}
	return used
}

// SetBudgets sets what readers see of the budgets of t, a task of o, and of o.
func SetBudgets(o *Objective, t *Task, to Budgets) {
	t.Used.Limit = to.Task
	o.Used.Limit = o.Used.Limit.Highest(to.Objective)
}

// A SpendLimit is the most that may be used, by kind. The zero value of a member is no limit.
type SpendLimit struct {
	Tokens    int64 `json:"tokens,omitempty" yaml:"tokens"` // of input and output together
	Cost      Money `json:"cost,omitempty" yaml:"cost"`     // in the currency of the configured prices
	Time      int64 `json:"time,omitempty" yaml:"-"`        // seconds since the objective has begun
	Questions Cap   `json:"questions,omitempty" yaml:"-"`
	Calls     Cap   `json:"calls,omitempty" yaml:"-"`
}

// A Cap is the most of a kind that is counted one by one, where 0 is a limit, too. It is one more than the
// limit, as JSON the limit itself.
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

// RaisedTo returns l with those limits of to that are higher. A kind without a limit gets none.
func (l SpendLimit) RaisedTo(to SpendLimit) SpendLimit {
	return each(l, to, func(limit, to int64) int64 {
		if limit == 0 {
			return 0
		}
		return max(limit, to)
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

// After returns l for one who counts from spent on: each limit is higher by it.
func (l SpendLimit) After(spent Usage) SpendLimit {
	used := SpendLimit{spent.Input + spent.Output, spent.Cost, spent.Seconds, Cap(spent.Questions), Cap(spent.Calls)}
	return each(l, used, func(limit, used int64) int64 {
		if limit == 0 {
			return 0
		}
		return max(limit+used, 1)
	})
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
	OnExceeded string     `json:"onExceeded,omitempty"`
	Most       SpendLimit `json:"most,omitzero"` // above which no one raises it: the operator's, in a [PlanSpec] alone
}

// Under returns b, the budget of a request, under that of a playbook; nil for none. A request without a budget gets
// that of the playbook.
func (b Budget) Under(playbook *Budget) Budget {
	switch {
	case playbook == nil:
		return b
	case b == Budget{}:
		b = *playbook
	}
	b.Most = playbook.Most
	b.SpendLimit = b.Within(b.Most)
	return b
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

// BillFor returns the bill for u, in the kinds of budgets.
func BillFor(u Usage) Bill {
	u.Ran = 0
	return Bill{u}
}
