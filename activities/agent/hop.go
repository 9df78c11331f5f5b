package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"longhaul/a2a"
)

// KeyHops is the key in the metadata of a message under which it says how often the work
// was handed over on its way.
const KeyHops = "urn:longhaul:handoff:v1"

// Hops is the way of a piece of work from server to server. It comes with messages of
// clients, who can leave it out: it stops mistakes, not attackers.
type Hops struct {
	Hops       int      `json:"hops"`       // how often it was handed over
	Objectives []string `json:"objectives"` // ids of those that have handed it over, oldest first
	To         []string `json:"to"`         // a digest for each agent and skill that it was handed over to
}

// maxHopList is how many entries are read of a list in Hops.
const maxHopList = 100

// hopsOf returns the longest way in messages.
func hopsOf(messages []a2a.Message) Hops {
	var longest Hops
	for _, m := range messages {
		var h Hops
		if m.Metadata.Decode(KeyHops, &h) == nil && h.Hops > longest.Hops && len(h.Objectives) <= maxHopList && len(h.To) <= maxHopList {
			longest = h
		}
	}
	return longest
}

// withHop returns h with another hop.
func (h Hops) withHop(objectiveID, to string) Hops {
	return Hops{h.Hops + 1, append(slices.Clone(h.Objectives), objectiveID), append(slices.Clone(h.To), to)}
}

// digest returns a short text that is equal for equal values.
func digest(values ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(values, "\x00")))
	return hex.EncodeToString(sum[:16])
}
