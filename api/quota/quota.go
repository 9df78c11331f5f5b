// Package quota limits how often one principal calls, and how many of its calls
// and streams are open at a time.
package quota

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"longhaul/api/call"
)

// A Config has the limits of one principal. Zero: no limit.
type Config struct {
	Rate    float64 // calls per second
	Burst   int     // calls at once above the rate; at least 1
	Calls   int     // calls in progress
	Streams int     // open streams

	Now func() time.Time // nil: time.Now
}

// principalsMost is how many principals are remembered. The least recent one is
// forgotten first, and counted from zero when it returns.
const principalsMost = 10_000

// retry is how long a principal has to wait before it tries again, for one of its calls
// or streams to end.
const retry = time.Second

// A Quota limits principals. It is safe for concurrent use.
type Quota struct {
	cfg Config

	mu   sync.Mutex
	used *lru.Cache[principal, *use]
}

type principal struct{ tenant, name string }

// A use is what one principal uses now.
type use struct {
	rate           *rate.Limiter
	calls, streams int
}

// New returns a quota that nothing is used of.
func New(cfg Config) *Quota {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	used, _ := lru.New[principal, *use](principalsMost) // fails only for a size below 1
	return &Quota{cfg: cfg, used: used}
}

// Call begins a call of c, which lasts until release is called, once. The error is
// a [call.Fault] if c calls too often or has too many calls in progress.
func (q *Quota) Call(c call.Caller) (release func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.useOf(c)
	if q.cfg.Calls > 0 && u.calls >= q.cfg.Calls {
		return nil, call.TooMany(retry)
	}
	if q.cfg.Rate > 0 {
		now := q.cfg.Now()
		r := u.rate.ReserveN(now, 1)
		if wait := r.DelayFrom(now); wait > 0 {
			r.CancelAt(now)
			return nil, call.TooMany(wait)
		}
	}
	return q.count(&u.calls), nil
}

// Stream opens a stream of c, which lasts until release is called, once. The error
// is a [call.Fault] if c has too many open streams.
func (q *Quota) Stream(c call.Caller) (release func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.useOf(c)
	if q.cfg.Streams > 0 && u.streams >= q.cfg.Streams {
		return nil, call.TooMany(retry)
	}
	return q.count(&u.streams), nil
}

// count adds one to n until release is called.
func (q *Quota) count(n *int) (release func()) {
	*n++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		*n--
	}
}

// useOf returns what a principal uses now.
func (q *Quota) useOf(c call.Caller) *use {
	key := principal{c.Tenant, c.Principal}
	u, ok := q.used.Get(key)
	if !ok {
		u = &use{rate: rate.NewLimiter(rate.Limit(q.cfg.Rate), max(1, q.cfg.Burst))}
		q.used.Add(key, u)
	}
	return u
}
