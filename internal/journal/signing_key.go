package journal

import (
	"context"
	"fmt"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// SigningKeys is the part of a Journal that keeps the keys that sign deliveries.
type SigningKeys struct {
	db   *db.Engine
	seal db.Sealer
}

// SigningKeys returns all keys, the oldest first.
func (j SigningKeys) SigningKeys(ctx context.Context) (list []opt.SigningKey, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		list = nil
		return c.Each("SELECT id, private, created_at FROM signing_keys ORDER BY created_at, id", nil, func(row db.Scanner) error {
			var k opt.SigningKey
			var sealed []byte
			var created int64
			err := row.Scan(&k.ID, &sealed, &created)
			if err != nil {
				return err
			}
			if j.seal == nil {
				return errNoSealer
			}
			k.CreatedAt = a2a.AtMillis(created)
			if k.Private, err = j.seal.Open(sealed, signingContext(k.ID)); err != nil {
				return fmt.Errorf("open signing key %s: %w", k.ID, err)
			}
			list = append(list, k)
			return nil
		})
	})
	return list, err
}

// RenewSigningKey adds a key and removes others, unless the newest key is not the
// one with the id newest ("" for none): then another process has renewed it, and
// nothing changes.
func (j SigningKeys) RenewSigningKey(ctx context.Context, newest string, k opt.SigningKey, remove []string) error {
	if j.seal == nil {
		return errNoSealer
	}
	sealed, err := j.seal.Seal(k.Private, signingContext(k.ID))
	if err != nil {
		return fmt.Errorf("seal a signing key: %w", err)
	}
	return j.db.Write(ctx, func(c *db.Conn) error {
		var last string
		if _, err := c.Get("SELECT id FROM signing_keys ORDER BY created_at DESC, id DESC LIMIT 1", nil, &last); err != nil || last != newest {
			return err
		}
		for _, id := range remove {
			if _, err := c.Exec("DELETE FROM signing_keys WHERE id = $1", id); err != nil {
				return err
			}
		}
		_, err := c.Exec("INSERT INTO signing_keys (id, private, created_at) VALUES ($1, $2, $3)", k.ID, sealed, k.CreatedAt.Millis())
		return err
	}, signingKeyLock)
}

// signingContext binds a key to its id.
func signingContext(id string) string { return fmt.Sprintf("signing key %q", id) }
