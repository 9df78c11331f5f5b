package outbox

import (
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A NoticeKind is the subject of a notice about a gate: a step that the gate has taken, as
// [opt.StepKind] has it, or one of the constants.
type NoticeKind string

// The kinds of notices that are no steps.
const (
	Opened  NoticeKind = "opened"  // the gate has opened
	Changed NoticeKind = "changed" // it has another vote, message or note
	Decided NoticeKind = "decided" // it was closed by an answer, by hand, or with the work
)

// CallingKinds returns the kinds of notices that call for people.
func CallingKinds() []NoticeKind {
	return []NoticeKind{Opened, NoticeKind(opt.Remind), NoticeKind(opt.Escalate), NoticeKind(opt.Reassign), NoticeKind(opt.Expire)}
}

// NoticeKinds returns all kinds of notices.
func NoticeKinds() []NoticeKind { return append(CallingKinds(), Changed, Decided) }

// Posts reports whether a notice of kind k is a reason to show the gate to those who have not
// seen it.
func (k NoticeKind) Posts() bool { return k != Changed && !k.Closes() }

// Closes reports whether the gate of a notice of kind k is closed.
func (k NoticeKind) Closes() bool { return k == Decided || k == NoticeKind(opt.Expire) }

// A Notice informs the recipients of a channel about a gate, as it was at that moment.
type Notice struct {
	shown.Interrupt
	Kind    NoticeKind
	Tenant  string
	Decided *opt.Decided // how the gate was closed, without answers; nil if it is open, or was closed with the work
}

// A Channel is a way to recipients outside. It has a name that no other channel
// has.
type Channel struct {
	Name      string
	When      []NoticeKind // nil for those that call for people
	Tenants   []string     // for whose gates it sends notices; nil for all
	Principal string       // who reads it; "" for none in particular
	Groups    []string     // of those who read it
	Cards     bool         // it shows each gate as one card, which later notices change
}

// Handles reports whether c is for notices of the kind and the tenant of n.
func (c Channel) Handles(n Notice) bool {
	kinds := c.When
	switch {
	case c.Cards:
		kinds = NoticeKinds()
	case len(kinds) == 0:
		kinds = CallingKinds()
	}
	return slices.Contains(kinds, n.Kind) && (len(c.Tenants) == 0 || slices.Contains(c.Tenants, n.Tenant))
}

// Takes reports whether n goes to c, wherever its gate was shown before. A channel with a
// principal or groups gets the notices about gates that these may answer, another one gets
// all. seats are those in which the principal may decide as a deputy. A channel of cards shows no gate
// because of a notice that calls for no one.
func (c Channel) Takes(n Notice, seats []opt.Seat) bool {
	switch {
	case !c.Handles(n), c.Cards && !n.Kind.Posts():
		return false
	case c.Principal == "" && len(c.Groups) == 0:
		return true
	}
	return n.Allows(shown.Responder{Principal: c.Principal, Groups: c.Groups, Seats: seats})
}

// channelPrefix begins the ids that channels have among the ids of push configs.
const channelPrefix = "notice:"

// ConfigID returns the id of c in the place of a push config's id. No push config of a
// client has it.
func (c Channel) ConfigID() string { return channelPrefix + c.Name }

// ChannelIn returns the name of the channel with a [Channel.ConfigID]; ok is false for
// the id of a push config.
func ChannelIn(configID string) (name string, ok bool) {
	return strings.CutPrefix(configID, channelPrefix)
}

// An AnswerLink lets its bearer answer one gate as a principal, once.
type AnswerLink struct {
	ID           string // the same for each link that was made from the same notice
	Tenant       string
	Principal    string
	Groups       []string // of the principal
	GateID       string
	ObjectDigest string   // of the object of the gate
	Expires      a2a.Time // from when on it is not accepted
}
