package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"longhaul/internal/schema"
	"longhaul/internal/test"
)

func TestSchema_Check(t *testing.T) {
	for _, tt := range []struct{ schema, value, problem string }{
		{`{"type":"integer","minimum":1}`, `3`, ""},
		{`{"type":"integer","minimum":1}`, `0`, "it must be at least 1"},
		{`{"type":"integer"}`, `"3"`, "it must be a whole number"},
		{`{"enum":["a","b"]}`, `"c"`, "the value must be one of a, b"},
		{`{"$defs":{"n":{"type":"number"}},"properties":{"x":{"$ref":"#/$defs/n"}}}`, `{"x":"y"}`, "at /x: "},
		{`{"enum":["a"]}`, `"c"`, "the value must be a"},
		{`{"minItems":2,"maxItems":3}`, `[1]`, "it must have at least 2, and has 1"},
		{`{"maxItems":1}`, `[1,2]`, "it must have at most 1, and has 2"},
		{`{"uniqueItems":true}`, `[1,2,1]`, "it has the same twice: number 1 and number 3"},
		{`{"required":["a","b"]}`, `{}`, "it needs a, b"},
		{`{"additionalProperties":false}`, `{"a":1}`, "it may have no member a"},
		{`{"pattern":"^t"}`, `"coffee"`, "it must match ^t"},
		{`{"multipleOf":2}`, `3`, "it must be a multiple of 2"},
		{`{"const":{"a":1}}`, `3`, `the value must be {"a":1}`},
		{`{"not":{}}`, `3`, "it is none of the allowed forms"},
		{`true`, `null`, ""},
	} {
		s, err := schema.Parse(json.RawMessage(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		err = s.Check(json.RawMessage(tt.value))
		if (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s for %s: %v, want %q", tt.value, tt.schema, err, tt.problem)
		}
	}
}

// A schema reads no file and no URL, though both exist.
func TestParse_refuses(t *testing.T) {
	file := test.File(t, "other.json", `{"type":"string"}`)
	for _, tt := range []struct{ schema, problem string }{
		{`{"$ref":"file://` + file + `"}`, "outside of the schema"},
		{`{"$ref":"https://example.com/schema.json"}`, "outside of the schema"},
		{`{"$ref":"other.json"}`, "outside of the schema"},
		{`{"type":"nothing"}`, "read schema"},
		{`{`, "read schema"},
		{`"` + strings.Repeat("x", schema.MaxSize) + `"`, "at most"},
	} {
		test.Fails(t, tt.schema, tt.problem, test.Err(schema.Parse(json.RawMessage(tt.schema))))
	}
}

// A text is JSON only where the schema takes no text.
func TestFromText(t *testing.T) {
	for _, tt := range []struct{ schema, text, want, problem string }{
		{``, `200`, `"200"`, ""},
		{`{"type":"integer"}`, ` 200 `, `200`, ""},
		{`{"type":"boolean"}`, `true`, `true`, ""},
		{`{"type":"boolean"}`, `"true"`, ``, "it must be true or false"},
		{`{"type":"array","items":{"type":"integer"}}`, `[1,2]`, `[1,2]`, ""},
		{`{"type":"object"}`, `{"a":1}`, `{"a":1}`, ""},
		{`{"type":["string","integer"]}`, `200`, `"200"`, ""},
		{`{"type":["null","integer"]}`, `null`, `null`, ""},
		{`{"enum":["true","false"]}`, `"true"`, `"true"`, ""},
		{`{"type":"integer"}`, `many`, ``, "it must be a whole number"},
		{`{"type":"integer","minimum":1}`, `0`, ``, "it must be at least 1"},
		{`{"type":"integer","minimum":100}`, `5`, ``, "it must be at least 100"},
		{`{"minLength":2,"type":"string"}`, `5`, ``, "it must have at least 2 characters, and has 1"},
		{`{"type":"number","exclusiveMaximum":0.5}`, `5`, ``, "it must be less than 0.5"},
		{`{"type":["number","null"]}`, `x`, ``, "it must be null or a number"},
		{`{"minLength":2}`, `5`, `5`, ""},
		{`{`, `0`, ``, "invalid schema"},
	} {
		var raw json.RawMessage
		if tt.schema != "" {
			raw = json.RawMessage(tt.schema)
		}
		got, err := schema.FromText(raw, tt.text)
		if tt.problem != "" {
			test.Fails(t, tt.text, tt.problem, err)
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("%s for %s: %s, %v; want %s", tt.text, tt.schema, got, err, tt.want)
		}
	}
}

// doubling is a schema of n steps, each of which refers twice to the next one, by keyword.
func doubling(n int, form string) string {
	defs := ""
	for i := range n {
		defs += fmt.Sprintf(`"d%d":`+strings.ReplaceAll(form, "NEXT", fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1))+`,`, i)
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s"d%d":{"type":"string"}}}`, defs, n)
}

// Schemas of others take no longer than a moment, however small they are. Without limits each
// of these takes minutes, or ends the process.
func TestCost(t *testing.T) {
	numbers := strings.TrimSuffix(strings.Repeat("1.5,", 9000), ",")
	for name, tt := range map[string]struct{ schema, value string }{
		"allOf":            {doubling(40, `{"allOf":[NEXT,NEXT]}`), `"x"`},
		"anyOf":            {doubling(40, `{"anyOf":[NEXT,NEXT]}`), `1`},
		"oneOf":            {doubling(40, `{"oneOf":[NEXT,NEXT]}`), `1`},
		"if":               {doubling(40, `{"if":NEXT,"then":NEXT,"else":NEXT}`), `1`},
		"not":              {doubling(40, `{"not":{"anyOf":[NEXT,NEXT]}}`), `1`},
		"of draft 7":       {strings.Replace(doubling(40, `{"allOf":[NEXT,NEXT]}`), `{"$ref":"#/$defs/d0",`, `{"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"$ref":"#/$defs/d0"}],`, 1), `1`},
		"dependentSchemas": {doubling(40, `{"not":{"dependentSchemas":{"a":NEXT,"b":NEXT}}}`), `{"a":1,"b":1}`},
		"members": {`{"$ref":"#/$defs/n","$defs":{"n":{"allOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}},{"properties":{"a":{"$ref":"#/$defs/n"}}}]}}}`,
			strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50)},
		"enum":              {`{"items":{"enum":[` + numbers + `]}}`, "[" + strings.Repeat("2,", 50000) + "2]"},
		"pattern":           {`{"items":{"pattern":"^(a{0,30}){0,30}$"}}`, `["` + strings.Repeat("a", 5<<20) + `!"]`},
		"large pattern":     {`{"pattern":"` + strings.Repeat("a{1000}", 140) + `"}`, `"a"`},
		"deep":              {strings.Repeat(`{"not":`, 1000) + "true" + strings.Repeat("}", 1000), `1`},
		"deep value":        {`{"items":{"$ref":"#"}}`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000)},
		"references":        {`{"allOf":[` + strings.Repeat(`{"$ref":"#/$defs/a"},`, 1500) + `true],"$defs":{"a":true}}`, `1`},
		"number":            {`{"multipleOf":1e-99999999}`, `1`},
		"number in a value": {`{"minimum":1}`, `1e999999999`},
		"reference to self": {`{"allOf":[{"$ref":"#"}]}`, `1`},
	} {
		began := time.Now()
		s, err := schema.Parse(json.RawMessage(tt.schema))
		if err == nil {
			err = s.Check(json.RawMessage(tt.value))
		}
		if err == nil {
			t.Errorf("%s: it is accepted", name)
		}
		t.Logf("%s: %v: %.100v", name, time.Since(began), err)
	}
}

// What people and programs need is far from the limits.
func TestCost_usual(t *testing.T) {
	var countries []string
	for i := range 250 {
		countries = append(countries, fmt.Sprintf(`"C%d"`, i))
	}
	row := `{"type":"object","required":["id"],"additionalProperties":false,"properties":{"id":{"type":"string","pattern":"^[a-z0-9-]{1,64}$"},"country":{"enum":[` + strings.Join(countries, ",") +
		`]},"n":{"type":"integer","minimum":0},"at":{"type":"string","format":"date-time"},"tags":{"type":"array","items":{"type":"string"}}}}`
	s := test.Value(schema.Parse(json.RawMessage(`{"type":"object","properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/row"}}},"$defs":{"row":` + row + `}}`)))(t)
	one := `{"id":"a-1","country":"C249","n":7,"at":"2026-01-01T00:00:00Z","tags":["a","b","c"]}`
	test.OK(t, s.Check(json.RawMessage(`{"rows":[`+strings.Repeat(one+",", 2000)+one+`]}`)))
}
