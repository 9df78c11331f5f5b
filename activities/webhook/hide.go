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
	found := false
	v = activities.MapTexts(v, func(text string) string {
		hidden := string(activities.Hide([]byte(text), secrets))
		found = found || hidden != text
		return hidden
	})
	if !found {
		return body
	}
	out, _ := json.Marshal(v) // it was JSON
	return out
}
