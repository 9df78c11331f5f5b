package topology

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"longhaul/internal/child"
)

// prepareDatabase does what the image of PostgreSQL does when its volume is new: it
// makes the database, with a password for connections over TCP, and runs the scripts of
// the service in a server that listens on a socket only.
func (p *Process) prepareDatabase(ctx context.Context) error {
	if err := p.chown(p.dir); err != nil {
		return err
	}
	if _, err := os.Stat(p.data()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	password := filepath.Join(p.dir, "password")
	if err := os.WriteFile(password, []byte(*p.spec.Environment["POSTGRES_PASSWORD"]), 0o600); err != nil {
		return err
	}
	if err := errors.Join(p.chown(password), p.once(ctx, "initdb", "-D", p.data(), "-U", "postgres", "--pwfile="+password,
		"--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"), os.Remove(password)); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	return p.runScripts(ctx)
}

// runScripts runs the scripts that are mounted for a new database.
func (p *Process) runScripts(ctx context.Context) (err error) {
	cmd, err := p.command(ctx, []string{"postgres"}, nil)
	if err != nil {
		return err
	}
	// The last argument counts.
	cmd.Args = append(cmd.Args, "-c", "listen_addresses=")
	server, err := child.Start(cmd, child.Options{Log: p.LogPath, As: p.as})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(images[database].stop, defaultGrace)) }()
	if err := child.Until(ctx, checkPause, func() error { return p.once(ctx, "pg_isready", "-q", "-h", p.dir) }); err != nil {
		return err
	}
	for _, v := range p.spec.Volumes {
		if !strings.HasPrefix(v.Target, "/docker-entrypoint-initdb.d/") {
			continue
		}
		text, err := os.ReadFile(v.Source)
		if err != nil {
			return err
		}
		// PGHOST is where the image has its socket by default.
		if err := p.once(ctx, "/bin/sh", "-c", "export PGHOST="+p.dir+"\n"+string(text)); err != nil {
			return fmt.Errorf("run %s: %w", v.Source, err)
		}
	}
	return nil
}

// once runs a program as the user of the process.
func (p *Process) once(ctx context.Context, args ...string) error {
	cmd, err := p.command(ctx, args, nil)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, out)
	}
	return nil
}

// serverArguments say where the files and the socket are.
func (p *Process) serverArguments() []string {
	return []string{"-D", p.data(), "-k", p.dir, "-h", p.IP}
}

func (p *Process) data() string { return filepath.Join(p.dir, "data") }

// chown gives a file to the user of the process.
func (p *Process) chown(path string) error {
	if p.as == nil {
		return nil
	}
	return os.Chown(path, int(p.as.Uid), int(p.as.Gid))
}
