package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// stream sends a feed as server-sent events, each of them on one line. A reader
// that takes none for WriteTimeout loses the connection; it can resume.
func (x *exchange) stream(f *feed) {
	defer f.close()
	beat := time.NewTicker(x.s.cfg.Heartbeat)
	defer beat.Stop()
	x.head(mediaStream)
	x.w.WriteHeader(http.StatusOK)
	for {
		var e streamed
		err := x.s.guard(x.call, func() (err error) {
			e, err = f.next(x.r.Context(), beat.C)
			return err
		})
		switch {
		case err == nil:
			err = x.event(e)
		case errors.Is(err, errIdle):
			err = x.write(": keep-alive\n\n")
		case errors.Is(err, io.EOF), x.r.Context().Err() != nil:
			return
		default:
			body, _ := x.failed(err)
			_ = x.write(fmt.Sprintf("data: %s\n\n", body)) // the stream ends either way
			return
		}
		if err != nil {
			return // nobody is there any more
		}
	}
}

func (x *exchange) event(e streamed) error {
	body, err := x.binding.result(x.version.Event(e.event))
	if err != nil {
		return err
	}
	if e.seq == 0 {
		return x.write(fmt.Sprintf("data: %s\n\n", body))
	}
	return x.write(fmt.Sprintf("id: %d\ndata: %s\n\n", e.seq, body))
}

// write sends text at once.
func (x *exchange) write(text string) error {
	rc := http.NewResponseController(x.w.Unwrap())                // echo's own Flush hides a failure
	_ = rc.SetWriteDeadline(time.Now().Add(x.s.cfg.WriteTimeout)) // a test's recorder has none
	if _, err := io.WriteString(x.w, text); err != nil {
		return err
	}
	return rc.Flush()
}
