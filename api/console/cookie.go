package console

import (
	"net/http"
	"time"
)

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
