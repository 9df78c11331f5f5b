package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"

	"longhaul/api/call"
)

// Negotiate10 returns the fault of the version of a request to a binding for 1.0
// only, nil if there is none. A lenient binding accepts requests that name none.
func Negotiate10(headers []string, query url.Values, lenient bool) *call.Fault {
	version, named, fault := Negotiate(headers, query)
	switch {
	case fault != nil:
		fault.Info["supportedVersions"] = string(V10)
		return fault
	case version == V10, lenient && !named:
		return nil
	}
	return &call.Fault{
		Kind: call.UnsupportedVersion, Message: "This binding serves only A2A 1.0: send the header A2A-Version: 1.0",
		Info: map[string]string{"requestedVersion": string(V03), "supportedVersions": string(V10)},
	}
}

// ReadBody returns a reader of the params in the body of a 1.0 request over plain
// HTTP, which may be empty. path holds the params in its path.
func ReadBody(body []byte, path map[string]string) (*Reader, *call.Fault) {
	r := NewReader(V10, nil)
	r.path = path
	if body = bytes.TrimSpace(body); len(body) == 0 {
		return r, nil
	}
	body, fault := parse(body)
	switch {
	case fault != nil:
		return r, fault
	case body[0] != '{':
		return r, badEnvelope("the body must be an object")
	}
	r.raw = body
	return r, nil
}

// aliases are other names of query parameters that clients are known to send.
var aliases = map[string]string{"lastUpdatedAfter": "statusTimestampAfter"} // Go v2.4.0

// ReadQuery returns a reader of the params in the query of a 1.0 request over
// plain HTTP. A parameter without a value counts as absent.
func ReadQuery(query string, path map[string]string) *Reader {
	r := NewReader(V10, nil)
	r.path = path
	values, err := url.ParseQuery(query)
	if err != nil {
		r.in.Wrong("query", "is not well-formed")
	}
	m := map[string]json.RawMessage{}
	for name, texts := range values {
		if alias, ok := aliases[name]; ok && !values.Has(alias) {
			name = alias
		}
		if value := queryValue(name, texts); value != nil {
			m[name] = value
		}
	}
	r.raw = mustMarshal(m)
	return r
}

// queryValue returns the value of a query parameter as JSON of the type that its
// reader expects, or of a type that the reader reports.
func queryValue(name string, texts []string) json.RawMessage {
	switch text := texts[0]; {
	case len(texts) > 1:
		return mustMarshal(texts) // no parameter may occur twice
	case text == "":
		return nil
	case numeric[name]:
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			return mustMarshal(n)
		}
		return mustMarshal(text)
	case boolean[name] && (text == "true" || text == "false"):
		return json.RawMessage(text)
	default:
		return mustMarshal(text)
	}
}

// The query parameters that are not strings, by the names that clients use. An
// enum may be named or numbered.
var (
	numeric = map[string]bool{"historyLength": true, "history_length": true, "pageSize": true, "page_size": true, "status": true}
	boolean = map[string]bool{"includeArtifacts": true, "include_artifacts": true, "mine": true}
)
