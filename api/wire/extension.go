package wire

import (
	"slices"
	"strings"
)

// ParseExtensions returns the URIs in the values of extension headers, each
// once and in order.
func ParseExtensions(headers []string) []string {
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

// JoinExtensions is the reverse of ParseExtensions.
func JoinExtensions(uris []string) string { return strings.Join(uris, ", ") }
