package temporald

import (
	"context"
	"database/sql/driver"

	"go.temporal.io/server/common/config"
)

// Faults let the databases of a server fail, for tests. The zero value has none.
type Faults struct {
	// Stores are faults by store and method, all but those of visibility: upstream's, for
	// which nil means none.
	Stores *config.FaultInjection

	// Visibility, if not nil, is called in place of each statement on visibility, and of each
	// commit, as COMMIT. It runs it or not, and returns its error or another one. The first
	// start on a directory in a process sets it: the connection stays.
	Visibility func(statement string, run func() error) error
}

// in returns c with the faults of the stores.
func (f Faults) in(c *config.Config) *config.Config {
	store := c.Persistence.DataStores[c.Persistence.DefaultStore]
	store.FaultInjection = f.Stores
	c.Persistence.DataStores[c.Persistence.DefaultStore] = store
	return c
}

// A faultyConn is a connection with faults.
type faultyConn struct {
	sqliteConn
	fault func(string, func() error) error
}

// ExecContext implements [driver.ExecerContext].
func (c faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.fault(query, func() (err error) {
		result, err = c.sqliteConn.ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

// QueryContext implements [driver.QueryerContext].
func (c faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = c.fault(query, func() (err error) {
		rows, err = c.sqliteConn.QueryContext(ctx, query, args)
		return err
	})
	if err != nil && rows != nil {
		_ = rows.Close() // no caller reads them
	}
	return rows, err
}

// BeginTx implements [driver.ConnBeginTx].
func (c faultyConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.sqliteConn.BeginTx(ctx, opts)
	return faultyTx{tx, c.fault}, err
}

type faultyTx struct {
	driver.Tx
	fault func(string, func() error) error
}

// Commit implements [driver.Tx]. A fault in place of the commit undoes the transaction: the
// connection is used for others.
func (t faultyTx) Commit() error {
	ran := false
	err := t.fault("COMMIT", func() error {
		ran = true
		return t.Tx.Commit()
	})
	if !ran {
		_ = t.Rollback()
	}
	return err
}
