package commands

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"longhaul/a2a"
	"longhaul/internal/process"
)

// An outage prints that an agent cannot be reached and until when calls are repeated, and
// later that it can be reached again.
type outage struct {
	out       io.Writer
	program   process.Name
	url       string
	patience  time.Duration
	startHint string // how to start an agent; a line

	mu       sync.Mutex
	reached  bool // the agent has answered at least once
	printed  bool // the present outage was printed
	failures int  // of failures in a row
	since    time.Time
}

// failed records a failure. It prints nothing for a single failure after an answer of the
// agent, since proxies cut streams now and then.
func (t *outage) failed(err error, _ time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failures++; t.failures == 1 {
		t.since = time.Now()
	}
	if t.printed || t.reached && t.failures < 2 {
		return
	}
	t.printed = true
	fmt.Fprintf(t.out, "%s: no answer from %s, trying until %s: %v\n", t.program, t.url, t.since.Add(t.patience).Format(time.TimeOnly), a2a.Visible(err.Error()))
	if !t.reached && errors.Is(err, syscall.ECONNREFUSED) {
		fmt.Fprint(t.out, t.startHint)
	}
}

// recovered records that the agent has answered.
func (t *outage) recovered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.printed {
		fmt.Fprintf(t.out, "%s: connected to %s\n", t.program, t.url)
	}
	t.reached, t.printed, t.failures = true, false, 0
}

// wasPrinted reports whether the present outage was printed.
func (t *outage) wasPrinted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.printed
}
