package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"longhaul/api/service"
)

// stream sends a stream as server-sent events, each of them on one line. A reader
// that accepts no data for WriteTimeout is disconnected; it can resume.
func (res response) stream(events *service.Stream) {
	defer events.Close()
	beat := time.NewTicker(res.s.cfg.Heartbeat)
	defer beat.Stop()
	res.head(mediaStream)
	res.w.WriteHeader(http.StatusOK)
	if res.write("") != nil { // sends the header at once, also if there is no event yet
		return
	}
	for {
		var text string
		fault := res.s.service.Guard(res.call, func() (err error) {
			text, err = res.next(events, beat.C)
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
func (res response) next(events *service.Stream, beat <-chan time.Time) (string, error) {
	e, err := events.Next(res.r.Context(), beat)
	switch {
	case errors.Is(err, service.ErrIdle):
		return ": keep-alive\n\n", nil
	case errors.Is(err, io.EOF), err != nil && res.r.Context().Err() != nil:
		return "", nil
	case err != nil:
		return "", err
	}
	body, err := res.binding.result(res.request, res.request.version.Event(e))
	switch {
	case err != nil:
		return "", err
	case e.Seq == 0:
		return fmt.Sprintf("data: %s\n\n", body), nil
	}
	return fmt.Sprintf("id: %d\ndata: %s\n\n", e.Seq, body), nil
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
