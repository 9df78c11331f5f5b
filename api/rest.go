package api

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"longhaul/api/wire"
)

// restPath is where the card says that plain HTTP is served.
const restPath = "/a2a/rest"

// A route is one line of the surface over plain HTTP. A path is matched segment by
// segment; {name} stands for anything, and what follows it for itself.
type route struct {
	verb   string
	path   string
	method string // of 1.0
}

// routes is that surface. Where two paths match, the first one counts.
var routes = []route{
	{http.MethodPost, "message:send", "SendMessage"},
	{http.MethodPost, "message:stream", "SendStreamingMessage"},
	{http.MethodGet, "tasks", "ListTasks"},
	{http.MethodPost, "tasks/{id}:cancel", "CancelTask"},
	{http.MethodGet, "tasks/{id}:subscribe", "SubscribeToTask"},
	{http.MethodPost, "tasks/{id}:subscribe", "SubscribeToTask"},
	{http.MethodGet, "tasks/{id}", "GetTask"},
	{http.MethodGet, "tasks/{taskId}/pushNotificationConfigs", "ListTaskPushNotificationConfigs"},
	{http.MethodPost, "tasks/{taskId}/pushNotificationConfigs", "CreateTaskPushNotificationConfig"},
	{http.MethodGet, "tasks/{taskId}/pushNotificationConfigs/{id}", "GetTaskPushNotificationConfig"},
	{http.MethodDelete, "tasks/{taskId}/pushNotificationConfigs/{id}", "DeleteTaskPushNotificationConfig"},
	{http.MethodGet, "extendedAgentCard", "GetExtendedAgentCard"},
}

// A match is what a path was found to stand for.
type match struct {
	routes []route           // with this path, by verb
	params map[string]string // that stand in it, the tenant among them
}

// find returns what an escaped path stands for, with or without a tenant before
// it; ok is false for nothing.
func find(path string) (m match, ok bool) {
	segments := strings.Split(strings.TrimLeft(path, "/"), "/")
	if m, ok := findIn(segments); ok {
		return m, true
	}
	tenant, err := url.PathUnescape(segments[0])
	if m, ok = findIn(segments[1:]); !ok || err != nil {
		return m, false
	}
	m.params["tenant"] = tenant
	return m, true
}

func findIn(segments []string) (m match, ok bool) {
	for _, r := range routes {
		params, ok := r.match(segments)
		switch {
		case ok && len(m.routes) == 0:
			m = match{[]route{r}, params}
		case ok && r.path == m.routes[0].path:
			m.routes = append(m.routes, r)
		}
	}
	return m, len(m.routes) > 0
}

func (r route) match(segments []string) (params map[string]string, ok bool) {
	pattern := strings.Split(r.path, "/")
	if len(pattern) != len(segments) {
		return nil, false
	}
	params = map[string]string{}
	for i, want := range pattern {
		name, suffix, variable := strings.Cut(strings.TrimPrefix(want, "{"), "}")
		if !variable {
			if segments[i] != want {
				return nil, false
			}
			continue
		}
		text, ok := strings.CutSuffix(segments[i], suffix)
		value, err := url.PathUnescape(text)
		if !ok || err != nil {
			return nil, false
		}
		params[name] = value
	}
	return params, true
}

// verbs lists what can be done at a path.
func (m match) verbs() string {
	verbs := []string{http.MethodOptions}
	for _, r := range m.routes {
		verbs = append(verbs, r.verb)
	}
	slices.Sort(verbs)
	return strings.Join(verbs, ", ")
}

// rest is the binding of plain HTTP, which speaks 1.0 alone: results and events
// stand by themselves, and faults have the status that they have.
type rest struct {
	*exchange
	path string // below where it is served
}

// serveREST serves plain HTTP: below restPath, where the card says, and at the
// root, for clients that know the server's address alone.
func (s *Server) serveREST(e echo.Context) error {
	path := strings.TrimPrefix(e.Request().URL.EscapedPath(), restPath)
	if m, ok := find(path); ok && e.Request().Method == http.MethodOptions {
		return s.preflight(e, m.verbs())
	}
	b := &rest{path: path}
	b.exchange = s.newExchange(e, b)
	b.version = wire.V10
	b.w.Header().Set("Cache-Control", "no-store")
	b.serve(b.handle)
	return nil
}

// handle takes the steps of every request, in the order in which their failures
// count.
func (b *rest) handle() (outcome, error) {
	if err := b.authenticate(); err != nil {
		return outcome{}, err
	}
	to, params, err := b.route()
	if err != nil {
		return outcome{}, err
	}
	if err := b.s.negotiate10(b.r); err != nil {
		return outcome{}, err
	}
	b.agree(wire.V10, to.method)
	b.to = b.s.methods[to.method]
	if to.verb != http.MethodPost {
		return b.to.run(b.r.Context(), b.call, wire.ReadQuery(b.r.URL.RawQuery, params))
	}
	if b.r.ContentLength != 0 && !isJSON(b.r.Header.Get("Content-Type")) {
		b.status = http.StatusUnsupportedMediaType
		return outcome{}, errMediaType
	}
	body, err := b.body()
	if err != nil {
		return outcome{}, err
	}
	reader, fault := wire.ReadBody(body, params)
	if fault != nil {
		return outcome{}, fault
	}
	return b.to.run(b.r.Context(), b.call, reader)
}

// route finds out what is asked for.
func (b *rest) route() (to route, params map[string]string, err error) {
	m, ok := find(b.path)
	if id, inTasks := strings.CutPrefix(b.path, "/tasks/"); !ok && inTasks {
		return to, nil, taskNotFound(id) // some clients do not escape the slashes of an id
	}
	if !ok {
		return to, nil, &wire.Fault{Code: wire.CodeMethodNotFound, Message: "Not found"}
	}
	i := slices.IndexFunc(m.routes, func(r route) bool { return r.verb == b.r.Method })
	if i < 0 {
		b.status = http.StatusMethodNotAllowed
		b.w.Header().Set("Allow", m.verbs())
		return to, nil, &wire.Fault{Code: wire.CodeMethodNotFound, Message: "Method not allowed"}
	}
	return m.routes[i], m.params, nil
}

func (b *rest) result(value any) ([]byte, error) { return wire.Marshal(value) }

func (b *rest) failure(f *wire.Fault) ([]byte, error) {
	return wire.Marshal(wire.Status(f, b.statusOf(f)))
}

func (b *rest) statusOf(f *wire.Fault) int {
	if b.status != 0 {
		return b.status
	}
	code, _ := f.Status()
	return code
}

// answerMedia returns the type that A2A has for its JSON where nobody objects. A
// client that takes anything may look for JSON in the name: the kit does.
func (b *rest) answerMedia() string {
	if accept := b.accept(); len(accept) == 0 || accept[mediaA2A] {
		return mediaA2A
	}
	return mediaJSON
}

// refuse sends a fault as JSON without a name of its own, unless the client knows
// that: some read the details of errors from nothing else.
func (b *rest) refuse(f *wire.Fault, body []byte) {
	media := mediaJSON
	if b.accept()[mediaA2A] {
		media = mediaA2A
	}
	b.send(b.statusOf(f), media, body)
}

// accept returns the media types that the client names.
func (b *rest) accept() map[string]bool {
	named := map[string]bool{}
	for _, header := range b.r.Header.Values("Accept") {
		for text := range strings.SplitSeq(header, ",") {
			if media, params, err := mime.ParseMediaType(text); err == nil && params["q"] != "0" {
				named[media] = true
			}
		}
	}
	return named
}
