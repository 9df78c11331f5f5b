package api

import (
	"net/http"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/wire"
)

// rpc is the binding of JSON-RPC: every answer and every event is a response to
// the request with an id.
type rpc struct {
	operations *operation.Table
	lenient    bool // accept method names of 1.0 without an A2A-Version header
	maxBody    int64
}

// read checks a request in the order in which failures take precedence.
func (b rpc) read(w http.ResponseWriter, r *http.Request) (q request, err error) {
	version, named, versionFault := wire.Negotiate(r.Header.Values(wire.HeaderVersion), r.URL.Query())
	q.version = version
	if !isJSON(r.Header.Get("Content-Type")) {
		return q, call.ErrMediaType
	}
	var body []byte
	if body, q.status, err = readBody(w, r, b.maxBody); err != nil {
		return q, err
	}
	envelope, fault := wire.ReadRequest(body)
	q.id = envelope.ID
	if fault != nil {
		return q, fault
	}
	q.operation = b.operations.ByMethod(envelope.Method)
	if versionFault != nil {
		return q, versionFault
	}
	if b.lenient && !named && q.operation != nil && q.operation.V03 != envelope.Method {
		q.version = wire.V10
	}
	w.Header().Set(wire.HeaderVersion, string(q.version))
	if fault := versionMismatch(q, envelope.Method, named); fault != nil {
		if fault.Kind == call.UnknownMethod {
			q.operation = nil // fails like a method that does not exist, not like the stream it is in the other version
		}
		return q, fault
	}
	q.method, q.params = envelope.Method, envelope.Reader(q.version)
	return q, nil
}

// versionMismatch returns the fault of a request whose version does not have the called
// method, nil if it has.
func versionMismatch(q request, name string, named bool) *call.Fault {
	if q.operation == nil {
		return &call.Fault{Kind: call.UnknownMethod, Message: "Method not found"}
	}
	right := q.operation.Name(q.version)
	switch {
	case right == name:
		return nil
	case q.version == wire.V03 && !named:
		return wire.UnnamedVersion(name)
	}
	f := &call.Fault{Kind: call.UnknownMethod, Message: "Method not found in A2A " + string(q.version)}
	if right != "" {
		f.Message += ": use " + right
	}
	return f
}

func (rpc) result(q request, value any) ([]byte, error) { return wire.Result(q.id, value) }

func (rpc) failure(q request, f *call.Fault) ([]byte, error) {
	return wire.Failure(q.id, wire.Error(q.version, f, q.isOPT()))
}

func (rpc) media(*http.Request) string { return mediaJSON }

// refusal sends a fault with 200, like every response. A streaming method fails
// in the form that the clients of its version can read: in 0.3 as the only event
// of a stream, in 1.0 with an HTTP status, since some read a 200 as an empty
// stream.
func (rpc) refusal(q request, _ *http.Request, f *call.Fault, body []byte) (status int, media string, content []byte) {
	streams := q.operation != nil && q.operation.Stream
	switch {
	case q.status != 0:
		return q.status, mediaJSON, body
	case streams && wire.StreamsFaults(q.version) && f.Kind != call.UnsupportedVersion:
		return http.StatusOK, mediaStream, append(append([]byte("data: "), body...), "\n\n"...)
	case streams:
		return http.StatusBadRequest, mediaJSON, body
	}
	return http.StatusOK, mediaJSON, body
}
