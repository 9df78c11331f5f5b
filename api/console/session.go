package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/access"
)

const (
	sessionAge = 12 * time.Hour // for which a browser stays signed in
	endedAge   = 12 * time.Hour // for which it then gets the reason why it has to sign in again
)

var errNoSession = errors.New("the session has ended")

// credentials finds the credentials of browsers.
type credentials struct {
	sessions Sessions // nil: there is no sign-in
	provider Provider // nil: no credential is renewed
	cookies  cookies
	log      *zap.Logger
	now      func() time.Time
}

// withSession returns r with the credential of its session, or r itself if it has no session.
// The error is errNoSession for a session that has ended.
func (c credentials) withSession(r *http.Request) (*http.Request, error) {
	secret := c.cookies.read(r, sessionCookie)
	if secret == "" || c.sessions == nil {
		return r, nil
	}
	s, err := c.sessions.Session(r.Context(), sessionID(secret), c.now())
	if err == nil {
		s, err = c.current(r.Context(), s)
	}
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return nil, errNoSession
	case err != nil:
		return nil, err
	}
	return withCredential(r, s.Credential), nil
}

// refusesCredential reports whether an error of Config.Authenticate is about the credential:
// it would be refused again.
func refusesCredential(err error) bool {
	_, limit := errors.AsType[*call.Fault](err)
	return err != nil && !limit && !errors.Is(err, opt.ErrUnavailable)
}

// end closes the session of r, if it has one.
func (c credentials) end(r *http.Request) {
	secret := c.cookies.read(r, sessionCookie)
	if secret == "" || c.sessions == nil {
		return
	}
	if err := c.sessions.CloseSession(r.Context(), sessionID(secret)); err != nil {
		c.log.Warn("Could not close a session whose credential is refused", zap.Error(err))
	}
}

// How the credential of a session is renewed: by one request, which others wait for if
// the old credential has expired. A renewal that was interrupted is tried again later.
const (
	renewTime  = 30 * time.Second // longer than the provider may take: three requests, 5 seconds each
	renewWaits = 50
	renewWait  = 100 * time.Millisecond
)

// current returns s with a credential that is valid now.
func (c credentials) current(ctx context.Context, s access.Session) (access.Session, error) {
	if c.provider == nil || s.RenewAt.IsZero() {
		return s, nil
	}
	for range renewWaits {
		now := c.now()
		if now.Before(s.RenewAt.Time()) && now.Before(s.ValidUntil.Time()) {
			return s, nil
		}
		if !now.Before(s.RenewAt.Time()) {
			claimed := s
			claimed.RenewAt = a2a.At(now.Add(renewTime))
			ok, err := c.sessions.RenewSession(ctx, claimed, s.RenewAt)
			if err != nil {
				return s, err
			}
			if ok {
				return c.renew(ctx, claimed)
			}
		}
		select {
		case <-time.After(renewWait): // another request renews it
		case <-ctx.Done():
			return s, ctx.Err()
		}
		var err error
		if s, err = c.sessions.Session(ctx, s.ID, c.now()); err != nil {
			return s, err
		}
	}
	return s, opt.ErrUnavailable
}

// renew renews the credential of a session with the provider. No other request does so until
// claimed.RenewAt. If the provider refuses, the session ends.
func (c credentials) renew(ctx context.Context, claimed access.Session) (access.Session, error) {
	ctx = context.WithoutCancel(ctx) // a refresh token is often valid once
	next, err := c.provider.Renew(ctx, claimed)
	switch {
	case errors.Is(err, opt.ErrUnavailable):
		c.log.Warn("The provider has not renewed the token of a session", zap.Error(err))
		if c.now().Before(claimed.ValidUntil.Time()) {
			return claimed, nil
		}
		return claimed, err
	case err != nil:
		c.log.Info("A session has ended: the provider does not renew its token", zap.Error(err))
		return claimed, errors.Join(opt.ErrUnknown, c.sessions.CloseSession(ctx, claimed.ID))
	}
	ok, err := c.sessions.RenewSession(ctx, next, claimed.RenewAt)
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

// newSecret returns 32 random bytes as text.
func newSecret() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return base64.RawURLEncoding.EncodeToString(secret)
}

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
	v.credentials.cookies.set(v, sessionCookie, secret, until.Sub(now)+endedAge)
	return nil
}

// closeSession closes the session of the browser, if it has one.
func closeSession(v *visit) error {
	secret := v.credentials.cookies.read(v.r, sessionCookie)
	if secret == "" {
		return nil
	}
	v.credentials.cookies.set(v, sessionCookie, "", -1)
	return v.cfg.Sessions.CloseSession(v.r.Context(), sessionID(secret))
}

// signedIn reports whether the browser has the cookie of a session.
func signedIn(v *visit) bool {
	return v.cfg.Sessions != nil && v.credentials.cookies.read(v.r, sessionCookie) != ""
}

// Names of cookies.
const (
	sessionCookie = "longhaul_session" // the secret of a session
	signInCookie  = "longhaul_sign_in" // an attempt to sign in with the provider
)

// cookies makes and reads the cookies of a console. Scripts cannot read them, and
// requests from other sites do not have them, apart from links.
type cookies struct {
	secure bool // browsers reach the server by https alone
}

// name returns the name of a cookie in the browser. With __Host-, other servers of the
// same domain and unencrypted answers cannot set it.
func (k cookies) name(cookie string) string {
	if k.secure {
		return "__Host-" + cookie
	}
	return cookie
}

// read returns the value of a cookie, "" if the browser has none.
func (k cookies) read(r *http.Request, cookie string) string {
	c, err := r.Cookie(k.name(cookie))
	if err != nil {
		return ""
	}
	return c.Value
}

// set makes a browser keep a cookie for some time; a negative time removes it. A proxy may say
// that its connection to the browser is encrypted. If that is false, the browser only sends the
// cookie less often.
func (k cookies) set(v *visit, cookie, value string, age time.Duration) {
	c := &http.Cookie{
		Name: k.name(cookie), Value: value, Path: Path, MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: k.secure || v.r.TLS != nil || v.r.Header.Get("X-Forwarded-Proto") == "https",
	}
	if k.secure {
		c.Path = "/" // as __Host- demands
	}
	if age < 0 {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}
