package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"longhaul/a2a"
	"longhaul/api/call"
)

// Limits on requests, in addition to those of package opt.
const (
	MaxParts      = 100      // of a message
	MaxMetadata   = 64 << 10 // bytes of JSON in one metadata object
	maxViolations = 20       // the most that are reported
)

// A Reader reads the params of one request and collects the problems.
type Reader struct {
	Version Version
	Tenant  string // of the caller, the only one that a request may name
	raw     json.RawMessage
	path    map[string]string // params in the path of a request, by name
	noID    bool              // the request has no id, so it is refused

	violations []call.Violation
	mentions   []string        // extensions that the message names or uses
	answer     *call.Answering // the gate that the message answers, nil for none
}

// NewReader returns a reader of params.
func NewReader(v Version, params json.RawMessage) *Reader {
	return &Reader{Version: v, raw: params}
}

// Fault returns the error in the params that were read, nil if there is none.
func (r *Reader) Fault() *call.Fault {
	if len(r.violations) == 0 {
		return nil
	}
	return call.Invalid(r.violations...)
}

func (r *Reader) mention(uri string) {
	if !slices.Contains(r.mentions, uri) {
		r.mentions = append(r.mentions, uri)
	}
}

func (r *Reader) wrong(field, problem string) {
	v := call.Violation{Field: field, Description: problem}
	if len(r.violations) < maxViolations && !slices.Contains(r.violations, v) {
		r.violations = append(r.violations, v)
	}
}

// params returns the params as an object; absent ones are an empty object.
func (r *Reader) params() params {
	o := params{object{fields{r: r}}}
	switch {
	case r.raw == nil:
		o.m = map[string]json.RawMessage{}
	case r.raw[0] == '{':
		o.m = members(r.raw)
	default:
		r.wrong("params", "must be an object")
		return o
	}
	o.withPath()
	return o
}

// An object is a JSON object being read. Its members are asked for by their
// camelCase name and found under the snake_case one, too; null is absent. A
// member of the wrong type is reported and read as absent.
type object struct{ fields }

// fields are the members of an object that is read.
type fields struct {
	r    *Reader
	path string // with a trailing dot, "" at the top
	m    map[string]json.RawMessage
}

func (o fields) wrong(name, problem string) { o.r.wrong(o.path+name, problem) }

// find returns the member called name, nil if it is absent or null.
func (o fields) find(name string) json.RawMessage {
	raw, ok := o.m[name]
	if !ok {
		raw = o.m[snake(name)]
	}
	if isNull(raw) {
		return nil
	}
	return raw
}

