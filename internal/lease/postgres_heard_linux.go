package lease

import (
	"crypto/tls"
	"net"
	"syscall"
	"unsafe"
)

// isSent reports whether the kernel of the other side has all that was written to a TCP connection.
func isSent(c net.Conn) bool {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	left := int32(1)
	err = raw.Control(func(fd uintptr) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&left))); errno != 0 {
			left = 1
		}
	})
	return err == nil && left == 0
}
