package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// WithObjective returns t with an objective in its metadata, unless that is nil.
func WithObjective(t a2a.Task, o *opt.Objective) a2a.Task {
	if o != nil {
		t.Metadata = t.Metadata.With(opt.KeyObjective, newObjective(o, true, true))
	}
	return t
}
