package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/read"
	"longhaul/opt"
)

// Read reads the params of an operation into a P, whose fields say what they are. The tag
// param of a field has the name of its member and, behind a comma, a rule if the type of the
// field does not say all; see readings. A pointer stays nil if the member is absent. Fields
// that are structs and have no tag have members of the same object. Other fields without a
// tag are not params.
func Read[P any](r *Reader) (p P) {
	readFields(r.params(), reflect.ValueOf(&p).Elem())
	return p
}

func readFields(o codec.Object, v reflect.Value) {
	for field, value := range v.Fields() {
		tag, tagged := field.Tag.Lookup("param")
		switch {
		case tagged:
			name, rule, _ := strings.Cut(tag, ",")
			readField(o, name, rule, value)
		case field.Type.Kind() == reflect.Struct:
			readFields(o, value)
		}
	}
}

func readField(o codec.Object, name, rule string, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if !o.Has(name) {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	i := slices.IndexFunc(readings, func(r reading) bool { return r.of == v.Type() && r.rule == rule })
	if i < 0 {
		panic(fmt.Sprintf("no reading of %v by the rule %q", v.Type(), rule)) // a mistake in a tag, which the tests find
	}
	v.Set(readings[i].read(o, name))
}

// A reading reads a member into a type, by a rule.
type reading struct {
	of   reflect.Type
	rule string
	read func(o codec.Object, name string) reflect.Value
}

// readings have a line for each type and rule of a field. The values of absent members are
// zero where the rule does not say more.
var readings = []reading{
	by("", codec.Object.Text),
	by("needed", codec.Object.NeedText),
	by("id", codec.Object.ID),
	by("needed id", codec.Object.NeedID),
	by("context", codec.Object.ContextID),
	by("name", needName),
	by("text", readText), // for people
	by("search", readSearch),
	by("", codec.Object.Texts),
	by("", readFlag(false)),
	by("else true", readFlag(true)),
	by("", codec.Object.Time),
	by("needed", needTime),
	by("span", readSpan),

	by("page of 10", readPageSize(10)),
	by("page of 50", readPageSize(50)),
	by("page of 100", readPageSize(100)),
	by("history", func(o codec.Object, _ string) int { return historyOf(o, 0) }),

	by("", codec.Object.State),
	by("", readOneOf(opt.ObjectiveStatuses)),
	by("", readOneOf(opt.PlanStatuses)),
	by("", readOneOf(opt.Overlaps())),
	by("", readOneOf([]opt.GateKind{opt.Approval, opt.Clarification, opt.Credential})),
	by("", planTaskState),
	by("", clientMetadata),
	by("", readPayloads),

	// These have members of the same object.
	by("revision", func(o codec.Object, _ string) int64 { return seenRevision(o) }),
	by("change", func(o codec.Object, _ string) opt.Change { return readChange(o) }),
	by("plan", func(o codec.Object, _ string) opt.PlanSpec { return readNewPlan(o) }),
}

func by[T any](rule string, read func(o codec.Object, name string) T) reading {
	return reading{reflect.TypeFor[T](), rule, func(o codec.Object, name string) reflect.Value { return reflect.ValueOf(read(o, name)) }}
}

func readFlag(missing bool) func(codec.Object, string) bool {
	return func(o codec.Object, name string) bool { return o.Flag(name, missing) }
}

func readPageSize(missing int) func(codec.Object, string) int {
	return func(o codec.Object, _ string) int { return pageSize(o, missing) }
}

func readOneOf[T ~string](values []T) func(codec.Object, string) T {
	return func(o codec.Object, name string) T { return codec.OneOf(o, name, values...) }
}

func needName(o codec.Object, name string) string {
	s := o.NeedText(name)
	checkName(o, name, s)
	return s
}

func readText(o codec.Object, name string) string {
	s := o.Text(name)
	checkDescription(o, name, s)
	return s
}

// maxSearch is the longest text to search for, in bytes.
const maxSearch = 1024

func readSearch(o codec.Object, name string) string {
	s := o.Text(name)
	if len(s) > maxSearch {
		o.Wrong(name, fmt.Sprintf("is longer than %d bytes", maxSearch))
	}
	return s
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
