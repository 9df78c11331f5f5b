package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"longhaul/a2a"
)

// Limits on requests.
const (
	MaxParts      = 100      // of a message
	MaxMetadata   = 64 << 10 // bytes of JSON in one metadata object
	MaxID         = 256      // bytes of an id
	maxViolations = 20       // the most that are reported
)

// A Violation says which member of a request is wrong and why.
type Violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

// A Reader reads one request and collects the problems.
type Reader struct {
	Version    Version
	violations []Violation
}

// Violations returns the problems so far.
func (r *Reader) Violations() []Violation { return r.violations }

// Wrong notes a problem with a member.
func (r *Reader) Wrong(field, problem string) {
	v := Violation{Field: field, Description: problem}
	if len(r.violations) < maxViolations && !slices.Contains(r.violations, v) {
		r.violations = append(r.violations, v)
	}
}

// Root returns an object with the given members, at the top of the request.
func (r *Reader) Root(members map[string]json.RawMessage) Object { return Object{r: r, m: members} }

// Object returns the object in raw, which is at a path; ok is false if raw is no object.
func (r *Reader) Object(path string, raw json.RawMessage) (o Object, ok bool) {
	o = Object{r: r, path: path + "."}
	if raw[0] != '{' {
		r.Wrong(path, "must be an object")
		return o, false
	}
	o.m = Members(raw)
	return o, true
}

// An Object is a JSON object being read. Its members are asked for by their
// camelCase name and found under the snake_case one, too; null is absent. A
// member of the wrong type is reported and read as absent.
type Object struct {
	r    *Reader
	path string // with a trailing dot, "" at the top
	m    map[string]json.RawMessage
}

// Members returns all members, as they were sent.
func (o Object) Members() map[string]json.RawMessage { return o.m }

// Path returns where o is in the request, with a trailing dot; "" at the top.
func (o Object) Path() string { return o.path }

// Wrong notes a problem with the member called name.
func (o Object) Wrong(name, problem string) { o.r.Wrong(o.path+name, problem) }

// WrongObject notes a problem with o as a whole.
func (o Object) WrongObject(problem string) { o.r.Wrong(strings.TrimSuffix(o.path, "."), problem) }

// Missing reports a required member, unless its value was reported already.
func (o Object) Missing(name string) {
	if !o.Has(name) {
		o.Wrong(name, "is required")
	}
}

// Find returns the member called name, nil if it is absent or null.
func (o Object) Find(name string) json.RawMessage {
	raw, ok := o.m[name]
	if !ok {
		raw = o.m[snake(name)]
	}
	if IsNull(raw) {
		return nil
	}
	return raw
}

// Has reports whether there is a member called name that is not null.
func (o Object) Has(name string) bool { return o.Find(name) != nil }

// IsNull reports whether a value is null, or absent.
func IsNull(raw json.RawMessage) bool { return raw == nil || raw[0] == 'n' }

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

// Text returns the string called name, "" if it is absent.
func (o Object) Text(name string) string {
	s, _ := o.TextIf(name)
	return s
}

// TextIf returns the string called name; ok is false if it is absent.
func (o Object) TextIf(name string) (s string, ok bool) {
	raw := o.Find(name)
	if raw == nil {
		return "", false
	}
	if json.Unmarshal(raw, &s) != nil {
		o.Wrong(name, "must be a string")
		return "", false
	}
	return s, true
}

// NeedText returns a required string without further checks: an invalid id is not
// found, like any unknown id.
func (o Object) NeedText(name string) string {
	s, ok := o.TextIf(name)
	if !ok {
		o.Missing(name)
	} else if s == "" {
		o.Wrong(name, "is required")
	}
	return s
}

// ID returns an id of the server or a client; an invalid id is reported.
func (o Object) ID(name string) string {
	s := o.Text(name)
	if problem := badID(s); problem != "" {
		o.Wrong(name, problem)
		return ""
	}
	return s
}

