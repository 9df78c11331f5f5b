package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/access"
)

const (
	sessionAge = 12 * time.Hour // for which a browser stays signed in
	endedAge   = 12 * time.Hour // for which it then gets the reason why it has to sign in again
)

var errNoSession = errors.New("the session has ended")

// withSession returns r with the credential of its session, or r itself if it has no session.
// The error is errNoSession for a session that has ended.
func (k *Console) withSession(r *http.Request) (*http.Request, error) {
	secret := k.cookie(r, sessionCookie)
	if secret == "" || k.cfg.Sessions == nil {
		return r, nil
	}
	s, err := k.cfg.Sessions.Session(r.Context(), sessionID(secret), k.cfg.Now())
	if err == nil {
		s, err = k.current(r.Context(), s)
	}
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return nil, errNoSession
	case err != nil:
		return nil, err
	}
	return withCredential(r, s.Credential), nil
}

// How the credential of a session is renewed: by one request, which others wait for if
// the old credential has expired. A renewal that was interrupted is tried again later.
const (
	renewTime  = 30 * time.Second // longer than the provider may take: three requests, 5 seconds each
	renewWaits = 50
	renewWait  = 100 * time.Millisecond
)

// current returns s with a credential that is valid now.
func (k *Console) current(ctx context.Context, s access.Session) (access.Session, error) {
	if k.cfg.Provider == nil || s.RenewAt.IsZero() {
		return s, nil
	}
	for range renewWaits {
		now := k.cfg.Now()
		if now.Before(s.RenewAt.Time()) && now.Before(s.ValidUntil.Time()) {
			return s, nil
		}
		if !now.Before(s.RenewAt.Time()) {
			claimed := s
			claimed.RenewAt = a2a.At(now.Add(renewTime))
			ok, err := k.cfg.Sessions.RenewSession(ctx, claimed, s.RenewAt)
			if err != nil {
				return s, err
			}
			if ok {
				return k.renew(ctx, claimed)
			}
		}
		select {
		case <-time.After(renewWait): // another request renews it
		case <-ctx.Done():
			return s, ctx.Err()
		}
		var err error
		if s, err = k.cfg.Sessions.Session(ctx, s.ID, k.cfg.Now()); err != nil {
			return s, err
		}
	}
	return s, opt.ErrUnavailable
}

// renew renews the credential of a session with the provider. No other request does so until
// claimed.RenewAt. If the provider refuses, the session ends.
func (k *Console) renew(ctx context.Context, claimed access.Session) (access.Session, error) {
	ctx = context.WithoutCancel(ctx) // a refresh token is often valid once
	next, err := k.cfg.Provider.Renew(ctx, claimed)
	switch {
	case errors.Is(err, opt.ErrUnavailable):
		k.cfg.Log.Warn("The provider has not renewed the token of a session", zap.Error(err))
		if k.cfg.Now().Before(claimed.ValidUntil.Time()) {
			return claimed, nil
		}
		return claimed, err
	case err != nil:
		k.cfg.Log.Info("A session has ended: the provider does not renew its token", zap.Error(err))
		return claimed, errors.Join(opt.ErrUnknown, k.cfg.Sessions.CloseSession(ctx, claimed.ID))
	}
	ok, err := k.cfg.Sessions.RenewSession(ctx, next, claimed.RenewAt)
	if err == nil && !ok { // it was closed meanwhile
		err = opt.ErrUnknown
	}
	return next, err
}

// withCredential returns r as if it had been sent with a credential alone.
func withCredential(r *http.Request, credential string) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Del("X-API-Key")
	r.Header.Set("Authorization", "Bearer "+credential)
	return r
}

// sessionID returns the id of the session with a secret. The journal has only the id.
func sessionID(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// newSecret returns more than 256 random bits as text.
func newSecret() string { return rand.Text() + rand.Text() }

// openSession stores a session, in place of the one that the browser has, and sets its
// cookie. The secret is new each time, so that a secret that others know is useless.
func openSession(v *visit, s access.Session) error {
	if err := closeSession(v); err != nil {
		return err
	}
	secret, now := newSecret(), v.cfg.Now()
	until := now.Add(sessionAge)
	if end := s.ValidUntil.Time(); s.Refresh == "" && !end.IsZero() && end.Before(until) {
		until = end
	}
	s.ID, s.ExpiresAt = sessionID(secret), a2a.At(until)
	if err := v.cfg.Sessions.OpenSession(v.r.Context(), s); err != nil {
		return err
	}
	v.setCookie(sessionCookie, secret, until.Sub(now)+endedAge)
	return nil
}

// closeSession closes the session of the browser, if it has one. The browser keeps its cookie.
func closeSession(v *visit) error {
	secret := v.cookie(v.r, sessionCookie)
	if secret == "" || v.cfg.Sessions == nil {
		return nil
	}
	return v.cfg.Sessions.CloseSession(v.r.Context(), sessionID(secret))
}

// signedIn reports whether the browser has the cookie of a session.
func signedIn(v *visit) bool {
	return v.cfg.Sessions != nil && v.cookie(v.r, sessionCookie) != ""
}

// Names of cookies.
const (
	sessionCookie = "longhaul_session" // the secret of a session
	signInCookie  = "longhaul_sign_in" // an attempt to sign in with the provider
)

// cookieName returns the name of a cookie in the browser. With __Host-, other servers of the
// same domain and unencrypted answers cannot set it.
func (k *Console) cookieName(cookie string) string {
	if k.cfg.Secure {
		return "__Host-" + cookie
	}
	return cookie
}

// cookie returns the value of a cookie, "" if the browser has none.
func (k *Console) cookie(r *http.Request, cookie string) string {
	got, err := r.Cookie(k.cookieName(cookie))
	if err != nil {
		return ""
	}
	return got.Value
}

// setCookie makes the browser keep a cookie for some time; a negative time removes it. Scripts cannot
// read it, and requests from other sites do not have it, apart from links. A proxy may say that its
// connection to the browser is encrypted. If that is false, the browser only sends the cookie less often.
func (v *visit) setCookie(cookie, value string, age time.Duration) {
	c := &http.Cookie{
		Name: v.cookieName(cookie), Value: value, Path: Path, MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: v.cfg.Secure || v.r.TLS != nil || v.r.Header.Get("X-Forwarded-Proto") == "https",
	}
	if v.cfg.Secure {
		c.Path = "/" // as __Host- demands
	}
	if age < 0 {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}
