package llm

import (
	"context"
	"encoding/json"
	"strings"

	"longhaul/opt"
)

// The roles in a conversation.
const (
	byUser  = "user"
	byModel = "model"
	byTool  = "tool"
)

// A message is one step of a conversation. It is stored in the memo of the task, so it
// has the form of no provider.
type message struct {
	By     string `json:"by"`
	Text   string `json:"text,omitempty"`
	Calls  []call `json:"calls,omitempty"`  // that the model wants to make
	CallID string `json:"callId,omitempty"` // of the call whose result a tool returns
	Failed bool   `json:"failed,omitempty"` // the result of the call is an error
}

// A call is a model's wish to use a tool.
type call struct {
	ID   string `json:"id"`
	Name string `json:"name"` // as the model knows the tool
	Args string `json:"args"` // JSON, unless the model has made a mistake
}

// A tool is a function of an MCP server, as the model gets it.
type tool struct {
	Name        string          `json:"name"` // for the model: of server and function
	Server      string          `json:"server"`
	Function    string          `json:"function"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`               // of its arguments
	Repeatable  bool            `json:"repeatable,omitempty"` // the server says that a second call changes nothing
}

// title names t for people.
func (t tool) title() string { return t.Server + "/" + t.Function }

// A request asks a model for its next message.
type request struct {
	system   string
	messages []message
	tools    []tool
	schema   json.RawMessage // of the final answer; nil for text
	unforced bool            // the provider does not take the schema, which the system prompt has too
}

// A reply is the next message of a model.
type reply struct {
	text  string
	calls []call
	usage opt.Usage
	end   ending
}

// An ending says why a model has stopped.
type ending int

const (
	endedWell ending = iota
	endedLong        // at the limit of its output
	refused          // to answer
)

// A chat is a model that can be asked. turn gives text to show as it arrives, and
// returns the error of show. Other errors are a [*waitError], [errFormat] or an
// [*activities.Error].
type chat interface {
	turn(ctx context.Context, r request, show func(text string) error) (reply, error)
}

// isObject reports whether data is a JSON object.
func isObject(data json.RawMessage) bool {
	var object map[string]any
	return json.Unmarshal(data, &object) == nil && object != nil
}

// shortened returns a text of the model as people may see it.
func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > opt.MaxDescription/4 {
		text = strings.ToValidUTF8(text[:opt.MaxDescription/4], "") + "…"
	}
	return text
}
