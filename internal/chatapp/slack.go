package chatapp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// signedFor is how old a signed request may be, and how far in the future.
const signedFor = 5 * time.Minute

// Headers with which Slack signs a request.
const (
	slackTime      = "X-Slack-Request-Timestamp"
	slackSignature = "X-Slack-Signature"
)

// SlackSigned returns the signature of a request, "" if it has none of the last five minutes.
func SlackSigned(h http.Header, now time.Time) string {
	at, err := strconv.ParseInt(h.Get(slackTime), 10, 64)
	if age := now.Sub(time.Unix(at, 0)); err != nil || age > signedFor || age < -signedFor {
		return ""
	}
	return h.Get(slackSignature)
}

// SlackVerifies reports whether the signature of a request with a body was made with the
// secret of a.
func (a App) SlackVerifies(h http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(a.Secret))
	mac.Write([]byte("v0:" + h.Get(slackTime) + ":"))
	mac.Write(body)
	return hmac.Equal([]byte("v0="+hex.EncodeToString(mac.Sum(nil))), []byte(h.Get(slackSignature)))
}

// slackAccount returns a person of Slack. Guests of other organizations and bots have no
// confirmed address.
func (a App) slackAccount(ctx context.Context, by Sender, id string) (Account, error) {
	var out struct {
		User struct {
			ID        string `json:"id"`
			Deleted   bool   `json:"deleted"`
			Bot       bool   `json:"is_bot"`
			Stranger  bool   `json:"is_stranger"`
			Confirmed bool   `json:"is_email_confirmed"`
			Profile   struct {
				Email string `json:"email"`
			} `json:"profile"`
		} `json:"user"`
	}
	if err := a.Call(ctx, by, "GET /api/users.info?user="+url.QueryEscape(id), nil, &out); err != nil {
		return Account{}, err
	}
	u := out.User
	if u.ID != id || u.Deleted || u.Bot || u.Stranger || !u.Confirmed {
		return Account{ID: id}, nil
	}
	return Account{ID: id, Email: u.Profile.Email}, nil
}
