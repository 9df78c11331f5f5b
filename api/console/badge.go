package console

import (
	"strings"
	"sync"
	"time"

	"longhaul/api/call"
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

// badgeKey names a caller: gates may wait for a principal or for one of its groups.
func badgeKey(c call.Caller) string {
	return strings.Join(append([]string{c.Tenant, c.Principal}, c.Groups...), "\x00")
}
