package webhook

import (
	"bytes"
	"encoding/json"
	"slices"

	"longhaul/activities"
)

// secretsOf returns the credentials that a service gets with w.
func (e *Endpoint) secretsOf(w activities.Work) []string {
	return slices.Concat(e.secrets, activities.Secrets([]string{w.CallbackURL, w.WakeURL}))
}

// hideInJSON returns JSON without secrets, however its texts are written. JSON without
// them is returned as it is.
func hideInJSON(body []byte, secrets []string) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // numbers keep their digits
	if err := d.Decode(&v); err != nil {
		return body
	}
	h := secretHider{secrets: secrets}
	v = h.value(v)
	if !h.found {
		return body
	}
	out, _ := json.Marshal(v) // it was JSON
	return out
}

// secretHider replaces secrets in the texts of a JSON value.
type secretHider struct {
	secrets []string
	found   bool
}

func (h *secretHider) value(v any) any {
	switch v := v.(type) {
	case string:
		return h.text(v)
	case []any:
		for i := range v {
			v[i] = h.value(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[h.text(key)] = h.value(member)
		}
		return out
	}
	return v
}

func (h *secretHider) text(s string) string {
	out := string(activities.Hide([]byte(s), h.secrets))
	h.found = h.found || out != s
	return out
}
