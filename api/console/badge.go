package console

import (
	"strings"
	"sync"
	"time"

	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/opt/shown"
)

// badgeAge is how long a number of waiting gates is used again.
const badgeAge = 2 * time.Second

// mostBadges is for how many callers numbers are kept.
const mostBadges = 1000

// badges has the number of gates that wait for each caller. It is safe for concurrent
// use.
type badges struct {
	mu     sync.Mutex
	counts map[string]badge
}

// A badge is the number of gates at a time.
type badge struct {
	n  int
	at time.Time
}

// get returns the number of a caller unless it is too old.
func (b *badges) get(caller string, now time.Time) (n int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept, ok := b.counts[caller]
	age := now.Sub(kept.at)
	return kept.n, ok && age >= 0 && age < badgeAge
}

// put keeps the number of a caller.
func (b *badges) put(caller string, n int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counts == nil || len(b.counts) >= mostBadges {
		b.counts = map[string]badge{}
	}
	b.counts[caller] = badge{n, now}
}

// drop removes the number of a caller who has answered.
func (b *badges) drop(caller string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.counts, caller)
}

// of returns how many gates wait for the caller of v. It is 0 for callers who may not
// list or answer them, and if the journal returns an error.
func (b *badges) of(v *visit) int {
	if !v.has(call.ReadRuns) || !v.has(call.RespondApprovals) {
		return 0
	}
	now, caller := time.Now(), badgeKey(v.call.Caller)
	if n, ok := b.get(caller, now); ok {
		return n
	}
	page, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{Filter: shown.InterruptFilter{Limit: 1}, Mine: true})
	if err != nil {
		return 0
	}
	b.put(caller, page.Total, now)
	return page.Total
}

// badgeKey names a caller: gates may wait for a principal or for one of its groups.
func badgeKey(c call.Caller) string {
	return strings.Join(append([]string{c.Tenant, c.Principal}, c.Groups...), "\x00")
}
