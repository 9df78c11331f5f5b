package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"longhaul/a2a"
	"longhaul/activities"
)

// secretsOf returns the credentials that a service gets with w.
func (e *Endpoint) secretsOf(w activities.Work) []string {
	return slices.Concat(e.secrets, activities.Secrets([]string{w.CallbackURL, w.WakeURL}))
}

// hideInJSON returns JSON without secrets, however its texts are written. JSON without
// them is returned as it is. A body that is no JSON is an error.
func hideInJSON(body []byte, secrets []string) ([]byte, error) {
	if !json.Valid(body) {
		return nil, errors.New("not JSON")
	}
	hide := func(text string) string { return string(activities.Hide([]byte(text), secrets)) }
	found := false
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // of any size
	for {
		t, err := d.Token() // each text, also of a member that comes twice
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		text, ok := t.(string)
		found = found || ok && hide(text) != text
	}
	if !found {
		return body, nil
	}
	var v any
	if err := a2a.Decode(body, &v); err != nil {
		return nil, err
	}
	return json.Marshal(activities.MapTexts(v, hide))
}
