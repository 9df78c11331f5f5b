package console

import (
	"cmp"
	"strings"

	"longhaul/api/gate"
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
	Gates []gateCard
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
	if to := pathOfID(text); to != "" {
		return view{Location: to}, nil
	}
	out := findings{Text: shorten(text, mostSearched)}
	var err error
	if out.Text != "" {
		err = cmp.Or(out.work(v), out.people(v))
	}
	return view{Template: "find", Title: "Find", Data: out}, err
}

// pathOfID returns the address of what an id names, "" for a text that is none.
func pathOfID(text string) string {
	ref, ok := opt.ParseID(text)
	switch {
	case ok && ref.ObjectiveID == text:
		return objectivePath(text)
	case ok:
		return pageOf(text)
	}
	if task, _, found := strings.Cut(text, ":"); found {
		if ref, ok := opt.ParseID(task); ok && ref.TaskID != "" {
			return gatePath(text)
		}
	}
	return ""
}

// work finds objectives, tasks and gates.
func (f *findings) work(v *visit) (err error) {
	f.ObjectivePage, err = v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{
		Filter: shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: mostFound}, Text: f.Text, Tasks: mostFound},
	})
	if err != nil {
		return err
	}
	gates, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{Filter: shown.InterruptFilter{Urgent: true, Text: f.Text, Limit: mostFound}})
	for _, i := range gates.Interrupts {
		f.Gates = append(f.Gates, cardOf(i, v.cfg.Now()))
	}
	return err
}

// people finds what the one whose name the text is has asked for.
func (f *findings) people(v *visit) error {
	asked, err := v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{
		Filter: shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: 1}, Principal: f.Text},
	})
	f.Asked = asked.Total
	return err
}
