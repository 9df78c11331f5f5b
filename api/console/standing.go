package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/absence"
	"longhaul/api/call"
	"longhaul/api/read"
	rules "longhaul/api/standing"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/standing"
	"longhaul/opt/wire"
)

func showStandings(v *visit) (view, error) {
	list, err := v.cfg.Service.Standing.List(v.r.Context(), v.call, struct{}{})
	return view{Template: "standings", Title: "Standing decisions", Data: list}, err
}

func showStanding(v *visit) (view, error) {
	s, err := v.cfg.Service.Standing.Get(v.r.Context(), v.call, read.IDParams{ID: v.r.PathValue("id")})
	return view{Template: "standing", Title: "Standing decision", Data: s}, err
}

func approveStanding(v *visit) (view, error) {
	return changeStanding(v, v.cfg.Service.Standing.Approve)
}

func revokeStanding(v *visit) (view, error) { return changeStanding(v, v.cfg.Service.Standing.Revoke) }

// changeStanding changes the standing decision in the path, and leads back to its page.
func changeStanding(v *visit, change func(context.Context, *call.Call, read.IDParams) (wire.Standing, error)) (view, error) {
	s, err := change(v.r.Context(), v.call, read.IDParams{ID: v.r.PathValue("id")})
	return view{Location: standingPath(s.ID)}, err
}

type standingForm struct {
	filledForm
	Gate     *opt.Gate
	Actions  []opt.Action
	Need     int // people who have to be behind it
	MostUses int
}

// newStanding shows the form for a standing decision about gates like one. It has what answers of the
// caller propose, if they do.
func newStanding(v *visit) (view, error) {
	id := v.r.URL.Query().Get("gate")
	values := url.Values{"gate": {id}, "for": {"8h"}, "most": {"10"}}
	list, err := v.cfg.Service.Standing.List(v.r.Context(), v.call, struct{}{})
	if err != nil {
		return view{}, err
	}
	for _, p := range list.Proposals {
		if p.MadeAt == id {
			values.Set("action", string(p.Action))
			values.Set("holds", p.Holds)
		}
	}
	return standingFormOf(v, newFilledForm(values))
}

func standingFormOf(v *visit, f filledForm) (view, error) {
	if err := v.call.RequireScopes(call.RespondApprovals); err != nil {
		return view{}, err
	}
	s, err := v.gate(f.Get("gate"))
	if err != nil {
		return view{}, err
	}
	out := standingForm{filledForm: f, Gate: &s.Gate, MostUses: standing.MaxUses}
	for _, a := range []opt.Action{opt.Accept, opt.Reject} {
		if s.Gate.Allows(a) {
			out.Actions = append(out.Actions, a)
			out.Need = max(out.Need, standing.Needs(&s.Gate, a))
		}
	}
	return view{Template: "standingform", Title: "A standing decision", Data: out}, nil
}

func makeStanding(v *visit) (view, error) {
	return makeRule(v, standingFormOf, func() (string, error) {
		length, err := opt.ParseSpan(v.field("for"))
		if err != nil {
			return "", call.InvalidField("for", "must be a duration such as 8h or 7d")
		}
		most, err := strconv.Atoi(v.field("most"))
		if err != nil {
			return "", call.InvalidField("most", "must be a number")
		}
		d, err := v.cfg.Service.Standing.Make(v.r.Context(), v.call, rules.MakeParams{
			GateID: v.field("gate"), Action: v.field("action"), Holds: v.field("holds"), For: int64(length / time.Second), Most: most, Feedback: v.field("feedback"),
		})
		return standingPath(d.ID), err
	})
}

type filledForm struct {
	url.Values
	Key string // sent again with it, the form makes nothing new
}

// newFilledForm returns a form with contents. Its key is new: a refused form has made nothing.
func newFilledForm(values url.Values) filledForm { return filledForm{values, newKey()} }

// ruleFields are the fields of these forms in plain words.
var ruleFields = map[string]string{
	"interruptId": "The question:", "action": "The decision", "holds": "The condition", "for": "How long", "most": "How often", "feedback": "The reason",
	"principal": "Who is absent", "groups": "The groups", "deputy": "The deputy", "from": "The first day", "until": "The last day", "key": "This form",
}

// makeRule makes what the form of a request asks for, and leads to the address that apply returns. If
// that is refused, page returns the page with the form again, for callers who may read it.
func makeRule(v *visit, page func(*visit, filledForm) (view, error), apply func() (address string, err error)) (view, error) {
	if key := v.field("key"); len(key) <= call.MaxID {
		v.call.Key, v.call.KeyField = key, "key"
	}
	return v.submit(apply, func(f *call.Fault) (view, error) {
		form := newFilledForm(v.r.PostForm)
		if f.Kind == call.Unavailable { // it may have been made
			form.Key = v.field("key")
		}
		for i, wrong := range f.Violations {
			f.Violations[i].Field = cmp.Or(ruleFields[wrong.Field], wrong.Field)
		}
		return page(v, form)
	})
}

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
		var wrong violations
		wrong.add(p.Deputy == "", "deputy", "is missing")
		p.From, p.Until = wrong.day("from", v.field("from"), 0), wrong.day("until", v.field("until"), 1)
		if err := wrong.err(); err != nil {
			return "", err
		}
		_, err := v.cfg.Service.Absences.Add(v.r.Context(), v.call, p)
		return absencesPath, err
	})
}

func endAbsence(v *visit) (view, error) {
	_, err := v.cfg.Service.Absences.End(v.r.Context(), v.call, read.IDParams{ID: v.r.PathValue("id")})
	return view{Location: absencesPath}, err
}
