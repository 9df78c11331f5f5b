package console

import (
	"net/url"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/absence"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt/wire"
)

// absences is the data of the page with the absences of the tenant and the form for another one.
type absences struct {
	filledForm
	Rows   []absenceRow
	Own    bool // the caller may be absent
	Others bool // and may say so for others
}

// May reports whether the caller may make an absence.
func (a absences) May() bool { return a.Own || a.Others }

// An absenceRow is a line of the list.
type absenceRow struct {
	wire.Absence
	State string
	Ends  bool // the caller may end it
}

func showAbsences(v *visit) (view, error) { return absencesOf(v, newFilledForm(url.Values{})) }

// absencesOf returns the page with a form.
func absencesOf(v *visit, f filledForm) (view, error) {
	list, err := v.cfg.Service.Absences.List(v.r.Context(), v.call, struct{}{})
	data := absences{filledForm: f, Own: v.has(call.RespondApprovals) && !v.call.Anonymous, Others: v.has(call.ManageAbsences)}
	now := a2a.At(v.cfg.Now())
	for _, a := range list.Absences {
		row := absenceRow{Absence: a, State: absenceState(a, now)}
		concerns := v.has(call.RespondApprovals) && (a.Principal == v.call.Principal || a.Deputy == v.call.Principal)
		row.Ends = a.EndedAt.IsZero() && now.Millis() < a.Until.Millis() && (concerns || data.Others)
		data.Rows = append(data.Rows, row)
	}
	return view{Template: "absences", Title: "Absences", Data: data}, err
}

// absenceState says whether an absence is over at a time, in words.
func absenceState(a wire.Absence, now a2a.Time) string {
	switch {
	case a.Active:
		return "now"
	case !a.EndedAt.IsZero():
		return "ended by " + a2a.Visible(a.EndedBy)
	case now.Millis() < a.From.Millis():
		return "later"
	}
	return "over"
}

// addAbsence makes the absence of a form. Its days are whole days in UTC.
func addAbsence(v *visit) (view, error) {
	return makeRule(v, absencesOf, func() (string, error) {
		p := absence.AddParams{Principal: strings.TrimSpace(v.field("principal")), Deputy: strings.TrimSpace(v.field("deputy"))}
		for _, group := range strings.Split(v.field("groups"), ",") {
			if group = strings.TrimSpace(group); group != "" {
				p.Groups = append(p.Groups, group)
			}
		}
		if p.Deputy == "" {
			return "", call.InvalidField("deputy", "is missing")
		}
		var from, until bool
		if p.From, from = dayOf(v.field("from"), 0); !from {
			return "", call.InvalidField("from", noDay)
		}
		if p.Until, until = dayOf(v.field("until"), 1); !until {
			return "", call.InvalidField("until", noDay)
		}
		_, err := v.cfg.Service.Absences.Add(v.r.Context(), v.call, p)
		return absencesPath, err
	})
}

// dayOf returns the beginning of a day such as 2026-05-31, or of one some days later; zero for no text.
func dayOf(text string, later int) (at a2a.Time, ok bool) {
	if text == "" {
		return at, true
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1970 || day.Year() > 9998 {
		return at, false
	}
	return a2a.At(day.AddDate(0, 0, later)), true
}

// noDay is the problem of a field that has no day.
const noDay = "is not a day such as 2026-05-31"

func endAbsence(v *visit) (view, error) {
	_, err := v.cfg.Service.Absences.End(v.r.Context(), v.call, read.IDParams{ID: v.r.PathValue("id")})
	return view{Location: absencesPath}, err
}
