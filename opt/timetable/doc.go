// Package timetable is what starts objectives at times: a [Schedule] has [Times] and a
// message of its principal, and each objective that it starts is a [ScheduleRun]. Temporal
// has the clock.
//
// Like package opt, it is pure.
package timetable
