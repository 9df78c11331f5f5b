//go:build unix

package lease

// Impatient has leases count also on a server that has just started.
func Impatient(p *Postgres) *Postgres {
	p.patience = 0
	return p
}

// ReadChanges returns the entries in the file of a lease.
func ReadChanges(path string) ([]Entry, error) { return readChanges(path) }
