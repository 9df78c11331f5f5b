// Package wire reads and writes A2A as JSON, in versions 0.3 and 1.0, and the
// objects of the OPT extension, which are the same in both. Reading returns
// values of packages a2a and opt and accepts known deviations of peers; writing
// is strict. Nothing outside this package branches on a version.
package wire

import (
	"net/url"
	"regexp"
	"strings"

	"longhaul/api/call"
)

// A Version is a protocol version without a patch number.
type Version string

// The versions.
const (
	V03 Version = "0.3"
	V10 Version = "1.0"
)

const supportedVersions = "0.3,1.0"

// Rules returns the rules of v.
func (v Version) Rules() call.Rules {
	if v == V03 {
		return call.Rules{SubscribeToEnded: true, InterruptEnds: true, CardFault: true, DefaultPush: true}
	}
	return call.Rules{}
}

// StreamsFaults reports whether a streaming method that fails before its first
// event sends the fault as the only event of a stream, as clients of 0.3 expect,
// or as a plain answer.
func (v Version) StreamsFaults() bool { return v == V03 }

var versionForm = regexp.MustCompile(`^(\d{1,4}\.\d{1,4})(?:\.\d{1,4})?$`)

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
		m := versionForm.FindStringSubmatch(text)
		switch {
		case m == nil:
			return V03, true, versionFault("The value of A2A-Version is not a version", "")
		case Version(m[1]) != V03 && Version(m[1]) != V10:
			return V03, true, versionFault("A2A protocol version "+text+" is not supported", text)
		case named && v != Version(m[1]):
			return V03, true, versionFault("The request names two A2A protocol versions", text)
		}
		v, named = Version(m[1]), true
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
