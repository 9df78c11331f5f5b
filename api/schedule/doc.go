// Package schedule has the schedules that start objectives at times, and begins these objectives
// exactly as messages of their principals do. The [Scheduler] keeps them and their times.
package schedule
