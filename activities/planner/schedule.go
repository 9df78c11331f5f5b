package planner

import (
	"errors"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/opt"
)

// Owners of the schedules of playbooks that name none. No caller can be this
// principal.
const (
	scheduleTenant    = "default"
	schedulePrincipal = opt.OwnNames + "schedules"
)

// A schedule is one that a playbook declares.
type schedule struct {
	line int
	opt.Schedule
}

// scheduleReader is the part of a source that reads schedules.
type scheduleReader struct{ *source }

// schedule reads a schedule. Its playbook and its id are set later.
func (s scheduleReader) schedule(n *yaml.Node) schedule {
	out := schedule{line: n.Line, Schedule: opt.Schedule{
		Tenant: scheduleTenant, Principal: schedulePrincipal, Overlap: opt.OverlapSkip, CatchUp: opt.DefaultCatchUp,
	}}
	s.object(n, "a schedule", table{
		"name":      func(n *yaml.Node) { out.ID = s.str(n) },
		"text":      func(n *yaml.Node) { out.Text = s.str(n) },
		"cron":      func(n *yaml.Node) { out.Times.Cron = s.crons(n) },
		"every":     func(n *yaml.Node) { out.Times.Every = s.span(n) },
		"time-zone": func(n *yaml.Node) { out.Times.TimeZone = s.zone(n) },
		"jitter":    func(n *yaml.Node) { out.Times.Jitter = s.span(n) },
		"overlap":   func(n *yaml.Node) { out.Overlap = opt.Overlap(s.str(n)) },
		"catch-up":  func(n *yaml.Node) { out.CatchUp = s.span(n) },
		"context":   func(n *yaml.Node) { out.ContextID = s.str(n) },
		"tenant":    func(n *yaml.Node) { out.Tenant = s.str(n) },
		"principal": func(n *yaml.Node) { out.Principal = s.str(n) },
	})
	return out
}

// crons reads a cron expression, or a list of them.
func (s scheduleReader) crons(n *yaml.Node) []string {
	if n.Kind == yaml.SequenceNode {
		return s.strs(n)
	}
	return []string{s.str(n)}
}

// zone reads the name of a time zone.
func (s scheduleReader) zone(n *yaml.Node) string {
	name := s.str(n)
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		s.fail(n, "must be a name of the IANA time zone database, such as Europe/Berlin")
	}
	return name
}

// span reads a duration of whole seconds.
func (s scheduleReader) span(n *yaml.Node) int64 {
	d, ok := wholeSeconds(n.Value)
	if !ok {
		s.fail(n, "must be a duration of whole seconds, such as 90s, 2h or 7d")
	}
	return int64(d / time.Second)
}

// schedules checks the schedules of a playbook, and gives them their ids.
func (s checks) schedules(b *playbook) {
	if len(b.schedules) > 0 && !opt.ScheduleName(b.name) {
		s.wrong.add(s.file, b.line, "a playbook with schedules needs a name of 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit")
		return
	}
	for i := range b.schedules {
		x := &b.schedules[i]
		name := x.ID
		x.Playbook, x.Skill, x.ID = b.name, b.name, opt.PlaybookScheduleID(b.name, name)
		var wrong *opt.SpecError
		switch twice := slices.ContainsFunc(b.schedules[:i], func(y schedule) bool { return y.ID == x.ID }); {
		case name == "":
			s.wrong.add(s.file, x.line, "a schedule needs a name")
		case twice:
			s.wrong.add(s.file, x.line, "another schedule has the name %q", name)
		case errors.As(x.Check(), &wrong):
			s.wrong.add(s.file, x.line, "%s of the schedule %q %s", memberOf(wrong.Field), name, wrong.Problem)
		}
	}
}

// memberOf returns the member of a schedule in a playbook that a field of opt is.
func memberOf(field string) string {
	switch field {
	case "id":
		return "name"
	case "catchUp":
		return "catch-up"
	case "timeZone":
		return "time-zone"
	}
	return field
}
