package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Kind says how the sender of events proves who it is, and where the type and the id of an event
// are.
type Kind string

// The kinds of triggers.
const (
	GitHub       Kind = "github"
	Stripe       Kind = "stripe"
	Alertmanager Kind = "alertmanager"
	Secret       Kind = "secret" // any sender that has the secret
)

// A sender is what a kind knows about its events. An id is part of what the proof covers: a request
// that was captured and sent again under another id would start work again.
type sender struct {
	proves   func(secret string, h http.Header, body []byte, now time.Time) bool
	describe func(secret string, h http.Header, body any) (kind, id string) // "" for an id that is made of the body
}

var senders = map[Kind]sender{
	GitHub: {
		func(secret string, h http.Header, body []byte, _ time.Time) bool {
			return signed(secret, h.Get("X-Hub-Signature-256"), body)
		},
		func(_ string, h http.Header, _ any) (kind, id string) { return h.Get("X-GitHub-Event"), "" },
	},
	Stripe: {stripeSigned, func(_ string, _ http.Header, body any) (kind, id string) {
		return member(body, "type"), member(body, "id")
	}},
	Alertmanager: {
		func(secret string, h http.Header, _ []byte, _ time.Time) bool { return presented(secret, h) },
		func(_ string, _ http.Header, body any) (kind, id string) {
			return member(body, "status"), alertID(body)
		},
	},
	Secret: {
		func(secret string, h http.Header, body []byte, _ time.Time) bool {
			return signed(secret, h.Get("X-Signature-256"), body) || presented(secret, h)
		},
		func(secret string, h http.Header, _ any) (kind, id string) {
			if presented(secret, h) {
				id = h.Get("Idempotency-Key")
			}
			return h.Get("X-Event"), id
		},
	},
}

// sentBy reports whether the sender that t is for has sent a request.
func (t *Trigger) sentBy(h http.Header, body []byte, now time.Time) bool {
	return t.secret != "" && senders[t.Kind].proves(t.secret, h, body, now)
}

// sum returns the signature of a text in parts.
func sum(secret string, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	for _, p := range parts {
		mac.Write(p)
	}
	return mac.Sum(nil)
}

// is reports whether a signature is the one in hexadecimal digits.
func is(signature []byte, digits string) bool {
	given, err := hex.DecodeString(digits)
	return err == nil && hmac.Equal(signature, given)
}

// signed reports whether a header of the form sha256=DIGITS is the signature of a body.
func signed(secret, header string, body []byte) bool {
	digits, ok := strings.CutPrefix(header, "sha256=")
	return ok && is(sum(secret, body), digits)
}

// signedFor is how old a signed request may be, and how far in the future.
const signedFor = 5 * time.Minute

// stripeSigned reports whether Stripe has signed a request. While a secret is replaced there are
// several signatures, and those of schemes other than v1 do not count.
func stripeSigned(secret string, h http.Header, body []byte, now time.Time) bool {
	var at string
	var signatures []string
	for field := range strings.SplitSeq(h.Get("Stripe-Signature"), ",") {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "t":
			at = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)); err != nil || age > signedFor || age < -signedFor {
		return false
	}
	want := sum(secret, []byte(at+"."), body)
	return slices.ContainsFunc(signatures, func(digits string) bool { return is(want, digits) })
}

// presented reports whether a request has the secret as a bearer token, or as the password of any
// user.
func presented(secret string, h http.Header) bool {
	given := h.Get("Authorization")
	if _, password, ok := (&http.Request{Header: h}).BasicAuth(); ok {
		given = "Bearer " + password
	}
	scheme, token, _ := strings.Cut(given, " ")
	return strings.EqualFold(scheme, "Bearer") && hmac.Equal([]byte(token), []byte(secret))
}

// member returns a text of an object, "" if it has none.
func member(object any, name string) string {
	m, _ := object.(map[string]any)
	text, _ := m[name].(string)
	return text
}

// alertID returns the id of a notification of Alertmanager, which has none of its own: the same
// for each repeat about the same alerts of a group.
func alertID(body any) string {
	m, _ := body.(map[string]any)
	list, _ := m["alerts"].([]any)
	var alerts []string
	for _, a := range list {
		alerts = append(alerts, member(a, "startsAt")+" "+member(a, "fingerprint"))
	}
	slices.Sort(alerts)
	return digest([]byte(strings.Join(append([]string{member(body, "groupKey"), member(body, "status")}, alerts...), "\n")))
}

// digest returns the id of an event that has none.
func digest(text []byte) string {
	d := sha256.Sum256(text)
	return hex.EncodeToString(d[:])
}
