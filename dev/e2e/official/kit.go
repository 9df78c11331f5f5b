package official

import (
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// kit lists the commands for the messages of the public conformance kit for A2A 1.0, by the prefix of
// their ids. The first that matches counts.
var kit = [][2]string{
	{"tck-message-response", "answer Direct message response"},
	{"tck-input-required", "ask What should be done?"},
	{"tck-reject-task", "reject The task was rejected."},
	{"tck-artifact-text", "say Generated text content"},
	{"tck-artifact-file-url", "show link"},
	{"tck-artifact-file", "show file"},
	{"tck-artifact-data", "show data"},
	{"tck-stream-001", "say Stream hello from TCK"},
	{"tck-stream-002", "end"},
	{"tck-stream-003", "say Stream task lifecycle"},
	{"tck-stream-ordering-001", "say Ordered output"},
	{"tck-stream-artifact-text", "say Streamed text content"},
	{"tck-stream-artifact-file", "show file"},
	{"tck-stream-artifact-chunked", "stream 2 100ms"},
	{"tck-", "say Hello from TCK"},
}

// kitCommands returns the commands for the id of a message, "" if it is not one of the kit.
func kitCommands(id string) string {
	for _, k := range kit {
		if strings.HasPrefix(id, k[0]) {
			return k[1]
		}
	}
	return ""
}

// shown are the contents of artifacts for the kit.
var shown = map[string]*a2a.Part{
	"file": {Content: a2a.Raw("Generated file content\n"), Filename: "output.txt", MediaType: "text/plain"},
	"link": {Content: a2a.URL("https://example.com/output.txt"), Filename: "output.txt", MediaType: "text/plain"},
	"data": a2a.NewDataPart(map[string]any{"key": "value", "count": 42}),
}
