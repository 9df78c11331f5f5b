package read

import (
	"context"

	"longhaul/api/call"
)

// A Payload is a value in Temporal.
type Payload struct {
	Metadata map[string][]byte `json:"metadata,omitempty"`
	Data     []byte            `json:"data,omitempty"`
}

// A PayloadList is a list of payloads as Temporal's UI and its command send it.
type PayloadList struct {
	Payloads []Payload `json:"payloads" param:"payloads"`
}

// A PayloadCodec encrypts and decrypts payloads. An error of Decode says why, and is no
// secret.
type PayloadCodec interface {
	Encode(payloads []Payload) ([]Payload, error)
	Decode(payloads []Payload) ([]Payload, error)
}

// Payloads has the operations for people who look into Temporal. The payloads come from
// the caller, who has read them there, and may be of any tenant.
type Payloads struct{ Codec PayloadCodec }

// EncryptsPayloads reports whether payloads are encrypted. Without it the operations on
// them may not be called.
func (s Payloads) EncryptsPayloads() bool { return s.Codec != nil }

// EncodePayloads encrypts payloads.
func (s Payloads) EncodePayloads(_ context.Context, _ *call.Call, p PayloadList) (PayloadList, error) {
	out, err := s.Codec.Encode(p.Payloads)
	return listOf(out), err
}

// DecodePayloads decrypts payloads. Those that are not encrypted stay as they are.
func (s Payloads) DecodePayloads(_ context.Context, _ *call.Call, p PayloadList) (PayloadList, error) {
	out, err := s.Codec.Decode(p.Payloads)
	if err != nil {
		return PayloadList{}, call.InvalidField("payloads", err.Error())
	}
	return listOf(out), nil
}

func listOf(p []Payload) PayloadList { return PayloadList{append([]Payload{}, p...)} } // never null
