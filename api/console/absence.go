package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/absence"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// absences is the data of the page with the absences of the tenant and the form for another one.
type absences struct {
	filledForm
	wire.AbsenceList
	v   *visit
	now a2a.Time
}

// Ends reports whether the caller may end an absence.
func (p absences) Ends(a wire.Absence) bool {
	concerns := p.v.has(call.RespondApprovals) && (a.Principal == p.v.call.Principal || a.Deputy == p.v.call.Principal)
	return a.EndedAt.IsZero() && p.now.Millis() < a.Until.Millis() && (concerns || p.v.has(call.ManageAbsences))
}

// State says whether an absence is over, in words.
func (p absences) State(a wire.Absence) string { return shown.AbsenceText(a.Absence, a.Active, p.now) }

func showAbsences(v *visit) (view, error) { return absencesOf(v, newFilledForm(url.Values{})) }

// absencesOf returns the page with a form.
func absencesOf(v *visit, f filledForm) (view, error) {
	list, err := v.cfg.Service.Absences.List(v.r.Context(), v.call, struct{}{})
	return view{Template: "absences", Title: "Absences", Data: absences{f, list, v, a2a.At(v.cfg.Now())}}, err
}

// addAbsence makes the absence of a form. Its days are whole days in UTC.
func addAbsence(v *visit) (view, error) {
	return makeRule(v, absencesOf, func() (string, error) {
		p := absence.AddParams{Principal: strings.TrimSpace(v.field("principal")), Deputy: strings.TrimSpace(v.field("deputy"))}
		none := func(group string) bool { return group == "" }
		p.Groups = slices.DeleteFunc(each(strings.Split(v.field("groups"), ","), strings.TrimSpace), none)
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
