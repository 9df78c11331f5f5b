package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays of a request may be nested. RFC 8259
// allows such a limit, so deeper nesting is a parse error.
const MaxDepth = 100

// Errors of [Check]. Callers branch on ErrTooDeep.
var (
	errNotJSON = errors.New("the body is not one JSON value")
	errNotUTF8 = errors.New("the body is not UTF-8")
	ErrTooDeep = errors.New("the body is nested too deeply")
)

// Check reports why body is not a JSON value that can be read safely. [Members] and a [Reader]
// expect checked JSON: they find the ends of values without checking them again, so that reading
// copies no content.
func Check(body []byte) error {
	switch {
	case !utf8.Valid(body):
		return errNotUTF8
	case depth(body) > MaxDepth:
		return ErrTooDeep
	case !json.Valid(body):
		return errNotJSON
	}
	return nil
}

// depth returns how deep body is nested, if it is JSON.
func depth(body []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = endOfString(body, i) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// Members returns the members of an object. Of those with the same name the
// last one counts, as in every common parser.
func Members(object []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	walk(object, func(key, value []byte) {
		var name string
		if json.Unmarshal(key, &name) == nil {
			out[name] = value
		}
	})
	return out
}

// elements returns the elements of an array.
func elements(array []byte) []json.RawMessage {
	var out []json.RawMessage
	walk(array, func(_, value []byte) { out = append(out, value) })
	return out
}

// walk calls visit for each value in an object or array; key is nil in an array.
func walk(composite []byte, visit func(key, value []byte)) {
	isObject := composite[0] == '{'
	for i := skip(composite, 1); composite[i] != '}' && composite[i] != ']'; {
		var key []byte
		if isObject {
			end := endOfString(composite, i)
			key = composite[i:end]
			i = skip(composite, skip(composite, end)+1) // the colon
		}
		end := endOf(composite, i)
		visit(key, composite[i:end:end])
		if i = skip(composite, end); composite[i] == ',' {
			i = skip(composite, i+1)
		}
	}
}

// skip returns the index of the first byte from i on that is not white space.
func skip(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// endOf returns the index after the value that begins at i.
func endOf(b []byte, i int) int {
	switch b[i] {
	case '"':
		return endOfString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); i++ {
			switch b[i] {
			case '"':
				i = endOfString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(b)
	}
	if n := bytes.IndexAny(b[i:], ",]} \t\r\n"); n >= 0 {
		return i + n
	}
	return len(b)
}

// endOfString returns the index after the string that begins at i.
func endOfString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
