package opt

import (
	"fmt"
	"strconv"
	"strings"

	"longhaul/a2a"
)

// InEpoch returns the name of a source in an epoch: the name itself in the first one. A
// workflow begins another epoch when the journal has events of it that it does not know,
// since an operator has reset it or has restored Temporal from an older copy.
func InEpoch(source string, epoch int) string {
	if epoch <= 1 {
		return source
	}
	return source + "@" + strconv.Itoa(epoch)
}

// SplitEpoch returns the name of a source without its epoch, and that.
func SplitEpoch(source string) (name string, epoch int) {
	name, n, later := strings.Cut(source, "@")
	if epoch, _ = strconv.Atoi(n); !later || epoch <= 1 {
		return source, 1
	}
	return name, epoch
}

// Stuck is why the events of an objective are not taken by the journal.
type Stuck struct {
	Since  a2a.Time `json:"since"`
	Reason string   `json:"reason"`
}

// A RewoundError says that a recorder refuses events for good, since the journal has others
// of their source. The source can continue in the epoch after Epoch, with a
// [SourceRewound].
type RewoundError struct {
	Source string `json:"source"`
	Epoch  int    `json:"epoch"` // the latest that the journal has
	Event  int64  `json:"event"`

	// Nothing more is taken from the source: the objective of its plan was set back to before the
	// plan and does not wait for it, or it was reset to before a retry, which nothing takes back.
	Unknown bool `json:"unknown,omitempty"`
}

func (e *RewoundError) Error() string {
	return fmt.Sprintf("event %d of %s, of which the journal has epoch %d", e.Event, e.Source, e.Epoch)
}

// Unwrap returns ErrConflict.
func (e *RewoundError) Unwrap() error { return ErrConflict }
