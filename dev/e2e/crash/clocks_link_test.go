package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"longhaul/dev/e2e/harness"
)

// A linkbox gets notices about gates, and has their answer links.
type linkbox struct {
	*httptest.Server
	mu    sync.Mutex
	links map[string]string // by gate
}

func newLinkbox(t *testing.T) *linkbox {
	b := &linkbox{links: map[string]string{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var notice struct {
			AnswerURL string
			Interrupt struct{ InterruptID string }
		}
		if err := json.NewDecoder(r.Body).Decode(&notice); err != nil {
			t.Errorf("a notice: %v", err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if notice.AnswerURL != "" { // an expired gate has none
			b.links[notice.Interrupt.InterruptID] = notice.AnswerURL
		}
	}))
	t.Cleanup(b.Close)
	return b
}

// accept sends the form of the link for a gate to any API, until the answer was judged. It returns the status.
func (b *linkbox) accept(ctx context.Context, w *world, gate string) (status int, err error) {
	err = harness.Repeat(ctx, func(ctx context.Context) error {
		b.mu.Lock()
		_, path, ok := strings.Cut(b.links[gate], "/answer/")
		b.mu.Unlock()
		if !ok {
			return errors.New("the notice has not come")
		}
		apis := append(w.c.Others, w.c.URL)
		page := harness.Client{URL: apis[rand.IntN(len(apis))], HTTP: w.c.HTTP, Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
		got, text, err := page.Page(ctx, http.MethodPost, "/answer/"+path, "action=accept")
		if err != nil {
			return err
		}
		if status = got; status == http.StatusAccepted || status >= http.StatusInternalServerError {
			return fmt.Errorf("%d: %s", status, text)
		}
		return nil
	})
	return status, err
}

// inTime answers a question before it expires. The link is good while the gate is open, by the clock of any API.
func (b *linkbox) inTime(w *world, ctx context.Context, n int) error {
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "later " + id(n)}, expected{state: "COMPLETED"})
	if err != nil {
		return err
	}
	status, err := b.accept(ctx, w, planTask(f.TaskID, 1, 0)+":1")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the link to an open gate answers %d", status)
	}
	return err
}

// late answers a question that has expired. Its gate is closed, by the clock of any API.
func (b *linkbox) late(w *world, ctx context.Context, n int) error {
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "soon " + id(n)}, expected{state: "FAILED"})
	if err != nil {
		return err
	}
	if _, err := f.UntilState(ctx, "FAILED"); err != nil {
		return err
	}
	status, err := b.accept(ctx, w, planTask(f.TaskID, 1, 0)+":1")
	if err == nil && status != http.StatusConflict {
		err = fmt.Errorf("the link to a closed gate answers %d", status)
	}
	return err
}
