package grpc

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"longhaul/api"
	"longhaul/api/wire"
)

// requestKey is the key in a context for the *api.Request that it is of.
type requestKey struct{}

func requestOf(ctx context.Context) *api.Request { return ctx.Value(requestKey{}).(*api.Request) }

// unary sees a call through: who sends it, whether it names our version, which
// extensions are on, what the log says of it. Failures get their status here.
func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	r, ok := s.request(ctx, info.FullMethod)
	if !ok {
		return handler(ctx, req)
	}
	fault := r.Serve(func() (err error) {
		reply, err = handler(context.WithValue(ctx, requestKey{}, r), req)
		return err
	})
	_ = grpc.SetHeader(ctx, header(r)) // fails if the client has gone
	if fault != nil {
		return nil, failure(fault)
	}
	return reply, nil
}

// stream is unary for calls whose answer is a stream.
func (s *Server) stream(srv any, to grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	r, ok := s.request(to.Context(), info.FullMethod)
	if !ok {
		return handler(srv, to)
	}
	fault := r.Serve(func() error {
		return handler(srv, requestStream{to, context.WithValue(to.Context(), requestKey{}, r)})
	})
	if fault != nil {
		_ = to.SetHeader(header(r)) // fails if the stream was open already
		return failure(fault)
	}
	return nil
}

type requestStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s requestStream) Context() context.Context { return s.ctx }

// header returns what every answer begins with.
func header(r *api.Request) metadata.MD {
	md := metadata.Pairs("x-request-id", r.ID(), "a2a-version", string(wire.V10))
	if active := r.Extensions(); len(active) > 0 {
		md.Set("a2a-extensions", wire.JoinExtensions(active))
	}
	return md
}

// request returns the request that calls a method; ok is false for the methods of
// other services.
func (s *Server) request(ctx context.Context, fullMethod string) (r *api.Request, ok bool) {
	name, ok := strings.CutPrefix(fullMethod, "/"+a2apb.A2AService_ServiceDesc.ServiceName+"/")
	if !ok {
		return nil, false
	}
	return s.api.Request(name, asHTTP(ctx, fullMethod)), true
}

// asHTTP returns what came with a call, its content aside, as the HTTP request
// that it is underneath.
func asHTTP(ctx context.Context, fullMethod string) *http.Request {
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: fullMethod}, RequestURI: fullMethod,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}, Body: http.NoBody,
	}
	md, _ := metadata.FromIncomingContext(ctx)
	for key, values := range md {
		switch {
		case key == ":authority":
			r.Host = values[0]
		case !strings.HasPrefix(key, ":") && !strings.HasSuffix(key, "-bin"):
			r.Header[http.CanonicalHeaderKey(key)] = values
		}
	}
	if p, ok := peer.FromContext(ctx); ok {
		r.RemoteAddr = p.Addr.String()
		if t, ok := p.AuthInfo.(credentials.TLSInfo); ok {
			r.TLS = &t.State
		}
	}
	return r.WithContext(ctx)
}
