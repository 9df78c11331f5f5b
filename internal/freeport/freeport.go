// Package freeport finds ports for servers that tests and tools start.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
)

// The range is below the one from which systems take the ports of outgoing connections, so
// that a port stays free until its server listens, and while it is down.
const (
	first = 15000
	ports = 15000
	tries = 100
)

var given sync.Map // the ports that this process has got: their servers may not listen yet

// Addr returns an address on loopback at which nothing listens, another one at each call.
func Addr() (netip.AddrPort, error) {
	var last error
	for range tries {
		port := first + rand.IntN(ports)
		if _, twice := given.LoadOrStore(port, true); twice {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return l.Addr().(*net.TCPAddr).AddrPort(), l.Close()
		}
		last = err
	}
	return netip.AddrPort{}, errors.Join(errors.New("no free port"), last)
}
