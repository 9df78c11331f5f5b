package opt

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Output: u.Output + v.Output, Cost: u.Cost + v.Cost,
		Seconds: u.Seconds + v.Seconds, Questions: u.Questions + v.Questions, Calls: u.Calls + v.Calls,
	}
}

// Reported returns what counts of a usage that comes from an executor: questions reach people through the plan, and
// time passes for all.
func (u Usage) Reported() Usage {
	u.Questions, u.Seconds = 0, 0
	return u
}

// IsZero reports whether nothing was used.
func (u Usage) IsZero() bool { return u.Plus(Usage{}) == Usage{} }

// most is the largest number of tokens, and of millionths, that one report may have: the sum of millions fits an int64.
const most = 1 << 40

// Plausible reports whether a usage from outside the server can be added up.
func (u Usage) Plausible() bool {
	for _, n := range []int64{u.Input, u.Cached, u.Output, int64(u.Cost), u.Seconds, u.Questions, u.Calls} {
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

// Budgets are what an executor lets one task and all tasks of its objective spend.
type Budgets struct {
	Task      SpendLimit `json:"task,omitzero"`
	Objective SpendLimit `json:"objective,omitzero"`
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

// SetBudgets sets what readers see of the budgets of t, a task of o, and of o.
func SetBudgets(o *Objective, t *Task, to Budgets) {
	t.Used.Limit = to.Task
	o.Used.Limit = o.Used.Limit.Highest(to.Objective)
}
