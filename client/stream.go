package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
)

// errSilent is the error of a stream that sent nothing for too long.
var errSilent = errors.New("the stream sent nothing for too long")

// A stream is one connection that events come from.
type stream struct {
	ctx          context.Context
	cancel       context.CancelCauseFunc
	silenceTimer *time.Timer
	limit        time.Duration
	res          *http.Response
	events       *codec.Stream
}

// open calls a method that answers with a stream. after is sent as the id of
// the last event that is known, unless it is "".
func (c *caller) open(ctx context.Context, method string, params any, after string) (*stream, error) {
	s := &stream{limit: c.cfg.Silence}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.silenceTimer = time.AfterFunc(s.limit, func() { s.cancel(errSilent) })
	header := http.Header{"Accept": {typeStream}, codec.HeaderExtensions: {a2a.JoinExtensions([]string{a2a.ExtensionOPT, a2a.ExtensionStream})}}
	if after != "" {
		header.Set("Last-Event-ID", after)
	}
	var err error
	if s.res, err = c.send(s.ctx, request{method: method, content: params, header: header}); err == nil {
		err = s.checkHeader()
	}
	if err != nil {
		err = s.causeOf(err)
		s.close()
		return nil, err
	}
	return s, nil
}

// checkHeader checks that the answer is a stream.
func (s *stream) checkHeader() error {
	if kind, _, _ := mime.ParseMediaType(s.res.Header.Get("Content-Type")); kind != typeStream {
		if err := (request{}).readResult(s.res, &json.RawMessage{}); err != nil {
			return err
		}
		return errors.New("the agent answered without a stream")
	}
	s.events = codec.NewStream(s, maxAnswer)
	return nil
}

// Read implements [io.Reader] for the events. Any data, also a comment, shows that the
// connection works.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.res.Body.Read(p)
	s.silenceTimer.Reset(s.limit)
	return n, err
}

// next returns the next event. The error is io.EOF at the end.
func (s *stream) next() (Event, error) {
	data, err := s.events.Next()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return Event{}, fmt.Errorf("an event has more than %d bytes", maxAnswer)
	case err == io.EOF:
		return Event{}, err
	case err != nil:
		return Event{}, s.causeOf(&brokenError{err})
	}
	raw, failed, err := codec.ReadResponse(data)
	switch {
	case err != nil:
		return Event{}, fmt.Errorf("read an event: %w", err)
	case failed != nil:
		return Event{}, newError(failed, s.res)
	}
	return readEvent(s.events.ID, raw)
}

// causeOf returns the cause of err, such as a time-out that closed the connection.
func (s *stream) causeOf(err error) error {
	_, broken := errors.AsType[*brokenError](err)
	switch {
	case !broken || s.ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(s.ctx), errSilent):
		return &brokenError{errSilent}
	}
	return context.Cause(s.ctx)
}

func (s *stream) close() {
	s.silenceTimer.Stop()
	s.cancel(nil)
	if s.res != nil {
		_ = s.res.Body.Close()
	}
}
