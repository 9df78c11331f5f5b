package planner

import (
	"errors"
	"slices"

	"longhaul/opt"
	"longhaul/opt/timetable"
)

// Owners of the schedules of playbooks that name none. No caller can be this
// principal.
const (
	scheduleTenant    = opt.DefaultTenant
	schedulePrincipal = opt.OwnNames + "schedules"
)

// A schedule is one that a playbook declares.
type schedule struct {
	line int
	timetable.Schedule
}

// schedules checks the schedules of a playbook, and gives them their ids.
func (c *checks) schedules(b *playbook) {
	if len(b.schedules) > 0 && !timetable.ScheduleName(b.name) {
		c.fail(b.line, "a playbook with schedules needs a name of 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit")
		return
	}
	for i := range b.schedules {
		x := &b.schedules[i]
		name := x.ID
		x.Playbook, x.Skill, x.ID = b.name, b.name, timetable.PlaybookScheduleID(b.name, name)
		var wrong *opt.SpecError
		switch twice := slices.ContainsFunc(b.schedules[:i], func(y schedule) bool { return y.ID == x.ID }); {
		case name == "":
			c.fail(x.line, "a schedule needs a name")
		case twice:
			c.fail(x.line, "another schedule has the name %q", name)
		case errors.As(x.Check(), &wrong):
			c.fail(x.line, "%s of the schedule %q %s", memberOf(wrong.Field), name, wrong.Problem)
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
