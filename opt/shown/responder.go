package shown

import (
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// Named lists those who are named as ones who may answer.
func Named(r *opt.Responders) []string {
	if r == nil {
		return nil
	}
	list := slices.Clone(r.Principals)
	for _, g := range r.Groups {
		list = append(list, "the group "+g)
	}
	return list
}

// Joined joins names of those who may answer, with "or" if one of them is enough.
func Joined(r *opt.Responders, names []string) string {
	if last := len(names) - 1; last > 0 && !r.Several() {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, ", ")
}

// Silent names those who are asked by name at a gate and have not voted.
func Silent(g *opt.Gate) (names []string) {
	for _, name := range Named(g.Responders) {
		if !g.Voted(name) {
			names = append(names, Name(name))
		}
	}
	return names
}

// People says who can answer a gate.
func People(g *opt.Gate) string {
	switch names := Silent(g); {
	case len(names) > 0:
		return Joined(g.Responders, few(names))
	case g.Responders != nil && g.Responders.NotRequester:
		return "anyone but those who shaped the work"
	}
	return "anyone who may answer"
}

// Who says who may answer, "" for everyone with the scope.
func Who(r *opt.Responders) string {
	if r == nil {
		return ""
	}
	text := Joined(r, Named(r))
	if text == "" && (r.NotRequester || r.Several()) {
		text = "everyone"
	}
	if r.NotRequester {
		text += ", but not who asked for the work"
	}
	if r.Several() {
		text += fmt.Sprintf("; %d have to accept", r.Accepts)
		if r.NoVeto {
			text += fmt.Sprintf(", and %d to reject", r.Accepts)
		}
	}
	return a2a.Visible(text)
}

// AbsenceText says how an absence, which is active or not, stands at a time.
func AbsenceText(a opt.Absence, active bool, now a2a.Time) string {
	switch {
	case active:
		return "now"
	case !a.EndedAt.IsZero():
		return "ended by " + a2a.Visible(a.EndedBy)
	case now.Millis() < a.From.Millis():
		return "later"
	}
	return "over"
}
