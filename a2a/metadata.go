package a2a

import "encoding/json"

// Metadata is a JSON object of which each value is kept byte for byte, so that
// numbers survive unchanged. The zero value is empty and may be read.
type Metadata map[string]json.RawMessage

// With returns a copy of m in which key holds v.
func (m Metadata) With(key string, v any) Metadata {
	c := make(Metadata, len(m)+1)
	for k, old := range m {
		c[k] = old
	}
	c[key] = mustJSON(v)
	return c
}

// WithIf is With if ok, and else m.
func (m Metadata) WithIf(ok bool, key string, v any) Metadata {
	if !ok {
		return m
	}
	return m.With(key, v)
}

// String returns the string under key; ok is false if there is none or its value has
// another type.
func (m Metadata) String(key string) (s string, ok bool) {
	ok = m.Decode(key, &s) == nil && m.Has(key)
	return s, ok
}

// Bool returns the boolean under key, false if there is none or its value has another
// type.
func (m Metadata) Bool(key string) bool {
	var b bool
	return m.Decode(key, &b) == nil && b
}

// Has reports whether key is present with a value other than null.
func (m Metadata) Has(key string) bool {
	v, ok := m[key]
	return ok && string(v) != "null"
}

// Decode reads the value under key into v. An absent key leaves v alone.
func (m Metadata) Decode(key string, v any) error {
	raw, ok := m[key]
	if !ok {
		return nil
	}
	return json.Unmarshal(raw, v)
}
