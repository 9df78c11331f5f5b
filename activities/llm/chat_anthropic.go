package llm

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"longhaul/opt"
)

// A claude asks a server that speaks the messages API of Anthropic.
type claude struct {
	model   *Model
	service anthropic.MessageService
}

// newClaude does not use the SDK's own client, which reads the environment.
func newClaude(m *Model) *claude {
	url := cmp.Or(m.URL, "https://api.anthropic.com/")
	options := []option.RequestOption{option.WithBaseURL(url), option.WithHTTPClient(m.client), option.WithMaxRetries(0)}
	if m.key != "" {
		options = append(options, option.WithAPIKey(m.key))
	}
	return &claude{m, anthropic.NewMessageService(options...)}
}

// turn implements [chat].
func (c *claude) turn(ctx context.Context, r request, show func(string) error) (reply, error) {
	stream := c.service.NewStreaming(ctx, c.params(r))
	defer func() { _ = stream.Close() }()
	var whole anthropic.Message
	ended := false
	for stream.Next() {
		event := stream.Current()
		if err := whole.Accumulate(event); err != nil {
			return reply{}, err
		}
		ended = ended || event.Type == "message_stop"
		if event.Type == "content_block_delta" && event.Delta.Type == "text_delta" {
			if err := show(event.Delta.Text); err != nil {
				return reply{}, err
			}
		}
	}
	if err := stream.Err(); err != nil {
		return reply{}, err
	}
	if !ended {
		return reply{}, errCut
	}
	u := whole.Usage
	out := reply{usage: opt.Usage{Input: u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens, Output: u.OutputTokens}}
	switch whole.StopReason {
	case anthropic.StopReasonMaxTokens:
		out.end = endedLong
	case anthropic.StopReasonRefusal:
		out.end = refused
	}
	for _, b := range whole.Content {
		switch b.Type {
		case "text":
			out.text += b.Text
		case "tool_use":
			out.calls = append(out.calls, call{ID: b.ID, Name: b.Name, Args: string(b.Input)})
		}
	}
	return out, nil
}

func (c *claude) params(r request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model: anthropic.Model(c.model.Model), MaxTokens: c.model.MaxOutput,
		System: []anthropic.TextBlockParam{{Text: r.system}},
	}
	for _, t := range r.tools {
		var schema struct {
			Properties any      `json:"properties"`
			Required   []string `json:"required"`
		}
		var rest map[string]any
		_, _ = json.Unmarshal(t.Schema, &schema), json.Unmarshal(t.Schema, &rest) // an object, as it was listed
		for _, known := range []string{"type", "properties", "required"} {
			delete(rest, known)
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.Name, Description: param.NewOpt(t.Description),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: schema.Properties, Required: schema.Required, ExtraFields: rest},
		}})
	}
	if r.schema != nil && !r.unforced {
		_ = json.Unmarshal(r.schema, &p.OutputConfig.Format.Schema) // a schema that is no object stays in the system prompt
	}
	for _, m := range r.messages {
		p.Messages = appendMessage(p.Messages, m)
	}
	return p
}

// appendMessage returns messages with m. The results of the calls of one message, and the
// text of the user after them, are in one message.
func appendMessage(messages []anthropic.MessageParam, m message) []anthropic.MessageParam {
	var blocks []anthropic.ContentBlockParamUnion
	switch m.By {
	case byTool:
		blocks = append(blocks, anthropic.NewToolResultBlock(m.CallID, m.Text, m.Failed))
	case byUser:
		blocks = append(blocks, anthropic.NewTextBlock(m.Text))
	default:
		if m.Text != "" {
			blocks = append(blocks, anthropic.NewTextBlock(m.Text))
		}
		for _, c := range m.Calls {
			args := json.RawMessage(c.Args)
			if !isObject(args) {
				args = json.RawMessage("{}") // the result has the error
			}
			blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, args, c.Name))
		}
		return append(messages, anthropic.NewAssistantMessage(blocks...))
	}
	if last := len(messages) - 1; last >= 0 && messages[last].Role == anthropic.MessageParamRoleUser {
		messages[last].Content = append(messages[last].Content, blocks...)
		return messages
	}
	return append(messages, anthropic.NewUserMessage(blocks...))
}
