package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// WithObjective returns t with an objective in its metadata, unless that is nil.
func WithObjective(t a2a.Task, o *opt.Objective) a2a.Task {
	if o != nil {
		t.Metadata = t.Metadata.With(opt.KeyObjective, optwire.ObjectiveOf(o, true, true))
	}
	return t
}
