package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt/access"
)

// Keys is the part of a Journal that keeps random bytes under a name.
type Keys struct{ db *db.Engine }

// Key returns the 32 random bytes with a name, which are the same for every
// process and never change.
func (j Keys) Key(ctx context.Context, name string) ([]byte, error) {
	var text string
	_, err := j.db.Get(ctx, "SELECT value FROM keys WHERE name = $1", db.Args{name}, &text)
	if err == nil && text == "" {
		err = j.db.Write(ctx, func(c *db.Conn) error {
			s := db.Steps{C: c}
			s.Do("INSERT INTO keys (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, newKey())
			s.Get("SELECT value FROM keys WHERE name = $1", db.Args{name}, &text)
			return s.Err
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

// SigningKeys is the part of a Journal that keeps the keys that sign deliveries.
type SigningKeys struct {
	db   *db.Engine
	seal db.Sealer
}

// SigningKeys returns all keys, the oldest first.
func (j SigningKeys) SigningKeys(ctx context.Context) ([]access.SigningKey, error) {
	return db.List(ctx, j.db, "SELECT id, private, created_at FROM signing_keys ORDER BY created_at, id", nil, func(row db.Scanner) (k access.SigningKey, err error) {
		var sealed []byte
		var created int64
		if err := row.Scan(&k.ID, &sealed, &created); err != nil {
			return k, err
		}
		if j.seal == nil {
			return k, db.ErrNoSealer
		}
		k.CreatedAt = a2a.AtMillis(created)
		if k.Private, err = j.seal.Open(sealed, signingContext(k.ID)); err != nil {
			err = fmt.Errorf("open signing key %s: %w", k.ID, err)
		}
		return k, err
	})
}

// RenewSigningKey adds a key and removes others, unless the newest key is not the
// one with the id newest ("" for none): then another process has renewed it, and
// nothing changes.
func (j SigningKeys) RenewSigningKey(ctx context.Context, newest string, k access.SigningKey, remove []string) error {
	if j.seal == nil {
		return db.ErrNoSealer
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
		s := db.Steps{C: c}
		for _, id := range remove {
			s.Do("DELETE FROM signing_keys WHERE id = $1", id)
		}
		s.Do("INSERT INTO signing_keys (id, private, created_at) VALUES ($1, $2, $3)", k.ID, sealed, k.CreatedAt.Millis())
		return s.Err
	}, "signing keys")
}

// signingContext binds a key to its id.
func signingContext(id string) string { return fmt.Sprintf("signing key %q", id) }
