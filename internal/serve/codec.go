package serve

import (
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"longhaul/api/read"
	"longhaul/workflows"
)

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
