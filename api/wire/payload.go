package wire

import (
	"encoding/json"

	"longhaul/api/read"
)

// payloadList is a list of payloads as Temporal's UI and its command send it.
type payloadList struct {
	Payloads []read.Payload `json:"payloads"`
}

// ReadPayloads reads a list of payloads.
func ReadPayloads(r *Reader) []read.Payload {
	o := r.params()
	var in []read.Payload
	raw := o.Find("payloads")
	if raw == nil {
		o.Wrong("payloads", "is required")
		return nil
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		o.Wrong("payloads", "must be a list of payloads: "+err.Error())
	}
	return in
}

// WritePayloads returns a list of payloads.
func WritePayloads(_ Version, p []read.Payload) any {
	return payloadList{append([]read.Payload{}, p...)}
}
