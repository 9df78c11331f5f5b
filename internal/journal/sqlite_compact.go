package journal

// measure implements [maintainer]: without the write-ahead log.
func (d *sqliteFile) measure(c *conn) (s Size, err error) {
	var size, pages, free int64
	_, err = c.get("SELECT page_size, page_count, freelist_count FROM pragma_page_size, pragma_page_count, pragma_freelist_count", nil, &size, &pages, &free)
	return Size{Bytes: size * pages, Free: size * free}, err
}

// inspect implements [maintainer].
func (d *sqliteFile) inspect(c *conn) (found []string, err error) {
	err = c.each("SELECT integrity_check FROM pragma_integrity_check", nil, func(row scanner) error {
		var line string
		err := row.Scan(&line)
		if line != "ok" {
			found = append(found, line)
		}
		return err
	})
	return found, err
}

// unlimited implements [maintainer]: statements have no limit.
func (d *sqliteFile) unlimited(*conn) error { return nil }

// compact implements [maintainer]. It writes the whole file again. Others may have it
// open: readers see their state of it until it is done. The copy in between goes into a
// temporary file, and then through the write-ahead log, so that a crash at any moment
// leaves the old file or the new one.
func (d *sqliteFile) compact(c *conn) error {
	for _, statement := range []string{
		"PRAGMA busy_timeout = 10000",
		"PRAGMA temp_store = FILE", // the copy may be larger than the memory
		"VACUUM",
		// The rows of events have got new numbers, by which other processes know which
		// events they have seen: as after a purge, they look at all.
		"UPDATE purges SET n = n + 1",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := c.script(statement); err != nil {
			return err
		}
	}
	return nil
}
