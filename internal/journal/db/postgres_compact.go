package db

// Measure implements [maintainer]: the tables with their indexes. PostgreSQL does not
// report how much of it is free.
func (d *Postgres) Measure(c *Conn) (s Size, err error) {
	_, err = c.Get(`SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
		JOIN pg_class m ON m.oid = to_regclass('migrations') AND m.relnamespace = c.relnamespace WHERE c.relkind = 'r'`, nil, &s.Bytes)
	return s, err
}

// Inspect implements [maintainer]: PostgreSQL checks its pages as it reads them.
func (d *Postgres) Inspect(*Conn) ([]string, error) { return nil, nil }

// Unlimited implements [maintainer].
func (d *Postgres) Unlimited(c *Conn) error {
	c.limit = 0
	return c.Script("SET statement_timeout = 0; SET enable_seqscan = on; SET enable_sort = on; SET enable_bitmapscan = on") // to read whole tables
}

// Rest implements [maintainer]. The cache is that of the server.
func (*Postgres) Rest(*Conn) error { return nil }

// Compact implements [maintainer]. Autovacuum does the same later.
func (d *Postgres) Compact(c *Conn) error {
	if err := d.Unlimited(c); err != nil {
		return err
	}
	return c.Script("VACUUM (ANALYZE)")
}
