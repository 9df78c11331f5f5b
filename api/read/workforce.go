package read

import (
	"context"
	"sync"
	"time"

	"longhaul/opt/shown"
)

const (
	workforceAge   = 3 * time.Second  // for which an answer is good
	workforceStale = 20 * time.Second // after which it says nothing about now
	workforceWait  = 2 * time.Second  // for an answer
	workforceFirst = time.Second      // for one if the latest is too old
)

// AskWorkforce asks Temporal how busy its workers are.
type AskWorkforce func(context.Context) (shown.Workforce, error)

// A workforce keeps the latest answer about workers. A reader waits for Temporal if there is no answer
// about now, and none has waited for one before.
type workforce struct {
	ask AskWorkforce
	now func() time.Time

	mu     sync.Mutex
	latest shown.Workforce
	at     time.Time     // of the answer; zero before there is one
	asking chan struct{} // closed after the latest question; nil before the first one
	asks   bool          // it is not answered yet
	waited bool          // a reader has, since then
}

// get returns the latest answer, and whether that is about now. It may wait for one, no longer than a time.
func (w *workforce) get(ctx context.Context, wait time.Duration) (shown.Workforce, bool) {
	w.mu.Lock()
	first := wait > 0 && !w.waited && w.now().Sub(w.at) >= workforceStale
	w.waited = w.waited || first
	if !w.asks && w.now().Sub(w.at) >= workforceAge {
		w.asks, w.asking = true, make(chan struct{})
		go w.renew(context.WithoutCancel(ctx), w.asking)
	}
	asking := w.asking
	w.mu.Unlock()
	if first {
		select {
		case <-asking:
		case <-time.After(wait):
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest, w.now().Sub(w.at) < workforceStale
}

// renew asks once. Without an answer the one before stays.
func (w *workforce) renew(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, workforceWait)
	defer cancel()
	answer, err := w.ask(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asks = false; err == nil {
		w.latest, w.at, w.waited = answer, w.now(), false
	}
	close(done)
}
