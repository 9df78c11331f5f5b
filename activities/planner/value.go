package planner

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"longhaul/activities"
	"longhaul/internal/opfile"
	"longhaul/internal/schema"
)

// input reads the input of a task, and also returns the tasks that it names.
func (s *source) input(n *yaml.Node) (any, []ref) {
	s.uses = nil
	v := s.value(n)
	return v, s.uses
}

// value reads any YAML that has a JSON form. Its strings become texts.
func (s *source) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for key, v := range s.pairs(n) {
			if _, twice := out[key.Value]; twice {
				s.fail(key, "%q is there twice", key.Value)
			}
			if key.Value == activities.KeyText {
				s.fail(key, "%q cannot be a key: it marks texts with results", key.Value)
			}
			out[key.Value] = s.value(v)
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			out = append(out, s.value(item))
		}
		return out
	case yaml.ScalarNode:
		return s.scalar(n)
	}
	s.fail(n, "an alias is not allowed: repeat the value")
	return nil
}

func (s *source) scalar(n *yaml.Node) any {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		return s.inputText(n)
	case "!!null":
		return nil
	case "!!int", "!!float", "!!bool":
		var v any
		if err := n.Decode(&v); err != nil {
			s.fail(n, "%q is not a value of type %s", n.Value, tag)
		}
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			s.fail(n, "%s has no JSON form", n.Value)
		}
		return v
	default:
		s.fail(n, "a value of type %s has no JSON form", tag)
		return nil
	}
}

// schema reads a JSON Schema. Of one with a mistake, which is reported at its line, nothing is kept.
func (s *source) schema(n *yaml.Node) json.RawMessage {
	raw := s.json(n)
	if _, err := schema.Parse(raw); err != nil {
		at, near := n, ""
		if d, ok := errors.AsType[*schema.Defect](err); ok {
			at, near = nodeAt(n, d.Path), opfile.Suggest(d.Got, d.Names)
		}
		s.fail(at, "%v%s", err, near)
		return json.RawMessage("true")
	}
	s.keywords(n)
	return raw
}

// keywords are those of JSON Schema.
var keywords = strings.Fields(`$schema $id $ref $defs $anchor $comment title description default examples deprecated readOnly writeOnly
	type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern format contentEncoding
	contentMediaType contentSchema minItems maxItems uniqueItems minContains maxContains contains items prefixItems minProperties
	maxProperties required dependentRequired dependentSchemas properties patternProperties additionalProperties propertyNames
	unevaluatedItems unevaluatedProperties allOf anyOf oneOf not if then else definitions dependencies additionalItems`)

// keywords fails for members of a schema that are like keywords, and would be ignored.
func (s *source) keywords(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for pair := range slices.Chunk(n.Content, 2) {
		switch key, v := pair[0].Value, pair[1]; {
		case key == "items":
			s.keywords(v)
		case key == "properties" && v.Kind == yaml.MappingNode:
			for property := range slices.Chunk(v.Content, 2) {
				s.keywords(property[1])
			}
		case !slices.Contains(keywords, key) && opfile.Suggest(key, keywords) != "":
			s.fail(pair[0], "a JSON Schema has no keyword %q%s", key, opfile.Suggest(key, keywords))
		}
	}
}

// nodeAt returns the value in n at a path of members and indexes, or the last one on the way there.
func nodeAt(n *yaml.Node, path []string) *yaml.Node {
	for _, step := range path {
		i, err := strconv.Atoi(step)
		if n.Kind == yaml.MappingNode {
			i, err = 1+slices.IndexFunc(n.Content, func(key *yaml.Node) bool { return key.Value == step }), nil
		}
		if err != nil || i < 0 || i >= len(n.Content) {
			break
		}
		n = n.Content[i]
	}
	return n
}

// json reads a value without templates, as JSON.
func (s *source) json(n *yaml.Node) json.RawMessage {
	v, err := fillValue(s.value(n), facts{}, nil)
	if err != nil {
		s.fail(n, "%v", err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		s.fail(n, "%v", err)
	}
	return raw
}

// resultText reads a text that may be a template and may name results.
func (s *source) resultText(n *yaml.Node) text {
	s.str(n)
	return s.inputText(n)
}

// inputText reads a string of an input.
func (s *source) inputText(n *yaml.Node) text {
	t, err := parseText(n.Value, true)
	if err != nil {
		s.fail(n, "%v", err)
	}
	t.line = n.Line
	for _, u := range t.uses {
		if u.task != "" {
			s.uses = append(s.uses, ref{line: n.Line, to: u.task, question: u.question})
		}
	}
	return t
}

// fillValue returns v, which value has read, with its texts for a request. places has
// the tasks that they name.
func fillValue(v any, f facts, places map[string]string) (any, error) {
	var err error
	switch v := v.(type) {
	case text:
		return v.fill(f, places)
	case joined:
		return v.fill(f, places)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, member := range v {
			if out[k], err = fillValue(member, f, places); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if out[i], err = fillValue(item, f, places); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}
