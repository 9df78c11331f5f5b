package console

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
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

// A Provider signs people in with an OpenID Connect provider. Errors about one that does
// not answer wrap opt.ErrUnavailable; its refusals are [access.ProviderError]s.
type Provider interface {
	// Begin returns the URL at which a browser signs in.
	Begin(ctx context.Context, in access.SignIn) (string, error)
	// Finish exchanges the code that the browser has brought back for a session without
	// an id.
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
	v.setCookie(signInCookie, "", -1) // an answer counts once
	switch code := q.Get("code"); {
	case !ok, subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(a.State)) != 1:
		return signInPage(v, nextPath(""), "This sign-in was not begun in this browser, took too long, or is over. Sign in again.", http.StatusBadRequest), nil
	case q.Get("error") != "":
		return providerProblem(v, a.Next, &access.ProviderError{Code: q.Get("error"), Description: q.Get("error_description")}), nil
	default:
		s, err := v.cfg.Provider.Finish(v.r.Context(), a.SignIn, code)
		if err != nil {
			return providerProblem(v, a.Next, err), nil
		}
		return openAccepted(v, s, a.Next, notAcceptedText)
	}
}

// attemptOf returns the attempt that the browser keeps; ok is false if it keeps none that is
// valid.
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

// providerProblem returns the page for signing in, with the reason for which that has
// failed and what to do.
func providerProblem(v *visit, next string, err error) view {
	v.cfg.Log.Warn("Signing in with the provider has failed", zap.String("requestId", v.call.RequestID), zap.Error(err))
	refused, ok := errors.AsType[*access.ProviderError](err)
	switch {
	case errors.Is(err, opt.ErrUnavailable):
		return signInPage(v, next, "The provider does not answer. Try again in a moment.", http.StatusServiceUnavailable)
	case !ok:
		return signInPage(v, next, notAcceptedText, http.StatusUnauthorized)
	}
	message := refused.Code
	if refused.Description != "" {
		message += ": " + refused.Description
	}
	return signInPage(v, next, "The provider has refused ("+shorten(a2a.Visible(message), 300)+"). "+providerAdvice(refused.Code), http.StatusUnauthorized)
}

// providerAdvice returns what people can do about an error of the provider.
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

// signOut closes the session of the browser, and leads to the provider if that has one of
// its own.
func signOut(v *visit) (view, error) {
	v.call.Method = "SignOut"
	if v.cfg.Sessions == nil {
		return view{Location: signInPath}, nil
	}
	s, err := v.cfg.Sessions.Session(v.r.Context(), sessionID(v.cookie(v.r, sessionCookie)), v.cfg.Now())
	if err != nil && !errors.Is(err, opt.ErrUnknown) {
		return view{}, err
	}
	v.setCookie(sessionCookie, "", -1)
	if err := closeSession(v); err != nil || s.IDToken == "" || v.cfg.Provider == nil {
		return view{Location: signInPath}, err
	}
	to := v.cfg.Provider.End(v.r.Context(), s)
	if to == "" {
		return view{Location: signInPath}, nil
	}
	v.w.Header().Set("Refresh", "0; url="+to) // the policy of the pages forbids redirects of forms to other sites
	return view{Template: "signedout", Title: "Signed out", Data: signedOut{v.cfg.ProviderName, to}}, nil
}

// signedOut is the data of the page after signing out here, with a link that ends the session at the provider, too.
type signedOut struct{ Provider, URL string }

// A signInForm is the data of the page for signing in.
type signInForm struct {
	Next     string
	Keys     bool   // people may sign in with API keys
	Provider string // with which they may sign in, "" for none
}

func showSignIn(v *visit) (view, error) {
	if v.cfg.Sessions == nil {
		return view{Location: Path + "/inbox"}, nil
	}
	problem := ""
	if v.r.URL.Query().Has("ended") {
		problem = "Your session has ended. Sign in again."
	}
	return signInPage(v, nextPath(v.r.URL.Query().Get("next")), problem, http.StatusOK), nil
}

// signInPage returns the page for signing in, with a problem if there is one.
func signInPage(v *visit, next, problem string, status int) view {
	form := signInForm{Next: next, Keys: !v.cfg.NoKeys}
	if v.cfg.Provider != nil {
		form.Provider = v.cfg.ProviderName
	}
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
