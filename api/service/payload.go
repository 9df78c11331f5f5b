package service

import "context"

// A Payload is a value in Temporal.
type Payload struct {
	Metadata map[string][]byte `json:"metadata,omitempty"`
	Data     []byte            `json:"data,omitempty"`
}

// A PayloadCodec encrypts and decrypts payloads. An error of Decode says why, and is no
// secret.
type PayloadCodec interface {
	Encode(payloads []Payload) ([]Payload, error)
	Decode(payloads []Payload) ([]Payload, error)
}

// payloads has the operations for people who look into Temporal. The payloads come from
// the caller, who has read them there, and may be of any tenant.
type payloads struct{ codec PayloadCodec }

// EncryptsPayloads reports whether payloads are encrypted. Without it the operations on
// them may not be called.
func (s payloads) EncryptsPayloads() bool { return s.codec != nil }

// EncodePayloads encrypts payloads.
func (s payloads) EncodePayloads(_ context.Context, _ *Call, p []Payload) ([]Payload, error) {
	return s.codec.Encode(p)
}

// DecodePayloads decrypts payloads. Those that are not encrypted stay as they are.
func (s payloads) DecodePayloads(_ context.Context, _ *Call, p []Payload) ([]Payload, error) {
	out, err := s.codec.Decode(p)
	if err != nil {
		return nil, Invalid(Violation{Field: "payloads", Description: err.Error()})
	}
	return out, nil
}
