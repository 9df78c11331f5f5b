package topology

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// forwards pass connections at published addresses on to processes.
type forwards struct {
	mu        sync.Mutex
	listeners []net.Listener
	open      map[net.Conn]bool // nil once closed
	running   sync.WaitGroup
}

// publish listens at the published addresses, or else has texts that name them name
// the processes'.
func (t *Topology) publish() error {
	published := map[string]string{}
	for _, p := range t.Processes("") {
		for _, port := range p.spec.Ports {
			published[net.JoinHostPort(port.HostIP, port.Published)] = p.Addr(int(port.Target))
		}
	}
	if !t.options.Publish {
		for _, p := range t.Processes("") {
			p.translator.published = published
		}
		return nil
	}
	t.forwards = &forwards{open: map[net.Conn]bool{}}
	for _, at := range names(published) {
		if err := t.forwards.listen(at, published[at]); err != nil {
			return fmt.Errorf("publish %s: %w", at, err)
		}
	}
	return nil
}

func (f *forwards) listen(at, to string) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	f.listeners = append(f.listeners, l)
	f.running.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return // closed
			}
			f.running.Go(func() { f.connect(from, to) })
		}
	})
	return nil
}

// connect connects both ends until one of them closes.
func (f *forwards) connect(from net.Conn, address string) {
	defer from.Close()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	if !f.add(from) {
		return
	}
	defer f.remove(from)
	f.running.Go(func() {
		defer from.Close()
		_, _ = io.Copy(from, to)
	})
	_, _ = io.Copy(to, from)
}

// add adds a connection, which close then ends. It returns false after close.
func (f *forwards) add(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		return false
	}
	f.open[c] = true
	return true
}

func (f *forwards) remove(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, c)
}

// close ends all connections. A nil f has none.
func (f *forwards) close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	for _, l := range f.listeners {
		_ = l.Close()
	}
	for c := range f.open {
		_ = c.Close()
	}
	f.open = nil
	f.mu.Unlock()
	f.running.Wait()
}
