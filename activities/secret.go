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
