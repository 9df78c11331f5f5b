package journal

import (
	"context"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/access"
)

// Sessions is the part of a Journal that keeps the sessions of browsers.
type Sessions struct {
	db   *db.Engine
	seal db.Sealer
	now  func() time.Time
}

// sessionSecrets are the members of a session that are sealed.
type sessionSecrets struct {
	Credential string   `json:"credential"`
	Refresh    string   `json:"refresh,omitempty"`
	IDToken    string   `json:"idToken,omitempty"`
	ValidUntil a2a.Time `json:"validUntil,omitzero"`
}

// OpenSession keeps a session under a new id. It also removes those that have expired.
func (j Sessions) OpenSession(ctx context.Context, s access.Session) error {
	sealed, err := j.sealed(s)
	if err != nil {
		return err
	}
	return j.db.Write(ctx, func(c *db.Conn) error {
		steps := db.Steps{C: c}
		steps.Do(removeExpired, j.now().UnixMilli())
		steps.Do("INSERT INTO sessions (id, secrets, renew_at, expires_at) VALUES ($1, $2, $3, $4)", s.ID, sealed, s.RenewAt.Millis(), s.ExpiresAt.Millis())
		return steps.Err
	})
}

// Session returns a session that has not expired at a time. For an unknown or expired
// one, and for one whose key for secrets is gone, the error wraps [opt.ErrUnknown].
func (j Sessions) Session(ctx context.Context, id string, now time.Time) (s access.Session, err error) {
	var sealed []byte
	var renew, expires int64
	found, err := j.db.Get(ctx, "SELECT secrets, renew_at, expires_at FROM sessions WHERE id = $1 AND expires_at > $2",
		db.Args{id, now.UnixMilli()}, &sealed, &renew, &expires)
	switch {
	case err != nil:
		return s, err
	case !found:
		return s, fmt.Errorf("session: %w", opt.ErrUnknown)
	case j.seal == nil:
		return s, db.ErrNoSealer
	}
	var in sessionSecrets
	if err := db.OpenJSON(j.seal, sealed, sessionContext(id), &in); err != nil {
		return s, fmt.Errorf("open a session: %w: %w", opt.ErrUnknown, err)
	}
	return access.Session{
		ID: id, Credential: in.Credential, Refresh: in.Refresh, IDToken: in.IDToken, ValidUntil: in.ValidUntil,
		ExpiresAt: a2a.AtMillis(expires), RenewAt: a2a.AtMillis(renew),
	}, nil
}

// RenewSession replaces the credential of a session, all that belongs to it and RenewAt,
// if RenewAt still is was. It reports whether it was: of several processes that renew a
// session at a time, one may. A session that was closed stays closed.
func (j Sessions) RenewSession(ctx context.Context, s access.Session, was a2a.Time) (ok bool, err error) {
	sealed, err := j.sealed(s)
	if err != nil {
		return false, err
	}
	n, err := j.db.Exec(ctx, "UPDATE sessions SET secrets = $3, renew_at = $4 WHERE id = $1 AND renew_at = $2", db.Args{s.ID, was.Millis(), sealed, s.RenewAt.Millis()})
	return n > 0, err
}

// CloseSession removes a session, if it is there.
func (j Sessions) CloseSession(ctx context.Context, id string) error {
	_, err := j.db.Exec(ctx, "DELETE FROM sessions WHERE id = $1", db.Args{id})
	return err
}

// removeExpired removes the sessions that have expired.
const removeExpired = "DELETE FROM sessions WHERE expires_at <= $1"

func (j Sessions) sealed(s access.Session) ([]byte, error) {
	sealed, err := db.SealJSON(j.seal, sessionSecrets{s.Credential, s.Refresh, s.IDToken, s.ValidUntil}, sessionContext(s.ID))
	if err != nil {
		return nil, fmt.Errorf("seal a session: %w", err)
	}
	return sealed, nil
}

// sessionContext binds the secrets of a session to its id.
func sessionContext(id string) string { return fmt.Sprintf("session %q", id) }
