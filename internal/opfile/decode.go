package opfile

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/opt"
)

// Decode reads a node into what a pointer points to, as package yaml does, and returns
// all that is wrong with it: also members that its structs do not have, and those that
// are duplicated. Correct values have been read before that.
func Decode(n *yaml.Node, to any) []Problem {
	err := n.Decode(to)
	var values *yaml.TypeError
	if err != nil && !errors.As(err, &values) {
		p := syntax(err.Error())
		p.Line = max(p.Line, n.Line)
		return []Problem{p}
	}
	c := &check{}
	c.value("", n, reflect.TypeOf(to))
	if c.days {
		values = nil
		errors.As(n.Decode(to), &values)
	}
	if len(c.problems) == 0 && values != nil { // such as a key twice in a value of any form
		for _, text := range values.Errors {
			c.problems = append(c.problems, syntax(text))
		}
	}
	return c.problems
}

// A check compares nodes with the types of their values. The parser does so too, but
// describes a mistake with names of Go types and parts of the values.
type check struct {
	problems []Problem
	days     bool // a duration in days was written in hours, which the parser can read
}

func (c *check) fail(n *yaml.Node, name, text string) {
	if name != "" {
		text = name + ": " + text
	}
	c.problems = append(c.problems, Problem{Line: max(n.Line, 1), Text: text})
}

var (
	anyNode   = reflect.TypeFor[yaml.Node]()
	durations = reflect.TypeFor[time.Duration]()
)

// value checks a value of the member with a name.
func (c *check) value(name string, n *yaml.Node, t reflect.Type) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == anyNode || t.Kind() == reflect.Interface || n.ShortTag() == "!!null":
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		if n.Kind != yaml.MappingNode {
			c.fail(n, name, "must be an object")
			return
		}
		c.object(n, t)
	case t.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			c.fail(n, name, "must be a list")
			return
		}
		for _, item := range n.Content {
			c.value(name, item, t.Elem())
		}
	case t == durations:
		c.duration(name, n)
	case n.Decode(reflect.New(t).Interface()) != nil, isInt(t) && hasFraction(n):
		c.fail(n, name, "must be "+form(t))
	}
}

// duration checks a duration.
func (c *check) duration(name string, n *yaml.Node) {
	d, err := opt.ParseSpan(n.Value)
	switch {
	case err != nil || n.ShortTag() != "!!str": // the parser refuses a number, also 0
		c.fail(n, name, "must be a duration, such as 90s, 2h or 7d")
	case strings.Contains(n.Value, "d"):
		n.Value, c.days = d.String(), true
	}
}

// object checks the members of a mapping for a struct or a map.
func (c *check) object(n *yaml.Node, t reflect.Type) {
	seen := map[string]bool{}
	for pair := range slices.Chunk(n.Content, 2) {
		key := pair[0]
		if key.ShortTag() == "!!merge" {
			c.merged(pair[1], t)
			continue
		}
		if seen[key.Value] {
			c.fail(key, "", fmt.Sprintf("member %q is there twice", key.Value))
			continue
		}
		seen[key.Value] = true
		if t.Kind() == reflect.Map {
			c.value(key.Value, pair[1], t.Elem())
			continue
		}
		names, types := members(t)
		if of, ok := types[key.Value]; ok {
			c.value(key.Value, pair[1], of)
			continue
		}
		text := fmt.Sprintf("member %q is unknown%s; the members are %s", key.Value, Suggest(key.Value, names), strings.Join(names, ", "))
		c.problems = append(c.problems, Problem{Line: key.Line, Text: text, Member: key.Value})
	}
}

// merged checks what the key << adds to a mapping: another one, or a list of them.
func (c *check) merged(n *yaml.Node, t reflect.Type) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			c.value("<<", item, t)
		}
		return
	}
	c.value("<<", n, t)
}

// members returns the members of a struct, in its order, and their types.
func members(t reflect.Type) (names []string, types map[string]reflect.Type) {
	types = map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); f.IsExported() && name != "" && name != "-" {
			names, types[name] = append(names, name), f.Type
		}
	}
	return names, types
}

// amounts are integers that have a fraction as a text.
var amounts = reflect.TypeFor[opt.Money]()

func isInt(t reflect.Type) bool {
	return t.Kind() == reflect.Int || t.Kind() == reflect.Int64 && t != amounts
}

// hasFraction reports whether a node is a number that is not whole. The parser cuts the
// fraction off for an integer.
func hasFraction(n *yaml.Node) bool {
	var f float64
	return n.ShortTag() == "!!float" && n.Decode(&f) == nil && f != math.Trunc(f)
}

// form says what a value of a type is.
func form(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64, t == amounts:
		return "a number"
	}
	return "a whole number"
}
