package codec

import (
	"encoding/json"
	"regexp"
	"strings"

	"longhaul/a2a"
)

// A Version is a protocol version without a patch number.
type Version string

// The versions.
const (
	V03 Version = "0.3"
	V10 Version = "1.0"
)

// The headers of A2A.
const (
	HeaderVersion     = "A2A-Version"
	HeaderExtensions  = "A2A-Extensions"
	HeaderExtensions3 = "X-A2A-Extensions" // the name in 0.3
)

var versionForm = regexp.MustCompile(`^(\d{1,4}\.\d{1,4})(?:\.\d{1,4})?$`)

// ParseVersion returns a version without its patch number; ok is false if text is no version. It
// need not be one of those above.
func ParseVersion(text string) (v Version, ok bool) {
	m := versionForm.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return Version(m[1]), true
}

const statePrefix = "TASK_STATE_"

// State returns the word for s.
func (v Version) State(s a2a.TaskState) string {
	if v == V03 {
		return string(s)
	}
	return statePrefix + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

// States returns the words for all states.
func (v Version) States() []string {
	words := make([]string, len(a2a.TaskStates))
	for i, s := range a2a.TaskStates {
		words[i] = v.State(s)
	}
	return words
}

// stateNumbers are the numbers of the states in the 1.0 proto, which ProtoJSON
// allows in place of their names.
var stateNumbers = []a2a.TaskState{
	"", a2a.Submitted, a2a.Working, a2a.Completed, a2a.Failed, a2a.Canceled, a2a.InputRequired, a2a.Rejected, a2a.AuthRequired,
}

// State returns the state called name, "" for none or any.
func (o Object) State(name string) a2a.TaskState {
	raw, v := o.Find(name), o.r.Version
	if raw == nil {
		return ""
	}
	var n int
	if v == V10 && json.Unmarshal(raw, &n) == nil && n >= 0 && n < len(stateNumbers) {
		return stateNumbers[n]
	}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word == "" || word == statePrefix+"UNSPECIFIED" {
			return ""
		}
		for _, s := range a2a.TaskStates {
			if word == V10.State(s) || word == V03.State(s) && v == V03 {
				return s
			}
		}
	}
	o.Wrong(name, MustBeOneOf(v.States()))
	return ""
}

// readState returns a state as either version has it, "" for one that is not known.
func readState(word string) a2a.TaskState {
	s := a2a.TaskState(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(word, statePrefix)), "_", "-"))
	if !s.Valid() {
		return ""
	}
	return s
}

const rolePrefix = "ROLE_"

// role returns the word for a role.
func (v Version) role(r a2a.Role) string {
	if v == V03 || r == "" {
		return string(r)
	}
	return rolePrefix + strings.ToUpper(string(r))
}

func readRole(word string) a2a.Role {
	return a2a.Role(strings.ToLower(strings.TrimPrefix(word, rolePrefix)))
}
