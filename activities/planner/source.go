package planner

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/opfile"
)

// problems are the mistakes in playbooks, by file and line.
type problems []error

func (p *problems) add(file string, line int, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, args...)))
}

// err returns all problems as one error, nil if there are none.
func (p problems) err() error { return errors.Join(p...) }

// A source is one file while it is read. Reading continues after a mistake, so
// that the author sees all of them.
type source struct {
	file  string
	wrong problems
	uses  []ref // tasks that the input which is being read names

	member string // that is being read

	calendars Calendars
}

func (s *source) fail(n *yaml.Node, format string, args ...any) {
	s.wrong.add(s.file, n.Line, format, args...)
}

// unfit adds that the value of the member that is being read must be another.
func (s *source) unfit(n *yaml.Node, format string, args ...any) {
	problem := s.member + ": must " + fmt.Sprintf(format, args...)
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		problem += fmt.Sprintf("; it is %.40q", n.Value)
	}
	s.fail(n, "%s", problem)
}

// document parses data, which must be one YAML document.
func (s *source) document(data []byte) (*yaml.Node, bool) {
	doc, problem := opfile.Parse(data, "playbook")
	if problem == nil && doc == nil {
		problem = &opfile.Problem{Line: 1, Text: "the file is empty"}
	}
	if problem != nil {
		s.wrong = append(s.wrong, problem.In(s.file))
	}
	return doc, problem == nil
}

// A table says how to read each member of an object.
type table map[string]func(*yaml.Node)

// object reads a mapping. what describes it in errors.
func (s *source) object(n *yaml.Node, what string, members table) {
	if n.Kind != yaml.MappingNode {
		s.fail(n, "%s must be an object", what)
		return
	}
	seen := map[string]bool{}
	for key, v := range s.pairs(n) {
		read, ok := members[key.Value]
		switch {
		case !ok:
			s.fail(key, "%s has no member %q%s", what, key.Value, opfile.Suggest(key.Value, slices.Sorted(maps.Keys(members))))
		case seen[key.Value]:
			s.fail(key, "%q is there twice", key.Value)
		default:
			seen[key.Value] = true
			outer := s.member
			s.member = key.Value
			read(v)
			s.member = outer
		}
	}
}

// pairs iterates over the members of a mapping whose keys are strings.
func (s *source) pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		for pair := range slices.Chunk(n.Content, 2) {
			key := pair[0]
			if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
				s.fail(key, "a key must be a text")
			} else if !yield(key, pair[1]) {
				return
			}
		}
	}
}

// list reads a sequence.
func (s *source) list(n *yaml.Node, item func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		s.unfit(n, "be a list")
		return
	}
	for _, v := range n.Content {
		item(v)
	}
}

// str reads a text that is no template, and not empty.
func (s *source) str(n *yaml.Node) string {
	switch {
	case n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str":
		s.unfit(n, "be a text; quotes make one of a number")
	case strings.TrimSpace(n.Value) == "":
		s.unfit(n, "not be empty")
	}
	return n.Value
}

func (s *source) strs(n *yaml.Node) []string {
	var out []string
	s.list(n, func(v *yaml.Node) { out = append(out, s.str(v)) })
	return out
}

// text reads a text that may be a template.
func (s *source) text(n *yaml.Node) text {
	s.str(n)
	t, err := parseText(n.Value, false)
	if err != nil {
		s.fail(n, "%v", err)
	}
	return t
}

func (s *source) flag(n *yaml.Node) (v bool) {
	if n.ShortTag() != "!!bool" || n.Decode(&v) != nil {
		s.unfit(n, "be true or false")
	}
	return v
}

func (s *source) number(n *yaml.Node, least, most int) (v int) {
	if n.ShortTag() != "!!int" || n.Decode(&v) != nil || v < least || v > most {
		s.unfit(n, "be a whole number from %d to %d", least, most)
	}
	return v
}
