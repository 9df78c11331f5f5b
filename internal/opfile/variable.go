package opfile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// An Env returns the values of variables of the environment, as [os.LookupEnv] does.
// nil is for a process that has no use for them: all are empty then.
type Env func(name string) (string, bool)

// Value returns the value of a variable, which must be set and not be empty.
func (e Env) Value(name string) (string, error) {
	if e == nil {
		return "", nil
	}
	value, ok := e(name)
	if !ok || value == "" {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	return value, nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Expand replaces each ${NAME} in a text by the value of a variable, and also returns
// these values. Nothing else is replaced by a variable. No error has a value.
func (e Env) Expand(text string) (filled string, values []string, wrong []error) {
	filled = variable.ReplaceAllStringFunc(text, func(found string) string {
		value, err := e.Value(found[2 : len(found)-1])
		if err != nil {
			wrong = append(wrong, err)
			return ""
		}
		values = append(values, value)
		return value
	})
	return filled, values, wrong
}

// Filled are headers in which the variables are filled in.
type Filled struct {
	Headers map[string]string
	Values  []string // of the variables
	Wrong   []error  // none has a value
}

// ErrOwn is the error of a header that requests set themselves.
var ErrOwn = errors.New("cannot be chosen")

// own are the headers that all requests set themselves.
var own = []string{"Content-Type", "Content-Length", "Host", "Transfer-Encoding", "Connection"}

// Headers expands the values of headers, and checks that a request can have them. others
// are more headers that requests set themselves; a name that ends in * means all
// that begin so.
func (e Env) Headers(headers map[string]string, others ...string) Filled {
	out := Filled{Headers: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value, values, wrong := e.Expand(headers[name])
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			wrong = append(wrong, fmt.Errorf("%q and its value cannot be a header", name))
		}
		if isOne(name, own) || isOne(name, others) {
			wrong = append(wrong, fmt.Errorf("%q %w", name, ErrOwn))
		}
		out.Headers[name] = value
		out.Values, out.Wrong = append(out.Values, values...), append(out.Wrong, wrong...)
	}
	return out
}

// isOne reports whether a header is in a list.
func isOne(name string, list []string) bool {
	return slices.ContainsFunc(list, func(other string) bool {
		start, all := strings.CutSuffix(other, "*")
		return strings.EqualFold(other, name) || all && len(name) >= len(start) && strings.EqualFold(name[:len(start)], start)
	})
}
