package llm

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"longhaul/opt"
)

// An openAI asks a server that speaks the chat completions API of OpenAI.
type openAI struct {
	model   *Model
	service openai.ChatCompletionService
	own     bool // the server is OpenAI's
}

// newOpenAI does not use the SDK's own client, which reads the environment.
func newOpenAI(m *Model) *openAI {
	url := cmp.Or(m.URL, "https://api.openai.com/v1")
	options := []option.RequestOption{option.WithBaseURL(url), option.WithHTTPClient(m.client), option.WithMaxRetries(0)}
	if m.key != "" {
		options = append(options, option.WithAPIKey(m.key))
	}
	return &openAI{m, openai.NewChatCompletionService(options...), m.URL == ""}
}

// turn implements [chat].
func (o *openAI) turn(ctx context.Context, r request, show func(string) error) (reply, error) {
	stream := o.service.NewStreaming(ctx, o.params(r))
	defer func() { _ = stream.Close() }()
	var out reply
	ended := false
	for stream.Next() {
		chunk := stream.Current()
		if u := chunk.Usage; u.TotalTokens > 0 || u.PromptTokens > 0 {
			out.usage = opt.Usage{Input: u.PromptTokens, Output: u.CompletionTokens}
		}
		for _, c := range chunk.Choices {
			out.text += c.Delta.Content
			out.calls = addPieces(out.calls, c.Delta.ToolCalls)
			if c.Delta.Refusal != "" || c.FinishReason == "content_filter" {
				out.end = refused
			}
			if c.FinishReason == "length" {
				out.end = endedLong
			}
			ended = ended || c.FinishReason != ""
			if err := show(c.Delta.Content); err != nil {
				return out, err
			}
		}
	}
	if err := stream.Err(); err != nil {
		return out, err
	}
	if !ended {
		return out, errCut
	}
	return out, nil
}

// addPieces returns calls with more pieces. A piece of a call has its index.
func addPieces(calls []call, pieces []openai.ChatCompletionChunkChoiceDeltaToolCall) []call {
	for _, p := range pieces {
		i := int(p.Index)
		if i < 0 || i > len(calls) {
			i = len(calls)
		}
		if i == len(calls) {
			calls = append(calls, call{})
		}
		if p.ID != "" {
			calls[i].ID = p.ID
		}
		calls[i].Name += p.Function.Name
		calls[i].Args += p.Function.Arguments
	}
	return calls
}

func (o *openAI) params(r request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:         o.model.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if o.own {
		p.MaxCompletionTokens = param.NewOpt(o.model.MaxOutput)
	} else {
		p.MaxTokens = param.NewOpt(o.model.MaxOutput) // more servers support it
	}
	for _, t := range r.tools {
		var schema map[string]any
		_ = json.Unmarshal(t.Schema, &schema) // an object, as it was listed
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: schema,
		}))
	}
	if r.schema != nil && !r.unforced {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: r.schema},
		}
	}
	p.Messages = append(p.Messages, openai.SystemMessage(r.system))
	for _, m := range r.messages {
		p.Messages = append(p.Messages, openAIMessage(m))
	}
	return p
}

func openAIMessage(m message) openai.ChatCompletionMessageParamUnion {
	switch m.By {
	case byTool:
		return openai.ToolMessage(m.Text, m.CallID)
	case byUser:
		return openai.UserMessage(m.Text)
	}
	assistant := openai.ChatCompletionAssistantMessageParam{}
	if m.Text != "" {
		assistant.Content.OfString = param.NewOpt(m.Text)
	}
	for _, c := range m.Calls {
		assistant.ToolCalls = append(assistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Args},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &assistant}
}
