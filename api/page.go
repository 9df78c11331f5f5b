package api

import (
	"net/http"
	"strings"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/wire"
)

// pagePath is the path of pages that are not of A2A.
const pagePath = "/v1"

// pageRoutes returns their routes, without those for features that are off.
func pageRoutes(on ...operation.Feature) routeTable { return routesOf(operation.Page, on...) }

// pageBinding is the binding of pages: plain HTTP like rest, but without versions, and with
// faults in a flat envelope.
type pageBinding struct {
	operations *operation.Table
	routes     routeTable
	maxBody    int64
}

// read checks a request in the order in which failures take precedence.
func (b pageBinding) read(w http.ResponseWriter, r *http.Request) (q request, err error) {
	q.version = wire.V10
	m, ok := b.find(r)
	if !ok {
		return q, &call.Fault{Kind: call.UnknownMethod, Message: "Not found"}
	}
	to, status, err := m.routeFor(w, r)
	if err != nil {
		q.status = status
		return q, err
	}
	q.method, q.operation = to.id, b.operations.ByID(to.id)
	q.params, q.status, err = paramsOf(w, r, m.params, b.maxBody)
	return q, err
}

func (b pageBinding) find(r *http.Request) (match, bool) {
	return b.routes.find(strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), pagePath+"/"), "/"))
}

func (pageBinding) result(_ request, value any) ([]byte, error) { return wire.Marshal(value) }

func (pageBinding) failure(q request, f *call.Fault) ([]byte, error) {
	return wire.Marshal(wire.Flat(f, statusOf(q, f)))
}

func (pageBinding) media(*http.Request) string { return mediaJSON }

func (pageBinding) refusal(q request, _ *http.Request, f *call.Fault, body []byte) (status int, media string, content []byte) {
	return statusOf(q, f), mediaJSON, body
}
