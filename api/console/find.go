package console

import (
	"strings"

	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// mostFound is how many of each kind the page of a search shows.
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

// showFound shows the objectives, tasks, gates and people with a text. An id leads to what
// it names.
func showFound(v *visit) (view, error) {
	text := strings.TrimSpace(v.r.URL.Query().Get("q"))
	if to := pageOfAny(text); to != "" {
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

// pageOfAny returns the address of what an id names, "" for a text that is none.
func pageOfAny(text string) string {
	if task, _, found := strings.Cut(text, ":"); found {
		if ref, ok := opt.ParseID(task); ok && ref.TaskID != "" {
			return gatePath(text)
		}
	}
	return pageOf(text)
}
