package identity

import (
	"errors"
	"math"
	"strings"
	"time"
)

// claims are the claims of a token.
type claims map[string]any

// text returns a claim that is text, else "".
func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}

// list returns a claim that is a list of texts, or one text.
func (c claims) list(name string) (out []string) {
	switch v := c[name].(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// names returns a claim that is a list of names, or a text with names.
func (c claims) names(name string) []string {
	return strings.Fields(strings.Join(c.list(name), " "))
}

// time returns a claim that is a time, else the zero time.
func (c claims) time(name string) time.Time {
	seconds, ok := c[name].(float64)
	if !ok || math.Abs(seconds) > 1<<40 {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000))
}

var (
	errNoExpiry = errors.New("the token has no time of expiry")
	errExpired  = errors.New("the credential has expired")
	errEarly    = errors.New("the token is not valid yet")
)

// checkTimes checks the times of a token, with some tolerance.
func (c claims) checkTimes(now time.Time) error {
	expires := c.time("exp")
	switch {
	case expires.IsZero():
		return errNoExpiry
	case !now.Before(expires.Add(clockSkew)):
		return errExpired
	case c.time("nbf").After(now.Add(clockSkew)), c.time("iat").After(now.Add(clockSkew)):
		return errEarly
	}
	return nil
}
