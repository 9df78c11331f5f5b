package db

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"
	"modernc.org/sqlite"
)

// A Template has the tables of a journal, without rows. It is for tests, which open
// many journals in memory: with it in [Config.Template], Open copies the tables, which
// is much faster than to make them. It may be used from any goroutine.
type Template struct {
	db   *SqliteFile
	conn *Conn // a database in memory exists as long as a connection to it
}

// NewTemplate makes a template by all migrations.
func NewTemplate(ctx context.Context) (*Template, error) {
	db, err := openSQLite(Config{Log: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	c, err := ready(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return &Template{db, c}, nil
}

// Close frees the memory of t.
func (t *Template) Close() error { return errors.Join(t.conn.Close(), t.db.close()) }

// copyTo copies the tables to an empty database.
func (t *Template) copyTo(c *Conn) error {
	return c.Raw.Raw(func(driver any) error {
		to, ok := driver.(interface {
			NewRestore(source string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("the driver %T cannot copy a database", driver)
		}
		b, err := to.NewRestore(t.db.dsn)
		if err != nil {
			return err
		}
		_, err = b.Step(-1) // all pages
		return errors.Join(err, b.Finish())
	})
}
