package a2a

import (
	"slices"
	"strings"
)

// ExtensionOPT is the URI of the Objective-Plan-Task extension.
const ExtensionOPT = "https://github.com/zeroasterisk/a2a-opt/v1"

// ExtensionHITL is the URI of an extension for the answers of people: approvals of
// tools and answers to questions.
const ExtensionHITL = "https://kagent.dev/extensions/hitl/v1"

// URIs of extensions of this server (docs/extensions). Each is also the key of what the
// extension has in metadata.
const (
	ExtensionStream = "urn:longhaul:stream:v1" // numbers events, so that streams continue after one
	ExtensionBudget = "urn:longhaul:budget:v1" // limits what the work of a message may spend, and has the bill
	ExtensionCancel = "urn:longhaul:cancel:v1" // gives a cancellation a reason, which all work below the task gets
)

// ParseExtensions returns the URIs in the values of extension headers, each once and in
// order.
func ParseExtensions(values []string) []string {
	var uris []string
	for _, value := range values {
		for uri := range strings.SplitSeq(value, ",") {
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
