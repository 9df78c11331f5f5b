package console

import (
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// objectivesSize is how many objectives a page of the list shows.
const objectivesSize = 50

// filterFields are the fields of the form with which the list is filtered, sorted and laid out.
var filterFields = []string{"text", "status", "planner", "by", "code", "age", "context", "from", "to", "sort", "cols"}

// objectives is the data of the page with the list of objectives, which the fields of its form filter.
type objectives struct {
	listing
	read.ObjectivePage
	Later bool // it is not the first page
}

// More reports whether f uses the fields that the form hides at first.
func (f objectives) More() bool { return slices.ContainsFunc(filterFields[2:], f.Has) }

// Filtered reports whether f leaves objectives out.
func (f objectives) Filtered() bool { return slices.ContainsFunc(filterFields[:9], f.Has) }

// An option is a choice of a list.
type option struct{ Value, Text string }

// ages are the choices of how old objectives are at the most.
var ages = []option{{"1h", "the last hour"}, {"24h", "the last day"}, {"168h", "the last week"}, {"720h", "the last 30 days"}}

// sorts are the orders of the list, by the names that addresses have.
var sorts = []option{{"", "Newest first"}, {string(shown.OldestFirst), "Oldest first"}, {string(shown.ChangedFirst), "Latest change first"}, {string(shown.UnchangedFirst), "Longest without a change first"}}

// columns are those that people can choose, beside the state and the name.
var columns = []option{{"progress", "Progress"}, {"planner", "Playbook"}, {"by", "Asked by"}, {"created", "Created"}, {"changed", "Changed"}, {"failure", "Failure"}}

// Column reports whether the list has a column.
func (f objectives) Column(name string) bool {
	if !f.Has("cols") {
		return name != "changed" && name != "failure"
	}
	return slices.Contains(f.Values["cols"], name)
}

func (f objectives) Ages() []option    { return ages }
func (f objectives) Sorts() []option   { return sorts }
func (f objectives) Columns() []option { return columns }

// SortBy returns the query of the list that is sorted by one of two orders: the other one, if
// it has the first.
func (f objectives) SortBy(first, second string) string {
	if f.Get("sort") == first {
		first = second
	}
	return f.with("sort", first).At("")
}

// search returns f as the service takes it.
func (f objectives) search(now time.Time) (s shown.ObjectiveSearch, err error) {
	s = shown.ObjectiveSearch{
		ObjectiveFilter: shown.ObjectiveFilter{Limit: objectivesSize, Status: opt.ObjectiveStatus(f.Get("status"))}, Text: f.Get("text"), ContextID: f.Get("context"),
		Planner: f.Get("planner"), Principal: f.Get("by"), Failure: f.Get("code"), Sort: shown.Sort(f.Get("sort")),
	}
	var wrong violations
	is := func(value string) func(option) bool { return func(o option) bool { return o.Value == value } }
	wrong.add(s.Status != "" && !s.Status.Valid(), "State", "is not one of the list")
	wrong.add(!slices.ContainsFunc(sorts, is(string(s.Sort))), "Order", "is not one of the list")
	for _, values := range f.Values {
		long := func(v string) bool { return len(v) > call.MaxID }
		wrong.add(len(values) > len(columns) || slices.ContainsFunc(values, long), "The search", "is too long")
	}
	var from, until bool
	s.Since, from = dayOf(f.Get("from"), 0)
	s.Until, until = dayOf(f.Get("to"), 1)
	wrong.add(!from, "From", noDay)
	wrong.add(!until, "To", noDay)
	if age := f.Get("age"); age != "" {
		wrong.add(!slices.ContainsFunc(ages, is(age)), "Age", "is not one of the list")
		d, _ := time.ParseDuration(age) // those of the list are valid
		s.Since = a2a.At(now.Add(-d))
	}
	return s, wrong.err()
}

// showObjectives shows the objectives that the query selects.
func showObjectives(v *visit) (view, error) {
	q := v.r.URL.Query()
	data := objectives{listing: newListing(q, filterFields...), Later: q.Get("page") != ""}
	search, err := data.search(v.cfg.Now())
	if err == nil {
		data.ObjectivePage, err = v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{Filter: search, PageToken: q.Get("page"), Standings: true})
	}
	return view{Template: "objectives", Title: "Objectives", Refresh: 5, Data: data}, err
}
