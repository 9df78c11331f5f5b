package wire

import (
	"time"

	"longhaul/a2a"
	"longhaul/opt/timetable"
)

// A Schedule starts objectives at times.
type Schedule struct {
	ID        string                  `json:"id"`
	Name      string                  `json:"name,omitempty"`      // of the objectives; without one, each is named after the text
	Text      string                  `json:"text"`                // of the message that each objective starts with
	Skill     string                  `json:"skill,omitempty"`     // the skill or the playbook that the message is for
	ContextID string                  `json:"contextId,omitempty"` // of the objectives; without one, each has a new context
	Cron      []string                `json:"cron,omitempty"`      // cron expressions: 5 fields, 6 with a year, 7 with seconds and a year; or @daily and the like
	Every     string                  `json:"every,omitempty"`     // a duration, counted from 1970-01-01T00:00Z
	TimeZone  string                  `json:"timeZone,omitempty"`  // an IANA name, for cron; UTC without one
	Jitter    string                  `json:"jitter,omitempty"`    // a duration: each start is delayed by a random time up to it
	From      a2a.Time                `json:"from,omitzero"`
	Until     a2a.Time                `json:"until,omitzero"`
	Overlap   timetable.Overlap       `json:"overlap"` // what happens at a time of the schedule while an objective that it has started before is open
	CatchUp   string                  `json:"catchUp"` // a duration: by how much an objective may start late; later ones are left out
	Paused    bool                    `json:"paused"`
	Note      string                  `json:"note,omitempty"`
	Principal string                  `json:"principal"`          // whose objectives it starts
	Playbook  string                  `json:"playbook,omitempty"` // that declares it
	CreatedAt a2a.Time                `json:"createdAt"`
	Next      []a2a.Time              `json:"next"`    // the next times, without jitter; none while it is paused
	Runs      []timetable.ScheduleRun `json:"runs"`    // the latest, the newest first; in a list only one
	Skipped   int                     `json:"skipped"` // times that were left out because of overlap
	Missed    int                     `json:"missed"`  // times that were left out because of catchUp
}

// A ScheduleChange has the members of a schedule to set. Members that are nil or empty
// stay as they are. Durations are texts such as 90s, 2h and 7d.
type ScheduleChange struct {
	Name      *string           `json:"name,omitempty"`      // of the objectives; without one, each is named after the text
	Text      string            `json:"text,omitempty"`      // of the message that each objective starts with
	Skill     *string           `json:"skill,omitempty"`     // the skill or the playbook that the message is for
	ContextID *string           `json:"contextId,omitempty"` // of the objectives; without one, each has a new context
	Cron      []string          `json:"cron,omitzero"`       // cron expressions, as in a schedule; empty for none
	Every     string            `json:"every,omitempty"`     // a duration, counted from 1970-01-01T00:00Z
	TimeZone  *string           `json:"timeZone,omitempty"`  // an IANA name, for cron; UTC without one
	Jitter    string            `json:"jitter,omitempty"`    // a duration: each start is delayed by a random time up to it
	From      *a2a.Time         `json:"from,omitempty"`
	Until     *a2a.Time         `json:"until,omitempty"`
	Overlap   timetable.Overlap `json:"overlap,omitempty"` // what happens at a time of the schedule while an objective that it has started before is open
	CatchUp   string            `json:"catchUp,omitempty"` // a duration: by how much an objective may start late; later ones are left out
	Paused    *bool             `json:"paused,omitempty"`
	Note      *string           `json:"note,omitempty"`
}

// A NewSchedule is a schedule to make.
type NewSchedule struct {
	ID string `json:"id,omitempty"` // 1 to 64 letters, digits and . _ -
	ScheduleChange
}

// A ScheduleList has the schedules of a tenant.
type ScheduleList struct {
	Schedules []Schedule `json:"schedules"`
}

// A TriggerRequest asks for an objective of a schedule now.
type TriggerRequest struct {
	Overlap timetable.Overlap `json:"overlap,omitempty"` // in place of that of the schedule
}

// A Triggered is the result of a trigger.
type Triggered struct {
	Run     *timetable.ScheduleRun `json:"run,omitempty"` // absent if nothing was started
	Skipped bool                   `json:"skipped"`       // an objective of the schedule is open, and overlap is skip
	Pending bool                   `json:"pending"`       // nothing has been started yet
}

// A BackfillRequest asks for the objectives of a schedule for the times in a span that has
// passed, both ends of which count.
type BackfillRequest struct {
	From    a2a.Time          `json:"from"`
	Until   a2a.Time          `json:"until"`
	Overlap timetable.Overlap `json:"overlap,omitempty"` // without one they run one after another
}

// A Backfilled is the result of a backfill.
type Backfilled struct {
	Runs []timetable.ScheduleRun `json:"runs"`
}

// A Deleted is the result of a deletion of a schedule.
type Deleted struct {
	Dropped int `json:"dropped"` // objectives that waited for their start, at least: they are not started
}

// ScheduleOf returns s as clients see it.
func ScheduleOf(s timetable.ScheduleState) Schedule {
	return Schedule{
		ID: s.ID, Name: s.Name, Text: s.Text, Skill: s.Skill, ContextID: s.ContextID,
		Cron: s.Times.Cron, Every: spanText(s.Times.Every), TimeZone: s.Times.TimeZone, Jitter: spanText(s.Times.Jitter), From: s.Times.From, Until: s.Times.Until,
		Overlap: s.Overlap, CatchUp: spanText(s.CatchUp), Paused: s.Paused, Note: s.Note,
		Principal: s.Principal, Playbook: s.Playbook, CreatedAt: s.CreatedAt,
		Next: append([]a2a.Time{}, s.Next...), Runs: append([]timetable.ScheduleRun{}, s.Runs...), Skipped: s.Skipped, Missed: s.Missed,
	}
}

// spanText writes seconds so that they can be read again, "" for none.
func spanText(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return (time.Duration(seconds) * time.Second).String()
}
