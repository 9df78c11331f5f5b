package grpc

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/structpb"

	"longhaul/a2a"
)

func newStruct(m a2a.Metadata) *structpb.Struct {
	if len(m) == 0 {
		return nil
	}
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(m))}
	for key, raw := range m {
		out.Fields[key] = newValue(raw)
	}
	return out
}

// newValue returns JSON as a value of the proto. Stored JSON is valid, but a
// strict reader of ProtoJSON might refuse it: names may repeat, and the last one
// counts.
func newValue(raw json.RawMessage) *structpb.Value {
	var v any
	if a2a.Decode(raw, &v) != nil {
		return structpb.NewNullValue()
	}
	return valueOf(v)
}

func valueOf(v any) *structpb.Value {
	switch v := v.(type) {
	case bool:
		return structpb.NewBoolValue(v)
	case string:
		return structpb.NewStringValue(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return structpb.NewStringValue(v.String()) // too large for a double
		}
		return structpb.NewNumberValue(f)
	case []any:
		return structpb.NewListValue(&structpb.ListValue{Values: convertAll(v, valueOf)})
	case map[string]any:
		out := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(v))}
		for key, inner := range v {
			out.Fields[key] = valueOf(inner)
		}
		return structpb.NewStructValue(out)
	}
	return structpb.NewNullValue()
}
