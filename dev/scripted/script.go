package scripted

import (
	"cmp"
	"strings"
	"time"

	"longhaul/a2a"
)

// An act says what a task does if the id of its message has the prefix: it works for a while,
// then does one of the other things.
type act struct {
	prefix  string
	works   time.Duration
	answer  string         // a message in place of a task
	asks    string         // a question first
	refuses string         // with this reason
	streams []a2a.Artifact // pieces of an artifact, one after another
	makes   []a2a.Artifact // whole artifacts, at the end
}

func (a act) name() string {
	return cmp.Or(strings.TrimSuffix(a.prefix, "-"), "anything else")
}

// long is the duration of tasks that a kit calls while they work: time for four
// messages or two streams.
const long = 3 * time.Second

// script lists the acts for the kits. The first matching prefix counts.
var script = []act{
	// For 1.0, by its scenarios.
	{prefix: "tck-message-response", answer: "Direct message response"},
	{prefix: "tck-input-required", asks: "What should be done?"},
	{prefix: "tck-reject-task", refuses: "The task was rejected."},
	{prefix: "tck-artifact-text", makes: artifact(a2a.TextPart("Generated text content"))},
	{prefix: "tck-artifact-file-url", makes: artifact(a2a.Part{URL: ptr("https://example.com/output.txt"), Filename: "output.txt", MediaType: "text/plain"})},
	{prefix: "tck-artifact-file", makes: artifact(file)},
	{prefix: "tck-artifact-data", makes: artifact(a2a.DataPart(map[string]any{"key": "value", "count": 42}))},
	{prefix: "tck-stream-001", streams: artifact(a2a.TextPart("Stream hello from TCK"))},
	{prefix: "tck-stream-002"},
	{prefix: "tck-stream-003", streams: artifact(a2a.TextPart("Stream task lifecycle"))},
	{prefix: "tck-stream-ordering-001", streams: artifact(a2a.TextPart("Ordered output"))},
	{prefix: "tck-stream-artifact-text", streams: artifact(a2a.TextPart("Streamed text content"))},
	{prefix: "tck-stream-artifact-file", streams: artifact(file)},
	{prefix: "tck-stream-artifact-chunked", streams: append(artifact(a2a.TextPart("chunk-1 ")), artifact(a2a.TextPart("chunk-2"))...)},
	{prefix: "tck-", makes: artifact(a2a.TextPart("Hello from TCK"))},

	// For 0.3, whose kit reads tasks while they work.
	{prefix: "test-resubscribe-message-id", works: 2 * long, makes: artifact(a2a.TextPart("Worked for a long time"))},
	{prefix: "", works: long, makes: artifact(a2a.TextPart("Worked for a while"))},
}

var file = a2a.Part{Raw: []byte("Generated file content\n"), Filename: "output.txt", MediaType: "text/plain"}

func artifact(part a2a.Part) []a2a.Artifact {
	return []a2a.Artifact{{ArtifactID: "output", Name: "output", Parts: []a2a.Part{part}}}
}

func ptr(s string) *string { return &s }

// actFor returns the act for the id of a message.
func actFor(messageID string) act {
	for _, a := range script {
		if strings.HasPrefix(messageID, a.prefix) {
			return a
		}
	}
	return act{}
}
