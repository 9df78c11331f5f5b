package official

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// kit lists the commands for the messages of the public conformance kit for A2A 1.0, by the prefix of
// their ids, for the agent in JavaScript, too. The first that matches counts.
//
//go:embed js/kit.json
var kit []byte

// kitCommands returns the commands for the id of a message, "" if it is not one of the kit.
func kitCommands(id string) string {
	var list [][2]string
	if err := json.Unmarshal(kit, &list); err != nil {
		panic(err) // it is part of the program
	}
	for _, k := range list {
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
