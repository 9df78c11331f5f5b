package topology

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
)

// A network is a block of 254 addresses on loopback. A listener on its last address
// keeps other topologies out of it.
type network struct {
	prefix string
	lock   net.Listener
	used   int
}

// newNetwork finds a block that no other topology uses.
func newNetwork() (*network, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("only Linux has addresses of their own on loopback for all processes: use Docker, or a Linux machine")
	}
	var err error
	for range 100 {
		prefix := fmt.Sprintf("127.%d.%d.", 64+rand.IntN(128), rand.IntN(256))
		var lock net.Listener
		if lock, err = net.Listen("tcp", prefix+"254:7999"); err == nil {
			return &network{prefix: prefix, lock: lock}, nil
		}
	}
	return nil, fmt.Errorf("find addresses on loopback: %w", err)
}

// next returns an address that no process has.
func (n *network) next() (string, error) {
	if n.used >= 252 {
		return "", errors.New("a topology has at most 252 processes")
	}
	n.used++
	return fmt.Sprint(n.prefix, n.used), nil
}

func (n *network) close() {
	if n.lock != nil {
		_ = n.lock.Close()
	}
}

// environment returns the environment of processes. It has none of the settings of this process.
func environment(bin, home string) []string {
	env := []string{"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TEMPORAL_CONFIG_FILE=" + os.DevNull}
	if tmp := os.Getenv("TMPDIR"); tmp != "" {
		env = append(env, "TMPDIR="+tmp)
	}
	return env
}
