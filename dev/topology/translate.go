package topology

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// bareHosts are the variables of the images whose value is a host without a port.
var bareHosts = []string{"POSTGRES_SEEDS", "SQL_HOST", "PGHOST"}

// A translator replaces what means something in a container only.
type translator struct {
	ip        string            // of the process
	hosts     map[string]string // addresses of services, by name
	paths     map[string]string // places on this machine of directories and files, by path in the container
	published map[string]string // addresses of processes, by published address
}

// text translates a text: an argument or the value of a variable.
func (t translator) text(s string) string {
	for _, at := range longest(t.paths) {
		s = regexp.MustCompile(`(^|[^\w./-])`+regexp.QuoteMeta(at)+`($|[^\w.-])`).ReplaceAllString(s, "${1}"+strings.ReplaceAll(t.paths[at], "$", "$$")+"${2}")
	}
	for _, host := range longest(t.hosts) {
		s = regexp.MustCompile(`(^|[^\w.-])`+regexp.QuoteMeta(host)+`(:\d)`).ReplaceAllString(s, "${1}"+t.hosts[host]+"${2}")
	}
	for _, at := range longest(t.published) {
		s = strings.ReplaceAll(s, at, t.published[at])
	}
	return strings.ReplaceAll(s, "0.0.0.0", t.ip)
}

// variable translates the value of a variable.
func (t translator) variable(name, value string) string {
	if ip := t.hosts[value]; ip != "" && slices.Contains(bareHosts, name) {
		return ip
	}
	return t.text(value)
}

// check translates an argument of a health check, which runs in the container.
func (t translator) check(s string) string {
	return t.text(regexp.MustCompile(`\blocalhost\b`).ReplaceAllString(s, t.ip))
}

// longest returns the keys of m, the longest first, so that no key is replaced
// within another one.
func longest(m map[string]string) []string {
	keys := names(m)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return keys
}
