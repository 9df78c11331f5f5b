package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"longhaul/internal/journal/db"
)

// Keys is the part of a Journal that keeps random bytes under a name.
type Keys struct{ db *db.Engine }

// Key returns the 32 random bytes with a name, which are the same for every
// process and never change.
func (j Keys) Key(ctx context.Context, name string) ([]byte, error) {
	var text string
	err := j.db.Read(ctx, func(c *db.Conn) error {
		_, err := c.Get("SELECT value FROM keys WHERE name = $1", db.Args{name}, &text)
		return err
	})
	if err == nil && text == "" {
		err = j.db.Write(ctx, func(c *db.Conn) error {
			if _, err := c.Exec("INSERT INTO keys (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, newKey()); err != nil {
				return err
			}
			_, err := c.Get("SELECT value FROM keys WHERE name = $1", db.Args{name}, &text)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

func newKey() string {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return hex.EncodeToString(key)
}
