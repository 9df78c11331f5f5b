package opt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// Amounts are exact: as text, as JSON in both directions, and as sums.
func TestMoney(t *testing.T) {
	for text, want := range map[string]struct {
		of        opt.Money
		text, doc string
	}{
		"0":                     {0, "0.00", "0"},
		"3":                     {3_000_000, "3.00", "3"},
		"12.5":                  {12_500_000, "12.50", "12.5"},
		"0.000123":              {123, "0.000123", "0.000123"},
		"0.30000000000000004":   {300_000, "0.30", "0.3"},
		`"0.1"`:                 {100_000, "0.10", "0.1"},
		"1e-9":                  {1, "0.000001", "0.000001"}, // not zero, which is no limit
		"-0.5":                  {-500_000, "-0.50", "-0.5"},
		"9007199254.740992":     {1 << 53, "9007199254.740992", "9007199254.740992"},
		"null":                  {0, "0.00", "0"},
		"1000000":               {1_000_000_000_000, "1000000.00", "1000000"},
		"2.5000000000000000001": {2_500_000, "2.50", "2.5"},
	} {
		var m opt.Money
		if err := json.Unmarshal([]byte(text), &m); err != nil || m != want.of || m.String() != want.text {
			t.Errorf("%s is %d, %s, error %v, want %d, %s", text, m, m, err, want.of, want.text)
		}
		if doc, err := json.Marshal(m); err != nil || string(doc) != want.doc {
			t.Errorf("%s as JSON is %s, error %v, want %s", text, doc, err, want.doc)
		}
	}
	for _, text := range []string{`"x"`, `""`, "1e300", `"nan"`, `"inf"`, "{}"} {
		if err := json.Unmarshal([]byte(text), new(opt.Money)); err == nil {
			t.Errorf("%s is an amount", text)
		}
	}
	var sum opt.Usage
	for range 10 {
		var u opt.Usage
		test.OK(t, json.Unmarshal([]byte(`{"inputTokens":1,"cost":0.1,"model":"m"}`), &u))
		sum = sum.Plus(u)
	}
	test.Is(t, "ten times 0.1 is", opt.Usage{Input: 10, Cost: 1_000_000}, sum)
}

// The price of a turn is rounded once, and input from a cache has its own.
func TestPrice_Of(t *testing.T) {
	p := opt.Price{Input: 2_500_000, Output: 10_000_000}
	used := opt.Usage{Input: 1001, Cached: 1000, Output: 3}
	if got := p.Of(used); got != 2533 { // 2502.5 + 30
		t.Errorf("without a price of the cache: %d", got)
	}
	p.Cached = 250_000
	if got := p.Of(used); got != 283 { // 2.5 + 250 + 30 = 282.5
		t.Errorf("with one: %d", got)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 12_400: "12,400", 1_234_567: "1,234,567", -100: "-100", -1000: "-1,000"} {
		test.Is(t, fmt.Sprint(n), want, opt.Grouped(n))
	}
}

// An objective shows the sum of all attempts at all tasks, and of planners; plans and tasks show theirs.
func TestAddUsed(t *testing.T) {
	first, second := &opt.Task{ID: task(1, 0)}, &opt.Task{ID: task(1, 1), Run: 2}
	p := &opt.Plan{ID: plan(1), Tasks: []*opt.Task{first, second}}
	o := &opt.Objective{ID: objectiveID, Plans: []*opt.Plan{p}}
	for _, id := range []string{"", task(1, 0), task(1, 1), opt.RootID(task(1, 1), 2), task(7, 0)} { // the last one was removed by a reset
		opt.AddUsed(o, id, opt.Usage{Input: 1, Cost: 2})
	}
	opt.SetBudgets(o, first, opt.Budgets{Task: opt.SpendLimit{Tokens: 5}, Objective: opt.SpendLimit{Tokens: 10, Cost: 3}})
	opt.SetBudgets(o, second, opt.Budgets{Objective: opt.SpendLimit{Tokens: 20}})
	for of, tt := range map[string]struct {
		got  opt.Used
		want int64
		most opt.SpendLimit
	}{
		"objective": {o.Used, 5, opt.SpendLimit{Tokens: 20, Cost: 3}}, "plan": {p.Used, 3, opt.SpendLimit{}},
		"first": {first.Used, 1, opt.SpendLimit{Tokens: 5}}, "second": {second.Used, 2, opt.SpendLimit{}},
	} {
		if tt.got.Input != tt.want || tt.got.Cost != opt.Money(2*tt.want) || tt.got.Limit != tt.most {
			t.Errorf("the %s shows %+v, want %d, limit %+v", of, tt.got, tt.want, tt.most)
		}
	}
}

// A program elsewhere cannot report a usage that takes back what others have used.
func TestOutcome_Returns_usage(t *testing.T) {
	for u, ok := range map[opt.Usage]bool{
		{}: true, {Input: 10, Cached: 10, Output: 1, Cost: 5, Model: "own"}: true,
		{Input: -1}: false, {Output: -1}: false, {Cost: -1}: false, {Input: 1 << 60}: false, {Input: 1, Cached: 2}: false, {Cached: -1}: false,
		{Model: strings.Repeat("m", opt.MaxName+1)}: false,
	} {
		o := opt.Outcome{State: opt.TaskCompleted, Usage: &u}
		if why := o.Returns(); (why == "") != ok {
			t.Errorf("%+v: %q", u, why)
		}
	}
	o := opt.Outcome{State: opt.TaskCompleted, Usage: &opt.Usage{Input: 1}, Budgets: &opt.Budgets{}}.Allowed()
	if o.Usage == nil || o.Budgets != nil {
		t.Errorf("it may set %+v", o)
	}
}

// A raise lowers no limit, and adds none.
func TestSpendLimit_RaisedTo(t *testing.T) {
	got := opt.SpendLimit{Tokens: 20, Time: 60}.RaisedTo(opt.SpendLimit{Tokens: 40, Cost: 5, Time: 30})
	test.Is(t, "raised to", (opt.SpendLimit{Tokens: 40, Time: 60}), got)
}
