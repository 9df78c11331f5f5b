package activities

import (
	"slices"
	"sync"
)

// permits are the permits of an executor with a limit. Free permits go to the waiting
// tenants one after another (round-robin), so that a tenant with a few tasks does not wait
// for all those of another one. A round here is one permit for each waiting tenant, not the
// round of a task. It may be used from any goroutine.
type permits struct {
	mu      sync.Mutex
	free    int
	round   int64    // the latest in which one was given
	waiting []*queue // of tenants, in the order of their rounds, then of arrival
}

// A queue has the tasks of one tenant that wait.
type queue struct {
	tenant string
	round  int64
	tasks  []*permit
}

// A permit is the right of a task to run, which it may have to wait for.
type permit struct {
	tenant string
	free   chan struct{} // closed when the task may run
}

func newPermits(n int) *permits { return &permits{free: n} }

// acquire takes a permit for a task and returns nil, or returns one that the task has to wait for.
func (p *permits) acquire(tenant string) *permit {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 { // then none waits
		p.free--
		return nil
	}
	out := &permit{tenant, make(chan struct{})}
	if i := p.queueIndex(tenant); i >= 0 {
		p.waiting[i].tasks = append(p.waiting[i].tasks, out)
		return out
	}
	// One round after the latest, like a tenant that has just got a permit: tenants that
	// come and go do not delay the others.
	p.insert(&queue{tenant, p.round + 1, []*permit{out}})
	return out
}

// queueIndex returns the index of a tenant's queue, -1 if it has none.
func (p *permits) queueIndex(tenant string) int {
	return slices.IndexFunc(p.waiting, func(q *queue) bool { return q.tenant == tenant })
}

// insert puts q behind all queues with the same round.
func (p *permits) insert(q *queue) {
	i := len(p.waiting)
	for i > 0 && p.waiting[i-1].round > q.round {
		i--
	}
	p.waiting = slices.Insert(p.waiting, i, q)
}

// release gives a permit to the first task of the next tenant, or makes it free.
func (p *permits) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.free++
		return
	}
	q := p.waiting[0]
	p.waiting = slices.Delete(p.waiting, 0, 1)
	p.round = q.round
	close(q.tasks[0].free)
	if q.tasks = slices.Delete(q.tasks, 0, 1); len(q.tasks) > 0 {
		q.round++
		p.insert(q)
	}
}

// withdraw ends the wait of a task. If it has got the permit at the same moment, another
// one gets it.
func (p *permits) withdraw(w *permit) {
	p.mu.Lock()
	i := p.queueIndex(w.tenant)
	at := -1
	if i >= 0 {
		at = slices.Index(p.waiting[i].tasks, w)
	}
	if at < 0 {
		p.mu.Unlock()
		p.release()
		return
	}
	defer p.mu.Unlock()
	q := p.waiting[i]
	if q.tasks = slices.Delete(q.tasks, at, at+1); len(q.tasks) == 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
}
