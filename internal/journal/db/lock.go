package db

import "hash/fnv"

// Lock takes a lock until the end of the transaction. Where a transaction has the lock
// of the whole journal, it does nothing.
func (c *Conn) Lock(name string) error {
	if !c.server {
		return nil
	}
	_, err := c.Exec("SELECT pg_advisory_xact_lock($1::bigint)", LockNumber(name))
	return err
}

// TryLock is lock, but does not wait; ok is false if another transaction has the lock.
func (c *Conn) TryLock(name string) (ok bool, err error) {
	if !c.server {
		return true, nil
	}
	_, err = c.Get("SELECT pg_try_advisory_xact_lock($1::bigint)", Args{LockNumber(name)}, &ok)
	return ok, err
}

// LockNumber returns the number of a lock. Two names with one number are only slower.
func LockNumber(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("longhaul " + name)) // never fails
	return int64(h.Sum64())
}

// ObjectiveLock is the lock of writes to an objective.
func ObjectiveLock(id string) string { return "objective " + id }
