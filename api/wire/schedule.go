package wire

import (
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/schedule"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

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
func Schedule(_ Version, s opt.ScheduleState) any { return optwire.ScheduleOf(s) }

// ScheduleList returns the schedules of a tenant.
func ScheduleList(_ Version, list []opt.ScheduleState) any {
	return optwire.ScheduleList{Schedules: each(list, optwire.ScheduleOf)}
}

// Backfilled returns the result of a backfill.
func Backfilled(_ Version, runs []opt.ScheduleRun) any {
	return optwire.Backfilled{Runs: optwire.RunsOf(runs)}
}
