package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
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
	if errors.Is(err, opt.ErrUnknown) {
		err = errNoSession
	}
	return withCredential(r, s.Credential), err
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
		switch now := k.cfg.Now(); {
		case !now.Before(s.RenewAt.Time()):
			claimed := s
			claimed.RenewAt = a2a.At(now.Add(renewTime))
			if ok, err := k.cfg.Sessions.RenewSession(ctx, claimed, s.RenewAt); err != nil {
				return s, err
			} else if ok {
				return k.renew(ctx, claimed)
			}
		case now.Before(s.ValidUntil.Time()):
			return s, nil
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
			err = nil
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

const gone = -time.Second

// Names of cookies.
const (
	sessionCookie = "longhaul_session" // the secret of a session
	signInCookie  = "longhaul_sign_in" // an attempt to sign in with the provider
)

// cookieName returns the name of a cookie in the browser. With __Host-, other servers of the
// same domain and unencrypted answers cannot set it.
func (k *Console) cookieName(cookie string) string { return when(k.cfg.Secure, "__Host-") + cookie }

// cookie returns the value of a cookie, "" if the browser has none.
func (k *Console) cookie(r *http.Request, cookie string) string {
	got, err := r.Cookie(k.cookieName(cookie))
	if err != nil {
		return ""
	}
	return got.Value
}

// setCookie makes the browser keep a cookie for some time; gone removes it. Scripts cannot
// read it, and requests from other sites do not have it, apart from links. A proxy may say that its
// connection to the browser is encrypted. If that is false, the browser only sends the cookie less often.
func (v *visit) setCookie(cookie, value string, age time.Duration) {
	http.SetCookie(v.w, &http.Cookie{
		Name: v.cookieName(cookie), Value: value, Path: cmp.Or(when(v.cfg.Secure, "/"), Path), // as __Host- demands
		MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: v.cfg.Secure || v.r.TLS != nil || v.r.Header.Get("X-Forwarded-Proto") == "https",
	})
}

// A Provider signs people in with an OpenID Connect provider. Errors about one that does
// not answer wrap opt.ErrUnavailable; its refusals are [access.ProviderError]s.
type Provider interface {
	// Begin returns the URL at which a browser signs in.
	Begin(ctx context.Context, in access.SignIn) (string, error)
	// Finish exchanges the code that the browser has brought back for a session without an id.
	Finish(ctx context.Context, in access.SignIn, code string) (access.Session, error)
	// Renew returns a session with a new credential.
	Renew(ctx context.Context, s access.Session) (access.Session, error)
	// End returns the URL at which the provider ends its own session, "" for none.
	End(ctx context.Context, s access.Session) string
}

// A Sealer encrypts what browsers keep. What Seal returns can be opened only with the same
// context, by every process that serves the console.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(sealed []byte, context string) ([]byte, error)
}

// attemptAge is how long people may take at the provider.
const attemptAge = 15 * time.Minute

// An attempt to sign in with the provider. Only the browser keeps it, encrypted.
type attempt struct {
	access.SignIn
	Next      string
	ExpiresAt a2a.Time
}

const attemptContext = "console sign-in"

// beginProvider leads a browser to the provider. It changes nothing but the cookie with
// the attempt, so it may be a link.
func beginProvider(v *visit) (view, error) {
	next := nextPath(v.r.URL.Query().Get("next"))
	a := attempt{access.SignIn{State: newSecret(), Nonce: newSecret(), Verifier: newSecret()}, next, a2a.At(v.cfg.Now().Add(attemptAge))}
	to, err := v.cfg.Provider.Begin(v.r.Context(), a.SignIn)
	if err != nil {
		return providerProblem(v, next, err), nil
	}
	plain, _ := json.Marshal(a) // texts and a time
	sealed, err := v.cfg.Sealer.Seal(plain, attemptContext)
	if err != nil {
		return view{}, err
	}
	v.setCookie(signInCookie, base64.RawURLEncoding.EncodeToString(sealed), attemptAge)
	return view{Location: to}, nil
}

// finishProvider opens a session for a browser that comes back from the provider.
func finishProvider(v *visit) (view, error) {
	q := v.r.URL.Query()
	a, ok := attemptOf(v)
	v.setCookie(signInCookie, "", gone) // an answer counts once
	var s access.Session
	var err error
	switch code := q.Get("code"); {
	case !ok, subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(a.State)) != 1:
		return signInPage(v, nextPath(""), "This sign-in was not begun in this browser, took too long, or is over. Sign in again.", http.StatusBadRequest), nil
	case q.Get("error") != "":
		err = &access.ProviderError{Code: q.Get("error"), Description: q.Get("error_description")}
	default:
		s, err = v.cfg.Provider.Finish(v.r.Context(), a.SignIn, code)
	}
	if err != nil {
		return providerProblem(v, a.Next, err), nil
	}
	return openAccepted(v, s, a.Next, notAcceptedText)
}

// attemptOf returns the attempt that the browser keeps; ok is false if it keeps none that is valid.
func attemptOf(v *visit) (a attempt, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(v.cookie(v.r, signInCookie))
	if err != nil || len(sealed) == 0 {
		return a, false
	}
	plain, err := v.cfg.Sealer.Open(sealed, attemptContext)
	if err != nil || json.Unmarshal(plain, &a) != nil {
		return attempt{}, false
	}
	return a, v.cfg.Now().Before(a.ExpiresAt.Time())
}

