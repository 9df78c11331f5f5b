package journal

// measure implements [maintainer]: the tables with their indexes. PostgreSQL does not
// report how much of it is free.
func (d *postgres) measure(c *conn) (s Size, err error) {
	_, err = c.get(`SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
		JOIN pg_class m ON m.oid = to_regclass('migrations') AND m.relnamespace = c.relnamespace WHERE c.relkind = 'r'`, nil, &s.Bytes)
	return s, err
}

// inspect implements [maintainer]: PostgreSQL checks its pages as it reads them.
func (d *postgres) inspect(*conn) ([]string, error) { return nil, nil }

// unlimited implements [maintainer].
func (d *postgres) unlimited(c *conn) error {
	c.limit = 0
	return c.script("SET statement_timeout = 0; SET enable_seqscan = on; SET enable_sort = on; SET enable_bitmapscan = on") // to read whole tables
}

// compact implements [maintainer]. Autovacuum does the same later.
func (d *postgres) compact(c *conn) error {
	if err := d.unlimited(c); err != nil {
		return err
	}
	return c.script("VACUUM (ANALYZE)")
}
