package console

import (
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

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

// ages are the choices of how old objectives are at the most.
var ages = []choice{{Value: "1h", Text: "the last hour"}, {Value: "24h", Text: "the last day"}, {Value: "168h", Text: "the last week"}, {Value: "720h", Text: "the last 30 days"}}

// sorts are the orders of the list, by the names that addresses have.
var sorts = []choice{{Value: "", Text: "Newest first"}, {Value: string(shown.OldestFirst), Text: "Oldest first"}, {Value: string(shown.ChangedFirst), Text: "Latest change first"}, {Value: string(shown.UnchangedFirst), Text: "Longest without a change first"}}

// columns are those that people can choose, beside the state and the name.
var columns = []choice{{Value: "progress", Text: "Progress"}, {Value: "planner", Text: "Playbook"}, {Value: "by", Text: "Asked by"}, {Value: "created", Text: "Created"}, {Value: "changed", Text: "Changed"}, {Value: "failure", Text: "Failure"}}

// Column reports whether the list has a column.
func (f objectives) Column(name string) bool {
	if !f.Has("cols") {
		return name != "changed" && name != "failure"
	}
	return slices.Contains(f.Values["cols"], name)
}

func (f objectives) Ages() []choice    { return ages }
func (f objectives) Sorts() []choice   { return sorts }
func (f objectives) Columns() []choice { return columns }

// SortBy returns the query of the list that is sorted by one of two orders: the other one, if it has the first.
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
	is := func(value string) func(choice) bool { return func(c choice) bool { return c.Value == value } }
	wrong.add(s.Status != "" && !s.Status.Valid(), "State", "is not one of the list")
	wrong.add(!slices.ContainsFunc(sorts, is(string(s.Sort))), "Order", "is not one of the list")
	for _, values := range f.Values {
		long := func(v string) bool { return len(v) > call.MaxID }
		wrong.add(len(values) > len(columns) || slices.ContainsFunc(values, long), "The search", "is too long")
	}
	s.Since, s.Until = wrong.day("From", f.Get("from"), 0), wrong.day("To", f.Get("to"), 1)
	if age := f.Get("age"); age != "" {
		wrong.add(!slices.ContainsFunc(ages, is(age)), "Age", "is not one of the list")
		d, _ := time.ParseDuration(age) // those of the list are valid
		s.Since = a2a.At(now.Add(-d))
	}
	return s, wrong.err()
}

func showObjectives(v *visit) (view, error) {
	q := v.r.URL.Query()
	data := objectives{listing: newListing(q, filterFields...), Later: q.Get("page") != ""}
	search, err := data.search(v.cfg.Now())
	if err == nil {
		data.ObjectivePage, err = v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{Filter: search, PageToken: q.Get("page"), Standings: true})
	}
	return view{Template: "objectives", Title: "Objectives", Refresh: 5, Data: data}, err
}

const mostFound = 10

// A findings is the data of the page with what a search has found.
type findings struct {
	Text string
	read.ObjectivePage
	Gates []shown.Interrupt
	Asked int // how many objectives the one has asked for whose name the text is
}

// Nothing reports whether the search has found nothing.
func (f findings) Nothing() bool {
	return len(f.Objectives)+len(f.Found)+len(f.Gates)+f.Asked == 0
}

// showFound shows the objectives, tasks, gates and people with a text. An id leads to what it names.
func showFound(v *visit) (view, error) {
	text := strings.TrimSpace(v.r.URL.Query().Get("q"))
	if to := pageOf(text); to != "" {
		return view{Location: to}, nil
	}
	f := &findings{Text: shorten(text, mostSearched)}
	out := view{Template: "find", Title: "Find", Data: f}
	if f.Text == "" {
		return out, nil
	}
	asked, err := v.list(shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: 1}, Principal: f.Text})
	if err != nil {
		return out, err
	}
	f.Asked = asked.Total
	f.ObjectivePage, err = v.list(shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: mostFound}, Text: f.Text, Tasks: mostFound})
	if err != nil {
		return out, err
	}
	f.Gates, err = v.waiting(shown.InterruptFilter{Urgent: true, Text: f.Text, Limit: mostFound})
	return out, err
}

