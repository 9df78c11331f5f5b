// Package pgserver runs a PostgreSQL server that is installed on this machine, for
// tests and for a topology of processes. It listens on loopback, without passwords.
package pgserver

import (
	"cmp"
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

	"longhaul/internal/child"
	"longhaul/internal/freeport"
)

// User owns the server and may do everything.
const User = "longhaul"

// A Server is a PostgreSQL server that is running, or has been killed.
type Server struct {
	settings []string
	dir      string
	files    string // the directory of its data
	port     int
	as       *syscall.Credential

	mu      sync.Mutex
	process *child.Process // the server's first one; nil while it does not run
}

const (
	startWithin = time.Minute
	stopWithin  = 30 * time.Second
)

// Start makes an empty database server with settings, such as "fsync=off", and starts it.
// As root it runs as another user, since PostgreSQL refuses root. It ends with this process.
// Close it in the end.
func Start(ctx context.Context, settings ...string) (s *Server, err error) {
	return StartOn(ctx, "", settings...)
}

// StartOn is Start with the data in an empty directory, which Close leaves; "" is Start.
func StartOn(ctx context.Context, data string, settings ...string) (s *Server, err error) {
	s = &Server{settings: settings, files: data}
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
	if s.dir, err = os.MkdirTemp("", "longhaul-postgres-"); err != nil {
		return s, err
	}
	s.files = cmp.Or(s.files, filepath.Join(s.dir, "data"))
	if s.as != nil {
		err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid))
		if data != "" {
			err = errors.Join(err, os.Chown(data, int(s.as.Uid), int(s.as.Gid)))
		}
		if err != nil {
			return s, err
		}
	}
	initdb, err := s.start("initdb", "-D", s.files, "-U", User, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	if err != nil {
		return s, err
	}
	if err := initdb.Wait(); err != nil {
		return s, fmt.Errorf("%w\n%s", err, s.Log())
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
	args := []string{"-D", s.files, "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-k", s.dir}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	err := child.Until(ctx, 20*time.Millisecond, func() (err error) {
		// After a kill the other processes of the server end a little later, and until
		// then it refuses to start.
		if s.process == nil || !s.process.Running() {
			if s.process, err = s.start("postgres", args...); err != nil {
				return err
			}
		}
		c, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			err = c.Close(ctx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.Log())
	}
	return nil
}

// Kill ends the server as a crash would. Its processes do not end their work.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

// Stop ends the server and all connections to it.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

func (s *Server) end(with syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.process
	s.process = nil
	switch {
	case p == nil:
		return nil
	case with == syscall.SIGKILL:
		p.KillTree()
		return nil
	}
	return p.Stop(with, stopWithin)
}

// Close stops the server and removes its data.
func (s *Server) Close() error {
	err := s.end(syscall.SIGQUIT)
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// Log returns the end of what the server has printed.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-20_000):])
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

// SocketURL is URL through a socket of the file system, which needs no network.
func (s *Server) SocketURL(database string) string {
	return fmt.Sprintf("postgres:///%s?user=%s&host=%s&port=%d", database, User, s.dir, s.port)
}

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// start starts a program of PostgreSQL. If this process is killed, the server ends with
// all of its processes.
func (s *Server) start(name string, args ...string) (*child.Process, error) {
	path, err := Program(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	return child.Start(cmd, child.Options{Log: s.log(), As: s.as, Last: syscall.SIGQUIT})
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
