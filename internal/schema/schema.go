// Package schema checks JSON values against JSON Schemas that come from plans and
// executors. A schema is self-contained: it reads no file and no URL.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// MaxSize is the size of a schema in bytes at most.
const MaxSize = 64 << 10

// A Schema is a JSON Schema, of draft 2020-12 unless it names another one. It is
// safe for concurrent use, but makes one check at a time. Checks that cost too much
// fail.
type Schema struct {
	schema *jsonschema.Schema

	mu    sync.Mutex
	meter *meter // of the check that is made
}

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
	s := &Schema{meter: &meter{}}
	if err := limited(func() error { return s.compile(doc) }); err != nil {
		return nil, err
	}
	for _, probe := range []any{nil, false, "", json.Number("0"), []any{}, map[string]any{}} {
		if errors.Is(s.check(probe, maxProbe), errCost) {
			return nil, errors.New("read schema: it is too complex: the check of an empty value takes too long")
		}
	}
	return s, nil
}

// compile reads doc.
func (s *Schema) compile(doc any) error {
	references := 0
	if err := measure(doc, 0, &references); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if references > maxReferences {
		return fmt.Errorf("read schema: it has more than %d references", maxReferences)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(alone{})
	c.UseRegexpEngine(s.meter.pattern)
	err := c.AddResource(place, doc)
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if s.schema, err = c.Compile(place); err != nil {
		if refused, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
			return refused.Err
		}
		return fmt.Errorf("read schema: %w", explain(err))
	}
	s.meter.attach(s.schema)
	return nil
}

// A Defect is what a schema does not allow in a value, or the form of schemas in a schema.
type Defect struct {
	Path  []string // of members and indexes, to the value
	Text  string
	Got   string   // the text there, where it has to be one of a few
	Names []string // these
}

func (d *Defect) Error() string {
	if len(d.Path) == 0 {
		return d.Text
	}
	return "at /" + strings.Join(d.Path, "/") + ": " + d.Text
}

// Check returns the defects of value as an error, nil if it is valid.
func (s *Schema) Check(value json.RawMessage) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	if err := measure(v, 0, new(int)); err != nil {
		return err
	}
	return s.check(v, maxCost)
}

// check returns the defects of v as an error, or errCost if finding them costs more than most.
func (s *Schema) check(v any, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.left = most
	return limited(func() error {
		if err := s.schema.Validate(v); err != nil {
			return explain(err)
		}
		return nil
	})
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
	if !strings.HasPrefix(err.Error(), mustBe) {
		if s.Check(data) != nil {
			return nil, err
		}
		return data, nil
	}
	return data, s.Check(data)
}

// explain returns the first defect in an error of the library.
func explain(err error) error {
	var wrong *jsonschema.ValidationError
	if compiling, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = compiling.Err
	}
	if !errors.As(err, &wrong) {
		return errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	for len(wrong.Causes) > 0 {
		wrong = wrong.Causes[0]
	}
	d := &Defect{Path: wrong.InstanceLocation, Text: inWords(wrong.ErrorKind)}
	if of, ok := wrong.ErrorKind.(*kind.Enum); ok {
		d.Got, _ = of.Got.(string)
		for _, v := range of.Want {
			d.Names = append(d.Names, fmt.Sprint(v))
		}
	}
	return d
}
