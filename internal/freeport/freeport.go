// Package freeport finds ports for servers that tests and tools start.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// The range is below the one from which systems take the ports of outgoing connections, so
// that a port stays free until its server listens, and while it is down.
const (
	first = 15000
	ports = 15000
	tries = 100
)

// Addr returns an address on loopback at which nothing listens.
func Addr() (netip.AddrPort, error) {
	var last error
	for range tries {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports)))
		if err == nil {
			return l.Addr().(*net.TCPAddr).AddrPort(), l.Close()
		}
		last = err
	}
	return netip.AddrPort{}, errors.Join(errors.New("no free port"), last)
}
