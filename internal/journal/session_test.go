package journal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

// at0 returns the time of the beginning.
func at0() time.Time { return at(0).Time() }

// withKeys returns cfg with keys for secrets, see [boxOf], and a clock.
func withKeys(t *testing.T, cfg journal.Config, now func() time.Time, keys ...byte) journal.Config {
	cfg.Sealer, cfg.Now = boxOf(t, keys...), now
	return cfg
}

func signedIn(id string, expires int64) access.Session {
	return access.Session{
		ID: id, Credential: "the-credential-of-" + id, Refresh: "the-refresh-token", IDToken: "the-id-token",
		ExpiresAt: at(expires), RenewAt: at(50), ValidUntil: at(60),
	}
}

func TestJournal_Session(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		j, other := openWith(t, withKeys(t, cfg, at0, 1)), openWith(t, withKeys(t, cfg, at0, 1))
		one, two := signedIn("one", 100), access.Session{ID: "two", Credential: "lh_key", ExpiresAt: at(100)}
		for _, s := range []access.Session{one, two} {
			test.OK(t, j.Sessions.OpenSession(t.Context(), s))
			test.Equal(t, "session", s, test.Value(other.Sessions.Session(t.Context(), s.ID, at(99).Time()))(t))
		}
		test.Fails(t, "the same id was taken twice", "", j.Sessions.OpenSession(t.Context(), one))
		if text := string(raw(t, cfg)); !strings.Contains(text, "one") || strings.Contains(text, one.Credential) || strings.Contains(text, two.Credential) {
			t.Error("the journal holds secrets in plain text, or no session")
		}
		fails(t, "a session that has expired", opt.ErrUnknown)(j.Sessions.Session(t.Context(), "one", at(100).Time()))
		for range 2 {
			test.OK(t, j.Sessions.CloseSession(t.Context(), "one"))
		}
		fails(t, "a session that was closed", opt.ErrUnknown)(other.Sessions.Session(t.Context(), "one", at(0).Time()))
		if ok, err := j.Sessions.RenewSession(t.Context(), one, one.RenewAt); ok || err != nil {
			t.Errorf("renewing a session that was closed: %v, %v", ok, err)
		}
		test.Error(t, "another session", nil, test.Err(other.Sessions.Session(t.Context(), "two", at(0).Time())))
	})
}

// A session whose key for secrets was removed has ended; one with an older key has not.
func TestJournal_Session_keys(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		test.OK(t, openWith(t, withKeys(t, cfg, at0, 1)).Sessions.OpenSession(t.Context(), signedIn("one", 100)))
		if _, err := openWith(t, withKeys(t, cfg, at0, 2, 1)).Sessions.Session(t.Context(), "one", at(0).Time()); err != nil {
			t.Errorf("with a new key before the old one: %v", err)
		}
		fails(t, "without its key", opt.ErrUnknown)(openWith(t, withKeys(t, cfg, at0, 2)).Sessions.Session(t.Context(), "one", at(0).Time()))
	})
}

// Of several processes that renew a session, one succeeds.
func TestJournal_RenewSession(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		s := signedIn("one", 100)
		test.OK(t, openWith(t, withKeys(t, cfg, at0, 1)).Sessions.OpenSession(t.Context(), s))
		const processes = 4
		claimed := s
		claimed.RenewAt, claimed.Credential = at(70), "another-credential"
		renewed := make(chan bool, processes)
		for range processes {
			j := openWith(t, withKeys(t, cfg, at0, 1))
			go func() {
				ok, err := j.Sessions.RenewSession(t.Context(), claimed, s.RenewAt)
				if err != nil {
					t.Error(err)
				}
				renewed <- ok
			}()
		}
		n := 0
		for range processes {
			if <-renewed {
				n++
			}
		}
		got, err := openWith(t, withKeys(t, cfg, at0, 1)).Sessions.Session(t.Context(), "one", at(0).Time())
		if diff := cmp.Diff(claimed, got); n != 1 || err != nil || diff != "" {
			t.Errorf("%d processes renewed it, error %v, session mismatch (-want +got):\n%s", n, err, diff)
		}
	})
}

// Expired sessions are removed by a purge, and when another one is opened.
func TestJournal_Session_expired(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		clock := at(0)
		j := openWith(t, withKeys(t, cfg, func() time.Time { return clock.Time() }, 1))
		add := func(s access.Session) {
			t.Helper()
			test.OK(t, j.Sessions.OpenSession(t.Context(), s))
		}
		has := func(id string) bool {
			return slices.Contains(test.Value(j.Column(t.Context(), "SELECT id FROM sessions"))(t), id)
		}
		add(signedIn("session-1", 10))
		add(signedIn("session-2", 20))
		clock = at(10)
		add(signedIn("session-3", 30))
		if has("session-1") || !has("session-2") {
			t.Errorf("when another session is opened, the expired one is there: %v, the other: %v", has("session-1"), has("session-2"))
		}
		clock = at(20)
		test.Value(j.Purge(t.Context(), at(0).Time(), 1))(t)
		if has("session-2") || !has("session-3") {
			t.Errorf("after a purge, the expired session is there: %v, the other: %v", has("session-2"), has("session-3"))
		}
	})
}
