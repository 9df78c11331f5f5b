package journal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/journal"
	"longhaul/internal/seal"
	"longhaul/opt"
)

// eachSealed runs a test on every database. open opens the same journal each time, with
// keys for secrets and a clock.
func eachSealed(t *testing.T, test func(t *testing.T, open func(now func() time.Time, keys ...[]byte) *journal.Journal)) {
	opener := func(cfg journal.Config) func(now func() time.Time, keys ...[]byte) *journal.Journal {
		return func(now func() time.Time, keys ...[]byte) *journal.Journal {
			box := value(seal.New(keys...))(t)
			cfg.Sealer, cfg.Now = box, now
			return openWith(t, cfg)
		}
	}
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, opener(journal.Config{Path: file(t), Sync: "normal"}))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, opener(journal.Config{URL: database(t), Migrate: true}))
	})
}

// One key for secrets, and another.
var oneKey, otherKey = []byte(strings.Repeat("1", 32)), []byte(strings.Repeat("2", 32))

func signedIn(id string, expires int64) opt.Session {
	return opt.Session{
		ID: id, Credential: "the-credential-of-" + id, Refresh: "the-refresh-token", IDToken: "the-id-token",
		ExpiresAt: at(expires), RenewAt: at(50), ValidUntil: at(60),
	}
}

func sessionRows(t *testing.T, j *journal.Journal) string {
	t.Helper()
	text := value(j.SessionRows(t.Context()))(t)
	return text
}

func TestJournal_Session(t *testing.T) {
	eachSealed(t, func(t *testing.T, open func(func() time.Time, ...[]byte) *journal.Journal) {
		now := func() time.Time { return at(0).Time() }
		j, other := open(now, oneKey), open(now, oneKey)
		one, two := signedIn("one", 100), opt.Session{ID: "two", Credential: "lh_key", ExpiresAt: at(100)}
		for _, s := range []opt.Session{one, two} {
			must(t, j.Sessions.OpenSession(t.Context(), s))
			equal(t, "session", s, value(other.Sessions.Session(t.Context(), s.ID, at(99).Time()))(t))
		}
		if err := j.Sessions.OpenSession(t.Context(), one); err == nil {
			t.Error("the same id was taken twice")
		}
		if text := sessionRows(t, j); !strings.Contains(text, "one") || strings.Contains(text, "the-") || strings.Contains(text, "lh_key") {
			t.Errorf("the journal holds secrets in plain text, or no session:\n%s", text)
		}
		if _, err := j.Sessions.Session(t.Context(), "one", at(100).Time()); !errors.Is(err, opt.ErrUnknown) {
			t.Errorf("a session that has expired: %v", err)
		}
		for range 2 {
			must(t, j.Sessions.CloseSession(t.Context(), "one"))
		}
		if _, err := other.Sessions.Session(t.Context(), "one", at(0).Time()); !errors.Is(err, opt.ErrUnknown) {
			t.Errorf("a session that was closed: %v", err)
		}
		if ok, err := j.Sessions.RenewSession(t.Context(), one, one.RenewAt); ok || err != nil {
			t.Errorf("renewing a session that was closed: %v, %v", ok, err)
		}
		if _, err := other.Sessions.Session(t.Context(), "two", at(0).Time()); err != nil {
			t.Errorf("another session: %v", err)
		}
	})
}

// A session whose key for secrets was removed has ended; one with an older key has not.
func TestJournal_Session_keys(t *testing.T) {
	eachSealed(t, func(t *testing.T, open func(func() time.Time, ...[]byte) *journal.Journal) {
		now := func() time.Time { return at(0).Time() }
		must(t, open(now, oneKey).Sessions.OpenSession(t.Context(), signedIn("one", 100)))
		if _, err := open(now, otherKey, oneKey).Sessions.Session(t.Context(), "one", at(0).Time()); err != nil {
			t.Errorf("with a new key before the old one: %v", err)
		}
		if _, err := open(now, otherKey).Sessions.Session(t.Context(), "one", at(0).Time()); !errors.Is(err, opt.ErrUnknown) {
			t.Errorf("without its key: %v, want that it is unknown", err)
		}
	})
}

// Of several processes that renew a session, one succeeds.
func TestJournal_RenewSession(t *testing.T) {
	eachSealed(t, func(t *testing.T, open func(func() time.Time, ...[]byte) *journal.Journal) {
		now := func() time.Time { return at(0).Time() }
		s := signedIn("one", 100)
		must(t, open(now, oneKey).Sessions.OpenSession(t.Context(), s))
		const processes = 4
		claimed := s
		claimed.RenewAt, claimed.Credential = at(70), "another-credential"
		renewed := make(chan bool, processes)
		for range processes {
			j := open(now, oneKey)
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
		got, err := open(now, oneKey).Sessions.Session(t.Context(), "one", at(0).Time())
		if diff := cmp.Diff(claimed, got); n != 1 || err != nil || diff != "" {
			t.Errorf("%d processes renewed it, error %v, session mismatch (-want +got):\n%s", n, err, diff)
		}
	})
}

// Expired sessions are removed by a purge, and when another one is opened.
func TestJournal_Session_expired(t *testing.T) {
	eachSealed(t, func(t *testing.T, open func(func() time.Time, ...[]byte) *journal.Journal) {
		clock := at(0)
		j := open(func() time.Time { return clock.Time() }, oneKey)
		add := func(s opt.Session) {
			t.Helper()
			must(t, j.Sessions.OpenSession(t.Context(), s))
		}
		has := func(id string) bool { return strings.Contains(sessionRows(t, j), id) }
		add(signedIn("session-1", 10))
		add(signedIn("session-2", 20))
		clock = at(10)
		add(signedIn("session-3", 30))
		if has("session-1") || !has("session-2") {
			t.Errorf("when another session is opened, the expired one is there: %v, the other: %v", has("session-1"), has("session-2"))
		}
		clock = at(20)
		value(j.Purge(t.Context(), at(0).Time(), 1))(t)
		if has("session-2") || !has("session-3") {
			t.Errorf("after a purge, the expired session is there: %v, the other: %v", has("session-2"), has("session-3"))
		}
	})
}
