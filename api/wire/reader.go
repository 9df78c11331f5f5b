package wire

import (
	"encoding/json"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/opt"
)

// The versions.
const (
	V03 = codec.V03
	V10 = codec.V10
)

// A Version is a protocol version without a patch number.
type Version = codec.Version

// A Reader reads the params of one request and collects the problems.
type Reader struct {
	in     codec.Reader
	tenant *string // the only one that a request may name; nil for any
	raw    json.RawMessage
	path   map[string]string // params in the path of a request, by name
	noID   bool              // the request has no id, so it is refused
	sent   *a2a.Message      // nil for none
	answer *call.Answering   // the gate that the message answers, nil for none
}

// NewReader returns a reader of params.
func NewReader(v Version, params json.RawMessage) *Reader {
	return &Reader{in: codec.Reader{Version: v}, raw: params}
}

// SetTenant sets the tenant of the caller, which follows from the credentials: a 1.0 request
// may name no other.
func (r *Reader) SetTenant(tenant string) { r.tenant = &tenant }

// Fault returns the error in the params that were read, nil if there is none.
func (r *Reader) Fault() *call.Fault { return faultOf(&r.in) }

func faultOf(r *codec.Reader) *call.Fault {
	if len(r.Violations()) == 0 {
		return nil
	}
	return call.Invalid(r.Violations()...)
}

// params returns the params as an object; absent ones are an empty object.
func (r *Reader) params() codec.Object {
	o := r.in.Root(map[string]json.RawMessage{})
	switch {
	case r.raw == nil:
	case r.raw[0] == '{':
		o = r.in.Root(codec.Members(r.raw))
	default:
		r.in.Wrong("params", "must be an object")
		return o
	}
	r.addPath(o)
	if r.tenant == nil {
		return o
	}
	if named := o.Text("tenant"); r.in.Version == V10 && named != "" && named != *r.tenant {
		o.Wrong("tenant", "is not one of this agent's")
	}
	return o
}

// addPath adds the params of the path to those of the body or query, which may
// repeat them with the same values.
func (r *Reader) addPath(o codec.Object) {
	for name, value := range r.path {
		raw := o.Find(name)
		var said string
		if raw != nil && (json.Unmarshal(raw, &said) != nil || said != value) {
			o.Wrong(name, "differs from the path")
		}
		o.Members()[name] = mustMarshal(value)
	}
}

// RequestID returns the id that the client gave to a change in the metadata of the
// request, "" for none.
func (r *Reader) RequestID() string {
	if r.raw != nil && r.raw[0] != '{' {
		return "" // the error is reported when the params are read
	}
	m, _ := r.params().Child("metadata")
	return m.ID(opt.KeyRequestID)
}
