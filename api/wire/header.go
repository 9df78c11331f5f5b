package wire

import (
	"net/http"
	"slices"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
)

// The headers of A2A, and headers with the same meaning in every binding.
const (
	HeaderVersion     = codec.HeaderVersion
	HeaderExtensions  = codec.HeaderExtensions
	HeaderExtensions3 = codec.HeaderExtensions3
	HeaderRequestID   = "X-Request-Id"
	HeaderKey         = "Idempotency-Key"
	HeaderAfter       = "Last-Event-ID"
)

// ReadHeader sets the fields of a call from the headers of its request.
func ReadHeader(c *call.Call, h http.Header) {
	c.Key, c.KeyField, c.After = h.Get(HeaderKey), HeaderKey, h.Get(HeaderAfter)
	c.Named = a2a.ParseExtensions(slices.Concat(h.Values(HeaderExtensions), h.Values(HeaderExtensions3)))
}
