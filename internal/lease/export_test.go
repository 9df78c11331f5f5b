package lease

// Impatient has leases count also on a server that has just started.
func Impatient(p *Postgres) *Postgres {
	p.patience = 0
	return p
}
