package wire

import (
	"longhaul/api/gate"
	"longhaul/opt/access"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
	"longhaul/opt/timetable"
	optwire "longhaul/opt/wire"
)

// The results of pages below /v1 are the same in all versions.

// Same returns a result as it is: the type has the form that clients see, in all versions.
func Same[R any](_ Version, result R) any { return result }

// Deliveries returns the deliveries of a task.
func Deliveries(_ Version, list []outbox.Delivery) any {
	return optwire.DeliveryList{Deliveries: optwire.Each(list, optwire.DeliveryOf)}
}

// Delivery returns a delivery.
func Delivery(_ Version, d outbox.Delivery) any { return optwire.DeliveryOf(d) }

// InterruptPage returns a page of open gates.
func InterruptPage(_ Version, p gate.InterruptPage) any {
	return optwire.InterruptPage{Interrupts: optwire.Each(p.Interrupts, optwire.InterruptOf), NextPageToken: p.Next, PageSize: p.Size, TotalSize: p.Total}
}

// CostList returns what some have cost.
func CostList(_ Version, list []shown.Cost) any {
	return optwire.CostList{Costs: optwire.Each(list, optwire.CostOf)}
}

// QuotaList returns how much of quotas is used.
func QuotaList(_ Version, list []access.Use) any {
	return optwire.QuotaList{Quotas: optwire.Each(list, optwire.QuotaOf)}
}

// Schedule returns a schedule.
func Schedule(_ Version, s timetable.ScheduleState) any { return optwire.ScheduleOf(s) }

// ScheduleList returns the schedules of a tenant.
func ScheduleList(_ Version, list []timetable.ScheduleState) any {
	return optwire.ScheduleList{Schedules: optwire.Each(list, optwire.ScheduleOf)}
}

// Backfilled returns the result of a backfill.
func Backfilled(_ Version, runs []timetable.ScheduleRun) any {
	return optwire.Backfilled{Runs: append([]timetable.ScheduleRun{}, runs...)}
}

// SamplePush returns a push config of a sample.
func SamplePush(_ Version, p outbox.PushConfig) any {
	return map[string]any{"taskId": p.TaskID, "pushConfig": optwire.PushRecord{URL: p.URL}}
}
