package wire

import (
	"longhaul/a2a"
	"longhaul/opt/outbox"
)

// A Delivery is a state of a task on its way to a push config. It has nothing of
// the work, the URL or the answers of the receiver.
type Delivery struct {
	ConfigID  string                `json:"configId"`
	Event     int64                 `json:"event"`
	State     a2a.TaskState         `json:"state"` // in the words of 0.3
	At        a2a.Time              `json:"timestamp"`
	Interrupt *DeliveryInterrupt    `json:"interrupt,omitempty"`
	Notice    outbox.NoticeKind     `json:"notice,omitempty"`
	Status    outbox.DeliveryStatus `json:"status"`
	Since     a2a.Time              `json:"dueSince"`
	Tries     int                   `json:"tries"`
	Attempts  []DeliveryAttempt     `json:"attempts"` // the latest ones
}

// A DeliveryInterrupt is the gate that a delivery is about.
type DeliveryInterrupt struct {
	Kind string `json:"kind"`
	ID   string `json:"interruptId"`
}

// A DeliveryAttempt is an attempt at a delivery.
type DeliveryAttempt struct {
	N      int      `json:"attempt"`
	At     a2a.Time `json:"timestamp"`
	Status int      `json:"httpStatus,omitempty"`
	Error  string   `json:"error,omitempty"` // a class
}

// A DeliveryList has the deliveries of a task.
type DeliveryList struct {
	Deliveries []Delivery `json:"deliveries"`
}

// DeliveryOf returns d as clients see it.
func DeliveryOf(d outbox.Delivery) Delivery {
	out := Delivery{
		ConfigID: d.ConfigID, Event: d.N, State: d.State, At: d.At, Notice: d.Notice, Status: d.Status, Since: d.Since, Tries: d.Tries,
		Attempts: Each(d.Attempts, func(a outbox.DeliveryAttempt) DeliveryAttempt { return DeliveryAttempt{a.N, a.At, a.Status, a.Error} }),
	}
	if d.GateID != "" {
		out.Interrupt = &DeliveryInterrupt{d.GateKind, d.GateID}
	}
	return out
}
