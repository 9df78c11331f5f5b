package db

import (
	"context"
	"sync"
)

// A Watch signals commits to an objective.
type Watch struct {
	from      *watches
	objective string
	signal    chan struct{}
	rests     chan struct{}
}

// C is signalled after a commit of this process or another one. One signal may
// come for several commits, or without a change: read again after each.
func (w *Watch) C() <-chan struct{} { return w.signal }

// Rests is like C, but is not signaled after a commit of which it is known that the root task of the objective has
// neither ended nor begun to wait with it.
func (w *Watch) Rests() <-chan struct{} { return w.rests }

// Close ends the watch. It may be called more than once.
func (w *Watch) Close() { w.from.remove(w) }

// Watch begins to watch an objective, which need not exist yet. A read after
// Watch misses nothing. Close the watch in the end.
func (s *Engine) Watch(objectiveID string) *Watch {
	w := &Watch{from: s.watches, objective: objectiveID, signal: make(chan struct{}, 1), rests: make(chan struct{}, 1)}
	s.watches.add(w)
	return w
}

// A topic is a watched objective.
type topic struct {
	seq      int64 // of the latest event for which its watches were signaled
	rested   int64 // the same of those for rests: an earlier commit of another process may be heard of later
	watching map[*Watch]bool
}

// watches keeps the watches of a journal and a goroutine in which the database looks
// for the commits of other processes.
type watches struct {
	pushed  func()        // called when deliveries became due
	first   chan struct{} // signaled when a watch was added
	cancel  context.CancelFunc
	stopped chan struct{}

	mu     sync.Mutex
	topics map[string]*topic
}

func newWatches(db database, pushed func()) *watches {
	ctx, cancel := context.WithCancel(context.Background())
	ws := &watches{pushed: pushed, topics: map[string]*topic{}, first: make(chan struct{}, 1), cancel: cancel, stopped: make(chan struct{})}
	go func() {
		defer close(ws.stopped)
		db.signalCommits(ctx, ws)
	}()
	return ws
}

func (ws *watches) stop() {
	ws.cancel()
	<-ws.stopped
}

func (ws *watches) add(w *Watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	t := ws.topics[w.objective]
	if t == nil {
		t = &topic{watching: map[*Watch]bool{}}
		ws.topics[w.objective] = t
	}
	t.watching[w] = true
	signal(ws.first)
}

func (ws *watches) remove(w *Watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	t := ws.topics[w.objective]
	if t == nil {
		return
	}
	if delete(t.watching, w); len(t.watching) == 0 {
		delete(ws.topics, w.objective)
	}
}

// signal signals those in this process that wait for a change.
func (ws *watches) signal(ch Changes) {
	for id, seq := range ch.Seqs {
		ws.notify(id, seq, ch.Moves[id])
	}
	ws.notifyRemoved(ch.Gone)
	if ch.Due {
		ws.pushed()
	}
}

// notify signals the watches of an objective if they have not been signaled for seq.
func (ws *watches) notify(objectiveID string, seq int64, moves bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	t := ws.topics[objectiveID]
	if t == nil {
		return
	}
	later, rests := t.seq < seq, !moves && t.rested < seq
	for w := range t.watching {
		w.wake(later, rests)
	}
	if t.seq = max(t.seq, seq); rests {
		t.rested = seq
	}
}

func (w *Watch) wake(later, rests bool) {
	if later {
		signal(w.signal)
	}
	if rests {
		signal(w.rests)
	}
}

// notifyAll signals every watch.
func (ws *watches) notifyAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, t := range ws.topics {
		t.notifyAgain()
	}
}

// notifyRemoved signals the watches of objectives that were removed.
func (ws *watches) notifyRemoved(objectiveIDs []string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, id := range objectiveIDs {
		if t := ws.topics[id]; t != nil {
			t.notifyAgain()
		}
	}
}

// notifyAgain signals the watches of t, and forgets for which event: the objective may have
// been removed and recorded again from its first event.
func (t *topic) notifyAgain() {
	t.seq, t.rested = 0, 0
	for w := range t.watching {
		w.wake(true, true)
	}
}

// isBehind reports whether the watches of an objective were signaled for an earlier event
// than seq, and not for seq.
func (ws *watches) isBehind(objectiveID string, seq int64) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	t := ws.topics[objectiveID]
	return t != nil && t.seq > 0 && t.seq < seq
}

// count returns how many watches there are.
func (ws *watches) count() (n int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, t := range ws.topics {
		n += int64(len(t.watching))
	}
	return n
}

func (ws *watches) idle() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.topics) == 0
}

// signal never blocks: c remembers one signal.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// await waits for a watch; false means that ctx has ended.
func (ws *watches) await(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-ws.first:
		return true
	}
}

// watched returns the objectives that are watched, and up to which seq their watches have
// been signaled.
func (ws *watches) watched() map[string]int64 {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	list := make(map[string]int64, len(ws.topics))
	for id, t := range ws.topics {
		list[id] = t.seq
	}
	return list
}
