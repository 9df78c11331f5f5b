package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"longhaul/opt"
)

// A claude asks a server that speaks the messages API of Anthropic.
type claude struct{ model *Model }

// A claudeEvent is an event of an answer.
type claudeEvent struct {
	Type    string `json:"type"`
	Message struct {
		Usage *claudeUsage `json:"usage"`
	} `json:"message"` // of message_start
	Usage *claudeUsage `json:"usage"` // of message_delta
	Index int          `json:"index"` // of the block
	Block struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
}

// A claudeUsage has the tokens of an answer so far. An event changes those that it has.
type claudeUsage struct {
	Input        int64 `json:"input_tokens"`
	CacheCreated int64 `json:"cache_creation_input_tokens"`
	CacheRead    int64 `json:"cache_read_input_tokens"`
	Output       int64 `json:"output_tokens"`
}

// A claudeBlock is a part of an answer: text, or a call of a tool.
type claudeBlock struct {
	text string
	call *call
}

// A claudeAnswer is an answer as far as it has arrived.
type claudeAnswer struct {
	blocks []claudeBlock
	usage  claudeUsage
	stop   string // why the model has stopped
	ended  bool
}

// turn implements [chat].
func (c *claude) turn(ctx context.Context, r request, show func(string) error) (reply, error) {
	p := post{
		api: cmp.Or(c.model.URL, "https://api.anthropic.com"), path: "v1/messages",
		header: map[string]string{"anthropic-version": "2023-06-01"}, body: c.body(r),
	}
	if c.model.key != "" {
		p.header["X-Api-Key"] = c.model.key
	}
	var a claudeAnswer
	err := p.events(ctx, c.model.client, func(event []byte) error {
		text, err := a.add(event)
		if err != nil || text == "" {
			return err
		}
		return show(text)
	})
	switch {
	case err != nil:
		return reply{}, err
	case !a.ended:
		return reply{}, errCut
	}
	return a.reply(), nil
}

// add adds an event to a, and returns its piece of text.
func (a *claudeAnswer) add(event []byte) (text string, err error) {
	var e claudeEvent
	e.Usage, e.Message.Usage = &a.usage, &a.usage
	if err := json.Unmarshal(event, &e); err != nil {
		return "", err
	}
	switch e.Type {
	case "content_block_start":
		if e.Index != len(a.blocks) {
			return "", fmt.Errorf("block %d begins after %d blocks", e.Index, len(a.blocks))
		}
		b := claudeBlock{text: e.Block.Text}
		if e.Block.Type == "tool_use" {
			b.call = &call{ID: e.Block.ID, Name: e.Block.Name, Args: string(e.Block.Input)}
		}
		a.blocks = append(a.blocks, b)
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(a.blocks) {
			return "", fmt.Errorf("block %d continues after %d blocks", e.Index, len(a.blocks))
		}
		return a.blocks[e.Index].add(e), nil
	case "message_delta":
		a.stop = e.Delta.StopReason
	case "message_stop":
		a.ended = true
	}
	return "", nil
}

// add adds a piece to b, and returns it if it is text. The arguments of a call begin as {}.
func (b *claudeBlock) add(e claudeEvent) (text string) {
	switch {
	case e.Delta.Type == "text_delta":
		b.text += e.Delta.Text
		return e.Delta.Text
	case e.Delta.Type != "input_json_delta" || b.call == nil || e.Delta.PartialJSON == "":
	case b.call.Args == "{}":
		b.call.Args = e.Delta.PartialJSON
	default:
		b.call.Args += e.Delta.PartialJSON
	}
	return ""
}

func (a *claudeAnswer) reply() reply {
	u := a.usage
	out := reply{usage: opt.Usage{Input: u.Input + u.CacheCreated + u.CacheRead, Cached: u.CacheRead, Output: u.Output}}
	switch a.stop {
	case "max_tokens":
		out.end = endedLong
	case "refusal":
		out.end = refused
	}
	for _, b := range a.blocks {
		out.text += b.text
		if b.call != nil {
			out.calls = append(out.calls, *b.call)
		}
	}
	return out
}

func (c *claude) body(r request) object {
	b := object{
		"model": c.model.Model, "max_tokens": c.model.MaxOutput, "stream": true,
		"system": []object{{"type": "text", "text": r.system}},
	}
	var tools []object
	for _, t := range r.tools {
		schema := object{}
		_ = json.Unmarshal(t.Schema, &schema) // an object, as it was listed
		schema["type"] = "object"
		tools = append(tools, object{"name": t.Name, "description": t.Description, "input_schema": schema})
	}
	if tools != nil {
		b["tools"] = tools
	}
	if r.schema != nil && !r.unforced && isObject(r.schema) { // a schema that is no object stays in the system prompt
		b["output_config"] = object{"format": object{"type": "json_schema", "schema": r.schema}}
	}
	var messages []claudeMessage
	for _, m := range r.messages {
		messages = appendMessage(messages, m)
	}
	b["messages"] = messages
	return b
}

// A claudeMessage is a message of a request.
type claudeMessage struct {
	Role    string   `json:"role"`
	Content []object `json:"content"`
}

// appendMessage returns messages with m. The results of the calls of one message, and the
// text of the user after them, are in one message.
func appendMessage(messages []claudeMessage, m message) []claudeMessage {
	text := object{"type": "text", "text": m.Text}
	var blocks []object
	switch m.By {
	case byTool:
		blocks = append(blocks, object{"type": "tool_result", "tool_use_id": m.CallID, "is_error": m.Failed, "content": []object{text}})
	case byUser:
		blocks = append(blocks, text)
	default:
		if m.Text != "" {
			blocks = append(blocks, text)
		}
		for _, c := range m.Calls {
			args := json.RawMessage(c.Args)
			if !isObject(args) {
				args = json.RawMessage("{}") // the result has the error
			}
			blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": args})
		}
		return append(messages, claudeMessage{"assistant", blocks})
	}
	if last := len(messages) - 1; last >= 0 && messages[last].Role == "user" {
		messages[last].Content = append(messages[last].Content, blocks...)
		return messages
	}
	return append(messages, claudeMessage{"user", blocks})
}
