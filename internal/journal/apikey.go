package journal

import (
	"context"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt/access"
)

// APIKeys is the part of a Journal that keeps the keys of callers.
type APIKeys struct{ db *db.Engine }

const selectAPIKey = "SELECT id, tenant, principal, groups, scopes, name, hash, created_at, expires_at, revoked_at FROM api_keys"

// AddAPIKey keeps a key under a new id.
func (j APIKeys) AddAPIKey(ctx context.Context, k access.APIKey) error {
	groups, err := jsonList(k.Groups)
	if err != nil {
		return err
	}
	scopes, err := jsonList(k.Scopes)
	if err != nil {
		return err
	}
	_, err = j.db.Exec(ctx, `INSERT INTO api_keys (id, tenant, principal, groups, scopes, name, hash, created_at, expires_at, revoked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		db.Args{k.ID, k.Tenant, k.Principal, groups, scopes, k.Name, k.Hash, k.CreatedAt.Millis(), k.ExpiresAt.Millis(), k.RevokedAt.Millis()})
	return err
}

// APIKey returns a key, also one that was revoked. The error wraps
// [opt.ErrUnknown] if there is none with the id.
func (j APIKeys) APIKey(ctx context.Context, id string) (k access.APIKey, err error) {
	return db.One(db.List(ctx, j.db, selectAPIKey+" WHERE id = $1", db.Args{id}, scanAPIKey))("API key", id)
}

// APIKeys returns all keys, the oldest first, also those that were revoked.
func (j APIKeys) APIKeys(ctx context.Context) ([]access.APIKey, error) {
	return db.List(ctx, j.db, selectAPIKey+" ORDER BY created_at, id", nil, scanAPIKey)
}

// RevokeAPIKey revokes a key. A repeat keeps the first time. The error wraps
// [opt.ErrUnknown] if there is no key with the id.
func (j APIKeys) RevokeAPIKey(ctx context.Context, id string, at a2a.Time) error {
	n, err := j.db.Exec(ctx, "UPDATE api_keys SET revoked_at = CASE revoked_at WHEN 0 THEN $2 ELSE revoked_at END WHERE id = $1", db.Args{id, at.Millis()})
	if err == nil && n == 0 {
		err = db.Unknown("API key", id)
	}
	return err
}

func scanAPIKey(row db.Scanner) (k access.APIKey, err error) {
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
