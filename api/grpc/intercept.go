package grpc

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/service"
	"longhaul/api/wire"
	"longhaul/internal/tracing"
)

// A callInContext holds the call of a context, and what its handlers need.
type callInContext struct {
	call       *call.Call
	service    *service.Service
	operations *operation.Table
	heartbeat  time.Duration
}

// callKey is the key in a context for its callInContext.
type callKey struct{}

func callIn(ctx context.Context) callInContext { return ctx.Value(callKey{}).(callInContext) }

// stream serves a call. It is called before the message is read. It turns faults into statuses.
func (s *Server) stream(srv any, to grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	method, ok := methodOf(info.FullMethod)
	if !ok {
		from := ""
		if p, ok := peer.FromContext(to.Context()); ok {
			from = host(p.Addr)
		}
		return s.anonymously(srv, to, info.IsClientStream, from, handler)
	}
	c, fault := s.serve(to.Context(), method, info.FullMethod, func(ctx context.Context, c *call.Call) error {
		in := &intake{ServerStream: to, codec: s.codec, most: s.cfg.MaxMessage, within: readWithin, shares: s.bytes, user: c.Caller.Tenant}
		return handler(srv, &callStream{ServerStream: in, ctx: ctx, call: c})
	})
	if fault != nil {
		_ = to.SetHeader(header(c)) // fails if the stream was open already
		return failure(fault)
	}
	return nil
}

// serve authenticates the caller, checks the version, has handle do the call and
// logs it. Every method is a stream to gRPC, so nothing of the message is read before. This is
// not a tap handle: one of those runs under the lock of the connection, where looking up a key
// would block all its calls, and a refusal there leaks the timer of grpc-timeout (grpc-go 1.83).
func (s *Server) serve(ctx context.Context, method, path string, handle func(context.Context, *call.Call) error) (*call.Call, *call.Fault) {
	r := asHTTP(ctx, path)
	c := s.service.NewCall(r.Header.Get(wire.HeaderRequestID))
	wire.ReadHeader(c, r.Header)
	ctx, span := s.cfg.Tracing.Request(ctx, r.Header, method)
	c.TraceID = tracing.ID(ctx)
	c.Binding, c.Method, c.Rules = "grpc", method, wire.Rules(wire.V10)
	fault := s.service.Serve(c, call.Steps{
		Authenticate: func() (call.Caller, error) { return s.cfg.Authenticate(r) },
		Read: func() (call.Right, error) {
			if fault := wire.Negotiate10(r.Header.Values(wire.HeaderVersion), nil, s.cfg.LenientVersion); fault != nil {
				return call.Right{}, fault
			}
			return operation.Right(method), nil
		},
		Handle: func() error {
			return handle(context.WithValue(ctx, callKey{}, callInContext{c, s.service, s.operations, s.cfg.Heartbeat}), c)
		},
	})
	outcome := "OK"
	fields := []zap.Field{zap.String("path", path)}
	if fault != nil {
		_, outcome = wire.Status(fault)
		fields = append(fields, zap.Int("code", wire.Code(fault)))
	}
	s.service.Log(c, append(fields, zap.String("outcome", outcome))...)
	span.Note(c.About()...)
	span.End(fault != nil && fault.Kind == call.Internal)
	return c, fault
}

// A callStream is the stream of a call.
type callStream struct {
	grpc.ServerStream
	ctx  context.Context
	call *call.Call
	sent bool // an answer was sent, with the header
}

func (s *callStream) Context() context.Context { return s.ctx }

// SendMsg implements [grpc.ServerStream].
func (s *callStream) SendMsg(m any) error {
	if !s.sent {
		_ = s.SetHeader(header(s.call)) // fails if it was sent already
		s.sent = true
	}
	return s.ServerStream.SendMsg(m)
}

// header returns the header of every answer.
func header(c *call.Call) metadata.MD {
	md := metadata.Pairs("x-request-id", c.RequestID, "a2a-version", string(wire.V10))
	if len(c.Active) > 0 {
		md.Set("a2a-extensions", a2a.JoinExtensions(c.Active))
	}
	return md
}

// methodOf returns the name of a method of A2A; ok is false for the methods of
// other services.
func methodOf(fullMethod string) (name string, ok bool) {
	return strings.CutPrefix(fullMethod, "/"+a2apb.A2AService_ServiceDesc.ServiceName+"/")
}

// asHTTP returns a call, without its content, as an HTTP request. Its host is not checked: that
// is against pages in browsers, which cannot speak gRPC to a server without TLS, and with TLS the
// certificate has another name than the page.
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
