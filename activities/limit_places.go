package activities

import (
	"slices"
	"sync"
)

// places are the places of an executor with a limit. Tenants get free places in turns, so
// that a tenant with a few tasks does not wait for all those of another one. It may be
// used from any goroutine.
type places struct {
	mu      sync.Mutex
	free    int
	turn    int64    // the latest that was given
	waiting []*queue // of tenants, in the order of their turns; those with the same turn in the order of arrival
}

// A queue is the tasks of one tenant that wait.
type queue struct {
	tenant string
	turn   int64
	tasks  []*place
}

// A place is what a task waits for.
type place struct {
	tenant string
	free   chan struct{} // closed when the task may run
}

func newPlaces(n int) *places { return &places{free: n} }

// ask takes a place for a task, or returns what it has to wait for.
func (p *places) ask(tenant string) *place {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 { // then none waits
		p.free--
		return nil
	}
	out := &place{tenant, make(chan struct{})}
	if i := p.of(tenant); i >= 0 {
		p.waiting[i].tasks = append(p.waiting[i].tasks, out)
		return out
	}
	// One turn after the latest, like a tenant that has just had its turn: tenants that
	// come and go do not keep others from theirs.
	p.insert(&queue{tenant, p.turn + 1, []*place{out}})
	return out
}

// of returns the index of a tenant's queue, -1 if it has none.
func (p *places) of(tenant string) int {
	return slices.IndexFunc(p.waiting, func(q *queue) bool { return q.tenant == tenant })
}

// insert puts q behind all queues with the same turn.
func (p *places) insert(q *queue) {
	i := len(p.waiting)
	for i > 0 && p.waiting[i-1].turn > q.turn {
		i--
	}
	p.waiting = slices.Insert(p.waiting, i, q)
}

// leave gives a place back: to the first task of the tenant whose turn it is.
func (p *places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.free++
		return
	}
	q := p.waiting[0]
	p.waiting = slices.Delete(p.waiting, 0, 1)
	p.turn = q.turn
	close(q.tasks[0].free)
	if q.tasks = slices.Delete(q.tasks, 0, 1); len(q.tasks) > 0 {
		q.turn++
		p.insert(q)
	}
}

// withdraw ends the wait of a task. If it has got the place at the same moment, another
// one gets it.
func (p *places) withdraw(w *place) {
	p.mu.Lock()
	i := p.of(w.tenant)
	at := -1
	if i >= 0 {
		at = slices.Index(p.waiting[i].tasks, w)
	}
	if at < 0 {
		p.mu.Unlock()
		p.leave()
		return
	}
	defer p.mu.Unlock()
	q := p.waiting[i]
	if q.tasks = slices.Delete(q.tasks, at, at+1); len(q.tasks) == 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
}
