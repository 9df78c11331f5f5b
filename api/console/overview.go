package console

import (
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/shown"
)

// overview is the data of the page with the state of all work.
type overview struct {
	shown.Overview
	New              bool // nothing has been asked for yet
	Waits            []gateCard
	States           []statusCount
	Ages             []ageCount
	Completed        int // in the last day, like the others
	Failed, Canceled int
	Day, Month       chart
	Costs            []shown.Cost // of models, in the last day
	Quotas           []access.Use // of what all work uses
	Workforce        *workforce   // nil: it is not asked
	May              bool         // begin work
}

// A statusCount is a bar with the number of objectives in a status.
type statusCount struct {
	statusChoice
	N     int
	Width int // of the bar, of 100
}

// An ageCount is a bar with the number of objectives of an age.
type ageCount struct {
	shown.Count
	Width int
}

// A workforce is how busy the workers are.
type workforce struct {
	shown.Workforce
	Answers bool // Temporal answers
	Workers []workerBar
}

// A workerBar is how many of its slots a worker uses.
type workerBar struct {
	shown.WorkerLoad
	Of, Width int
}

// longestWaits is how many questions an overview shows.
const longestWaits = 6

// showOverview shows the longest waits, the failures, and the work that runs or has ended.
func showOverview(v *visit) (view, error) {
	seen, err := v.cfg.Service.Overviews.GetOverview(v.r.Context(), v.call)
	if err != nil {
		return view{}, err
	}
	costs := slices.DeleteFunc(slices.Clone(seen.Costs), func(c shown.Cost) bool { return c.Usage.Input+c.Usage.Output+int64(c.Usage.Cost) == 0 })
	data := overview{Overview: seen.Overview, Costs: costs, Quotas: seen.Quotas, May: v.has(call.CreateRuns)}
	gates, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{Filter: shown.InterruptFilter{Limit: longestWaits}})
	if err != nil {
		return view{}, err
	}
	for _, i := range gates.Interrupts {
		data.Waits = append(data.Waits, cardOf(i, v.cfg.Now()))
	}
	if open := data.bars(); open+len(seen.Overview.Month) == 0 {
		all, err := v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{Filter: shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: 1}}})
		if err != nil {
			return view{}, err
		}
		data.New = all.Total == 0
	}
	data.Workforce = workforceOf(v, seen)
	data.Day, data.Month = chartOf(seen.Ended, seen.Since, seen.At, time.Hour), chartOf(seen.Overview.Month, a2a.At(seen.At.Time().Add(-29*day)), seen.At, day)
	for _, h := range data.Day.List {
		data.Completed, data.Failed, data.Canceled = data.Completed+h.Completed, data.Failed+h.Failed, data.Canceled+h.Canceled
	}
	return view{Template: "overview", Title: "Overview", Refresh: 5, Data: data}, nil
}

// workforceOf returns how busy the workers are. All tenants have the same ones: their names are for those who see all.
func workforceOf(v *visit, seen read.OverviewOf) *workforce {
	if !seen.Asked {
		return nil
	}
	w := &workforce{Workforce: seen.Workforce, Answers: seen.Answers}
	for i, one := range seen.Workforce.Workers {
		if !v.has(call.ReadCosts) {
			one.Name = fmt.Sprint("Worker ", i+1)
		}
		of := one.Used + one.Free
		w.Workers = append(w.Workers, workerBar{one, of, 100 * one.Used / max(1, of)})
	}
	return w
}

// bars adds the bars of the open objectives, and returns how many there are.
func (o *overview) bars() (open int) {
	for _, n := range o.Open {
		open += n
	}
	width := func(n int) int { return 100 * n / max(open, 1) }
	for _, s := range opt.ObjectiveStatuses {
		if n := o.Open[s]; !s.Ended() {
			o.States = append(o.States, statusCount{statusChoice{lookOfStatus(s), s}, n, width(n)})
		}
	}
	for _, n := range o.Overview.Ages {
		o.Ages = append(o.Ages, ageCount{n, width(n.N)})
	}
	return open
}

// lookOfStatus returns how pages show a status without its reason.
func lookOfStatus(s opt.ObjectiveStatus) shown.Look {
	look := shown.LookOfTask(s)
	if s == opt.ObjectiveBlocked {
		look.Word = "waiting or paused"
	}
	return look
}

// The sizes of a chart. It fits a phone.
const (
	chartWidth, chartHeight = 336, 120
	chartTop, chartBase     = 16, 100 // of the tallest bar
)

// A chart is the picture of the work that has ended, hour by hour or day by day.
type chart struct {
	W, H, Top, Base int
	Most            int // in one stretch, as high as the tallest bar
	Unit, Begin     string
	List            []endedBar
}

// An endedBar is the bar of an hour or a day: the parts of it stand on each other.
type endedBar struct {
	At                          a2a.Time
	Completed, Failed, Canceled int
	X                           int
	Parts                       []barPart
}

// A barPart is a part of a bar.
type barPart struct {
	Class      string
	X, Y, W, H int
}

// chartOf returns the chart of the work that has ended from a time to another one, in
// stretches of a unit.
func chartOf(ended []shown.Ended, from, to a2a.Time, unit time.Duration) chart {
	out := chart{W: chartWidth, H: chartHeight, Top: chartTop, Base: chartBase, Unit: "hour", Begin: "24 h ago"}
	if unit == day {
		out.Unit, out.Begin = "day", "30 days ago"
	}
	byStretch := map[int64]*endedBar{}
	for at := from.Time().Truncate(unit); !at.After(to.Time()); at = at.Add(unit) {
		out.List = append(out.List, endedBar{At: a2a.At(at)})
	}
	for i := range out.List {
		out.List[i].X = i * chartWidth / len(out.List)
		byStretch[out.List[i].At.Millis()] = &out.List[i]
	}
	for _, e := range ended {
		h := byStretch[e.At.Millis()]
		switch {
		case h == nil: // it has just begun
		case e.State == a2a.Completed:
			h.Completed += e.N
		case e.State == a2a.Canceled:
			h.Canceled += e.N
		default:
			h.Failed += e.N
		}
	}
	for _, h := range out.List {
		out.Most = max(out.Most, h.Completed+h.Failed+h.Canceled)
	}
	for i := range out.List {
		out.List[i].stack(out.Most, chartWidth/len(out.List)*3/4)
	}
	return out
}

// stack makes the parts of the bar. A part that is not empty is visible, even if it is
// small.
func (h *endedBar) stack(most, width int) {
	base := chartBase
	for _, part := range []struct {
		class string
		n     int
	}{{"completed", h.Completed}, {"failed", h.Failed}, {"canceled", h.Canceled}} {
		if part.n == 0 {
			continue
		}
		height := max(2, part.n*(chartBase-chartTop)/most)
		base -= height
		h.Parts = append(h.Parts, barPart{part.class, h.X, base, width, height})
	}
}