func badID(s string) string {
	if len(s) > MaxID {
		return fmt.Sprintf("is longer than %d bytes", MaxID)
	}
	if !utf8.ValidString(s) {
		return "must be UTF-8"
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

// NeedID returns a required id.
func (o Object) NeedID(name string) string {
	before := len(o.r.violations)
	s := o.ID(name)
	if s == "" && len(o.r.violations) == before {
		o.Wrong(name, "is required")
	}
	return s
}

// ContextID returns the id of a context. A2A calls it opaque, and clients may
// choose it, so it may hold spaces, slashes and any letters, but not those alone.
func (o Object) ContextID(name string) string {
	id := o.ID(name)
	if IsBlank(id) {
		o.Wrong(name, "must not be blank")
	}
	return id
}

// Flag returns the boolean called name, missing if it is absent.
func (o Object) Flag(name string, missing bool) bool {
	raw := o.Find(name)
	if raw == nil {
		return missing
	}
	b := missing
	if json.Unmarshal(raw, &b) != nil {
		o.Wrong(name, "must be true or false")
	}
	return b
}

// Int32 returns the int32 of the proto called name, nil if it is absent. In the
// JSON of a proto it may be a string.
func (o Object) Int32(name string) *int {
	var text string
	raw := o.Find(name)
	if raw == nil || o.r.Version != V10 || json.Unmarshal(raw, &text) != nil || text != strings.TrimSpace(text) {
		return o.integer(name, raw)
	}
	return o.integer(name, json.RawMessage(text))
}

// Integer returns the 32-bit integer called name, nil if it is absent.
func (o Object) Integer(name string) *int { return o.integer(name, o.Find(name)) }

// integer returns raw, the value called name, as a 32-bit integer.
func (o Object) integer(name string, raw json.RawMessage) *int {
	if raw == nil {
		return nil
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		o.Wrong(name, "must be an integer")
		return nil
	}
	return new(int(f))
}

// Time returns the timestamp called name.
func (o Object) Time(name string) a2a.Time {
	var t a2a.Time
	if s := o.Text(name); s != "" && t.UnmarshalText([]byte(s)) != nil {
		o.Wrong(name, "must be an RFC 3339 timestamp")
	}
	return t
}

// Child returns the object called name; ok is false if it is absent.
func (o Object) Child(name string) (inner Object, ok bool) {
	raw := o.Find(name)
	if raw == nil {
		return Object{r: o.r}, false
	}
	return o.r.Object(o.path+name, raw)
}

// List returns the elements of the array called name, nil if it is absent.
func (o Object) List(name string) []json.RawMessage {
	raw := o.Find(name)
	if raw == nil {
		return nil
	}
	if raw[0] != '[' {
		o.Wrong(name, "must be an array")
		return nil
	}
	return elements(raw)
}

// Objects returns those elements, of the array called name, that are objects.
func (o Object) Objects(name string) []Object { return o.objects(name, o.List(name)) }

func (o Object) objects(name string, elements []json.RawMessage) []Object {
	var out []Object
	for i, raw := range elements {
		if inner, ok := o.r.Object(fmt.Sprintf("%s%s[%d]", o.path, name, i), raw); ok {
			out = append(out, inner)
		}
	}
	return out
}

// Texts returns those elements, of the array called name, that are strings.
func (o Object) Texts(name string) []string {
	var out []string
	for i, raw := range o.List(name) {
		var s *string
		if json.Unmarshal(raw, &s) != nil || s == nil {
			o.Wrong(fmt.Sprintf("%s[%d]", name, i), "must be a string")
			continue
		}
		out = append(out, *s)
	}
	return out
}

// Metadata returns the object called name with its values unchanged, also null.
func (o Object) Metadata(name string) a2a.Metadata {
	raw := o.Find(name)
	switch {
	case raw == nil:
		return nil
	case len(raw) > MaxMetadata:
		o.Wrong(name, fmt.Sprintf("is larger than %d bytes", MaxMetadata))
		return nil
	}
	inner, ok := o.Child(name)
	if !ok || len(inner.m) == 0 {
		return nil
	}
	return inner.m
}

// OneOf returns the string called name as one of the values of an enum.
func OneOf[T ~string](o Object, name string, values ...T) T {
	s := T(o.Text(name))
	if s != "" && !slices.Contains(values, s) {
		o.Wrong(name, MustBeOneOf(values))
		return ""
	}
	return s
}

// MustBeOneOf returns the problem of a value that is not in an enum.
func MustBeOneOf[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return "must be one of: " + strings.Join(words, ", ")
}

// IsFormatCharacter reports whether c is a control character, an invisible format character or
// a line separator.
func IsFormatCharacter(c rune) bool {
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// IsBlank reports whether a text is not empty and has no visible character.
func IsBlank(text string) bool {
	invisible := func(c rune) bool { return unicode.IsSpace(c) || IsFormatCharacter(c) }
	return text != "" && strings.TrimFunc(text, invisible) == ""
}
