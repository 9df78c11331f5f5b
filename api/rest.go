package api

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/wire"
)

// pathBelow returns the path of a request below restPath.
func pathBelow(r *http.Request) string { return strings.TrimPrefix(r.URL.EscapedPath(), restPath) }

// rest is the binding of plain HTTP, for 1.0 only: results and events have no
// envelope, and faults have an HTTP status.
type rest struct {
	operations *operation.Table
	lenient    bool // accept requests without an A2A-Version header
	maxBody    int64
}

// read checks a request in the order in which failures take precedence.
func (b rest) read(w http.ResponseWriter, r *http.Request) (q request, err error) {
	q.version = wire.V10
	to, params, status, err := routeOf(w, r)
	if err != nil {
		q.status = status
		return q, err
	}
	if fault := wire.Negotiate10(r.Header.Values(wire.HeaderVersion), r.URL.Query(), b.lenient); fault != nil {
		return q, fault
	}
	w.Header().Set(wire.HeaderVersion, string(wire.V10))
	q.method, q.operation = to.id, b.operations.ByID(to.id)
	q.params, q.status, err = paramsOf(w, r, params, b.maxBody)
	return q, err
}

// paramsOf returns a reader of the params of a request: those in its path, and in its
// body or its query. status is for a failure with a special status.
func paramsOf(w http.ResponseWriter, r *http.Request, path map[string]string, maxBody int64) (reader *wire.Reader, status int, err error) {
	if r.Method != http.MethodPost && r.Method != http.MethodPatch { // HEAD is GET: net/http leaves the content out
		return wire.ReadQuery(r.URL.RawQuery, path), 0, nil
	}
	if r.ContentLength != 0 && !isJSON(r.Header.Get("Content-Type")) {
		return nil, http.StatusUnsupportedMediaType, call.ErrMediaType
	}
	body, status, err := readBody(w, r, maxBody)
	if err != nil {
		return nil, status, err
	}
	reader, fault := wire.ReadBody(body, path)
	if fault != nil {
		return nil, 0, fault
	}
	return reader, 0, nil
}

// routeOf returns the route that is called, and the parameters in its path.
// status is for a failure with a special status.
func routeOf(w http.ResponseWriter, r *http.Request) (to route, params map[string]string, status int, err error) {
	path := pathBelow(r)
	m, ok := find(path)
	if id, inTasks := strings.CutPrefix(path, "/tasks/"); !ok && inTasks {
		return to, nil, 0, call.TaskUnknown(id) // some clients do not escape the slashes of an id
	}
	if !ok {
		return to, nil, 0, &call.Fault{Kind: call.UnknownMethod, Message: "Not found"}
	}
	to, status, err = m.routeFor(w, r)
	return to, m.params, status, err
}

// routeFor returns the route of m for the verb of a request.
func (m match) routeFor(w http.ResponseWriter, r *http.Request) (to route, status int, err error) {
	i := slices.IndexFunc(m.routes, func(to route) bool { return to.serves(r.Method) })
	if i < 0 {
		w.Header().Set("Allow", m.verbs())
		return to, http.StatusMethodNotAllowed, &call.Fault{Kind: call.UnknownMethod, Message: "Method not allowed"}
	}
	return m.routes[i], 0, nil
}

func (rest) result(_ request, value any) ([]byte, error) { return wire.Marshal(value) }

func (rest) failure(q request, f *call.Fault) ([]byte, error) {
	return wire.Marshal(wire.Plain(f, statusOf(q, f)))
}

func statusOf(q request, f *call.Fault) int {
	if q.status != 0 {
		return q.status
	}
	code, _ := wire.Status(f)
	return code
}

// media returns the media type of A2A unless the client asks for another. A
// client that accepts any type gets application/json, since the conformance kit
// looks for that name.
func (rest) media(r *http.Request) string {
	if accepted := acceptedTypes(r); len(accepted) == 0 || accepted[mediaA2A] {
		return mediaA2A
	}
	return mediaJSON
}

// refusal sends a fault as application/json, unless the client names the type of
// A2A: some read the details of errors only from that type.
func (rest) refusal(q request, r *http.Request, f *call.Fault, body []byte) (status int, media string, content []byte) {
	media = mediaJSON
	if acceptedTypes(r)[mediaA2A] {
		media = mediaA2A
	}
	return statusOf(q, f), media, body
}

// acceptedTypes returns the media types that the client names.
func acceptedTypes(r *http.Request) map[string]bool {
	named := map[string]bool{}
	for _, header := range r.Header.Values("Accept") {
		for text := range strings.SplitSeq(header, ",") {
			if media, params, err := mime.ParseMediaType(text); err == nil && params["q"] != "0" {
				named[media] = true
			}
		}
	}
	return named
}
