package journal

// measure implements [caretaker]: the tables with their indexes. PostgreSQL does not
// tell how much of it is free.
func (d *postgres) measure(c *conn) (s Size, err error) {
	_, err = c.get(`SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
		JOIN pg_class m ON m.oid = to_regclass('migrations') AND m.relnamespace = c.relnamespace WHERE c.relkind = 'r'`, nil, &s.Bytes)
	return s, err
}

// inspect implements [caretaker]: PostgreSQL checks its pages as it reads them.
func (d *postgres) inspect(*conn) ([]string, error) { return nil, nil }

// compact implements [caretaker]. Autovacuum does the same later.
func (d *postgres) compact(c *conn) error {
	for _, statement := range []string{"SET statement_timeout = 0", "VACUUM (ANALYZE)"} {
		if err := c.script(statement); err != nil {
			return err
		}
	}
	return nil
}
