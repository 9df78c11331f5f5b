package cli

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"longhaul/api/read"
	"longhaul/internal/seal"
	"longhaul/workflows"
)

// payloadSettings configure the encryption of data in Temporal.
type payloadSettings struct {
	PayloadKeys     secret `help:"Keys that encrypt everything that is stored in Temporal: 32 bytes in base64 each, separated by commas. The first encrypts, all decrypt. The API and the workers need the same. Without any, nothing is encrypted. See docs/security.md." env:"LONGHAUL_PAYLOAD_KEYS" placeholder:"KEYS"`
	PayloadKeysFile string `help:"File with the keys of --payload-keys, on one line each." env:"LONGHAUL_PAYLOAD_KEYS_FILE" placeholder:"FILE"`
}

// cipher returns what encrypts payloads, nil for nothing.
func (s payloadSettings) cipher() (workflows.Cipher, error) {
	var keys [][]byte
	var err error
	switch {
	case s.PayloadKeys != "" && s.PayloadKeysFile != "":
		err = newUsageError("there are keys in the file of --payload-keys-file, too: use one of the two settings")
	case s.PayloadKeys != "":
		keys, err = seal.Parse(string(s.PayloadKeys))
	case s.PayloadKeysFile != "":
		keys, err = seal.Read(s.PayloadKeysFile)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("keys for payloads (--payload-keys): %w", err)
	}
	return seal.New(keys...)
}

// A payloadCodec is a codec of the SDK for the API.
type payloadCodec struct{ converter.PayloadCodec }

// apiCodec returns the codec for the API, nil if payloads are not encrypted.
func apiCodec(c workflows.Cipher) read.PayloadCodec {
	if c == nil {
		return nil
	}
	return payloadCodec{workflows.NewCodec(c)}
}

// Encode implements [read.PayloadCodec].
func (c payloadCodec) Encode(payloads []read.Payload) ([]read.Payload, error) {
	return convertPayloads(payloads, c.PayloadCodec.Encode)
}

// Decode implements [read.PayloadCodec].
func (c payloadCodec) Decode(payloads []read.Payload) ([]read.Payload, error) {
	return convertPayloads(payloads, c.PayloadCodec.Decode)
}

func convertPayloads(payloads []read.Payload, code func([]*commonpb.Payload) ([]*commonpb.Payload, error)) ([]read.Payload, error) {
	in := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		in[i] = &commonpb.Payload{Metadata: p.Metadata, Data: p.Data}
	}
	done, err := code(in)
	out := make([]read.Payload, len(done))
	for i, p := range done {
		out[i] = read.Payload{Metadata: p.GetMetadata(), Data: p.GetData()}
	}
	return out, err
}
