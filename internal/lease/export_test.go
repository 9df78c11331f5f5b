//go:build unix

package lease

import "time"

// Impatient has leases count also on a server that has just started.
func Impatient(p *Postgres) *Postgres {
	p.patience = 0
	return p
}

// ReadChanges returns the entries in the file of a lease.
func ReadChanges(path string) ([]Entry, error) { return readChanges(path) }

// Slow gives processes of a busy machine time: to take a lock again, and before it counts as free.
func Slow(p *Postgres) *Postgres {
	p.freeFor, p.relockWithin = 5*time.Second, 4*time.Second
	return p
}

// Patient has tasks wait for their lease as long as a busy machine needs.
func (t *Taken) Patient() { t.within = time.Minute }
