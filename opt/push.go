package opt

import "longhaul/a2a"

// A PushConfig asks for the states of one A2A task to be delivered to a URL.
type PushConfig struct {
	Tenant      string
	ObjectiveID string
	TaskID      string // of the A2A task
	ID          string // unique for the task
	Principal   string // who made it
	Version     string // of the protocol by which it was made: every delivery has that form
	States      PushSet
	URL         string
	Token       string // secret; "" for none
	Scheme      string // of Authorization; "" for none
	Credentials string // secret
	CreatedAt   a2a.Time
}

// A PushKey names a config.
type PushKey struct{ TaskID, ConfigID string }

// PushSet says which states are delivered.
type PushSet string

// The sets of states.
const (
	PushWaits PushSet = ""    // ends, and waits for people
	PushAll   PushSet = "all" // also the begin of the work
)

// Delivers reports whether a task that has reached a state tells its receivers.
func (s PushSet) Delivers(state a2a.TaskState) bool {
	return s == PushAll || state.Terminal() || state.Interrupted()
}

// A Delivery is one state of a task on its way to the URL of one config. It is
// made in the transaction that records the state.
type Delivery struct {
	ObjectiveID string
	TaskID      string
	ContextID   string
	ConfigID    string
	N           int64 // the number of the event that brought the state: deliveries of a config go in this order
	State       a2a.TaskState
	At          a2a.Time // of the state
	GateKind    string   // of the gate that waits; "" for none
	GateID      string

	Status   DeliveryStatus
	Tries    int
	Attempts []DeliveryAttempt // the latest ones, in order
}

// DeliveryStatus says how far a delivery has come.
type DeliveryStatus string

// The statuses of deliveries.
const (
	DeliveryDue       DeliveryStatus = "due"
	DeliveryDone      DeliveryStatus = "delivered"
	DeliveryDead      DeliveryStatus = "dead"      // given up; a client may have it delivered again
	DeliveryAbandoned DeliveryStatus = "abandoned" // its config was removed
)

// A DeliveryAttempt is one attempt at a delivery. It holds nothing that the
// receiver has sent but its status.
type DeliveryAttempt struct {
	At     a2a.Time
	Status int    // of HTTP; 0 for none
	Error  string // a class, such as "timeout", "refused", "address denied"; "" for none
}
