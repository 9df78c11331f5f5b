package wire

import (
	"bytes"
	"encoding/json"
	"errors"

	"longhaul/a2a/codec"
	"longhaul/api/call"
)

// maxID is the longest id of a request, in bytes of JSON. It is repeated in every
// event of a stream.
const maxID = 4 << 10

// A Request is a JSON-RPC request. Its params are still to be read.
type Request struct {
	ID     json.RawMessage // as it was sent; nil if there was none that could be read
	Method string
	Params json.RawMessage // nil if absent or null
}

// ReadRequest reads the envelope of a request. With a fault it still returns the
// id, if there is one. A batch is a fault, since A2A has none. A request without
// an id is a fault, too, but [Params] reports it only if nothing else is wrong.
func ReadRequest(body []byte) (Request, *call.Fault) {
	body, fault := parse(body)
	if fault != nil {
		return Request{}, fault
	}
	if body[0] != '{' {
		return Request{}, badEnvelope("must be an object; batches are not supported")
	}
	m := codec.Members(body)
	r := Request{ID: m["id"], Params: m["params"]}
	if problem := badID(r.ID); problem != "" {
		return Request{}, badEnvelope(problem)
	}
	var version string
	if json.Unmarshal(m["jsonrpc"], &version) != nil || version != "2.0" {
		return r, badEnvelope(`jsonrpc must be "2.0"`)
	}
	if json.Unmarshal(m["method"], &r.Method) != nil || r.Method == "" {
		return r, badEnvelope("method must be a string that is not empty")
	}
	if codec.IsNull(r.Params) {
		r.Params = nil
	}
	return r, nil
}

// parse returns the JSON value in body, without the space around it. It can be read safely.
func parse(body []byte) ([]byte, *call.Fault) {
	switch err := codec.Check(body); {
	case errors.Is(err, codec.ErrTooDeep):
		return nil, &call.Fault{Kind: call.Parse, Message: "Parse error: nested too deeply"}
	case err != nil:
		return nil, &call.Fault{Kind: call.Parse, Message: "Parse error"}
	}
	return bytes.TrimSpace(body), nil
}

// badID returns why id cannot be that of a request, "" if it can. It may be nil.
func badID(id json.RawMessage) string {
	switch {
	case len(id) > maxID:
		return "id is too long"
	case id != nil && !bytes.ContainsAny(id[:1], `"-0123456789n`):
		return "id must be a string, a number or null"
	}
	return ""
}

// Reader returns a reader of the params of r in a version.
func (r Request) Reader(v Version) *Reader {
	in := NewReader(v, r.Params)
	in.noID = r.ID == nil
	return in
}

// errNoID is the fault of a request without an id: A2A has no notifications.
var errNoID = badEnvelope("id is missing; notifications are not supported")

func badEnvelope(problem string) *call.Fault {
	return &call.Fault{Kind: call.InvalidRequest, Message: "Invalid request: " + problem}
}

type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
}

// Result returns the response with a result to the request with an id.
func Result(id json.RawMessage, result any) ([]byte, error) {
	return Marshal(struct {
		envelope
		Result any `json:"result"`
	}{envelope{"2.0", orNull(id)}, result})
}

// Failure returns the response with an error to the request with an id; failure
// comes from [Version.Error].
func Failure(id json.RawMessage, failure any) ([]byte, error) {
	return Marshal(struct {
		envelope
		Error any `json:"error"`
	}{envelope{"2.0", orNull(id)}, failure})
}

func orNull(id json.RawMessage) json.RawMessage {
	if id == nil {
		return json.RawMessage("null")
	}
	return id
}
