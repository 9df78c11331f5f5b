package clients_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// A tap reads the responses to a client, over HTTP or gRPC, since the client
// shows only a part of them.
type tap struct {
	transport *http.Transport

	mu         sync.Mutex
	extensions string
	binding    string
}

func newTap(t *testing.T) *tap {
	out := &tap{transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	t.Cleanup(out.transport.CloseIdleConnections)
	return out
}

func (p *tap) client() *http.Client { return &http.Client{Transport: p} }

// RoundTrip implements [http.RoundTripper].
func (p *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := p.transport.RoundTrip(req)
	if err == nil {
		p.note(bindingAt(req.URL.Path), res.Header.Get("A2A-Extensions"))
	}
	return res, err
}

// bindingAt returns the binding that is served at a path.
func bindingAt(path string) string {
	if strings.HasPrefix(path, "/a2a/rest/") {
		return overREST
	}
	return overJSONRPC
}

// dialOptions put the tap into a connection of gRPC.
func (p *tap) dialOptions() []grpc.DialOption {
	unary := func(ctx context.Context, method string, req, reply any, to *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		var header metadata.MD
		err := invoke(ctx, method, req, reply, to, append(options, grpc.Header(&header))...)
		p.noteHeader(header)
		return err
	}
	stream := func(ctx context.Context, of *grpc.StreamDesc, to *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		s, err := open(ctx, of, to, method, options...)
		return tappedStream{s, p}, err
	}
	return []grpc.DialOption{grpc.WithUnaryInterceptor(unary), grpc.WithStreamInterceptor(stream)}
}

// A tappedStream is a stream of gRPC with a tap in it.
type tappedStream struct {
	grpc.ClientStream
	tap *tap
}

// RecvMsg implements [grpc.ClientStream].
func (s tappedStream) RecvMsg(m any) error {
	header, _ := s.Header() // it comes before the first message, which fails if the header does
	s.tap.noteHeader(header)
	return s.ClientStream.RecvMsg(m)
}

func (p *tap) noteHeader(header metadata.MD) {
	p.note(overGRPC, strings.Join(header.Get("A2A-Extensions"), ", "))
}

func (p *tap) note(binding, extensions string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.binding, p.extensions = binding, extensions
}

func (p *tap) chosen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.binding
}

func (p *tap) activated() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.extensions
}

// state03 returns the 0.3 form of a name of 1.0.
func state03(name, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", "-")
}

// state10 returns the 1.0 form of a state of 0.3.
func state10(name string) string {
	if name == "" {
		return ""
	}
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
