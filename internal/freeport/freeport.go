// Package freeport finds ports for servers that tests and tools start.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"sync"
)

// The range is below the one from which systems take the ports of outgoing connections, so
// that a port stays free until its server listens, and while it is down.
const (
	first = 15000
	ports = 15000
	tries = 100
)

// given are the ports that this process has got, whose servers may not listen yet, with what keeps other
// processes from them as long as it runs.
var given sync.Map

// Addr returns an address on loopback at which nothing listens, another one at each call, in all processes.
func Addr() (netip.AddrPort, error) {
	var last error
	for range tries {
		port := first + rand.IntN(ports)
		if _, twice := given.LoadOrStore(port, true); twice {
			continue
		}
		held, err := hold(port)
		if err != nil {
			last = err
			continue
		}
		given.Store(port, held)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return l.Addr().(*net.TCPAddr).AddrPort(), l.Close()
		}
		last = err
	}
	return netip.AddrPort{}, errors.Join(errors.New("no free port"), last)
}

// hold keeps other processes from a port, by a socket that has a name and no file, which only Linux has. It fails if
// another process keeps it.
func hold(port int) (net.Listener, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	return net.Listen("unix", fmt.Sprintf("@longhaul-port-%d", port))
}
