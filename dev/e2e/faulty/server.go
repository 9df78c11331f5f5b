package faulty

import (
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/server/common/config"
	"go.uber.org/zap"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/temporald"
	"longhaul/internal/test"
	"longhaul/workflows"
)

const (
	enough  = 10               // faults
	atLeast = 30 * time.Second // how long a fault waits until there were enough
)

// A Server is a Temporal with a fault.
type Server struct {
	t       testing.TB
	fault   *Fault
	cfg     temporald.Config
	running *temporald.Server
}

// Start starts the Temporal of a site with a fault, which is turned on at once if answers are lost, and
// else by [Fault.Turn]. The server is stopped when the test ends. Its log is beside those of the site.
func Start(t testing.TB, site *harness.Site, f *Fault) *Server {
	t.Helper()
	log := zap.NewProductionConfig()
	log.OutputPaths = []string{filepath.Join(filepath.Dir(site.Dir), "temporal.log")}
	logger, err := log.Build()
	test.OK(t, err)
	s := &Server{t: t, fault: f, cfg: temporald.Config{
		Dir: site.Dir, Addr: site.TemporalAddr, Sync: "normal", SearchAttributes: workflows.SearchAttributes(), Log: logger, Faults: f.faults(),
	}}
	f.Turn(f.Kind == Lost)
	s.start()
	t.Cleanup(s.Stop)
	return s
}

func (s *Server) start() {
	s.t.Helper()
	var err error
	if s.running, err = temporald.Start(s.t.Context(), s.cfg); err != nil {
		s.t.Fatal(err)
	}
}

// Stop stops the server.
func (s *Server) Stop() {
	if err := s.running.Stop(); err != nil {
		s.t.Error(err)
	}
}

// Mend ends the fault, when it has struck some times or long enough, with a start of the server, which
// finds all acknowledged work in its files.
func (s *Server) Mend() {
	s.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(atLeast); time.Now().Before(until); <-tick.C {
		if n, _ := s.fault.Injected(); n >= enough {
			break
		}
	}
	s.fault.Turn(false)
	s.Stop()
	s.cfg.Faults.Stores.Targets = config.FaultInjectionTargets{}
	s.start()
}
