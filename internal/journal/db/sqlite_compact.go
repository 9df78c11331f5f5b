package db

// Measure implements [maintainer]: without the write-ahead log.
func (d *SqliteFile) Measure(c *Conn) (s Size, err error) {
	var size, pages, free int64
	_, err = c.Get("SELECT page_size, page_count, freelist_count FROM pragma_page_size, pragma_page_count, pragma_freelist_count", nil, &size, &pages, &free)
	return Size{Bytes: size * pages, Free: size * free}, err
}

// Inspect implements [maintainer].
func (d *SqliteFile) Inspect(c *Conn) (found []string, err error) {
	err = c.Each("SELECT integrity_check FROM pragma_integrity_check", nil, func(row Scanner) error {
		var line string
		err := row.Scan(&line)
		if line != "ok" {
			found = append(found, line)
		}
		return err
	})
	return found, err
}

// Unlimited implements [maintainer]: statements have no limit.
func (d *SqliteFile) Unlimited(*Conn) error { return nil }

// Rest implements [maintainer].
func (d *SqliteFile) Rest(c *Conn) error { return c.Script("PRAGMA shrink_memory") }

// Compact implements [maintainer]. It writes the whole file again. Others may have it
// open: readers see their state of it until it is done. The copy in between goes into a
// temporary file, and then through the write-ahead log, so that a crash at any moment
// leaves the old file or the new one.
func (d *SqliteFile) Compact(c *Conn) error {
	for _, statement := range []string{
		"PRAGMA busy_timeout = 10000",
		"PRAGMA temp_store = FILE", // the copy may be larger than the memory
		"VACUUM",
		// The rows of events have got new numbers, by which other processes know which
		// events they have seen: as after a purge, they look at all.
		"UPDATE purges SET n = n + 1",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := c.Script(statement); err != nil {
			return err
		}
	}
	return nil
}
