package planner

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"longhaul/opt"
)

// maxBudget bounds the limits in a budget.
const maxBudget = 1 << 40

// readBudget reads the member budget: what work gets whose message has none, and the most to which it may be raised.
func readBudget(s *source, n *yaml.Node) *opt.Budget {
	b := new(opt.Budget)
	members := limitsIn(s, &b.SpendLimit)
	members["most"] = func(n *yaml.Node) { s.object(n, "most", limitsIn(s, &b.Most)) }
	members["on-exceeded"] = func(n *yaml.Node) {
		if b.OnExceeded = s.str(n); !slices.Contains(opt.OnExceeded, b.OnExceeded) {
			s.unfit(n, "be one of %s", strings.Join(opt.OnExceeded, ", "))
		}
	}
	before := len(s.wrong)
	switch s.object(n, "budget", members); {
	case len(s.wrong) > before:
	case b.SpendLimit == opt.SpendLimit{} && b.Most == opt.SpendLimit{}:
		s.fail(n, "a budget needs tokens, cost, time, questions or calls")
	case b.Highest(b.Most) != b.Most.Or(b.SpendLimit):
		s.fail(n, `a limit of the budget is above that in "most"`)
	}
	return b
}

// limitsIn returns the readers of limits.
func limitsIn(s *source, l *opt.SpendLimit) table {
	return table{
		"tokens":    func(n *yaml.Node) { l.Tokens = int64(s.number(n, 1, maxBudget)) },
		"time":      func(n *yaml.Node) { l.Time = s.span(n) },
		"questions": func(n *yaml.Node) { l.Questions = opt.Cap(s.number(n, 0, maxBudget) + 1) },
		"calls":     func(n *yaml.Node) { l.Calls = opt.Cap(s.number(n, 0, maxBudget) + 1) },
		"cost": func(n *yaml.Node) {
			if err := l.Cost.UnmarshalText([]byte(n.Value)); err != nil || l.Cost <= 0 || l.Cost > maxBudget {
				s.unfit(n, "be a number above 0")
			}
		},
	}
}
