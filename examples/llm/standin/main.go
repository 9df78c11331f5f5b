// Standin stands in for a model and a server of tools, so that the example runs without
// any account: it speaks the OpenAI API and MCP on 127.0.0.1:7499, and its answers are
// fixed.
package main

import (
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/activities/llm/llmtest"
)

const addr = "127.0.0.1:7499"

func main() {
	tools := llmtest.NewTools(func(tool string, a llmtest.Args, _ string) { log.Printf("The tool %s was called: %s", tool, a.Text) }, nil)
	mux := http.NewServeMux()
	mux.Handle("/v1/", llmtest.NewHandler(answer))
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	log.Printf("Standing in for a model at http://%s/v1 and for tools at http://%s/mcp", addr, addr)
	log.Fatal(http.ListenAndServe(addr, mux))
}

// answer returns the next turn of the model.
func answer(_ int, r llmtest.Request) llmtest.Turn {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case strings.HasPrefix(r.System, "You plan"):
		return say(`{"reason":"The request is for a note.","plans":[{"name":"Note","tasks":[{"name":"Write it down","kind":"llm","text":"Write the request down with the tool.","tools":["desk/note"]}]}]}`)
	case r.Schema:
		return say(`{"title":"Tea","points":["Black tea needs boiling water.","Green tea does not."]}`)
	case last.Role == "tool":
		return say("It is done: ", last.Text, ".")
	case len(r.Tools) > 0:
		return llmtest.Turn{Calls: []llmtest.Call{{Name: r.Tools[0], Args: `{"text":"A note about tea"}`}}}
	}
	return say(fmt.Sprintf("You asked: %.200s", last.Text))
}

func say(pieces ...string) llmtest.Turn { return llmtest.Turn{Text: pieces} }
