// Package temporald runs Temporal's own server, and its Web UI, inside this
// process: on SQLite files in a directory, or in memory for tests.
//
// Use it where one process is the whole installation. It has no authentication,
// so it listens on loopback only. It keeps one copy of the data, which is lost
// with the disk.
package temporald

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/headers"
	"go.uber.org/zap"

	"longhaul/internal/child"
)

// ServerVersion is the version of the Temporal server that this package embeds,
// and the only version whose files it opens.
const ServerVersion = headers.ServerVersion

const (
	addrFlag = "--temporal-addr"    // the flag that sets Config.Addr, for error messages
	uiFlag   = "--temporal-ui-addr" // the flag that sets Config.UIAddr

	minRetention = time.Hour        // Temporal refuses less
	startTimeout = 60 * time.Second // for a server that does not start
	pollEvery    = 5 * time.Millisecond
	dirMode      = os.FileMode(0o700) // histories are private to the user
)

// Config says where the embedded Temporal keeps its files and where it listens.
// The zero value is a server in memory on a free port, without a Web UI.
type Config struct {
	Dir       string        // of the SQLite files, made when missing; empty keeps everything in memory
	Addr      string        // gRPC address, host:port on loopback; port 0 picks a free one; empty means 127.0.0.1:0
	UIAddr    string        // Web UI address, likewise; empty starts no UI
	Namespace string        // made when missing; empty means "default"
	Retention time.Duration // of closed workflows, at least an hour; also set on an existing namespace; zero means 7 days
	Sync      string        // "full" survives a power loss; with "normal" one may lose the last second or two; empty means "full"
	Log       *zap.Logger   // gets the server's warnings and errors; nil discards them

	// SearchAttributes of the namespace. Those that an existing namespace lacks
	// are added; one that exists with another type is an error. None is removed.
	SearchAttributes map[string]enumspb.IndexedValueType

	Faults Faults // that tests put into the databases
}

// A Server is a running Temporal. Its methods may be called from any goroutine.
type Server struct {
	addr  string
	uiURL string

	cleanups []func() error // of the steps of the start
	stop     func() error   // runs them, once
}

// Start starts a server and returns when it is ready: the namespace exists, its
// search attributes can be used, and the Web UI answers. ctx governs the start
// only. When Start fails, everything it had started is stopped.
//
// One directory serves one Start at a time, also across processes; the files of
// another server version are refused. Either error says what to do.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	s := new(Server)
	s.stop = sync.OnceValue(s.cleanUp)
	if err := s.start(ctx, cfg); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) { // upstream drops it
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// start does the work of Start.
func (s *Server) start(ctx context.Context, cfg Config) error {
	at, ui, err := chooseAddrs(cfg)
	if err != nil {
		return err
	}
	stores, err := openStores(ctx, cfg)
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, stores.close)
	stop, err := keepSynced(cfg)
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, stop)
	if err := ensureNamespace(ctx, stores.main, cfg); err != nil {
		return fmt.Errorf("set up namespace %s: %w", cfg.Namespace, err)
	}
	stop, err = startServices(stores, at, cfg)
	s.cleanups = append(s.cleanups, stop)
	if err != nil {
		return fmt.Errorf("start Temporal: %w", err)
	}
	s.addr = at.Frontend().String()
	if err := waitReady(ctx, s.addr, cfg.Namespace); err != nil {
		return fmt.Errorf("wait for Temporal on %s: %w", s.addr, err)
	}

	if cfg.UIAddr == "" {
		return nil
	}
	url, stop, err := startUI(ui, at.Frontend(), cfg.Namespace)
	if err == nil {
		s.cleanups, s.uiURL = append(s.cleanups, stop), url
		err = child.Until(ctx, pollEvery, func() error { return child.Answers(ctx, url+"/healthz") })
	}
	if err != nil {
		return fmt.Errorf("start the Web UI on %v: %w", ui, err)
	}
	return nil
}

// cleanUp undoes the steps of the start, the last one first.
func (s *Server) cleanUp() error {
	var errs []error
	for _, undo := range slices.Backward(s.cleanups) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}

// Addr is the host:port that clients dial. On loopback they are faster by a
// sixth without compression: client.GrpcCompressionNone.
func (s *Server) Addr() string { return s.addr }

// UIURL is the address of the Web UI, or "" when there is none.
func (s *Server) UIURL() string { return s.uiURL }

// Stop stops the server and waits for its end. Close clients before. Repeated
// calls do nothing and return what the first one returned.
func (s *Server) Stop() error { return s.stop() }

// complete checks c and fills in its defaults.
func (c Config) complete() (Config, error) {
	c.Addr = cmp.Or(c.Addr, "127.0.0.1:0")
	c.Namespace = cmp.Or(c.Namespace, "default")
	c.Retention = cmp.Or(c.Retention, 7*24*time.Hour)
	c.Sync = cmp.Or(c.Sync, "full")
	if c.Log == nil {
		c.Log = zap.NewNop()
	}

	if c.Retention < minRetention {
		return c, fmt.Errorf("retention of %v: Temporal keeps closed workflows for at least %v", c.Retention, minRetention)
	}
	if _, ok := syncLevels[c.Sync]; !ok {
		return c, fmt.Errorf(`sync %q: want "full" or "normal"`, c.Sync)
	}
	return c, nil
}

// TuneGC tunes the garbage collector for the embedded server: 15 to 20 % more
// throughput for more memory, up to 768 MiB. It changes the whole process, so
// only main should call it; GOGC and GOMEMLIMIT in the environment take
// precedence.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(768 << 20)
	}
}
