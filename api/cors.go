package api

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"longhaul/api/wire"
)

// The headers that pages may send and may read from answers.
var (
	corsRequest = strings.Join([]string{
		"Authorization", "X-API-Key", "Content-Type", wire.HeaderKey, wire.HeaderAfter, wire.HeaderRequestID, wire.HeaderVersion, wire.HeaderExtensions, wire.HeaderExtensions3,
		"X-Namespace",                                    // Temporal's UI sends it to a codec
		"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", // of MCP
	}, ", ")
	corsResponse = strings.Join([]string{wire.HeaderRequestID, wire.HeaderVersion, wire.HeaderExtensions, wire.HeaderExtensions3}, ", ")
)

// pages says which web pages may call.
type pages struct {
	origins []string
	hosts   []string
	foreign *http.CrossOriginProtection // nil allows pages of any origin
}

// allowOrigin lets a page read the answer if its origin is one of Config.Origins.
// Cookies are never allowed: only the console reads them, and it serves no other origin.
func (p pages) allowOrigin(e echo.Context) {
	h, origin := e.Response().Header(), e.Request().Header.Get("Origin")
	if len(p.origins) > 0 {
		h.Add("Vary", "Origin")
	}
	if origin != "" && (slices.Contains(p.origins, origin) || slices.Contains(p.origins, "*")) {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsResponse)
	}
}

// public lets every page read the answer of a handler: it has nothing that only
// some callers may know.
func public(handler echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		h := e.Response().Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", corsResponse)
		return handler(e)
	}
}

// publicVerbs are the verbs of a public document.
const publicVerbs = "GET, HEAD, OPTIONS"

// publicPreflight answers a browser's preflight: what any page may send to a public
// document.
func publicPreflight(e echo.Context) error {
	h := e.Response().Header()
	h.Set("Allow", publicVerbs)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", publicVerbs)
	h.Set("Access-Control-Allow-Headers", corsRequest)
	h.Set("Access-Control-Max-Age", "600")
	return e.NoContent(http.StatusNoContent)
}

// foreignPages returns the check that refuses changing requests from pages of
// other origins. A browser sends some of those without a preflight, and without
// authentication they would be served.
func foreignPages(origins []string) *http.CrossOriginProtection {
	if slices.Contains(origins, "*") {
		return nil
	}
	p := http.NewCrossOriginProtection()
	for _, origin := range origins {
		_ = p.AddTrustedOrigin(origin) // an invalid origin allows nothing
	}
	return p
}

// refuseForeign refuses requests that fail foreignPages or named. A page can make
// its own host name resolve to this server, and then has the same origin.
func (p pages) refuseForeign(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		switch r := e.Request(); {
		case p.foreign != nil && !strings.HasPrefix(r.URL.Path, answerPath) && p.foreign.Check(r) != nil: // answer links have their own check
			return echo.NewHTTPError(http.StatusForbidden)
		case p.hosts != nil && !p.isAllowedHost(r.Host) && !isProbe(r.URL.Path):
			return echo.NewHTTPError(http.StatusMisdirectedRequest)
		}
		return next(e)
	}
}

// isAllowedHost reports whether the host of a request is one of Config.Hosts or an IP
// address, which cannot be the name of a foreign page, or missing, as no browser
// sends it.
func (p pages) isAllowedHost(host string) bool {
	if host == "" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.Contains(p.hosts, host) || net.ParseIP(strings.Trim(host, "[]")) != nil
}

// isProbe reports whether a path is one of those for probes, which may use any
// host name.
func isProbe(path string) bool { return path == healthPath || path == readyPath }

// preflight answers a browser's preflight: what its page may send to a path that accepts
// verbs.
func (p pages) preflight(e echo.Context, verbs string) error {
	p.allowOrigin(e)
	h := e.Response().Header()
	h.Set("Allow", verbs)
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", verbs)
		h.Set("Access-Control-Allow-Headers", corsRequest)
		h.Set("Access-Control-Max-Age", "600")
	}
	return e.NoContent(http.StatusNoContent)
}
