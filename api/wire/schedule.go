package wire

import (
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/schedule"
	"longhaul/opt"
)

// scheduleRun is an objective that a schedule has started, or tried to.
type scheduleRun struct {
	At          a2a.Time            `json:"at"`
	ObjectiveID string              `json:"objectiveId"`
	Status      opt.ObjectiveStatus `json:"status,omitempty"`
	Failure     string              `json:"failure,omitempty"`
}

// schedule is a schedule with its state.
type shownSchedule struct {
	ID        string        `json:"id"`
	Name      string        `json:"name,omitempty"`
	Text      string        `json:"text"`
	Skill     string        `json:"skill,omitempty"`
	ContextID string        `json:"contextId,omitempty"`
	Cron      []string      `json:"cron,omitempty"`
	Every     string        `json:"every,omitempty"`
	TimeZone  string        `json:"timeZone,omitempty"`
	Jitter    string        `json:"jitter,omitempty"`
	From      a2a.Time      `json:"from,omitzero"`
	Until     a2a.Time      `json:"until,omitzero"`
	Overlap   opt.Overlap   `json:"overlap"`
	CatchUp   string        `json:"catchUp"`
	Paused    bool          `json:"paused"`
	Note      string        `json:"note,omitempty"`
	Principal string        `json:"principal"`
	Playbook  string        `json:"playbook,omitempty"`
	CreatedAt a2a.Time      `json:"createdAt"`
	Next      []a2a.Time    `json:"next"`
	Runs      []scheduleRun `json:"runs"`
	Skipped   int           `json:"skipped"`
	Missed    int           `json:"missed"`
}

// ReadCreateSchedule reads a new schedule.
func ReadCreateSchedule(r *Reader) schedule.CreateScheduleParams {
	o := r.params()
	return schedule.CreateScheduleParams{ID: o.ID("id"), Change: readSchedule(o)}
}

// ReadUpdateSchedule reads a change of a schedule: its members that change.
func ReadUpdateSchedule(r *Reader) schedule.UpdateScheduleParams {
	o := r.params()
	return schedule.UpdateScheduleParams{ID: o.NeedText("id"), Change: readSchedule(o)}
}

// readSchedule reads the members of a schedule that a client sets.
func readSchedule(o codec.Object) (p schedule.ScheduleChange) {
	p.Name, p.Text, p.Skill, p.TimeZone, p.Note = textSet(o, "name"), textSet(o, "text"), textSet(o, "skill"), textSet(o, "timeZone"), textSet(o, "note")
	if o.Has("contextId") {
		id := o.ID("contextId")
		p.ContextID = &id
	}
	if o.Has("cron") {
		list := o.Texts("cron")
		p.Cron = &list
	}
	p.Every, p.Jitter, p.CatchUp = readSpan(o, "every"), readSpan(o, "jitter"), readSpan(o, "catchUp")
	p.From, p.Until = timeSet(o, "from"), timeSet(o, "until")
	if o.Has("overlap") {
		overlap := codec.OneOf(o, "overlap", opt.Overlaps()...)
		p.Overlap = &overlap
	}
	if o.Has("paused") {
		paused := o.Flag("paused", false)
		p.Paused = &paused
	}
	return p
}

// textSet returns the string called name, nil if it is absent.
func textSet(o codec.Object, name string) *string {
	if s, ok := o.TextIf(name); ok {
		return &s
	}
	return nil
}

// timeSet returns the time called name, nil if it is absent. The empty text removes it.
func timeSet(o codec.Object, name string) *a2a.Time {
	if !o.Has(name) {
		return nil
	}
	t := o.Time(name)
	return &t
}

// readSpan returns the duration called name in seconds, nil if it is absent.
func readSpan(o codec.Object, name string) *int64 {
	text, ok := o.TextIf(name)
	if !ok {
		return nil
	}
	d, err := opt.ParseSpan(text)
	if err != nil || d < 0 || d%time.Second != 0 {
		o.Wrong(name, "must be a duration of whole seconds, such as 90s, 2h or 7d")
		return nil
	}
	seconds := int64(d / time.Second)
	return &seconds
}

// ReadTrigger reads a request to start an objective of a schedule now.
func ReadTrigger(r *Reader) schedule.BackfillParams {
	o := r.params()
	return schedule.BackfillParams{ID: o.NeedText("id"), Backfill: opt.Backfill{Overlap: codec.OneOf(o, "overlap", opt.Overlaps()...)}}
}

// ReadBackfill reads a request to start the objectives of a schedule for times that
// have passed.
func ReadBackfill(r *Reader) schedule.BackfillParams {
	p := ReadTrigger(r)
	o := r.params()
	for _, name := range []string{"from", "until"} {
		if o.Text(name) == "" {
			o.Missing(name)
		}
	}
	p.Backfill.From, p.Backfill.Until = o.Time("from"), o.Time("until")
	return p
}

// Schedule returns a schedule. It is the same in all versions, like all here.
func Schedule(_ Version, s opt.ScheduleState) any { return scheduleOf(s) }

func scheduleOf(s opt.ScheduleState) shownSchedule {
	out := shownSchedule{
		ID: s.ID, Name: s.Name, Text: s.Text, Skill: s.Skill, ContextID: s.ContextID,
		Cron: s.Times.Cron, Every: spanText(s.Times.Every), TimeZone: s.Times.TimeZone, Jitter: spanText(s.Times.Jitter), From: s.Times.From, Until: s.Times.Until,
		Overlap: s.Overlap, CatchUp: spanText(s.CatchUp), Paused: s.Paused, Note: s.Note,
		Principal: s.Principal, Playbook: s.Playbook, CreatedAt: s.CreatedAt,
		Next: s.Next, Runs: runsOf(s.Runs), Skipped: s.Skipped, Missed: s.Missed,
	}
	if out.Next == nil {
		out.Next = []a2a.Time{}
	}
	return out
}

// spanText writes seconds so that they can be read again, "" for none.
func spanText(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return (time.Duration(seconds) * time.Second).String()
}

func runsOf(runs []opt.ScheduleRun) []scheduleRun {
	out := []scheduleRun{}
	for _, r := range runs {
		out = append(out, scheduleRun(r))
	}
	return out
}

// ScheduleList returns the schedules of a tenant.
func ScheduleList(_ Version, list []opt.ScheduleState) any {
	out := []shownSchedule{}
	for _, s := range list {
		out = append(out, scheduleOf(s))
	}
	return struct {
		Schedules []shownSchedule `json:"schedules"`
	}{out}
}

// Triggered returns the result of a trigger.
func Triggered(_ Version, t schedule.Triggered) any {
	out := struct {
		Run     *scheduleRun `json:"run,omitempty"`
		Skipped bool         `json:"skipped"`
		Pending bool         `json:"pending"`
	}{Skipped: t.Skipped, Pending: !t.Skipped && t.Run.Status == "" && t.Run.Failure == ""}
	if t.Run.ObjectiveID != "" {
		run := scheduleRun(t.Run)
		out.Run = &run
	}
	return out
}

// Backfilled returns the result of a backfill.
func Backfilled(_ Version, runs []opt.ScheduleRun) any {
	return struct {
		Runs []scheduleRun `json:"runs"`
	}{runsOf(runs)}
}
