// Package activities has the activities of Longhaul: what workflows have done outside of
// them. Users implement its interfaces to add their own work.
//
// An [Executor] does one kind of task: Execute gets [Work], shows what it makes through a
// [Stream], and returns an [Outcome] or an error, which means that the attempt failed. A
// [Planner] makes plans for a [Request]. [Activities] are the methods that Temporal calls:
//
//	Plan             a planner makes plans
//	Run              an executor does a task, after the events that ride in its input were recorded
//	Follow           waits for the state of another A2A task that a task is linked to
//	Record           writes events to the journal
//	Report           writes events to the journal, and sends the report of a plan after them
//	Load             reads an objective that is to be retried
//	Deliver          sends a state or a notice to a webhook or a mailbox
//	WatchHeartbeats  reads what an activity of another program reports
//	Purge            removes ended objectives from the journal
//
// Every activity may run again after a crash, and its comment says what a second run does.
// Those that may take long send heartbeats (heartbeat.go), so Temporal notices within
// seconds that their worker is lost: Plan, Run, Follow, WatchHeartbeats and Purge. Record,
// Report, Load and Deliver send none. Temporal then runs the activity again elsewhere, by the
// options that the workflow gave it (for Run: runOptions in package workflows); a task runs
// again as the same attempt. A worker that stops gives its tasks back, with the same effect.
//
// A task of an executor with a limit ([Config.Limits]), or of a tenant with a quota, needs a permit
// of each, and gets both at once (limit.go).
// Tenants that wait get free permits one after another (limit_permits.go).
//
// [Push] makes deliveries: push.go builds, signs and sends a request, and decides after
// each attempt whether there is another one, and when. The Push workflow waits in between.
//
// [Schedules] has the activities of the queue beside the API, which start scheduled
// objectives as a client would.
//
// The packages below this one are the executors, planners and channels that come with the
// program. Package executortest is the suite that all executors pass.
package activities
