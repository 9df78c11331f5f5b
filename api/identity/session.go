package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/access"
)

// A SessionStore keeps the sessions of browsers.
type SessionStore interface {
	OpenSession(ctx context.Context, s access.Session) error
	// Session returns a session that has not expired at a time. For an unknown or expired
	// one the error wraps opt.ErrUnknown.
	Session(ctx context.Context, id string, now time.Time) (access.Session, error)
	// RenewSession replaces the credential of a session, all that belongs to it and its
	// RenewAt, if its RenewAt is still was. It reports whether it has replaced them.
	RenewSession(ctx context.Context, s access.Session, was a2a.Time) (bool, error)
	// CloseSession removes a session, if it is there.
	CloseSession(ctx context.Context, id string) error
}

// Sessions keeps browsers signed in. A browser has the secret of its session, and the store
// has the hash of that: neither is enough to use the other's. A Sessions is safe for concurrent use. All of its
// fields are needed but SignIn.
type Sessions struct {
	Store  SessionStore
	SignIn *SignIn // renews credentials; nil: there is no provider
	Now    func() time.Time
	Log    *zap.Logger
}

const sessionAge = 12 * time.Hour // for which a browser stays signed in

var errSessionEnded = errors.New("the session has ended")

// Open stores a session in place of the one with the secret had, "" for none. It returns until when the
// session is valid, and its secret, which is new each time, so that a secret that others know is useless.
func (s *Sessions) Open(ctx context.Context, of access.Session, had string) (secret string, until time.Time, err error) {
	if err := s.Close(ctx, had); err != nil {
		return "", until, err
	}
	secret, until = newSecret(), s.Now().Add(sessionAge)
	if end := of.ValidUntil.Time(); of.Refresh == "" && !end.IsZero() && end.Before(until) {
		until = end
	}
	of.ID, of.ExpiresAt = sessionID(secret), a2a.At(until)
	return secret, until, s.Store.OpenSession(ctx, of)
}

// Close closes the session with a secret, if there is one.
func (s *Sessions) Close(ctx context.Context, secret string) error {
	if secret == "" {
		return nil
	}
	return s.Store.CloseSession(ctx, sessionID(secret))
}

// End closes the session with a secret, if there is one, and returns the URL at which the
// provider ends its own, "" for none.
func (s *Sessions) End(ctx context.Context, secret string) (to string, err error) {
	of, err := s.Store.Session(ctx, sessionID(secret), s.Now())
	if err != nil && !errors.Is(err, opt.ErrUnknown) {
		return "", err
	}
	if err := s.Close(ctx, secret); err != nil || of.IDToken == "" || s.SignIn == nil {
		return "", err
	}
	return s.SignIn.end(ctx, of), nil
}

// Credential returns the credential of the session with a secret, which is valid now. The error
// wraps opt.ErrUnavailable if the provider has to renew it and does not answer.
func (s *Sessions) Credential(ctx context.Context, secret string) (string, error) {
	of, err := s.Store.Session(ctx, sessionID(secret), s.Now())
	if err == nil {
		of, err = s.current(ctx, of)
	}
	if errors.Is(err, opt.ErrUnknown) {
		err = errSessionEnded
	}
	return of.Credential, err
}

// How the credential of a session is renewed: by one request, which others wait for if
// the old credential has expired. A renewal that was interrupted is tried again later.
const (
	renewTime  = 30 * time.Second // longer than the provider may take: three requests, 5 seconds each
	renewWaits = 50
	renewWait  = 100 * time.Millisecond
)

// current returns a session with a credential that is valid now.
func (s *Sessions) current(ctx context.Context, of access.Session) (access.Session, error) {
	if s.SignIn == nil || of.RenewAt.IsZero() {
		return of, nil
	}
	for range renewWaits {
		switch now := s.Now(); {
		case !now.Before(of.RenewAt.Time()):
			claimed := of
			claimed.RenewAt = a2a.At(now.Add(renewTime))
			if ok, err := s.Store.RenewSession(ctx, claimed, of.RenewAt); err != nil {
				return of, err
			} else if ok {
				return s.renew(ctx, claimed)
			}
		case now.Before(of.ValidUntil.Time()):
			return of, nil
		}
		select {
		case <-time.After(renewWait): // another request renews it
		case <-ctx.Done():
			return of, ctx.Err()
		}
		var err error
		if of, err = s.Store.Session(ctx, of.ID, s.Now()); err != nil {
			return of, err
		}
	}
	return of, opt.ErrUnavailable
}

// renew renews the credential of a session with the provider. No other request does so until
// claimed.RenewAt. If the provider refuses, the session ends.
func (s *Sessions) renew(ctx context.Context, claimed access.Session) (access.Session, error) {
	ctx = context.WithoutCancel(ctx) // a refresh token is often valid once
	next, err := s.SignIn.renew(ctx, claimed)
	switch {
	case unavailable(err):
		s.Log.Warn("The provider has not renewed the token of a session", zap.Error(err))
		if s.Now().Before(claimed.ValidUntil.Time()) {
			err = nil
		}
		return claimed, err
	case err != nil:
		s.Log.Info("A session has ended: the provider does not renew its token", zap.Error(err))
		return claimed, errors.Join(opt.ErrUnknown, s.Store.CloseSession(ctx, claimed.ID))
	}
	ok, err := s.Store.RenewSession(ctx, next, claimed.RenewAt)
	if err == nil && !ok { // it was closed meanwhile
		err = opt.ErrUnknown
	}
	return next, err
}

// sessionID returns the id of the session with a secret.
func sessionID(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// newSecret returns more than 256 random bits as text.
func newSecret() string { return rand.Text() + rand.Text() }
