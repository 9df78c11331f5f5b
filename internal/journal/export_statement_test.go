package journal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"

	"longhaul/internal/journal/db"
)

// A Statement is a statement that connections of the journal have prepared.
type Statement struct {
	SQL      string
	Runs     int // on all connections
	Prepared int // how often it was prepared again on a connection that had it
}

// Statements returns the statements of the writer and of the readers.
func (j *Journal) Statements(ctx context.Context) (list []Statement, err error) {
	if _, ok := j.db.Db.(*db.SqliteFile); !ok {
		return nil, errors.ErrUnsupported
	}
	found := map[string]*Statement{}
	err = j.db.Write(ctx, func(c *db.Conn) error { return statementsOf(c, found) })
	if err != nil {
		return nil, err
	}
	err = j.db.Readers.Each(func(c *db.Conn) error { return statementsOf(c, found) })
	for _, s := range found {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Statement) int { return strings.Compare(a.SQL, b.SQL) })
	return list, err
}

// Readers returns how many connections for reading are open.
func (j *Journal) Readers() (n int) {
	_ = j.db.Readers.Each(func(*db.Conn) error { n++; return nil })
	return n
}

// CacheBytes returns the memory of the caches of all connections.
func (j *Journal) CacheBytes(ctx context.Context) (bytes int, err error) {
	add := func(c *db.Conn) error {
		return inDriver(c, func(call sqliteCall, conn uintptr) {
			out := [2]int32{}
			at := uintptr(unsafe.Pointer(&out))
			call(sqlite3.Xsqlite3_db_status, conn, int32(sqlite3.SQLITE_DBSTATUS_CACHE_USED), at, at+4, int32(0))
			bytes += int(out[0])
			runtime.KeepAlive(&out)
		})
	}
	return bytes, errors.Join(j.db.Write(ctx, add), j.db.Readers.Each(add))
}

// A sqliteCall calls a function of SQLite.
type sqliteCall func(f any, args ...any) reflect.Value

// inDriver calls f with the connection that SQLite has for c. The driver does not export it, so this reads
// its connection by reflection.
func inDriver(c *db.Conn, f func(call sqliteCall, conn uintptr)) error {
	return c.Raw.Raw(func(driver any) error {
		handle := reflect.ValueOf(driver).Elem()
		db, tls := handle.FieldByName("db"), handle.FieldByName("tls")
		if !db.IsValid() || !tls.IsValid() {
			return fmt.Errorf("the driver's connection is another than it was: %s", handle.Type())
		}
		f(func(f any, args ...any) reflect.Value {
			fn := reflect.ValueOf(f)
			in := []reflect.Value{reflect.NewAt(tls.Type().Elem(), tls.UnsafePointer())}
			for _, a := range args {
				in = append(in, reflect.ValueOf(a))
			}
			return fn.Call(in)[0]
		}, uintptr(db.Uint()))
		return nil
	})
}

// statementsOf adds what SQLite has counted of the statements of c.
func statementsOf(c *db.Conn, found map[string]*Statement) error {
	return inDriver(c, func(call sqliteCall, conn uintptr) {
		count := func(stmt uintptr, what int32) int {
			return int(call(sqlite3.Xsqlite3_stmt_status, stmt, what, int32(0)).Int())
		}
		for stmt := uintptr(0); ; {
			stmt = uintptr(call(sqlite3.Xsqlite3_next_stmt, conn, stmt).Uint())
			if stmt == 0 {
				return
			}
			text := cString(uintptr(call(sqlite3.Xsqlite3_sql, stmt).Uint()))
			if found[text] == nil {
				found[text] = &Statement{SQL: text}
			}
			found[text].Runs += count(stmt, sqlite3.SQLITE_STMTSTATUS_RUN)
			found[text].Prepared += count(stmt, sqlite3.SQLITE_STMTSTATUS_REPREPARE)
		}
	})
}

// cString returns the text that ends with a NUL at p, which is outside Go's
// memory.
func cString(p uintptr) string {
	start := *(**byte)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), n)) != 0 {
		n++
	}
	return strings.Clone(unsafe.String(start, n))
}
