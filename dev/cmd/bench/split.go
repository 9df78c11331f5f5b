package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"longhaul/dev/e2e/cluster"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/child"
	"longhaul/internal/pgserver"
)

// A splitSite runs Longhaul as separate processes.
type splitSite struct {
	*site
	processes map[string]*server // by command
	stores    func()             // stops PostgreSQL, with Temporal on it; nil without
}

func startSplit(ctx context.Context, s settings, name string) (p *splitSite, err error) {
	at, err := newSite(s, name)
	if err != nil {
		return nil, err
	}
	p = &splitSite{site: at, processes: map[string]*server{}}
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	commands := []string{"temporal", "api", "worker"}
	if s.postgres {
		if p.stores, err = at.onPostgres(ctx); err != nil {
			return p, err
		}
		commands = []string{"worker", "api"} // the worker creates the namespace
	}
	for _, command := range commands {
		if p.processes[command], err = p.startWithin(ctx, command); err != nil {
			return p, err
		}
	}
	first, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return p, harness.Repeat(first, func(ctx context.Context) error {
		id, err := sendOne(ctx, p.client(), "first")
		if err != nil {
			return err
		}
		return untilEnded(ctx, p.client(), id)
	})
}

// startWithin starts a command, on PostgreSQL again until the namespace has been created.
func (p *splitSite) startWithin(ctx context.Context, command string) (started *server, err error) {
	if p.stores == nil {
		return p.start(ctx, command)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = child.Until(ctx, time.Second, func() error {
		started, err = p.start(ctx, command)
		return err
	})
	return started, err
}

func (p *splitSite) stop() {
	for _, command := range []string{"worker", "api", "temporal"} {
		if s := p.processes[command]; s != nil {
			s.stop()
		}
	}
	if p.stores != nil {
		p.stores()
	}
}

// onPostgres starts a PostgreSQL server for at, with a journal that is ready, and a Temporal
// on it in this process.
func (at *site) onPostgres(ctx context.Context) (stop func(), err error) {
	const journal = "journal"
	databases, err := pgserver.Start(ctx, "max_connections=300")
	if err != nil {
		return nil, err
	}
	stop = func() { _ = databases.Close() }
	temporal, stopTemporal, err := cluster.Plain(databases)
	if stopTemporal != nil {
		stop = func() { _ = errors.Join(stopTemporal(), databases.Close()) }
	}
	if err != nil {
		return stop, fmt.Errorf("start Temporal: %w", err)
	}
	if err := databases.Create(ctx, journal); err != nil {
		return stop, err
	}
	at.temporal = temporal
	at.env = []string{"LONGHAUL_JOURNAL=" + databases.URL(journal), "LONGHAUL_SECRET_KEYS=" + strings.Repeat("A", 43) + "=", "LONGHAUL_CREATE_NAMESPACE=true"}
	self, err := os.Executable()
	if err != nil {
		return stop, err
	}
	migrate := exec.CommandContext(ctx, self, serveLonghaul, "migrate")
	migrate.Env = append(os.Environ(), at.env...)
	if out, err := migrate.CombinedOutput(); err != nil {
		return stop, fmt.Errorf("migrate: %w\n%s", err, out)
	}
	return stop, nil
}
