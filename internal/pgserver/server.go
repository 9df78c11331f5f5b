// Package pgserver runs a PostgreSQL server that is installed on this machine, for
// tests and for a topology of processes. It listens on loopback, without passwords.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"longhaul/internal/freeport"
)

// User owns the server and may do everything.
const User = "longhaul"

// Config says how a server runs.
type Config struct {
	Dir      string   // new or empty, of its data; "" means one that Close removes
	Settings []string // such as "fsync=off"
	Log      *os.File // nil discards what it prints
}

// A Server is a PostgreSQL server that is running, or has been killed.
type Server struct {
	cfg  Config
	port int
	as   *syscall.Credential
	temp string

	mu      sync.Mutex
	process *process // nil while it does not run
}

// A process is the server's first one.
type process struct {
	*exec.Cmd
	ended chan struct{}
}

const (
	startWithin = time.Minute
	stopWithin  = 30 * time.Second
)

// Start makes an empty database server and starts it. As root it runs as another user,
// since PostgreSQL refuses root. It ends with this process. Close it in the end.
func Start(ctx context.Context, cfg Config) (s *Server, err error) {
	s = &Server{cfg: cfg}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start PostgreSQL: %w", errors.Join(err, s.Close()))
		}
	}()
	if s.as, err = Credential(); err != nil {
		return s, err
	}
	addr, err := freeport.Addr()
	if err != nil {
		return s, err
	}
	s.port = int(addr.Port())
	if cfg.Dir == "" {
		if s.temp, err = os.MkdirTemp("", "longhaul-postgres-"); err != nil {
			return s, err
		}
		s.cfg.Dir = s.temp
	}
	if s.as != nil {
		if err := os.Chown(s.cfg.Dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return s, err
		}
	}
	initdb, err := s.command("initdb", "-D", s.data(), "-U", User, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	if err != nil {
		return s, err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return s, fmt.Errorf("%w\n%s", err, out)
	}
	return s, s.Run(ctx)
}

// Run starts the server again after Kill or Stop, and waits until it answers.
func (s *Server) Run(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		return errors.New("PostgreSQL runs already")
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		if err := s.begin(); err != nil {
			return err
		}
		err := s.await(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		// After a kill the other processes of the server end a little later, and until
		// then it refuses to start.
		s.process = nil
	}
}

// begin starts the server's first process.
func (s *Server) begin() error {
	args := []string{"-D", s.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-k", s.cfg.Dir}
	for _, setting := range s.cfg.Settings {
		args = append(args, "-c", setting)
	}
	cmd, err := s.command("postgres", args...)
	if err != nil {
		return err
	}
	if s.cfg.Log != nil {
		cmd.Stdout, cmd.Stderr = s.cfg.Log, s.cfg.Log
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.process = &process{cmd, make(chan struct{})}
	go func(p *process) {
		_ = p.Wait() // how it ended is of no interest
		close(p.ended)
	}(s.process)
	return nil
}

// await waits until the server answers, or has ended.
func (s *Server) await(ctx context.Context) error {
	for {
		c, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.process.ended:
			return errors.New("PostgreSQL has ended, see its log")
		case <-ctx.Done():
			return err
		}
	}
}

// Kill ends the server as a crash would. Its processes do not end their work.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

// Stop ends the server and all connections to it.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

func (s *Server) end(with syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	p := s.process
	s.process = nil
	if err := p.Process.Signal(with); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopWithin):
		_ = p.Process.Kill()
		<-p.ended
		return errors.New("PostgreSQL did not stop")
	}
}

// Close stops the server and removes its data, unless the directory was given.
func (s *Server) Close() error {
	err := s.end(syscall.SIGQUIT)
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}

// Create makes an empty database.
func (s *Server) Create(ctx context.Context, database string) error {
	return s.Copy(ctx, "template1", database)
}

// Copy makes a database with all that another one has, to which nothing may be connected.
func (s *Server) Copy(ctx context.Context, from, database string) error {
	c, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize()+" TEMPLATE "+pgx.Identifier{from}.Sanitize())
	return errors.Join(err, c.Close(ctx))
}

// Addr returns the address of the server.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL returns the URL of a database.
func (s *Server) URL(database string) string {
	return "postgres://" + User + "@" + s.Addr() + "/" + database + "?sslmode=disable"
}

func (s *Server) data() string { return filepath.Join(s.cfg.Dir, "data") }

func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	path, err := Program(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.cfg.Dir
	cmd.SysProcAttr = attributes(s.as)
	return cmd, nil
}

// Program returns the path of a program of PostgreSQL. Debian keeps them outside the
// PATH.
func Program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return "", fmt.Errorf("%s is not installed: apt-get install postgresql", name)
	}
	return slices.Max(found), nil
}

// Credential returns the user that has to run PostgreSQL, which refuses root: nil for
// the current one.
func Credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	found, err := user.Lookup("postgres")
	if err != nil {
		found, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}
