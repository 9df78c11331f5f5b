package grpc

import (
	"net"
	"sync"

	"longhaul/api/call"
)

// host returns the address of a peer without its port.
func host(addr net.Addr) string {
	if name, _, err := net.SplitHostPort(addr.String()); err == nil {
		return name
	}
	return addr.String()
}

// A crowdedListener accepts no more connections than its shares allow.
type crowdedListener struct {
	net.Listener
	shares *call.Shares // by address
}

// Accept implements [net.Listener]. It closes connections that are too many.
func (l crowdedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if release, ok := l.shares.Take(host(conn.RemoteAddr()), 1); ok {
			return &sharedConn{Conn: conn, release: sync.OnceFunc(release)}, nil
		}
		_ = conn.Close()
	}
}

type sharedConn struct {
	net.Conn
	release func()
}

func (c *sharedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
