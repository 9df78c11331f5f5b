package cli

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"longhaul/a2a"
	"longhaul/client"
)

// An outage prints that an agent cannot be reached and until when calls are repeated, and
// later that it can be reached again.
type outage struct {
	out       io.Writer
	program   programName
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

// explain returns err with what to do about it, if that is known and was not
// printed before.
func (r remote) explain(err error) error {
	var refused *client.Error
	var untrusted x509.UnknownAuthorityError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) && !r.outage.wasPrinted():
		return fmt.Errorf("nothing serves at %s: %w\n%s", r.outage.url, err, r.outage.startHint)
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		return fmt.Errorf("%w\nGive a valid key or token with LONGHAUL_TOKEN or --token; the command keys create makes one", err)
	case errors.As(err, &refused) && refused.Status == http.StatusBadRequest && refused.Code == 0 && refused.Reason == "" && strings.HasPrefix(r.outage.url, "http:"):
		return fmt.Errorf("%w\nA server with TLS answers so: try https instead of http in --url or LONGHAUL_URL", err)
	case client.HasReason(err, "TASK_NOT_FOUND"), client.HasReason(err, "OBJECTIVE_NOT_FOUND"):
		return fmt.Errorf("%w\nThe id may be wrong, or the work was removed. To list what there is: %s", err, r.list)
	case errors.As(err, &untrusted):
		return fmt.Errorf("%w\nTo trust the authority of this certificate, name a file with it: --ca or LONGHAUL_CA", err)
	}
	return err
}

// howToStart returns how to start an agent with this program, for people.
func (p *program) howToStart() string {
	name := p.build.command()
	if p.build.Embed != nil {
		return fmt.Sprintf("To start everything in one process: %[1]s dev. With a Temporal elsewhere: %[1]s api and %[1]s worker.\n", name)
	}
	return fmt.Sprintf("To start one with a Temporal elsewhere: %[1]s api and %[1]s worker. Everything in one process, from the source of Longhaul: go run ./dev.\n", name)
}
