package outbox

import (
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A NoticeKind is the subject of a notice about a gate: [Opened], or a step that the
// gate has taken.
type NoticeKind string

// Opened is the kind of the notice about a gate that has opened. The others are
// like [StepKind].
const Opened NoticeKind = "opened"

// NoticeKinds returns all kinds of notices.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{Opened, NoticeKind(opt.Remind), NoticeKind(opt.Escalate), NoticeKind(opt.Reassign), NoticeKind(opt.Expire)}
}

// A Notice informs the recipients of a channel about a gate, as it was at that moment.
type Notice struct {
	shown.Interrupt
	Kind   NoticeKind
	Tenant string
}

// A Channel is a way to recipients outside. It has a name that no other channel
// has.
type Channel struct {
	Name      string
	When      []NoticeKind // nil for all
	Tenants   []string     // for whose gates it sends notices; nil for all
	Principal string       // who reads it; "" for none in particular
	Groups    []string     // of those who read it
}

// Takes reports whether n goes to c. A channel with a principal or groups gets the
// notices about gates that these may answer, another one gets all.
func (c Channel) Takes(n Notice) bool {
	switch {
	case len(c.When) > 0 && !slices.Contains(c.When, n.Kind), len(c.Tenants) > 0 && !slices.Contains(c.Tenants, n.Tenant):
		return false
	case c.Principal == "" && len(c.Groups) == 0:
		return true
	}
	return n.Allows(shown.Responder{Principal: c.Principal, Groups: c.Groups})
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
