package activities

import (
	"slices"
	"sync"
)

// permits are the permits of the executors with a limit and of the tenants with a quota of running
// tasks in this worker. A task gets both at once, so it holds none while it waits for another.
//
// Free permits of an executor go to the waiting tenants one after another (round-robin), so that a
// tenant with a few tasks does not wait for all tasks of another one. A round here is one permit
// for each waiting tenant, not the round of a task. Those of a tenant go to its tasks in order of
// arrival. A tenant that is at its quota when its turn at an executor comes keeps that turn, and
// keeps one of its next permits for it. It may be used from any goroutine.
type permits struct {
	limits map[string]int // by kind of executor; others have none

	mu        sync.Mutex
	arrived   int64
	executors map[string]*executorPermits
	tenants   map[holder]*tenantPermits // with tasks that run or wait
}

// A holder is who has permits: a tenant, for its tasks or for the legs that cancel work elsewhere.
type holder struct {
	tenant  string
	cancels bool
}

func newPermits(limits map[string]int) *permits {
	return &permits{limits: limits, executors: map[string]*executorPermits{}, tenants: map[holder]*tenantPermits{}}
}

// executorPermits are the permits of one kind of executor.
type executorPermits struct {
	limited bool
	free    int
	round   int64    // the latest in which one was given
	waiting []*queue // of tenants, in the order of their rounds, then of arrival
}

// tenantPermits are the permits of one holder.
type tenantPermits struct {
	limited bool
	free    int
	tasks   int    // that run or wait
	missed  *queue // the one for whose turn a permit is kept; nil for none
}

// A queue has the tasks of one tenant that wait at one executor.
type queue struct {
	tenant *tenantPermits
	round  int64
	tasks  []*permit
}

// A permit is the right of a task to run, which it may have to wait for.
type permit struct {
	executor *executorPermits
	tenant   *tenantPermits
	of       holder
	arrival  int64
	free     chan struct{} // closed when the task may run
}

// acquire returns the permit for a task, which may have to wait for it. quota is how many tasks of
// the holder may run, 0 for any number.
func (p *permits) acquire(kind string, of holder, quota int) *permit {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, t := p.executors[kind], p.tenants[of]
	if e == nil {
		n := p.limits[kind]
		e = &executorPermits{limited: n > 0, free: n}
		p.executors[kind] = e
	}
	if t == nil {
		t = &tenantPermits{limited: quota > 0, free: quota}
		p.tenants[of] = t
	}
	p.arrived++
	t.tasks++
	out := &permit{e, t, of, p.arrived, make(chan struct{})}
	if i := e.queueIndex(t); i >= 0 {
		e.waiting[i].tasks = append(e.waiting[i].tasks, out)
	} else {
		// One round after the latest, like a tenant that has just got a permit: tenants that
		// come and go do not delay the others.
		e.insert(&queue{t, e.round + 1, []*permit{out}})
	}
	p.give()
	return out
}

// release gives back a permit that a task has.
func (p *permits) release(w *permit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.executor.free++
	w.tenant.free++
	p.leave(w)
}

// withdraw ends the wait of a task. If it has got the permit at the same moment, another
// one gets it.
func (p *permits) withdraw(w *permit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.given() {
		w.executor.free++
		w.tenant.free++
	} else {
		w.executor.remove(w.executor.queueIndex(w.tenant), w)
	}
	p.leave(w)
}

// leave forgets the permits of a tenant whose last task has left, and gives free
// permits to others. p.mu is held.
func (p *permits) leave(w *permit) {
	if w.tenant.tasks--; w.tenant.tasks == 0 {
		delete(p.tenants, w.of)
	}
	p.give()
}

// lacks reports what a task still waits for.
func (p *permits) lacks(w *permit) (limit, quota bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.given() {
		return false, false
	}
	return w.executor.isFull(), !w.executor.waiting[w.executor.queueIndex(w.tenant)].hasRoom()
}

// give gives permits to tasks that wait, as long as there are both. Of the tasks whose turn it is
// at their executors the first one to arrive comes first. p.mu is held.
func (p *permits) give() {
	for {
		var next *permit
		for _, e := range p.executors {
			if w := e.next(); w != nil && (next == nil || w.arrival < next.arrival) {
				next = w
			}
		}
		if next == nil {
			return
		}
		next.give()
	}
}

// next returns the task whose turn it is at e; nil if none can run.
func (e *executorPermits) next() *permit {
	if e.isFull() {
		return nil
	}
	if i := slices.IndexFunc(e.waiting, (*queue).hasRoom); i >= 0 {
		return e.waiting[i].tasks[0]
	}
	return nil
}

func (e *executorPermits) isFull() bool { return e.limited && e.free == 0 }

// hasRoom reports whether the tenant of q has a permit for the first task of q.
func (q *queue) hasRoom() bool {
	t, kept := q.tenant, 0
	if t.missed != nil && t.missed != q {
		kept = 1
	}
	return !t.limited || t.free > kept
}

// give gives w both permits. Tenants before its own miss their turn.
func (w *permit) give() {
	e, t := w.executor, w.tenant
	i := e.queueIndex(t)
	q := e.waiting[i]
	for _, before := range e.waiting[:i] {
		if e.limited && before.tenant.missed == nil {
			before.tenant.missed = before
		}
	}
	e.free--
	t.free--
	e.round = max(e.round, q.round)
	if t.missed == q {
		t.missed = nil
	}
	e.remove(i, w)
	if i = e.queueIndex(t); i >= 0 { // the others wait for the next round
		e.waiting = slices.Delete(e.waiting, i, i+1)
		q.round = e.round + 1
		e.insert(q)
	}
	close(w.free)
}

// given reports whether the task of w may run.
func (w *permit) given() bool {
	select {
	case <-w.free:
		return true
	default:
		return false
	}
}

// queueIndex returns the index of a tenant's queue, -1 if it has none.
func (e *executorPermits) queueIndex(t *tenantPermits) int {
	return slices.IndexFunc(e.waiting, func(q *queue) bool { return q.tenant == t })
}

// insert puts q behind all queues with the same round.
func (e *executorPermits) insert(q *queue) {
	i := len(e.waiting)
	for i > 0 && e.waiting[i-1].round > q.round {
		i--
	}
	e.waiting = slices.Insert(e.waiting, i, q)
}

// remove removes a task from the i-th queue, and the queue with its last task.
func (e *executorPermits) remove(i int, w *permit) {
	q := e.waiting[i]
	at := slices.Index(q.tasks, w)
	if q.tasks = slices.Delete(q.tasks, at, at+1); len(q.tasks) > 0 {
		return
	}
	e.waiting = slices.Delete(e.waiting, i, i+1)
	if q.tenant.missed == q {
		q.tenant.missed = nil
	}
}
