package wire

import (
	"encoding/json"
	"strings"

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

const statePrefix = "TASK_STATE_"

// stateName returns the word for s.
func stateName(v Version, s a2a.TaskState) string {
	if v == V03 {
		return string(s)
	}
	return statePrefix + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

// stateNumbers are the numbers of the states in the 1.0 proto, which ProtoJSON
// allows in place of their names.
var stateNumbers = []a2a.TaskState{
	"", a2a.Submitted, a2a.Working, a2a.Completed, a2a.Failed, a2a.Canceled, a2a.InputRequired, a2a.Rejected, a2a.AuthRequired,
}

// state reads the state that a list selects, "" for any.
func (o params) state(name string) a2a.TaskState {
	raw := o.find(name)
	if raw == nil {
		return ""
	}
	var n int
	if o.r.Version == V10 && json.Unmarshal(raw, &n) == nil && n >= 0 && n < len(stateNumbers) {
		return stateNumbers[n]
	}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word == "" || word == statePrefix+"UNSPECIFIED" {
			return ""
		}
		for _, s := range a2a.TaskStates {
			if word == stateName(V10, s) || word == string(s) && o.r.Version == V03 {
				return s
			}
		}
	}
	var words []string
	for _, s := range a2a.TaskStates {
		words = append(words, stateName(o.r.Version, s))
	}
	o.wrong(name, mustBeOneOf(words))
	return ""
}
