package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
)

const supportedVersions = "0.3,1.0"

// Rules returns the rules of v.
func Rules(v Version) call.Rules {
	if v == V03 {
		return call.Rules{SubscribeToEnded: true, InterruptEnds: true, CardFault: true, DefaultPush: true}
	}
	return call.Rules{}
}

// StreamsFaults reports whether a streaming method that fails before its first
// event sends the fault as the only event of a stream, as clients of 0.3 expect,
// or as a plain answer.
func StreamsFaults(v Version) bool { return v == V03 }

// Negotiate returns the version that a request asks for with its A2A-Version
// headers or, if there are none, its query parameter of the same name. A request
// without a version asks for 0.3; named reports whether it named one. A version
// that is not served, or two different ones, is a fault.
func Negotiate(headers []string, query url.Values) (v Version, named bool, fault *call.Fault) {
	for _, text := range append(headers, query["A2A-Version"]...) {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		asked, ok := codec.ParseVersion(text)
		switch {
		case !ok:
			return V03, true, versionFault("The value of A2A-Version is not a version", "")
		case asked != V03 && asked != V10:
			return V03, true, versionFault("A2A protocol version "+text+" is not supported", text)
		case named && v != asked:
			return V03, true, versionFault("The request names two A2A protocol versions", text)
		}
		v, named = asked, true
	}
	if !named {
		v = V03
	}
	return v, named, nil
}

// UnnamedVersion is the fault of calling a method of version 1.0 without naming
// a version.
func UnnamedVersion(method string) *call.Fault {
	return versionFault(method+" is a method of A2A 1.0: send the header A2A-Version: 1.0", string(V03))
}

func versionFault(message, requested string) *call.Fault {
	f := &call.Fault{Kind: call.UnsupportedVersion, Message: message, Info: map[string]string{"supportedVersions": supportedVersions}}
	if requested != "" {
		f.Info["requestedVersion"] = requested
	}
	return f
}

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
