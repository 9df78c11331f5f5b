package api

import (
	"net/http"
	"slices"
	"strings"

	"longhaul/api/operation"
	"longhaul/api/wire"
)

// Names returns the names of each operation of JSON-RPC in both versions, by its id.
func (*Server) Names() map[string][2]string {
	names := map[string][2]string{}
	for _, o := range operation.All() {
		if o.V03 != "" {
			names[o.ID] = [2]string{o.Name(wire.V03), o.Name(wire.V10)}
		}
	}
	return names
}

// Routes returns a path of plain HTTP for each operation that has one, with its
// verb before it.
func Routes() map[string]string {
	list := map[string]string{}
	for _, r := range restRoutes {
		list[r.id] = r.verb + " " + restPath + "/" + r.path
	}
	return list
}

// Undescribed returns the operations of described routes that have no summary.
func Undescribed() (names []string) {
	for _, r := range slices.Concat(restRoutes, pageRoutes()) {
		if operation.ByID(r.id).Text == "" {
			names = append(names, r.id)
		}
	}
	return names
}

// Paths returns what the server serves, with its verb before it, from the routes of
// the framework and of the tables behind them: without HEAD and OPTIONS, and without
// the paths that only repeat others.
func (s *Server) Paths() (paths []string) {
	for _, r := range s.echo.Routes() {
		path := strings.ReplaceAll(r.Path, `\:`, ":")
		switch {
		case r.Method == http.MethodHead, r.Method == http.MethodOptions, path == "/", path == "/a2a/":
		case path == restPath+"/*" && r.Method == http.MethodGet:
			paths = append(paths, under(restPath, restRoutes)...)
		case path == pagePath+"/*" && r.Method == http.MethodGet:
			paths = append(paths, under(pagePath, pageRoutes())...)
		case strings.HasSuffix(path, "/*"), path == restPath, strings.HasPrefix(path, "/:tenant"):
		case path == aguiPath: // the protocol describes its runs
		case slices.Contains([]string{"/message:send", "/message:stream", "/tasks", "/extendedAgentCard"}, path):
		default:
			paths = append(paths, r.Method+" "+path)
		}
	}
	return paths
}

func under(path string, table routeTable) (paths []string) {
	for _, r := range table {
		paths = append(paths, r.verb+" "+path+"/"+r.path)
	}
	return paths
}

// PageRoutes is Routes for the pages that are not of A2A, and for the seams.
func PageRoutes() map[string]string {
	list := map[string]string{}
	for _, r := range pageRoutes(operation.Codec, operation.Seams) {
		list[r.verb+" "+pagePath+"/"+r.path] = r.id
	}
	return list
}
