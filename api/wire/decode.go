package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"longhaul/a2a/codec"
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
	if v.Kind() == reflect.Pointer && name != "" {
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

func by[T any](rule string, read func(o codec.Object, name string) T) reading {
	return reading{reflect.TypeFor[T](), rule, func(o codec.Object, name string) reflect.Value { return reflect.ValueOf(read(o, name)) }}
}
