package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/identity"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/shown"
)

// endedAge is how long browsers keep the cookie of a session after its end, to get the reason why they have to sign in
// again.
const endedAge = 12 * time.Hour

// withSession returns r with the credential of its session, or r itself if it has no session.
func (k *Console) withSession(r *http.Request) (*http.Request, error) {
	secret := k.cookie(r, sessionCookie)
	if secret == "" || k.cfg.Sessions == nil {
		return r, nil
	}
	credential, err := k.cfg.Sessions.Credential(r.Context(), secret)
	return withCredential(r, credential), err
}

// withCredential returns r as if it had been sent with a credential alone.
func withCredential(r *http.Request, credential string) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Del("X-API-Key")
	r.Header.Set("Authorization", "Bearer "+credential)
	return r
}

// openSession opens a session, in place of the one that the browser has, and sets its cookie.
func openSession(v *visit, s access.Session) error {
	secret, until, err := v.cfg.Sessions.Open(v.r.Context(), s, v.cookie(v.r, sessionCookie))
	if err == nil {
		v.setCookie(sessionCookie, secret, until.Sub(v.cfg.Now())+endedAge)
	}
	return err
}

// closeSession closes the session of the browser, if it has one. The browser keeps its cookie.
func closeSession(v *visit) error {
	if !signedIn(v) {
		return nil
	}
	return v.cfg.Sessions.Close(v.r.Context(), v.cookie(v.r, sessionCookie))
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
func (k *Console) cookieName(cookie string) string {
	return shown.When(k.cfg.Secure, "__Host-") + cookie
}

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
		Name: v.cookieName(cookie), Value: value, Path: cmp.Or(shown.When(v.cfg.Secure, "/"), Path), // as __Host- demands
		MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: v.cfg.Secure || v.r.TLS != nil || v.r.Header.Get("X-Forwarded-Proto") == "https",
	})
}

// beginProvider leads a browser to the provider. It changes nothing but the cookie with
// the attempt, so it may be a link.
func beginProvider(v *visit) (view, error) {
	next := nextPath(v.r.URL.Query().Get("next"))
	to, attempt, err := v.cfg.Sessions.SignIn.Begin(v.r.Context(), next)
	if err != nil {
		return providerProblem(v, next, err), nil
	}
	v.setCookie(signInCookie, attempt, identity.AttemptAge)
	return view{Location: to}, nil
}

// finishProvider opens a session for a browser that comes back from the provider.
func finishProvider(v *visit) (view, error) {
	s, next, err := v.cfg.Sessions.SignIn.Finish(v.r.Context(), v.cookie(v.r, signInCookie), v.r.URL.Query())
	v.setCookie(signInCookie, "", gone) // an answer counts once
	switch {
	case errors.Is(err, identity.ErrNotBegun):
		return signInPage(v, nextPath(""), "This sign-in was not begun in this browser, took too long, or is over. Sign in again.", http.StatusBadRequest), nil
	case err != nil:
		return providerProblem(v, next, err), nil
	}
	return openAccepted(v, s, next, notAcceptedText)
}

// notAcceptedText is shown to people whose token lacks a claim that this server needs.
const notAcceptedText = "The provider has signed you in, but this server does not accept what it says about you. The log of the server has the reason, for those who run it."

// providerProblem returns the page for signing in, with the reason for which that has failed and what to do.
func providerProblem(v *visit, next string, err error) view {
	v.cfg.Log.Warn("Signing in with the provider has failed", zap.String("requestId", v.call.RequestID), zap.Error(err))
	refused, ok := errors.AsType[*identity.ProviderError](err)
	switch {
	case errors.Is(err, opt.ErrUnavailable):
		return signInPage(v, next, "The provider does not answer. Try again in a moment.", http.StatusServiceUnavailable)
	case !ok:
		return signInPage(v, next, notAcceptedText, http.StatusUnauthorized)
	}
	message := refused.Code + shown.Behind(": ", refused.Description)
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
	to, err := v.cfg.Sessions.End(v.r.Context(), v.cookie(v.r, sessionCookie))
	if err != nil {
		return view{}, err
	}
	v.setCookie(sessionCookie, "", gone)
	if to == "" {
		return view{Location: signInPath}, nil
	}
	v.w.Header().Set("Refresh", "0; url="+to) // the policy of the pages forbids redirects of forms to other sites
	return view{Template: "signedout", Title: "Signed out", Data: signInForm{Next: to, Provider: v.cfg.Provider}}, nil
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
	return signInPage(v, nextPath(q.Get("next")), shown.When(q.Has("ended"), "Your session has ended. Sign in again."), http.StatusOK), nil
}

func signInPage(v *visit, next, problem string, status int) view {
	form := signInForm{next, !v.cfg.NoKeys, v.cfg.Provider}
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
