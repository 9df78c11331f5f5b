package api

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"longhaul/api/wire"
)

// rpc is the binding of JSON-RPC: every answer and every event is a response to
// the request with an id.
type rpc struct {
	*exchange
	id json.RawMessage // nil until it was read
}

// serveRPC answers a JSON-RPC request of either version.
func (s *Server) serveRPC(e echo.Context) error {
	b := &rpc{}
	b.exchange = s.newExchange(e, b)
	b.serve(b.handle)
	return nil
}

// handle takes the steps of every request, in the order in which their failures
// count.
func (b *rpc) handle() (outcome, error) {
	if err := b.authenticate(); err != nil {
		return outcome{}, err
	}
	version, named, versionFault := wire.Negotiate(b.r.Header.Values(headerVersion), b.r.URL.Query())
	b.version = version
	if !isJSON(b.r.Header.Get("Content-Type")) {
		return outcome{}, errMediaType
	}
	body, err := b.body()
	if err != nil {
		return outcome{}, err
	}
	req, fault := wire.ReadRequest(body)
	b.id, b.noID = req.ID, req.ID == nil
	if fault != nil {
		return outcome{}, fault
	}
	b.to = b.s.methods[req.Method]
	if versionFault != nil {
		return outcome{}, versionFault
	}
	if b.s.cfg.LenientVersion && !named && b.to != nil && b.to.names[wire.V03] != req.Method {
		version = wire.V10
	}
	b.agree(version, "") // the log takes no name before it is known to be one
	if fault := b.dispatch(req.Method, named); fault != nil {
		return outcome{}, fault
	}
	b.method = req.Method
	return b.to.run(b.r.Context(), b.call, wire.NewReader(b.version, req.Params))
}

// dispatch checks that the version has a method by the name that was called.
func (b *rpc) dispatch(name string, named bool) *wire.Fault {
	if b.to == nil {
		return &wire.Fault{Code: wire.CodeMethodNotFound, Message: "Method not found"}
	}
	right := b.to.names[b.version]
	switch {
	case right == name:
		return nil
	case b.version == wire.V03 && !named:
		return wire.UnnamedVersion(name)
	}
	b.to = nil // fails like a method that is not there, not like the stream it is elsewhere
	f := &wire.Fault{Code: wire.CodeMethodNotFound, Message: "Method not found in A2A " + string(b.version)}
	if right != "" {
		f.Message += ": use " + right
	}
	return f
}

func (b *rpc) result(value any) ([]byte, error) { return wire.Result(b.id, value) }

func (b *rpc) failure(f *wire.Fault) ([]byte, error) {
	return wire.Failure(b.id, b.version.Error(f, b.ofOPT()))
}

func (b *rpc) answerMedia() string { return mediaJSON }

// refuse sends a fault with 200, as every response. Streaming methods fail in the
// way that the clients of a version can see: in 0.3 as the only event of a stream,
// in 1.0 with a status of HTTP, since some read a 200 as an empty stream.
func (b *rpc) refuse(f *wire.Fault, body []byte) {
	streams := b.to != nil && b.to.stream
	switch {
	case b.status != 0:
		b.send(b.status, mediaJSON, body)
	case streams && b.version.StreamsFaults() && f.Code != wire.CodeVersion:
		b.send(http.StatusOK, mediaStream, append(append([]byte("data: "), body...), "\n\n"...))
	case streams:
		b.send(http.StatusBadRequest, mediaJSON, body)
	default:
		b.send(http.StatusOK, mediaJSON, body)
	}
}
