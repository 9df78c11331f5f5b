package llmtest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An Args are the arguments of every tool.
type Args struct {
	Text string `json:"text" jsonschema:"what the tool works with"`
}

// NewTools returns an MCP server with tools: note has an effect, look has none, fail
// reports an error, large returns 100,000 bytes and hang returns when end is closed. called
// is called for each call of one of them, when it begins.
func NewTools(called func(tool string, a Args, key string), end <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	add := func(name string, hints *mcp.ToolAnnotations, do func(context.Context, Args) (string, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "The tool " + name, Annotations: hints},
			func(ctx context.Context, r *mcp.CallToolRequest, a Args) (*mcp.CallToolResult, any, error) {
				key, _ := r.Params.Meta["longhaul/v1/key"].(string)
				called(name, a, key)
				text, err := do(ctx, a)
				if err != nil {
					return nil, nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
			})
	}
	add("note", nil, func(_ context.Context, a Args) (string, error) { return "noted " + a.Text, nil })
	add("look", &mcp.ToolAnnotations{ReadOnlyHint: true}, func(_ context.Context, a Args) (string, error) { return "seen " + a.Text, nil })
	add("fail", nil, func(context.Context, Args) (string, error) { return "", errors.New("the tool has failed") })
	add("large", nil, func(context.Context, Args) (string, error) { return strings.Repeat("0123456789", 10_000), nil })
	add("hang", nil, func(ctx context.Context, _ Args) (string, error) {
		select {
		case <-ctx.Done():
		case <-end:
		}
		return "", errors.New("the tool was stopped")
	})
	return s
}

// A ToolServer serves the tools of [NewTools] over streamable HTTP.
type ToolServer struct {
	URL   string
	Calls func() []string // such as "note x", in order
	Keys  func() []string // of the same calls
}

// NewToolServer returns a server that ends with the test.
func NewToolServer(t testing.TB) ToolServer {
	end := make(chan struct{})
	var mu sync.Mutex
	var calls, keys []string
	tools := NewTools(func(tool string, a Args, key string) {
		mu.Lock()
		defer mu.Unlock()
		calls, keys = append(calls, tool+" "+a.Text), append(keys, key)
	}, end)
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	t.Cleanup(func() {
		close(end)
		h.CloseClientConnections()
		h.Close()
	})
	list := func(of *[]string) func() []string {
		return func() []string {
			mu.Lock()
			defer mu.Unlock()
			return append([]string(nil), *of...)
		}
	}
	return ToolServer{h.URL, list(&calls), list(&keys)}
}

// ServeTools serves the tools of [NewTools] over standard input and output, and writes
// each call to a file that it appends to.
func ServeTools(ctx context.Context, file string) error {
	return NewTools(func(tool string, a Args, _ string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		_, err = f.WriteString(tool + " " + a.Text + "\n")
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			panic(err)
		}
	}, nil).Run(ctx, &mcp.StdioTransport{})
}
