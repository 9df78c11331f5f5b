package temporald

import (
	"fmt"
	"net"
	"net/netip"

	"go.temporal.io/server/common/primitives"

	"longhaul/dev/temporald/layout"
)

// chooseAddrs finds addresses for cfg: those that it names, and free ports for
// the internal services. Without a Web UI, that of it is zero.
func chooseAddrs(cfg Config) (at layout.Services, ui netip.AddrPort, err error) {
	frontend, err := chooseAddr(cfg.Addr, addrFlag)
	if err != nil {
		return nil, ui, err
	}
	if cfg.UIAddr != "" {
		if ui, err = chooseAddr(cfg.UIAddr, uiFlag); err != nil {
			return nil, ui, err
		}
	}
	at = layout.Services{primitives.FrontendService: frontend}
	for _, name := range layout.Names[1:] {
		if at[name], err = freeAddr(frontend.Addr()); err != nil {
			return nil, ui, err
		}
	}
	return at, ui, nil
}

// chooseAddr returns the loopback address that s means, with a port that was free
// a moment ago. The servers take addresses, not listeners, and end the process if
// they cannot listen. So this checks the port first.
func chooseAddr(s, flag string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%s: want host:port: %w", flag, err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if err != nil || !at.Addr().IsLoopback() {
		return at, fmt.Errorf("%s %s: the embedded Temporal has no authentication, so it only listens on loopback; use 127.0.0.1:%s", flag, s, port)
	}
	if at.Port() == 0 {
		return freeAddr(at.Addr())
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return at, fmt.Errorf("listen at %v (choose another with %s): %w", at, flag, err)
	}
	return at, l.Close()
}

// freeAddr returns an address at ip with a free port that the system assigns to
// no other process for about a minute. A connection that the listening side
// closed first stays in TIME_WAIT; Linux does not assign such a port, but a
// listener may ask for it by number.
func freeAddr(ip netip.Addr) (netip.AddrPort, error) {
	l, err := net.Listen("tcp", netip.AddrPortFrom(ip, 0).String())
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("find a free port: %w", err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("find a free port: %w", err)
	}
	return netip.MustParseAddrPort(l.Addr().String()), server.Close()
}
