package opt

import "longhaul/a2a"

// A Budget is the value of [a2a.ExtensionBudget] in the message that begins work: what this may
// spend. 0 is no limit.
type Budget struct {
	Tokens     int64  `json:"tokens,omitempty"` // of input and output together
	Cost       Money  `json:"cost,omitempty"`   // in the currency of the configured prices
	OnExceeded string `json:"onExceeded,omitempty"`
}

// Values of Budget.OnExceeded. "" is Ask.
const (
	AskBudget  = "ask"  // the one who set the budget may raise it
	FailBudget = "fail" // the task fails
)

// OnExceeded lists the values of Budget.OnExceeded.
var OnExceeded = []string{AskBudget, FailBudget}

// Budget returns the budget in the request that began w, zero for none.
func (w Work) Budget() (b Budget) {
	for _, m := range w.Messages[:len(w.Messages)-w.Notes] {
		_ = m.Metadata.Decode(a2a.ExtensionBudget, &b) // it was checked when it came
	}
	return b
}

// Authors lists the principals who sent the request that began w, none where callers are not
// known.
func (w Work) Authors() (list []string) {
	for _, m := range w.Messages[:len(w.Messages)-w.Notes] {
		author, _ := m.Metadata.String(KeyAuthor)
		if author == "" || author == Anonymous {
			return nil
		}
		list = append(list, author)
	}
	return list
}

// Left returns the rest of b after spent. ok is false if that has reached a limit.
func (b Budget) Left(spent Usage) (left Budget, ok bool) {
	left = b
	left.Tokens -= spent.Input + spent.Output
	left.Cost -= spent.Cost
	ok = (b.Tokens == 0 || left.Tokens > 0) && (b.Cost == 0 || left.Cost > 0)
	left.Tokens, left.Cost = max(left.Tokens, 0), max(left.Cost, 0)
	return left, ok
}

// A Bill is the value of [a2a.ExtensionBudget] in the metadata of a root task.
type Bill struct {
	Spent Usage `json:"spent"`
}