// notAcceptedText is shown to people whose token lacks a claim that this server needs.
const notAcceptedText = "The provider has signed you in, but this server does not accept what it says about you. The log of the server has the reason, for those who run it."

// providerProblem returns the page for signing in, with the reason for which that has failed and what to do.
func providerProblem(v *visit, next string, err error) view {
	v.cfg.Log.Warn("Signing in with the provider has failed", zap.String("requestId", v.call.RequestID), zap.Error(err))
	refused, ok := errors.AsType[*access.ProviderError](err)
	switch {
	case errors.Is(err, opt.ErrUnavailable):
		return signInPage(v, next, "The provider does not answer. Try again in a moment.", http.StatusServiceUnavailable)
	case !ok:
		return signInPage(v, next, notAcceptedText, http.StatusUnauthorized)
	}
	message := refused.Code + behind(": ", refused.Description)
	return signInPage(v, next, "The provider has refused ("+shorten(a2a.Visible(message), 300)+"). "+providerAdvice(refused.Code), http.StatusUnauthorized)
}

func providerAdvice(code string) string {
	switch code {
	case "access_denied":
		return "Ask those who run the provider whether you may use this server."
	case "server_error", "temporarily_unavailable":
		return "Try again in a moment."
	case "invalid_client", "unauthorized_client", "invalid_request", "invalid_scope", "unsupported_response_type":
		return "Those who run this server have to compare its settings for the client with those at the provider."
	}
	return "Sign in again."
}

// signOut closes the session of the browser, and leads to the provider if that has one of its own.
func signOut(v *visit) (view, error) {
	v.call.Method = "SignOut"
	if v.cfg.Sessions == nil {
		return view{Location: signInPath}, nil
	}
	s, err := v.cfg.Sessions.Session(v.r.Context(), sessionID(v.cookie(v.r, sessionCookie)), v.cfg.Now())
	if err != nil && !errors.Is(err, opt.ErrUnknown) {
		return view{}, err
	}
	v.setCookie(sessionCookie, "", gone)
	if err := closeSession(v); err != nil || s.IDToken == "" || v.cfg.Provider == nil {
		return view{Location: signInPath}, err
	}
	to := v.cfg.Provider.End(v.r.Context(), s)
	if to == "" {
		return view{Location: signInPath}, nil
	}
	v.w.Header().Set("Refresh", "0; url="+to) // the policy of the pages forbids redirects of forms to other sites
	return view{Template: "signedout", Title: "Signed out", Data: signInForm{Next: to, Provider: v.cfg.ProviderName}}, nil
}

type signInForm struct {
	Next     string // where the form or its link leads
	Keys     bool   // people may sign in with API keys
	Provider string // with which they may sign in, "" for none
}

func showSignIn(v *visit) (view, error) {
	if v.cfg.Sessions == nil {
		return view{Location: Path + "/inbox"}, nil
	}
	q := v.r.URL.Query()
	return signInPage(v, nextPath(q.Get("next")), when(q.Has("ended"), "Your session has ended. Sign in again."), http.StatusOK), nil
}

func signInPage(v *visit, next, problem string, status int) view {
	form := signInForm{next, !v.cfg.NoKeys, when(v.cfg.Provider != nil, v.cfg.ProviderName)}
	return view{Status: status, Template: "signin", Title: "Sign in", Problem: problem, Data: form}
}

// signIn opens a session for a browser that has sent a key.
func signIn(v *visit) (view, error) {
	next := nextPath(v.field("next"))
	if v.cfg.Sessions == nil || v.cfg.NoKeys {
		return view{Location: next}, nil
	}
	s := access.Session{Credential: strings.TrimSpace(v.field("key"))}
	return openAccepted(v, s, next, "This key is not valid. It may have been revoked, or have expired.")
}

// openAccepted opens a session if its credential is accepted, and redirects to next.
// Otherwise it returns the page for signing in, with a problem.
func openAccepted(v *visit, s access.Session, next, problem string) (view, error) {
	v.call.Method = "SignIn"
	caller, err := v.cfg.Authenticate(withCredential(v.r, s.Credential))
	fault, _ := errors.AsType[*call.Fault](err)
	switch {
	case errors.Is(err, opt.ErrUnavailable):
		return signInPage(v, next, "Credentials cannot be checked at the moment. Try again soon.", http.StatusServiceUnavailable), nil
	case fault != nil && fault.Kind == call.RateLimited:
		v.retryAfter(fault)
		return signInPage(v, next, "Too many wrong keys were sent from your address. Wait a moment, then try again.", http.StatusTooManyRequests), nil
	case err != nil, caller.Anonymous:
		v.cfg.Log.Info("Refused a sign-in", zap.String("requestId", v.call.RequestID), zap.Error(cmp.Or(err, errAnonymous)))
		return signInPage(v, next, problem, http.StatusUnauthorized), nil
	}
	v.call.Caller = caller // for the log
	return view{Location: next}, openSession(v, s)
}

var errAnonymous = errors.New("callers need no credential")

// nextPath returns the page to show after signing in. Only pages of the console are
// allowed, so that a link to the page for signing in cannot lead elsewhere.
func nextPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || u.Path != path.Clean(u.Path) && u.Path != Path+"/" || !strings.HasPrefix(u.Path, Path+"/") ||
		strings.HasPrefix(u.Path, signInPath) || strings.HasPrefix(u.Path, oidcPath) {
		return Path + "/inbox"
	}
	return u.RequestURI()
}
