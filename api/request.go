package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/wire"
)

// A Request is one request of a binding that is not served over plain HTTP and
// speaks 1.0 alone, on its way: to be served, and within that to be answered by
// Reply or Stream. It is for one goroutine.
type Request struct {
	s    *Server
	call *call
	from *http.Request
}

// Request returns a request to call a method by its name in 1.0. from is the
// request as HTTP has it, its headers and its sender, without its content.
func (s *Server) Request(method string, from *http.Request) *Request {
	c := &call{began: time.Now(), requestID: s.requestID(from)}
	c.agree(wire.V10, method, from.Header)
	return &Request{s, c, from}
}

// ID returns the request's id, which its sender may have chosen.
func (r *Request) ID() string { return r.call.requestID }

// Extensions lists those that are on, once the request was answered.
func (r *Request) Extensions() []string { return r.call.active }

// Serve finds out who calls and checks the version before it has handle answer.
// It returns what the caller is to be told if that fails or panics, and logs what
// became of the request.
func (r *Request) Serve(handle func() error) *wire.Fault {
	err := r.s.guard(r.call, func() (err error) {
		if r.call.Caller, err = r.s.authenticate(r.from); err != nil {
			return err
		}
		if err := r.s.negotiate10(r.from); err != nil {
			return err
		}
		return handle()
	})
	var fault *wire.Fault
	status := "OK"
	if err != nil {
		fault = r.s.fault(r.call, false, err)
		r.call.code = fault.Code
		_, status = fault.Status()
	}
	r.s.log.Info("Served a request", append(r.call.fields(),
		zap.String("path", r.from.URL.Path),
		zap.String("outcome", status),
		zap.Duration("took", time.Since(r.call.began)),
	)...)
	return fault
}

// Reply answers with what the method's handler returns, which is never nil.
// params are JSON, in the shape of 1.0.
func (r *Request) Reply(ctx context.Context, params []byte) (any, error) {
	out, err := r.run(ctx, params)
	return out.value, err
}

// Stream answers with a stream, which the caller closes.
func (r *Request) Stream(ctx context.Context, params []byte) (*Stream, error) {
	out, err := r.run(ctx, params)
	if err != nil {
		return nil, err
	}
	return &Stream{out.feed, time.NewTicker(r.s.cfg.Heartbeat)}, nil
}

func (r *Request) run(ctx context.Context, params []byte) (outcome, error) {
	reader, fault := wire.ReadBody(params, nil)
	if fault != nil {
		return outcome{}, fault
	}
	return r.s.methods[r.call.method].run(ctx, r.call, reader)
}

// A Stream is an open stream of one task. It is for one goroutine.
type Stream struct {
	feed *feed
	beat *time.Ticker
}

// Next waits for the next event. It returns io.EOF at the end of the stream, which
// is also when the server closes.
func (s *Stream) Next(ctx context.Context) (a2a.Event, error) {
	for {
		e, err := s.feed.next(ctx, s.beat.C)
		if !errors.Is(err, errIdle) {
			return e.event, err
		}
	}
}

// Close lets go of the stream. The work goes on.
func (s *Stream) Close() {
	s.beat.Stop()
	s.feed.close()
}
