package serve

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// onHangup handles SIGHUP until ctx ends: it signals reload, or calls onClose if the terminal was
// closed. After ctx has ended the signal is ignored, until end is called.
//
// Closing a terminal sends SIGHUP to all processes on it. A server on that
// terminal must stop then, not read its playbooks and keep running.
func onHangup(ctx context.Context, onClose func()) (reload <-chan struct{}, end func()) {
	interactive := !signal.Ignored(syscall.SIGHUP) && hasTerminal() // nohup ignores it
	hangups, out := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
			}
			if interactive && !hasTerminal() {
				onClose()
				return
			}
			select {
			case out <- struct{}{}:
			default: // a reload is pending already
			}
		}
	})
	return out, func() {
		ended.Wait()
		signal.Stop(hangups)
	}
}

// hasTerminal reports whether the process has a terminal that is still open.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}
