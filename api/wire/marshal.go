package wire

import (
	"bytes"
	"encoding/json"
)

// Marshal returns v as JSON on one line, without unnecessary escapes.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// mustMarshal returns v, which holds nothing but strings, numbers and JSON, as JSON.
func mustMarshal(v any) json.RawMessage {
	b, err := Marshal(v)
	if err != nil {
		panic(err) // cannot happen
	}
	return b
}
