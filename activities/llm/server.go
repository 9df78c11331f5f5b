package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zapio"
)

// metaKey is the member of a call's _meta with its idempotency key, for servers that
// recognise a repeat.
const metaKey = "longhaul/v1/key"

// A notStartedError is the error of a call that was not made.
type notStartedError struct{ cause error }

// Error implements error.
func (e *notStartedError) Error() string { return "connect: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *notStartedError) Unwrap() error { return e.cause }

// withSession calls do with a connection to s. If s is a program, it is started before and ended
// after that: a longer session would be state that a crash loses, and the next leg may run on
// another worker. If there is no connection, the error is a notStartedError.
func (s *Server) withSession(ctx context.Context, log *zap.Logger, do func(context.Context, *mcp.ClientSession) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "longhaul", Version: "1"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: s.client, MaxRetries: -1, DisableStandaloneSSE: true}
	if len(s.Run) > 0 {
		output := &zapio.Writer{Log: log, Level: zapcore.DebugLevel}
		defer func() { _ = output.Close() }()
		program := exec.CommandContext(ctx, s.Run[0], s.Run[1:]...)
		program.Env, program.Stderr, program.WaitDelay = append([]string{}, s.env...), output, time.Second
		transport = &mcp.CommandTransport{Command: program, TerminateDuration: time.Second}
	}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return &notStartedError{err}
	}
	defer func() { _ = session.Close() }() // a program that does not end is killed
	return do(ctx, session)
}

// Limits of the list of tools of a server.
const (
	maxTools       = 128
	maxDescription = 4 << 10
	maxSchema      = 16 << 10
)

// list returns the tools of s.
func (s *Server) list(ctx context.Context, name string, log *zap.Logger) (out []tool, err error) {
	err = s.withSession(ctx, log, func(ctx context.Context, session *mcp.ClientSession) error {
		for t, err := range session.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			schema, err := json.Marshal(t.InputSchema)
			switch {
			case err != nil || !isObject(schema):
				schema = json.RawMessage(`{"type":"object"}`)
			case len(schema) > maxSchema:
				return fmt.Errorf("the schema of the tool %q has more than %d bytes", t.Name, maxSchema)
			case len(out) == maxTools:
				return fmt.Errorf("there are more than %d tools", maxTools)
			}
			one := tool{
				Name: nameOf(name, t.Name), Server: name, Function: t.Name, Schema: schema,
				Description: strings.ToValidUTF8(t.Description[:min(len(t.Description), maxDescription)], ""),
			}
			// A wrong hint repeats a call after a crash. It spares no decision of a person: policies
			// are in the file alone.
			if a := t.Annotations; a != nil {
				one.Repeatable = a.ReadOnlyHint || a.IdempotentHint
			}
			out = append(out, one)
		}
		return nil
	})
	return out, err
}

// call makes one call. failed says that the text describes an error, for the
// model. After an error of call, the call may have been made, unless the error is an
// notStartedError.
func (s *Server) call(ctx context.Context, of tool, args json.RawMessage, key string, log *zap.Logger) (text string, failed bool, err error) {
	err = s.withSession(ctx, log, func(ctx context.Context, session *mcp.ClientSession) error {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Meta: mcp.Meta{metaKey: key}, Name: of.Function, Arguments: args})
		var refused *jsonrpc.Error
		switch {
		case errors.As(err, &refused) && refused.Code != codeRejected:
			text, failed = "The server refuses the call: "+refused.Message, true
		case err != nil:
			return err
		case len(result.InputRequests) > 0:
			text, failed = "The tool asks for more input, which cannot be given here.", true
		default:
			text, failed = contents(result), result.IsError
		}
		return nil
	})
	if len(text) > s.Output {
		text = strings.ToValidUTF8(text[:s.Output], "") + fmt.Sprintf("\n[The rest of %d bytes was cut.]", len(text))
	}
	return text, failed, err
}

// codeRejected is the code of the SDK's own error for a request that the transport did not
// carry, or of which it does not know.
const codeRejected = -32005

// contents returns the result of a call as text.
func contents(r *mcp.CallToolResult) string {
	var texts []string
	for _, c := range r.Content {
		if text, ok := contentText(c); ok {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 && r.StructuredContent != nil {
		data, err := json.Marshal(r.StructuredContent)
		if err == nil {
			return string(data)
		}
	}
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD")
}

func contentText(c mcp.Content) (text string, ok bool) {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text, true
	case *mcp.ImageContent:
		return fmt.Sprintf("[%d bytes of %s]", len(c.Data), c.MIMEType), true
	case *mcp.AudioContent:
		return fmt.Sprintf("[%d bytes of %s]", len(c.Data), c.MIMEType), true
	case *mcp.ResourceLink:
		return "[link to " + c.URI + "]", true
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			return cmp.Or(c.Resource.Text, "[content of "+c.Resource.URI+"]"), true
		}
	}
	return "", false
}