type overview struct {
	read.OverviewOf
	New        bool // nothing has been asked for yet
	Waits      []shown.Interrupt
	InAll      int // open objectives
	Day, Month chart
}

const longestWaits = 6

// showOverview shows the longest waits, the failures, and the work that runs or has ended.
func showOverview(v *visit) (view, error) {
	seen, err := v.cfg.Service.Overviews.GetOverview(v.r.Context(), v.call)
	if err != nil {
		return view{}, err
	}
	seen.Costs = slices.DeleteFunc(slices.Clone(seen.Costs), func(c shown.Cost) bool { return c.Usage.Input+c.Usage.Output+int64(c.Usage.Cost) == 0 })
	data := overview{OverviewOf: seen}
	for _, n := range seen.Open {
		data.InAll += n
	}
	if data.Waits, err = v.waiting(shown.InterruptFilter{Limit: longestWaits}); err != nil {
		return view{}, err
	}
	if data.InAll+len(seen.Overview.Month) == 0 {
		all, err := v.list(shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: 1}})
		if err != nil {
			return view{}, err
		}
		data.New = all.Total == 0
	}
	data.Day, data.Month = chartOf(seen.Ended, seen.Since, seen.At, time.Hour), chartOf(seen.Overview.Month, a2a.At(seen.At.Time().Add(-29*day)), seen.At, day)
	return view{Template: "overview", Title: "Overview", Refresh: 5, Data: data}, nil
}

// The sizes of a chart, which fits a phone.
const (
	chartWidth          = 336
	chartTop, chartBase = 16, 100 // of the tallest bar
)

// A chart is the picture of the work that has ended, hour by hour or day by day.
type chart struct {
	Unit, Begin string
	Most        int // in one stretch, as high as the tallest bar
	Total       endings
	Bars        []endedBar
}

// An endings has how many objectives have been completed, have failed and were canceled.
type endings [3]int

// An endedBar is the bar of an hour or a day: the parts of it, in the order of endings, stand on each other.
type endedBar struct {
	At    a2a.Time
	N     endings
	Parts [3]block
}

// chartOf returns the chart of the work that has ended from a time to another one, in stretches of a unit.
func chartOf(ended []shown.Ended, from, to a2a.Time, unit time.Duration) chart {
	c := chart{Unit: "hour", Begin: "24 h ago"}
	if unit == day {
		c.Unit, c.Begin = "day", "30 days ago"
	}
	begin := from.Time().Truncate(unit)
	c.Bars = make([]endedBar, to.Time().Sub(begin)/unit+1)
	for _, e := range ended {
		at := int(e.At.Time().Sub(begin) / unit)
		if e.At.Time().Before(begin) || at >= len(c.Bars) { // it has just begun
			continue
		}
		kind, known := map[a2a.TaskState]int{a2a.Completed: 0, a2a.Canceled: 2}[e.State]
		if !known { // rejected, too
			kind = 1
		}
		n := &c.Bars[at].N
		n[kind] += e.N
		c.Total[kind] += e.N
		c.Most = max(c.Most, n[0]+n[1]+n[2])
	}
	for i := range c.Bars {
		b, base := &c.Bars[i], chartBase
		b.At = a2a.At(begin.Add(time.Duration(i) * unit))
		for kind, n := range b.N {
			if n > 0 { // it is visible, even if it is small
				height := max(2, n*(chartBase-chartTop)/c.Most)
				base -= height
				b.Parts[kind] = block{i * chartWidth / len(c.Bars), base, chartWidth / len(c.Bars) * 3 / 4, height}
			}
		}
	}
	return c
}
