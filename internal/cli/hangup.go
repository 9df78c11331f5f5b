package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"go.uber.org/zap"
)

// onHangup tells of SIGHUP until ctx ends: by reload, or, where it means that the
// terminal was closed, by a call of leave. Until end is called, once ctx has ended,
// the signal does nothing else.
//
// Closing a terminal sends that signal to everything on it. A server that somebody
// tries out there must not take it for a wish to read files and stay behind.
func onHangup(ctx context.Context, leave func()) (reload <-chan struct{}, end func()) {
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
				leave()
				return
			}
			select {
			case out <- struct{}{}:
			default: // one is to come anyway
			}
		}
	})
	return out, func() {
		ended.Wait()
		signal.Stop(hangups)
	}
}

// hasTerminal reports whether the process has a terminal that is still there.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// onReload has follow called once other playbooks are in force.
func (s *service) onReload(follow func()) { s.followers = append(s.followers, follow) }

// reload reads the playbooks again, if the service has any. What runs is not
// affected: its plans are in its history.
func (s *service) reload() {
	if s.books == nil {
		return
	}
	if err := s.books.Reload(); err != nil {
		s.log.Error("Kept the playbooks from before", zap.Error(err))
		return
	}
	for _, follow := range s.followers {
		follow()
	}
	s.log.Info("Read the playbooks again")
}
