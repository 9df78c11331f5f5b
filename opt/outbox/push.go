package outbox

import (
	"errors"

	"longhaul/a2a"
)

// MaxPushes is how many push configs one task may have.
const MaxPushes = 20

// ErrPushLimit is wrapped by the error about a push config above [MaxPushes].
var ErrPushLimit = errors.New("the task has too many push configs")

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

	// Inline is set when it is made by a message to its task, or by the message
	// that is about to begin the task. It then delivers the states after the
	// message, not the one that the task is in.
	Inline bool
	// Fingerprint is a short salted digest of Token, to show in its place; "" for
	// none. The journal makes it.
	Fingerprint string
}

// A PushKey names a config that has deliveries that are due.
type PushKey struct {
	TaskID, ConfigID string
	N                int64  // of the latest of them; 0 for all
	Tenant           string // that the task belongs to; it names nothing
}

// PushSet says which states are delivered.
type PushSet string

// The sets of states.
const (
	PushWaits PushSet = ""    // ends, and waits for people
	PushAll   PushSet = "all" // also the begin of the work
)

// Delivers reports whether a task that has reached a state sends it to its receivers.
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
	Notice      NoticeKind // of a notice, which goes to a channel; "" for a state
	Card        string     // where the receiver shows the gate of a notice, in its own words; "" for nowhere yet

	Status   DeliveryStatus
	Since    a2a.Time          // it is due; later than At for one that a client has asked to repeat
	Tries    int               // attempts so far
	Attempts []DeliveryAttempt // the latest ones, in order
}

// DeliveryStatus says how far a delivery has come.
type DeliveryStatus string

// The statuses of deliveries.
const (
	DeliveryDue       DeliveryStatus = "due"
	DeliveryDone      DeliveryStatus = "delivered"
	DeliveryDead      DeliveryStatus = "dead"      // not tried any more; a client may have it delivered again
	DeliveryAbandoned DeliveryStatus = "abandoned" // its config was removed
)

// A DeliveryAttempt is one attempt at a delivery. It holds nothing that the
// receiver has sent but its status.
type DeliveryAttempt struct {
	N      int // 1, 2, 3 … of the delivery
	At     a2a.Time
	Status int    // of HTTP; 0 for none
	Error  string // a class, such as "timeout", "refused", "address denied"; "" for none
}
