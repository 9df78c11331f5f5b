package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What schemas and values may have at most. Schemas come from others, and a small one can make
// the check of a small value take for ever: by references that double the work at each step, by
// patterns and by numbers with large exponents.
const (
	maxDepth      = 64      // of objects and lists in each other
	maxReferences = 1000    // in a schema
	maxNumber     = 400     // characters of a number, and its exponent
	maxPatterns   = 20_000  // instructions of all regular expressions of a schema
	maxCost       = 200_000 // of one check, in units of at most 10 µs
	maxProbe      = 50_000  // of a check when a schema is read
)

var errCost = errors.New("the check takes too long: the schema is too complex, or the value too large for it")

// A meter measures the cost of checks. It panics with errCost if a check costs too much.
type meter struct {
	left, patterns int
}

func (m *meter) spend(n int) {
	if m.left -= n; m.left < 0 {
		panic(errCost)
	}
}

// limited calls f, and returns a panic of the meter or of the library as an error.
func limited(f func() error) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case errCost:
			err = errCost
		default:
			err = fmt.Errorf("the schema cannot be checked: %v", p)
		}
	}()
	return f()
}

// measure returns an error if v, a schema or a value, has more than it may. refs counts the
// references of a schema.
func measure(v any, depth int, refs *int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	var inside []any
	switch v := v.(type) {
	case json.Number:
		return checkNumber(v.String())
	case map[string]any:
		for name := range v {
			if strings.HasPrefix(name, "$") && strings.HasSuffix(strings.ToLower(name), "ref") {
				*refs++
			}
		}
		inside = slices.Collect(maps.Values(v))
	case []any:
		inside = v
	}
	for _, item := range inside {
		if err := measure(item, depth+1, refs); err != nil {
			return err
		}
	}
	return nil
}

func checkNumber(number string) error {
	_, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	n, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if len(number) > maxNumber || err != nil || n > maxNumber || n < -maxNumber {
		return fmt.Errorf("the number %.20s… is too long or too large", number)
	}
	return nil
}

// pattern compiles a regular expression whose use is measured.
func (m *meter) pattern(text string) (jsonschema.Regexp, error) {
	if len(text) > MaxSize/64 {
		return nil, errors.New("the pattern is too long")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if m.patterns += len(program.Inst); m.patterns > maxPatterns {
		return nil, errors.New("the patterns are too complex")
	}
	return measured{re, len(program.Inst), m}, nil
}

type measured struct {
	*regexp.Regexp
	size int
	*meter
}

func (r measured) MatchString(s string) bool {
	r.spend(1 + len(s)*r.size/512)
	return r.Regexp.MatchString(s)
}

// attach makes the check of each schema below s spend what it costs, with those that it applies
// to the same value or to members of it. The library has no place for that but the check of
// formats, which comes before the cost of other schemas.
func (m *meter) attach(s *jsonschema.Schema) {
	all, dearest := map[*jsonschema.Schema]int{}, 0
	for todo := []*jsonschema.Schema{s}; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		if _, seen := all[next]; seen || !strings.HasPrefix(next.Location, place) { // others are shared: the schemas of the standard
			continue
		}
		var parts []*jsonschema.Schema
		for field, v := range reflect.ValueOf(next).Elem().Fields() {
			if field.IsExported() {
				parts = append(parts, schemas(v)...)
			}
		}
		all[next] = len(parts)
		todo = append(todo, parts...)
		if next.Enum != nil {
			dearest = max(dearest, weight(next.Enum.Values))
		}
		if next.Const != nil {
			dearest = max(dearest, weight(*next.Const))
		}
	}
	for one, parts := range all {
		one.Format = m.metered(one.Format, func(v any) int { return (1 + parts + size(v)) * (1 + dearest/500) })
	}
}

// metered returns a check of a format, which may be nil, that spends what it costs.
func (m *meter) metered(own *jsonschema.Format, cost func(v any) int) *jsonschema.Format {
	if own == nil {
		own = &jsonschema.Format{Name: "cost", Validate: func(any) error { return nil }}
	}
	return &jsonschema.Format{Name: own.Name, Validate: func(v any) error {
		m.spend(cost(v))
		return own.Validate(v)
	}}
}

// size returns how many items or members a value has; one is as dear as 512 bytes of a text.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) / 512
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// schemas returns the schemas in a field of a schema.
func schemas(v reflect.Value) (out []*jsonschema.Schema) {
	switch v.Kind() {
	case reflect.Interface:
		return schemas(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		switch p := v.Interface().(type) {
		case *jsonschema.Schema:
			return []*jsonschema.Schema{p}
		case *jsonschema.DynamicRef:
			return []*jsonschema.Schema{p.Ref}
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, schemas(v.Index(i))...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			out = append(out, schemas(v.MapIndex(key))...)
		}
	}
	return out
}

// weight returns how much it costs to compare a value with v, in units of at most 20 ns.
func weight(v any) (n int) {
	switch v := v.(type) {
	case json.Number:
		return 20
	case []any:
		for _, item := range v {
			n += weight(item)
		}
	case map[string]any:
		for _, item := range v {
			n += weight(item)
		}
	}
	return n + 1
}