func snake(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (o fields) text(name string) string {
	s, _ := o.textIf(name)
	return s
}

// textIf returns the string called name; ok is false if it is absent.
func (o fields) textIf(name string) (s string, ok bool) {
	raw := o.find(name)
	if raw == nil {
		return "", false
	}
	if json.Unmarshal(raw, &s) != nil {
		o.wrong(name, "must be a string")
		return "", false
	}
	return s, true
}

// id returns an id of the server or a client; an invalid id is reported.
func (o fields) id(name string) string {
	s := o.text(name)
	if problem := badID(s); problem != "" {
		o.wrong(name, problem)
		return ""
	}
	return s
}

func badID(s string) string {
	if len(s) > call.MaxID {
		return fmt.Sprintf("is longer than %d bytes", call.MaxID)
	}
	if !utf8.ValidString(s) {
		return "must be UTF-8"
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

func (o fields) needID(name string) string {
	before := len(o.r.violations)
	s := o.id(name)
	if s == "" && len(o.r.violations) == before {
		o.wrong(name, "is required")
	}
	return s
}

// needText returns a required string without further checks: an invalid id is not
// found, like any unknown id.
func (o fields) needText(name string) string {
	s, ok := o.textIf(name)
	if !ok {
		o.missing(name)
	} else if s == "" {
		o.wrong(name, "is required")
	}
	return s
}

// wrongObject reports a problem with o as a whole.
func (o fields) wrongObject(problem string) { o.r.wrong(strings.TrimSuffix(o.path, "."), problem) }

// missing reports a required member, unless its value was reported already.
func (o fields) missing(name string) {
	if o.find(name) == nil {
		o.wrong(name, "is required")
	}
}

// flag returns the boolean called name, missing if it is absent.
func (o fields) flag(name string, missing bool) bool {
	raw := o.find(name)
	if raw == nil {
		return missing
	}
	b := missing
	if json.Unmarshal(raw, &b) != nil {
		o.wrong(name, "must be true or false")
	}
	return b
}

// int32 returns the int32 of the proto called name, nil if it is absent. In the
// JSON of a proto it may be a string.
func (o fields) int32(name string) *int {
	var text string
	raw := o.find(name)
	if raw == nil || o.r.Version != V10 || json.Unmarshal(raw, &text) != nil || text != strings.TrimSpace(text) {
		return o.integerIn(name, raw)
	}
	return o.integerIn(name, json.RawMessage(text))
}

// integer returns the 32-bit integer called name, nil if it is absent.
func (o fields) integer(name string) *int { return o.integerIn(name, o.find(name)) }

// integerIn returns raw, the value called name, as a 32-bit integer.
func (o fields) integerIn(name string, raw json.RawMessage) *int {
	if raw == nil {
		return nil
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		o.wrong(name, "must be an integer")
		return nil
	}
	n := int(f)
	return &n
}

func (o fields) time(name string) a2a.Time {
	var t a2a.Time
	if s := o.text(name); s != "" && t.UnmarshalText([]byte(s)) != nil {
		o.wrong(name, "must be an RFC 3339 timestamp")
	}
	return t
}

// child returns the object called name; ok is false if it is absent.
func (o object) child(name string) (inner object, ok bool) {
	raw := o.find(name)
	if raw == nil {
		return object{fields{r: o.r}}, false
	}
	return o.r.object(o.path+name, raw)
}

func (r *Reader) object(path string, raw json.RawMessage) (inner object, ok bool) {
	inner = object{fields{r: r, path: path + "."}}
	if raw[0] != '{' {
		r.wrong(path, "must be an object")
		return inner, false
	}
	inner.m = members(raw)
	return inner, true
}

// list returns the elements of the array called name, nil if it is absent.
func (o fields) list(name string) []json.RawMessage {
	raw := o.find(name)
	if raw == nil {
		return nil
	}
	if raw[0] != '[' {
		o.wrong(name, "must be an array")
		return nil
	}
	return elements(raw)
}

// objects returns those elements, of the array called name, that are objects.
func (o object) objects(name string, elements []json.RawMessage) []object {
	var out []object
	for i, raw := range elements {
		if inner, ok := o.r.object(fmt.Sprintf("%s%s[%d]", o.path, name, i), raw); ok {
			out = append(out, inner)
		}
	}
	return out
}

func (o fields) texts(name string) []string {
	var out []string
	for i, raw := range o.list(name) {
		var s *string
		if json.Unmarshal(raw, &s) != nil || s == nil {
			o.wrong(fmt.Sprintf("%s[%d]", name, i), "must be a string")
			continue
		}
		out = append(out, *s)
	}
	return out
}

// metadata returns the object called name with its values unchanged, also null.
func (o object) metadata(name string) a2a.Metadata {
	raw := o.find(name)
	switch {
	case raw == nil:
		return nil
	case len(raw) > MaxMetadata:
		o.wrong(name, fmt.Sprintf("is larger than %d bytes", MaxMetadata))
		return nil
	}
	inner, ok := o.child(name)
	if !ok || len(inner.m) == 0 {
		return nil
	}
	return inner.m
}

// oneOf returns the string called name as one of the values of an enum.
func oneOf[T ~string](o fields, name string, values ...T) T {
	s := T(o.text(name))
	if s != "" && !slices.Contains(values, s) {
		o.wrong(name, mustBeOneOf(values))
		return ""
	}
	return s
}

func mustBeOneOf[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return "must be one of: " + strings.Join(words, ", ")
}
