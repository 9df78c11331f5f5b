package prove

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// A fault is what a link does to each of its connections.
type fault string

const (
	noFault   fault = ""
	hangUp    fault = "hang up after the request"
	halfClose fault = "half-close after the request"
	delay     fault = "delay both ways"
)

const (
	slowBy         = 150 * time.Millisecond
	maxHangUpDelay = 20 * time.Millisecond // from a request until a link hangs up, at most
)

var errNoLink = errors.New("the link to the server is down")

// A link is the network between prove and the server, below TLS. It may be broken while
// connections are open. It is safe for concurrent use.
type link struct {
	fault fault

	mu   sync.Mutex
	down bool
	open map[*linkConn]bool
	rand *rand.Rand
}

func newLink(f fault, seed uint64) *link {
	return &link{fault: f, open: map[*linkConn]bool{}, rand: rand.New(rand.NewPCG(seed, 1))}
}

// client returns a client whose connections go through l. Every request of a faulty
// link has a connection of its own.
func (l *link) client(like *http.Client) *http.Client {
	transport := like.Transport.(*http.Transport).Clone()
	transport.DialContext = l.dial
	transport.DisableKeepAlives = l.fault != noFault
	return &http.Client{Transport: transport}
}

// cut closes all connections as a reset does, and refuses new ones until restore.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for c := range l.open {
		c.reset()
	}
}

// restore lets connections through again.
func (l *link) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

func (l *link) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	l.mu.Lock()
	down := l.down
	l.mu.Unlock()
	if down {
		return nil, errNoLink
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &linkConn{Conn: conn, link: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		c.reset()
		return nil, errNoLink
	}
	l.open[c] = true
	return c, nil
}

// hangUpDelay returns a random time from a request until its connection is reset.
func (l *link) hangUpDelay() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.rand.Int64N(int64(maxHangUpDelay)))
}

// A linkConn is one connection over a link.
type linkConn struct {
	net.Conn
	link      *link
	breakOnce sync.Once
}

// Write implements [net.Conn].
func (c *linkConn) Write(p []byte) (int, error) {
	if c.link.fault == delay {
		time.Sleep(slowBy)
	}
	n, err := c.Conn.Write(p)
	switch c.link.fault {
	case hangUp:
		c.breakOnce.Do(func() { time.AfterFunc(c.link.hangUpDelay(), c.reset) })
	case halfClose:
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			c.breakOnce.Do(func() { time.AfterFunc(c.link.hangUpDelay(), func() { _ = tcp.CloseWrite() }) })
		}
	}
	return n, err
}

// Read implements [net.Conn].
func (c *linkConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.link.fault == delay {
		time.Sleep(slowBy)
	}
	return n, err
}

// Close implements [net.Conn].
func (c *linkConn) Close() error {
	c.link.mu.Lock()
	delete(c.link.open, c)
	c.link.mu.Unlock()
	return c.Conn.Close()
}

// reset closes the connection so that the other side sees an error, not an end.
func (c *linkConn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Conn.Close()
}
