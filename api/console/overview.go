package console

import (
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// overview is the data of the page with the state of all work.
type overview struct {
	At, Oldest       a2a.Time
	Gates            int
	Open             []statusCount
	Completed        int // in the last day, like the others
	Failed, Canceled int
	Hours            hours
	Costs            []shown.Cost // of models, in the last day
	May              bool         // begin work
}

// A statusCount is a bar with the number of objectives in a status.
type statusCount struct {
	shown.Look
	Status opt.ObjectiveStatus
	N      int
	Width  int // of the bar, of 100
}

// showOverview shows the work that runs, waits, or has ended in the last day.
func showOverview(v *visit) (view, error) {
	seen, err := v.cfg.Service.Overviews.GetOverview(v.r.Context(), v.call)
	if err != nil {
		return view{}, err
	}
	data := overview{At: seen.At, Oldest: seen.Oldest, Gates: seen.Gates, Hours: hoursOf(seen), Costs: seen.Costs, May: v.has(call.CreateRuns)}
	most := 1
	for _, n := range seen.Open {
		most = max(most, n)
	}
	for _, s := range opt.ObjectiveStatuses {
		if !s.Ended() {
			n := seen.Open[s]
			data.Open = append(data.Open, statusCount{lookOfStatus(s), s, n, (100*n + most - 1) / most})
		}
	}
	for _, h := range data.Hours.List {
		data.Completed, data.Failed, data.Canceled = data.Completed+h.Completed, data.Failed+h.Failed, data.Canceled+h.Canceled
	}
	return view{Template: "overview", Title: "Overview", Refresh: 5, Data: data}, nil
}

// lookOfStatus returns how pages show a status without its reason.
func lookOfStatus(s opt.ObjectiveStatus) shown.Look {
	look := shown.LookOfTask(s)
	if s == opt.ObjectiveBlocked {
		look.Word = "waiting or paused"
	}
	return look
}

// The sizes of the picture of the hours. It fits a phone.
const (
	hoursWidth, hoursHeight = 336, 120
	hoursTop, hoursBase     = 16, 100 // of the tallest bar
	hourStep, hourWidth     = 14, 10
)

// hours is the picture of the work that has ended, hour by hour.
type hours struct {
	W, H, Top, Base int
	Most            int // in one hour, as high as the tallest bar
	List            []endedHour
}

// An endedHour is the bar of an hour: the parts of it stand on each other.
type endedHour struct {
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

// hoursOf returns the picture of the hours of an overview.
func hoursOf(seen read.OverviewOf) hours {
	out := hours{W: hoursWidth, H: hoursHeight, Top: hoursTop, Base: hoursBase}
	byHour := map[int64]*endedHour{}
	for at := seen.Since.Time(); !at.After(seen.At.Time()); at = at.Add(time.Hour) {
		out.List = append(out.List, endedHour{At: a2a.At(at), X: len(out.List) * hourStep})
	}
	for i := range out.List {
		byHour[out.List[i].At.Millis()] = &out.List[i]
	}
	for _, e := range seen.Ended {
		h := byHour[e.At.Millis()]
		switch {
		case h == nil: // the hour has just begun
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
		out.List[i].stack(out.Most)
	}
	return out
}

// stack makes the parts of the bar. A part that is not empty is visible, even if it is
// small.
func (h *endedHour) stack(most int) {
	base := hoursBase
	for _, part := range []struct {
		class string
		n     int
	}{{"completed", h.Completed}, {"failed", h.Failed}, {"canceled", h.Canceled}} {
		if part.n == 0 {
			continue
		}
		height := max(2, part.n*(hoursBase-hoursTop)/most)
		base -= height
		h.Parts = append(h.Parts, barPart{part.class, h.X, base, hourWidth, height})
	}
}
