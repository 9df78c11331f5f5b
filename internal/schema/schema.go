// Package schema checks JSON values against JSON Schemas that come from plans and
// executors. A schema is self-contained: it reads no file and no URL.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// MaxSize is the size of a schema in bytes at most.
const MaxSize = 64 << 10

// A Schema is a JSON Schema, of draft 2020-12 unless it names another one. It is
// safe for concurrent use.
type Schema struct{ schema *jsonschema.Schema }

// place is the URL under which a schema is read. Its own references are relative to
// it.
const place = "schema:///question"

// alone refuses to load what a schema refers to outside of itself.
type alone struct{}

func (alone) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema: only references within it, such as #/$defs/name, are allowed", url)
}

// Parse returns the schema in raw.
func Parse(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("a schema has at most %d bytes", MaxSize)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(alone{})
	if err := c.AddResource(place, doc); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	s, err := c.Compile(place)
	if err != nil {
		var refused *jsonschema.LoadURLError
		if errors.As(err, &refused) {
			return nil, refused.Err
		}
		return nil, fmt.Errorf("read schema: %s", explain(err))
	}
	return &Schema{s}, nil
}

// Check returns the defects of value as an error, nil if it is valid.
func (s *Schema) Check(value json.RawMessage) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	if err := s.schema.Validate(v); err != nil {
		return errors.New(explain(err))
	}
	return nil
}

// FromText returns a text as a value that is valid under the schema in raw: a string, or
// the JSON in the text if only that is valid. Without a schema it is a string. If neither
// is valid, the error is about the string where the schema takes one, else about the JSON.
func FromText(raw json.RawMessage, text string) (json.RawMessage, error) {
	value, err := json.Marshal(text)
	if err != nil || raw == nil {
		return value, err
	}
	s, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the question has an invalid schema: %w", err)
	}
	if err = s.Check(value); err == nil {
		return value, nil
	}
	data := json.RawMessage(strings.TrimSpace(text))
	if !json.Valid(data) {
		return nil, err
	}
	if !strings.HasPrefix(err.Error(), "got string, want ") {
		if s.Check(data) != nil {
			return nil, err
		}
		return data, nil
	}
	return data, s.Check(data)
}

// explain returns the first problem in an error of the library, in one line.
func explain(err error) string {
	var wrong *jsonschema.ValidationError
	if !errors.As(err, &wrong) {
		return strings.Join(strings.Fields(err.Error()), " ")
	}
	for len(wrong.Causes) > 0 {
		wrong = wrong.Causes[0]
	}
	text := wrong.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if at := strings.Join(wrong.InstanceLocation, "/"); at != "" {
		return "at /" + at + ": " + text
	}
	return text
}
