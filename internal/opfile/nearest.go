package opfile

import (
	"cmp"
	"fmt"
	"strings"
)

// Unknown returns the error of a name that is not known, with the nearest one that is.
func Unknown(kind, name string, known []string) error {
	return fmt.Errorf("there is no %s %q%s; known are %s", kind, name, Suggest(name, known), cmp.Or(strings.Join(known, ", "), "none"))
}

// Suggest returns the known name that is most like word as the question whether it was meant, ""
// if all differ too much.
func Suggest(word string, known []string) string {
	if like := Nearest(word, known); len(like) > 0 {
		return " (did you mean " + like[0] + "?)"
	}
	return ""
}

// Nearest returns the names that are most like word, none if all differ too much.
func Nearest(word string, names []string) (out []string) {
	least := min(2, len(word)/2)
	for _, name := range names {
		d := editDistance(word, name, least)
		if len(word) > 1 && strings.HasPrefix(name, word) {
			d = 0
		}
		if d < least {
			least, out = d, nil
		}
		if d == least {
			out = append(out, name)
		}
	}
	return out
}

// editDistance returns how many letters have to be added, removed, replaced or exchanged with
// the next one to make b of a. If these are more than most, it returns any number above most.
func editDistance(a, b string, most int) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case most == 0:
		return 1
	}
	rest := min(editDistance(a[1:], b, most-1), editDistance(a, b[1:], most-1), editDistance(a[1:], b[1:], most-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		rest = min(rest, editDistance(a[2:], b[2:], most-1))
	}
	return 1 + rest
}
