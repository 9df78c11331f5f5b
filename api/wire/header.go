package wire

import (
	"net/http"
	"slices"
	"strings"

	"longhaul/api/service"
)

// The headers of A2A, and headers with the same meaning in every binding.
const (
	HeaderVersion     = "A2A-Version"
	HeaderExtensions  = "A2A-Extensions"
	HeaderExtensions3 = "X-A2A-Extensions" // the name in 0.3
	HeaderRequestID   = "X-Request-Id"
	HeaderKey         = "Idempotency-Key"
	HeaderAfter       = "Last-Event-ID"
)

// ReadHeader sets the fields of a call from the headers of its request.
func ReadHeader(c *service.Call, h http.Header) {
	c.Key, c.KeyField, c.After = h.Get(HeaderKey), HeaderKey, h.Get(HeaderAfter)
	c.Named = parseExtensions(slices.Concat(h.Values(HeaderExtensions), h.Values(HeaderExtensions3)))
}

// parseExtensions returns the URIs in the values of extension headers, each once
// and in order.
func parseExtensions(headers []string) []string {
	var uris []string
	for _, header := range headers {
		for uri := range strings.SplitSeq(header, ",") {
			uri = strings.TrimSpace(uri)
			if uri != "" && !slices.Contains(uris, uri) {
				uris = append(uris, uri)
			}
		}
	}
	return uris
}

// JoinExtensions returns the value of an extension header.
func JoinExtensions(uris []string) string { return strings.Join(uris, ", ") }
