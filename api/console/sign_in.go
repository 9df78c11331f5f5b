package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/access"
)

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
	out := signInPage(v, nextPath(v.r.URL.Query().Get("next")), "")
	if out.Status = http.StatusOK; v.r.URL.Query().Has("ended") {
		out.Problem = "Your session has ended. Sign in again."
	}
	return out, nil
}

// signInPage returns the page for signing in, with a problem if there is one.
func signInPage(v *visit, next, problem string) view {
	form := signInForm{Next: next, Keys: !v.cfg.NoKeys}
	if v.cfg.Provider != nil {
		form.Provider = v.cfg.ProviderName
	}
	return view{Status: http.StatusUnauthorized, Template: "signin", Title: "Sign in", Problem: problem, Data: form}
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
		out := signInPage(v, next, "Credentials cannot be checked at the moment. Try again soon.")
		out.Status = http.StatusServiceUnavailable
		return out, nil
	case fault != nil && fault.Kind == call.RateLimited:
		v.retryAfter(fault)
		out := signInPage(v, next, "Too many wrong keys were sent from your address. Wait a moment, then try again.")
		out.Status = http.StatusTooManyRequests
		return out, nil
	case err != nil, caller.Anonymous:
		v.cfg.Log.Info("Refused a sign-in", zap.String("requestId", v.call.RequestID), zap.Error(cmp.Or(err, errAnonymous)))
		return signInPage(v, next, problem), nil
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
