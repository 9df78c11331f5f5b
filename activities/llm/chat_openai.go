package llm

import (
	"cmp"
	"context"
	"encoding/json"

	"longhaul/opt"
)

// An openAI asks a server that speaks the chat completions API of OpenAI.
type openAI struct{ model *Model }

// An openAIChunk is an event of an answer.
type openAIChunk struct {
	Choices []openAIChoice `json:"choices"`
	Usage   struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// An openAIChoice is a part of an answer.
type openAIChoice struct {
	Delta struct {
		Content   string        `json:"content"`
		Refusal   string        `json:"refusal"`
		ToolCalls []openAIPiece `json:"tool_calls"`
	} `json:"delta"`
	FinishReason string `json:"finish_reason"`
}

// end returns the end of the answer that c says, the zero value if it says none.
func (c openAIChoice) end() (e ending) {
	switch {
	case c.FinishReason == "length":
		return endedLong
	case c.Delta.Refusal != "" || c.FinishReason == "content_filter":
		return refused
	}
	return e
}

// An openAIPiece is a piece of a call.
type openAIPiece struct {
	Index    int    `json:"index"` // of the call
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// turn implements [chat].
func (o *openAI) turn(ctx context.Context, r request, show func(string) error) (reply, error) {
	p := post{api: cmp.Or(o.model.URL, "https://api.openai.com/v1"), path: "chat/completions", body: o.body(r)}
	if o.model.key != "" {
		p.header = map[string]string{"Authorization": "Bearer " + o.model.key}
	}
	var out reply
	ended := false
	err := p.events(ctx, o.model.client, func(event []byte) error {
		var chunk openAIChunk
		if err := json.Unmarshal(event, &chunk); err != nil {
			return err
		}
		if u := chunk.Usage; max(u.Total, u.Prompt) > 0 {
			out.usage = opt.Usage{Input: u.Prompt, Cached: min(u.Details.Cached, u.Prompt), Output: u.Completion}
		}
		for _, c := range chunk.Choices {
			out.text += c.Delta.Content
			out.calls = addPieces(out.calls, c.Delta.ToolCalls)
			out.end = cmp.Or(c.end(), out.end)
			ended = ended || c.FinishReason != ""
			if err := show(c.Delta.Content); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !ended {
		err = errCut
	}
	return out, err
}

// addPieces returns calls with more pieces. A piece of a call has its index.
func addPieces(calls []call, pieces []openAIPiece) []call {
	for _, p := range pieces {
		i := p.Index
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

func (o *openAI) body(r request) object {
	messages := []object{{"role": "system", "content": r.system}}
	for _, m := range r.messages {
		messages = append(messages, openAIMessage(m))
	}
	b := object{"model": o.model.Model, "messages": messages, "stream": true, "stream_options": object{"include_usage": true}}
	if o.model.URL == "" {
		b["max_completion_tokens"] = o.model.MaxOutput
	} else {
		b["max_tokens"] = o.model.MaxOutput // more servers support it
	}
	var tools []object
	for _, t := range r.tools {
		tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	if tools != nil {
		b["tools"] = tools
	}
	if r.schema != nil && !r.unforced {
		b["response_format"] = object{"type": "json_schema", "json_schema": object{"name": "answer", "schema": r.schema}}
	}
	return b
}

func openAIMessage(m message) object {
	switch m.By {
	case byTool:
		return object{"role": "tool", "content": m.Text, "tool_call_id": m.CallID}
	case byUser:
		return object{"role": "user", "content": m.Text}
	}
	assistant := object{"role": "assistant"}
	if m.Text != "" {
		assistant["content"] = m.Text
	}
	var calls []object
	for _, c := range m.Calls {
		calls = append(calls, object{"type": "function", "id": c.ID, "function": object{"name": c.Name, "arguments": c.Args}})
	}
	if calls != nil {
		assistant["tool_calls"] = calls
	}
	return assistant
}
