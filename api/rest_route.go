package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"longhaul/api/operation"
)

// restPath is the path of plain HTTP on the card.
const restPath = "/a2a/rest"

// A route leads from a verb and a path to an operation. A path is matched segment by
// segment; {name} matches any text, and the rest of a segment matches itself.
type route struct {
	verb, path, id string // id of the operation
}

// A routeTable lists routes. If two paths match, the first one counts.
type routeTable []route

// restRoutes are the routes of A2A over plain HTTP.
var restRoutes = routesOf(operation.Core, operation.Streaming, operation.Push)

// routesOf returns the routes to the operations of a family that need no feature, or one of
// those that are on.
func routesOf(family operation.Family, on ...operation.Feature) (list routeTable) {
	for _, o := range operation.All() {
		if o.Family != family || o.When != operation.Always && !slices.Contains(on, o.When) {
			continue
		}
		for _, r := range o.Routes {
			verb, path, _ := strings.Cut(r, " ")
			list = append(list, route{verb, path, o.ID})
		}
	}
	return list
}

// A match is the result of finding a path.
type match struct {
	routes []route           // with this path, by verb
	params map[string]string // in the path, also the tenant
}

// plainColons unescapes the colons of a path: some clients escape the colons of
// "message:send" and "tasks/{id}:cancel".
func plainColons(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		u := e.Request().URL
		u.RawPath = strings.NewReplacer("%3A", ":", "%3a", ":").Replace(u.RawPath)
		if u.RawPath == u.Path {
			u.RawPath = "" // as url.Parse leaves it
		}
		return next(e)
	}
}

// find finds an escaped path, with or without a tenant before it; ok is false if
// there is no route.
func find(path string) (m match, ok bool) {
	segments := strings.Split(strings.TrimLeft(path, "/"), "/")
	if m, ok := restRoutes.find(segments); ok {
		return m, true
	}
	tenant, err := url.PathUnescape(segments[0])
	if m, ok = restRoutes.find(segments[1:]); !ok || err != nil {
		return m, false
	}
	m.params["tenant"] = tenant
	return m, true
}

// find finds a path, given as its escaped segments.
func (t routeTable) find(segments []string) (m match, ok bool) {
	for _, r := range t {
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

// serves reports whether the route is for a verb. HEAD is for reads that end.
func (r route) serves(verb string) bool {
	return r.verb == verb || verb == http.MethodHead && r.hasHead()
}

func (r route) hasHead() bool {
	return r.verb == http.MethodGet && !strings.HasSuffix(r.path, ":subscribe")
}

// verbs lists the verbs of a path.
func (m match) verbs() string {
	verbs := []string{http.MethodOptions}
	for _, r := range m.routes {
		verbs = append(verbs, r.verb)
		if r.hasHead() {
			verbs = append(verbs, http.MethodHead)
		}
	}
	slices.Sort(verbs)
	return strings.Join(verbs, ", ")
}
