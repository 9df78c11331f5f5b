package api

import (
	"context"
	"fmt"
	"net/http"

	"longhaul/api/agui"
	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/service"
	"longhaul/api/wire"
)

// aguiPath is the path of runs of AG-UI.
const aguiPath = "/agui"

// aguiBinding is the binding of runs of AG-UI: POST sends something or shows a thread, GET only
// shows it. All answers that are no refusals of the caller are streams.
type aguiBinding struct {
	operations *operation.Table
	service    *service.Service
	maxBody    int64
}

func (b aguiBinding) read(w http.ResponseWriter, r *http.Request) (q request, err error) {
	w.Header().Set("Cache-Control", "no-store")
	q.version = wire.V10
	var in agui.Input
	if r.Method == http.MethodGet {
		in, err = agui.ReadQuery(r.URL.Query())
	} else {
		in, q.status, err = b.readInput(w, r)
	}
	if err != nil {
		return q, err
	}
	q.method = in.Operation()
	q.operation = b.operations.ByID(q.method)
	q.handle = func(ctx context.Context, c *call.Call) (any, error) { return agui.Open(ctx, b.service, c, in) }
	return q, nil
}

func (b aguiBinding) readInput(w http.ResponseWriter, r *http.Request) (in agui.Input, status int, err error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return in, http.StatusUnsupportedMediaType, call.ErrMediaType
	}
	body, status, err := readBody(w, r, b.maxBody)
	if err != nil {
		return in, status, err
	}
	if _, fault := wire.ReadBody(body, nil); fault != nil { // the depth of JSON is limited, too
		return in, 0, fault
	}
	in, err = agui.ReadInput(body)
	return in, 0, err
}

// result is not called: all results are streams.
func (aguiBinding) result(_ request, value any) ([]byte, error) { return wire.Marshal(value) }

func (aguiBinding) failure(_ request, f *call.Fault) ([]byte, error) {
	return wire.Marshal(agui.Failure(f))
}

func (aguiBinding) media(*http.Request) string { return mediaStream }

// refusal sends the fault of an input that was read as the only event of a run, as AG-UI wants
// it, unless it is about the caller or passes.
func (aguiBinding) refusal(q request, _ *http.Request, f *call.Fault, body []byte) (status int, media string, content []byte) {
	if status = statusOf(q, f); q.handle == nil || f.Kind <= call.RateLimited || f.Kind == call.Unauthenticated || f.Kind == call.Forbidden {
		flat, _ := wire.Marshal(wire.Flat(f, status)) // texts have a JSON form
		return status, mediaJSON, flat
	}
	return http.StatusOK, mediaStream, fmt.Appendf(nil, "data: %s\n\n", body)
}
