package harness

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"longhaul/internal/freeport"
	"longhaul/internal/test"
)

// A Site is one installation: a data directory and the addresses of its
// processes, which stay the same.
type Site struct {
	Dir          string   // --data-dir
	Addr         string   // of the API
	TemporalAddr string   // "" if Env or a profile says where Temporal is
	Env          []string // KEY=value, added to the environment of every process

	t       testing.TB
	secrets secrets
	binary  string
	args    []string

	mu        sync.Mutex
	processes []*Process
}

// NewSite returns a new site for program. Its processes get args, except those
// that run only Temporal. If API and worker are separate processes, put settings
// that only one of them has into Env. When the test ends its processes are
// killed; if it failed, the ends of their logs are shown. With LONGHAUL_E2E_KEEP
// set the directory is kept.
func NewSite(t testing.TB, program string, args ...string) *Site {
	t.Helper()
	dir := t.TempDir()
	if os.Getenv("LONGHAUL_E2E_KEEP") != "" {
		var err error
		if dir, err = os.MkdirTemp("", "longhaul-site-"); err != nil {
			t.Fatal(err)
		}
		t.Logf("The site is kept in %s", dir)
	}
	s := &Site{
		Dir: filepath.Join(dir, "data"), Addr: FreeAddr(t), TemporalAddr: FreeAddr(t),
		t: t, binary: filepath.Join(dir, filepath.Base(program)), args: args,
	}
	if err := os.Link(Build(t, program), s.binary); err != nil { // all processes of a site run the same
		s.binary = Build(t, program)
	}
	t.Cleanup(s.end)
	return s
}

// NewSiteIn returns a new site for the program whose source is in dir, which is a module
// of its own. Its data and logs are there, too, and its processes run there.
func NewSiteIn(t testing.TB, dir string) *Site {
	t.Helper()
	s := &Site{
		Dir: filepath.Join(dir, ".longhaul"), Addr: FreeAddr(t), TemporalAddr: FreeAddr(t),
		t: t, binary: filepath.Join(dir, filepath.Base(dir)),
	}
	Go(t, dir, "build", "-ldflags=-s -w", "-o", s.binary, ".")
	t.Cleanup(s.end)
	return s
}

// Binary returns the path of the program that the site's processes run.
func (s *Site) Binary() string { return s.binary }

// Use has commands and processes from now on run another binary.
func (s *Site) Use(binary string) { s.binary = binary }

// URL returns the URL of the API.
func (s *Site) URL() string { return "http://" + s.Addr }

// Client returns a client of the API, which need not run yet.
func (s *Site) Client() *Client {
	c := NewClient(s.URL())
	c.HTTP.Transport = secretSearch{s, c.HTTP.Transport}
	return c
}

// Hide declares secrets that the test gives to the service, or gets from it once.
// The test fails if an answer to a client of the site has one from now on, or if a file
// of the site, such as a log or a database, has one at the end of the test.
func (s *Site) Hide(texts ...string) {
	s.secrets.mu.Lock()
	defer s.secrets.mu.Unlock()
	s.secrets.texts = append(s.secrets.texts, texts...)
}

// Run runs a command of the program beside the processes of the site, and returns what it
// prints. The test ends if the command fails.
func (s *Site) Run(args ...string) string {
	s.t.Helper()
	out, complaints, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, complaints)
	}
	return out
}

// Try is Run for a command that may fail, and also returns its complaints.
func (s *Site) Try(args ...string) (out, complaints string, err error) {
	var text bytes.Buffer
	cmd := exec.CommandContext(s.t.Context(), s.binary, args...)
	cmd.Env, cmd.Stderr = slices.Concat(environment(), s.Env), &text
	printed, err := cmd.Output()
	return string(printed), text.String(), err
}

// Key makes an API key with flags of "keys create".
func (s *Site) Key(name string, flags ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.Run(append([]string{"keys", "create", name, "--data-dir", s.Dir}, flags...)...))
}

// Start runs a command and waits until it is ready. env is added to the
// environment, as KEY=value.
func (s *Site) Start(command string, env ...string) *Process {
	s.t.Helper()
	p := s.Launch(command, env...)
	p.WaitReady()
	return p
}

// Launch runs a command and does not wait.
func (s *Site) Launch(command string, env ...string) *Process {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	log := filepath.Join(filepath.Dir(s.Dir), fmt.Sprintf("%02d-%s.log", len(s.processes), command))
	p, err := launch(s, command, log, env)
	if err != nil {
		s.t.Fatalf("start %s: %v", command, err)
	}
	s.processes = append(s.processes, p)
	return p
}

// Started lists the processes that were started, in order.
func (s *Site) Started() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.processes)
}

// flags returns the arguments of a command.
func (s *Site) flags(command string) []string {
	args := []string{command, "--data-dir", s.Dir}
	if s.TemporalAddr != "" {
		args = append(args, "--temporal-addr", s.TemporalAddr)
	}
	switch command {
	case AllInOne:
		args = append(args, "--addr", s.Addr, "--temporal-ui-addr", "")
	case API:
		args = append(args, "--addr", s.Addr)
	case Temporal:
		return append(args, "--temporal-ui-addr", "")
	}
	return append(args, s.args...)
}

// end kills processes that still run, looks for secrets in their files, and shows
// their logs if the test failed.
func (s *Site) end() {
	for _, p := range s.Started() {
		p.KillTree()
	}
	checkSecrets(s)
	if !s.t.Failed() {
		return
	}
	all := s.Started()
	for _, p := range all[max(0, len(all)-4):] {
		s.t.Logf("end of the log of %v:\n%s", p, p.Tail(6000))
	}
}

// FreeAddr returns an address on loopback at which nothing listens. It stays free while
// its process is down.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, err := freeport.Addr()
	test.OK(t, err)
	return addr.String()
}

// Temporal returns a client of the Temporal server that the site's processes use,
// for tests that read its state. The caller closes it.
func (s *Site) Temporal(t testing.TB) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: s.TemporalAddr, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	test.OK(t, err)
	return c
}
