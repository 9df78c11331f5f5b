package grpc

import (
	"encoding/json"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"longhaul/api/call"
	"longhaul/api/wire"
)

// failure returns a fault as the status of a call, with the same details that it
// has in JSON.
func failure(f *call.Fault) error {
	var details []protoadapt.MessageV1
	if reason, domain := wire.ErrorInfo(f, false); reason != "" {
		details = append(details, &errdetails.ErrorInfo{Reason: reason, Domain: domain, Metadata: f.Info})
	}
	if len(f.Violations) > 0 {
		bad := &errdetails.BadRequest{}
		for _, v := range f.Violations {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: v.Field, Description: v.Description})
		}
		details = append(details, bad)
	}
	if f.Retry > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(f.Retry)})
	}
	plain := status.New(code(f), f.Message)
	if s, err := plain.WithDetails(details...); err == nil {
		return s.Err()
	}
	return plain.Err()
}

// code returns the code with the name of a fault's status.
func code(f *call.Fault) codes.Code {
	_, name := wire.Status(f)
	c := codes.Unknown
	if name, err := json.Marshal(name); err == nil {
		_ = c.UnmarshalJSON(name) // a name that gRPC does not know leaves Unknown
	}
	return c
}
