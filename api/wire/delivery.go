package wire

import (
	"longhaul/a2a"
	"longhaul/api/push"
	"longhaul/opt"
)

// delivery is a state of a task on its way to a push config. It has nothing of
// the work, the URL or the answers of the receiver.
type delivery struct {
	ConfigID  string             `json:"configId"`
	Event     int64              `json:"event"`
	State     a2a.TaskState      `json:"state"` // in the words of 0.3 for all versions
	At        a2a.Time           `json:"timestamp"`
	Interrupt *deliveryInterrupt `json:"interrupt,omitempty"`
	Notice    opt.NoticeKind     `json:"notice,omitempty"`
	Status    opt.DeliveryStatus `json:"status"`
	Since     a2a.Time           `json:"dueSince"`
	Tries     int                `json:"tries"`
	Attempts  []deliveryAttempt  `json:"attempts"` // the latest ones
}

type deliveryInterrupt struct {
	Kind string `json:"kind"`
	ID   string `json:"interruptId"`
}

type deliveryAttempt struct {
	N      int      `json:"attempt"`
	At     a2a.Time `json:"timestamp"`
	Status int      `json:"httpStatus,omitempty"`
	Error  string   `json:"error,omitempty"` // a class
}

type deliveryList struct {
	Deliveries []any `json:"deliveries"`
}

// ReadDelivery reads the params of a page about one delivery.
func ReadDelivery(r *Reader) push.DeliveryParams {
	o := r.params()
	return push.DeliveryParams{TaskID: o.NeedText("id"), ConfigID: o.NeedText("config"), Event: o.NeedText("event")}
}

// Deliveries returns the deliveries of a task. They are the same in all versions.
func Deliveries(v Version, list []opt.Delivery) any {
	out := deliveryList{make([]any, 0, len(list))}
	for _, d := range list {
		out.Deliveries = append(out.Deliveries, Delivery(v, d))
	}
	return out
}

// Delivery returns a delivery. It is the same in all versions.
func Delivery(_ Version, d opt.Delivery) any {
	out := delivery{
		ConfigID: d.ConfigID, Event: d.N, State: d.State, At: d.At, Notice: d.Notice, Status: d.Status, Since: d.Since, Tries: d.Tries, Attempts: []deliveryAttempt{},
	}
	if d.GateID != "" {
		out.Interrupt = &deliveryInterrupt{d.GateKind, d.GateID}
	}
	for _, a := range d.Attempts {
		out.Attempts = append(out.Attempts, deliveryAttempt{a.N, a.At, a.Status, a.Error})
	}
	return out
}
