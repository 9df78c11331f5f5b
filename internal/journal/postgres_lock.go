package journal

import "hash/fnv"

// lock takes a lock until the end of the transaction. Where a transaction has the lock
// of the whole journal, it does nothing.
func (c *conn) lock(name string) error {
	if c.dialect == nil {
		return nil
	}
	_, err := c.exec("SELECT pg_advisory_xact_lock($1::bigint)", lockNumber(name))
	return err
}

// tryLock is lock, but does not wait; ok is false if another transaction has the lock.
func (c *conn) tryLock(name string) (ok bool, err error) {
	if c.dialect == nil {
		return true, nil
	}
	_, err = c.get("SELECT pg_try_advisory_xact_lock($1::bigint)", args{lockNumber(name)}, &ok)
	return ok, err
}

// lockNumber returns the number of a lock. Two names with one number are only slower.
func lockNumber(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("longhaul " + name)) // never fails
	return int64(h.Sum64())
}
