package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/timetable"
)

// readings have a line for each type and rule of a field. The values of absent members are
// zero where the rule does not say more.
var readings = []reading{
	by("", codec.Object.Text),
	by("needed", codec.Object.NeedText),
	by("id", codec.Object.ID),
	by("needed id", codec.Object.NeedID),
	by("context", codec.Object.ContextID),
	by("name", checked(codec.Object.NeedText, checkName)),
	by("new name", checked(readNewName, checkName)),
	by("text", checked(codec.Object.Text, checkDescription)), // for people
	by("search", checked(codec.Object.Text, checkSearch)),
	by("", codec.Object.Texts),
	by("", readFlag(false)),
	by("else true", readFlag(true)),
	by("", codec.Object.Time),
	by("needed", needTime),
	by("span", readSpan),

	by("page of 10", readPageSize(10)),
	by("page of 50", readPageSize(50)),
	by("page of 100", readPageSize(100)),
	by("event", readNumber(0, 1, math.MaxInt32, "must be above 0")),
	by("uses", readNumber(0, 0, math.MaxInt32, "must not be negative")),
	by("history", readHistory(0)),
	by("history of 100", readHistory(defaultHistory)),

	by("", codec.Object.State),
	by("", readOneOf(opt.ObjectiveStatuses)),
	by("", readOneOf(opt.PlanStatuses)),
	by("", readOneOf(timetable.Overlaps())),
	by("", readOneOf(shown.CostBys)),
	by("", readOneOf([]opt.GateKind{opt.Approval, opt.Clarification, opt.Credential})),
	by("", planTaskState),
	by("", clientMetadata),
	by("replacement", replacement),
	by("", readPayloads),
	by("", func(o codec.Object, _ string) []opt.PlanSpec { return readPlans(o) }),
	by("", readTaskChanges),

	// These have members of the same object.
	by("scope", func(o codec.Object, _ string) shown.HistoryScope { return historyScope(o, nil) }),
	by("after", func(o codec.Object, _ string) *int64 { return afterOf(o) }),
	by("revision", func(o codec.Object, _ string) int64 { return seenRevision(o) }),
	by("plan", func(o codec.Object, _ string) opt.PlanSpec { return readNewPlan(o) }),
}

func readFlag(missing bool) func(codec.Object, string) bool {
	return func(o codec.Object, name string) bool { return o.Flag(name, missing) }
}

func readPageSize(missing int) func(codec.Object, string) int {
	return readNumber(missing, 1, 100, "must be from 1 to 100")
}

// defaultHistory is how many messages of one task are returned by default.
const defaultHistory = 100

func readHistory(missing int) func(codec.Object, string) int {
	return readNumber(missing, 0, math.MaxInt32, "must not be negative")
}

func readNumber(missing, least, most int, problem string) func(codec.Object, string) int {
	return func(o codec.Object, name string) int {
		n := o.Int32(name)
		if n == nil {
			return missing
		}
		if *n < least || *n > most {
			o.Wrong(name, problem)
		}
		return *n
	}
}

func readOneOf[T ~string](values []T) func(codec.Object, string) T {
	return func(o codec.Object, name string) T { return codec.OneOf(o, name, values...) }
}

// checked reads a text and checks it.
func checked(read func(o codec.Object, name string) string, check func(o codec.Object, name, text string)) func(codec.Object, string) string {
	return func(o codec.Object, name string) string {
		text := read(o, name)
		check(o, name, text)
		return text
	}
}

func readNewName(o codec.Object, name string) string {
	s, ok := o.TextIf(name)
	if ok && s == "" {
		o.Wrong(name, "must not be empty")
	}
	return s
}

// maxSearch is the longest text to search for, in bytes.
const maxSearch = 1024

func checkSearch(o codec.Object, name, text string) {
	if len(text) > maxSearch {
		o.Wrong(name, fmt.Sprintf("is longer than %d bytes", maxSearch))
	}
}

func readPayloads(o codec.Object, name string) (list []read.Payload) {
	raw := o.Find(name)
	if raw == nil {
		o.Missing(name)
		return nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		o.Wrong(name, "must be a list of payloads: "+err.Error())
	}
	return list
}

func needTime(o codec.Object, name string) a2a.Time {
	o.Missing(name)
	return o.Time(name)
}

// readSpan returns the duration called name in seconds.
func readSpan(o codec.Object, name string) int64 {
	text, ok := o.TextIf(name)
	if !ok {
		return 0
	}
	d, err := opt.ParseSpan(text)
	if err != nil || d < 0 || d%time.Second != 0 {
		o.Wrong(name, "must be a duration of whole seconds, such as 90s, 2h or 7d")
		return 0
	}
	return int64(d / time.Second)
}

// historyScope reads the history scope from the metadata of the request or of its
// message. The message's takes precedence and is stored with it for later
// requests. If the message has none, the request's is stored with it. An invalid
// scope of the request is ignored.
func historyScope(o codec.Object, m *a2a.Message) shown.HistoryScope {
	if m != nil && m.Metadata.Has(opt.KeyHistoryScope) {
		s, _ := m.Metadata.String(opt.KeyHistoryScope)
		return shown.HistoryScope(s)
	}
	s, _ := o.Metadata("metadata").String(opt.KeyHistoryScope)
	scope := shown.HistoryScope(s)
	if !scope.Valid() {
		return ""
	}
	if m != nil {
		m.Metadata = m.Metadata.With(opt.KeyHistoryScope, scope)
	}
	return scope
}

// afterOf reads the number of the event after which to resume a stream.
func afterOf(o codec.Object) *int64 {
	m, _ := o.Child("metadata")
	name := opt.KeyAfter
	if position, ok := m.Child(a2a.ExtensionStream); ok {
		m, name = position, "after"
	}
	n := m.Integer(name)
	if n == nil {
		return nil
	}
	if *n < 0 {
		m.Wrong(name, "must not be negative")
	}
	return new(int64(*n))
}
