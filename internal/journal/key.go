package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
)

// keys is the part of a Journal that keeps random bytes under a name.
type keys struct{ *store }

// Key returns the 32 random bytes with a name, which are the same for every
// process and never change.
func (j keys) Key(ctx context.Context, name string) ([]byte, error) {
	var text string
	err := j.read(ctx, func(c *conn) error {
		_, err := c.get("SELECT value FROM keys WHERE name = $1", args{name}, &text)
		return err
	})
	if err == nil && text == "" {
		err = j.writer.submit(ctx, func(c *conn) error {
			if _, err := c.exec("INSERT INTO keys (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, newKey()); err != nil {
				return err
			}
			_, err := c.get("SELECT value FROM keys WHERE name = $1", args{name}, &text)
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
