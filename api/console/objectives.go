package console

import (
	"net/url"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// objectivesSize is how many objectives a page of the list shows.
const objectivesSize = 50

// An objectivesFilter is what the list of objectives is to show, as the fields of its form
// have it.
type objectivesFilter struct {
	Text, Status, Context, Planner string
	From, To                       string // days of UTC, both included
}

// filterOf reads the filter from the query of a page.
func filterOf(q url.Values) objectivesFilter {
	get := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	return objectivesFilter{Text: get("text"), Status: get("status"), Context: get("context"), Planner: get("planner"), From: get("from"), To: get("to")}
}

// query returns the query of the page with f, after a page with a token unless that is "".
func (f objectivesFilter) query(page string) string {
	q := url.Values{}
	for _, field := range [][2]string{
		{"text", f.Text}, {"status", f.Status}, {"context", f.Context}, {"planner", f.Planner}, {"from", f.From}, {"to", f.To}, {"page", page},
	} {
		if field[1] != "" {
			q.Set(field[0], field[1])
		}
	}
	return "?" + q.Encode()
}

// More reports whether f uses the fields that the form hides at first.
func (f objectivesFilter) More() bool { return f.Context+f.Planner+f.From+f.To != "" }

// search returns f as the service takes it.
func (f objectivesFilter) search() (s shown.ObjectiveSearch, err error) {
	s = shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: objectivesSize}, Text: f.Text, ContextID: f.Context, Planner: f.Planner}
	var wrong []call.Violation
	if s.Status = opt.ObjectiveStatus(f.Status); f.Status != "" && !s.Status.Valid() {
		wrong = append(wrong, call.Violation{Field: "State", Description: "is not one of the list"})
	}
	if len(f.Text) > call.MaxID || len(f.Context) > call.MaxID || len(f.Planner) > call.MaxID {
		wrong = append(wrong, call.Violation{Field: "The search", Description: "is too long"})
	}
	day := func(field, text string, add int) (at a2a.Time) {
		if text == "" {
			return at
		}
		d, err := time.Parse(time.DateOnly, text)
		if err != nil || d.Year() < 1970 || d.Year() > 9998 {
			wrong = append(wrong, call.Violation{Field: field, Description: "is not a day such as 2026-05-31"})
			return at
		}
		return a2a.At(d.AddDate(0, 0, add))
	}
	s.Since, s.Until = day("From", f.From, 0), day("To", f.To, 1)
	if len(wrong) > 0 {
		return s, call.Invalid(wrong...)
	}
	return s, nil
}

// objectives is the data of the page with the list of objectives.
type objectives struct {
	objectivesFilter
	Filtered bool
	Statuses []statusChoice
	Rows     []objectiveRow
	Total    int
	AtLeast  bool
	First    string // query of the first page, "" on that
	Next     string // of the next page, "" for none
	May      bool   // begin work
}

// A statusChoice is a status by which the list can be filtered.
type statusChoice struct {
	shown.Look
	Status opt.ObjectiveStatus
}

func statusChoices() (out []statusChoice) {
	for _, s := range opt.ObjectiveStatuses {
		out = append(out, statusChoice{lookOfStatus(s), s})
	}
	return out
}

// An objectiveRow is a line of the list.
type objectiveRow struct {
	*opt.Objective
	shown.Standing
	Look       shown.Look
	Planner    string
	OfPlanner  string // query of the list of those with the same planner
	InContext  string // likewise of the same context, "" for an objective that is alone there
	InProgress string // the progress in words
}

// showObjectives shows the objectives that the query selects, the newest first.
func showObjectives(v *visit) (view, error) {
	q := v.r.URL.Query()
	data := objectives{objectivesFilter: filterOf(q), Statuses: statusChoices(), May: v.has(call.CreateRuns)}
	out := view{Template: "objectives", Title: "Objectives", Refresh: 5}
	search, err := data.search()
	if err != nil {
		return out, err
	}
	page, err := v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{Filter: search, PageToken: q.Get("page"), Standings: true})
	if err != nil {
		return out, err
	}
	data.Filtered = data.query("") != "?"
	data.Total, data.AtLeast = page.Total, page.AtLeast
	if page.Next != "" {
		data.Next = data.query(page.Next)
	}
	if q.Get("page") != "" {
		data.First = data.query("")
	}
	for _, o := range page.Objectives {
		data.Rows = append(data.Rows, rowOf(o, page.Standings[o.ID]))
	}
	out.Data = data
	return out, nil
}

// rowOf returns the line about an objective.
func rowOf(o *opt.Objective, s shown.Standing) objectiveRow {
	row := objectiveRow{Objective: o, Standing: s, Look: shown.LookOf(o)}
	if row.Planner, _ = o.Metadata.String(opt.KeyPlanner); row.Planner != "" {
		row.OfPlanner = objectivesFilter{Planner: row.Planner}.query("")
	}
	if o.ContextID != o.ID {
		row.InContext = objectivesFilter{Context: o.ContextID}.query("")
	}
	if s.Progress != nil {
		row.InProgress = s.Progress.Text
	}
	return row
}
