package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"longhaul/api/stream"
	"longhaul/api/wire"
)

// probeAfter is the time between the first two comments to a client that has closed its
// half of the connection. If it has disconnected, the second write fails.
const probeAfter = 100 * time.Millisecond

// streamCut is the end of a stream whose task has not ended: a browser connects again
// after the time of retry, with the id of the last event. There is no event in it.
const streamCut = ": this process stops; resume the stream with Last-Event-ID\nretry: 1000\n\n"

// A heartbeat sends comments on an idle stream: at a steady pace, but at once after the
// client has closed its half of the connection, then at growing intervals.
type heartbeat struct {
	*time.Timer
	closed context.Context
	every  time.Duration
	probe  time.Duration
}

func (b *heartbeat) next() {
	if b.closed.Err() == nil {
		b.Reset(b.every)
		return
	}
	b.Reset(min(b.probe, b.every))
	b.probe = min(2*b.probe, b.every)
}

// An eventStream is a stream whose events are server-sent events. The errors of Next are those
// of [stream.Stream.Next].
type eventStream interface {
	Next(ctx context.Context, idle <-chan time.Time) (string, error)
	Close()
}

// A taskStream is the stream of a task, with each event on one line.
type taskStream struct {
	*stream.Stream
	binding binding
	request request
}

// Next returns the next event in the form of the binding.
func (s taskStream) Next(ctx context.Context, idle <-chan time.Time) (string, error) {
	e, err := s.Stream.Next(ctx, idle)
	if err != nil {
		return "", err
	}
	body, err := s.binding.result(s.request, wire.Event(s.request.version, e))
	switch {
	case err != nil:
		return "", err
	case e.Seq == 0:
		return fmt.Sprintf("data: %s\n\n", body), nil
	}
	return fmt.Sprintf("id: %d\ndata: %s\n\n", e.Seq, body), nil
}

// stream sends a stream. A reader that accepts no data for WriteTimeout is disconnected; it can
// resume.
func (res response) stream(events eventStream) {
	defer events.Close()
	timer := &heartbeat{Timer: time.NewTimer(res.s.cfg.Heartbeat), closed: res.closed, every: res.s.cfg.Heartbeat, probe: probeAfter}
	defer timer.Stop()
	defer context.AfterFunc(res.closed, func() { timer.Reset(0) })()
	res.setHeaders(mediaStream)
	res.w.WriteHeader(http.StatusOK)
	if res.write("") != nil { // sends the header at once, also if there is no event yet
		return
	}
	for {
		var text string
		fault := res.s.service.Guard(res.call, func() (err error) {
			text, err = res.next(events, timer)
			return err
		})
		if fault != nil {
			text = fmt.Sprintf("data: %s\n\n", res.failure(fault))
		}
		if text == "" || res.write(text) != nil || fault != nil {
			return
		}
	}
}

// next returns the text of the next event, "" at the end of the stream.
func (res response) next(events eventStream, timer *heartbeat) (string, error) {
	text, err := events.Next(res.r.Context(), timer.C)
	switch {
	case errors.Is(err, stream.ErrIdle):
		timer.next()
		return ": keep-alive\n\n", nil
	case errors.Is(err, stream.ErrClosing):
		_ = res.write(streamCut) // the stream ends anyway
		return "", nil
	case errors.Is(err, io.EOF), err != nil && res.r.Context().Err() != nil:
		return "", nil
	}
	return text, err
}

// write sends text and flushes it.
func (res response) write(text string) error {
	rc := http.NewResponseController(res.w.Unwrap())                // echo's Flush hides a failure
	_ = rc.SetWriteDeadline(time.Now().Add(res.s.cfg.WriteTimeout)) // the recorder of a test has none
	if _, err := io.WriteString(res.w, text); err != nil {
		return err
	}
	return rc.Flush()
}
