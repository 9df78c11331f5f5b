package console

import (
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt/shown"
)

// overview is the data of the page with the state of all work.
type overview struct {
	read.OverviewOf
	New        bool // nothing has been asked for yet
	Waits      []shown.Interrupt
	InAll      int // open objectives
	Day, Month chart
}

// longestWaits is how many questions an overview shows.
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

// chartOf returns the chart of the work that has ended from a time to another one, in
// stretches of a unit.
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
