//go:build unix

package commands

import "golang.org/x/sys/unix"

// session identifies the terminal in which commands are entered.
func session() int {
	id, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return id
}
