package journal

import (
	"context"
	"encoding/json"
	"fmt"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// APIKeys is the part of a Journal that keeps the keys of callers.
type APIKeys struct{ db *db.Engine }

const selectAPIKey = "SELECT id, tenant, principal, groups, scopes, name, hash, created_at, expires_at, revoked_at FROM api_keys"

// AddAPIKey keeps a key under a new id.
func (j APIKeys) AddAPIKey(ctx context.Context, k opt.APIKey) error {
	groups, err := jsonList(k.Groups)
	if err != nil {
		return err
	}
	scopes, err := jsonList(k.Scopes)
	if err != nil {
		return err
	}
	return j.db.Write(ctx, func(c *db.Conn) error {
		_, err := c.Exec(`INSERT INTO api_keys (id, tenant, principal, groups, scopes, name, hash, created_at, expires_at, revoked_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			k.ID, k.Tenant, k.Principal, groups, scopes, k.Name, k.Hash, k.CreatedAt.Millis(), k.ExpiresAt.Millis(), k.RevokedAt.Millis())
		return err
	})
}

// APIKey returns a key, also one that was revoked. The error wraps
// [opt.ErrUnknown] if there is none with the id.
func (j APIKeys) APIKey(ctx context.Context, id string) (k opt.APIKey, err error) {
	found := false
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each(selectAPIKey+" WHERE id = $1", db.Args{id}, func(row db.Scanner) (err error) {
			found = true
			k, err = scanAPIKey(row)
			return err
		})
	})
	if err == nil && !found {
		err = fmt.Errorf("API key: %w", opt.ErrUnknown)
	}
	return k, err
}

// APIKeys returns all keys, the oldest first, also those that were revoked.
func (j APIKeys) APIKeys(ctx context.Context) (list []opt.APIKey, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		list, err = db.All(c, selectAPIKey+" ORDER BY created_at, id", nil, scanAPIKey)
		return err
	})
	return list, err
}

// RevokeAPIKey revokes a key. A repeat keeps the first time. The error wraps
// [opt.ErrUnknown] if there is no key with the id.
func (j APIKeys) RevokeAPIKey(ctx context.Context, id string, at a2a.Time) error {
	return j.db.Write(ctx, func(c *db.Conn) error {
		n, err := c.Exec("UPDATE api_keys SET revoked_at = CASE revoked_at WHEN 0 THEN $2 ELSE revoked_at END WHERE id = $1", id, at.Millis())
		if err == nil && n == 0 {
			err = fmt.Errorf("API key: %w", opt.ErrUnknown)
		}
		return err
	})
}

func scanAPIKey(row db.Scanner) (k opt.APIKey, err error) {
	var groups, scopes string
	var created, expires, revoked int64
	err = row.Scan(&k.ID, &k.Tenant, &k.Principal, &groups, &scopes, &k.Name, &k.Hash, &created, &expires, &revoked)
	if err == nil {
		err = json.Unmarshal([]byte(groups), &k.Groups)
	}
	if err == nil {
		err = json.Unmarshal([]byte(scopes), &k.Scopes)
	}
	k.CreatedAt, k.ExpiresAt, k.RevokedAt = a2a.AtMillis(created), a2a.AtMillis(expires), a2a.AtMillis(revoked)
	return k, err
}

func jsonList(list []string) (string, error) {
	if list == nil {
		list = []string{}
	}
	text, err := json.Marshal(list)
	return string(text), err
}
