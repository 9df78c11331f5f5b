package activities

import (
	"bytes"
	"slices"
)

// shortestSecret is how long a secret is at least that [Hide] is for. Shorter ones would
// change ordinary text.
const shortestSecret = 6

// Secrets returns the values that [Hide] is for.
func Secrets(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return len(v) < shortestSecret })
}

// Hide returns data with secrets replaced, since the receiver of a credential may repeat
// it in its answer.
func Hide(data []byte, secrets []string) []byte {
	for _, s := range secrets {
		data = bytes.ReplaceAll(data, []byte(s), []byte("[credential]"))
	}
	return data
}

// MapTexts returns a JSON value with f applied to its texts, and to the names of members.
func MapTexts(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			v[i] = MapTexts(v[i], f)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[f(name)] = MapTexts(member, f)
		}
		return out
	}
	return v
}
