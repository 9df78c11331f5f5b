package chatapp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/internal/chatapp"
	"longhaul/internal/chatapp/teamstest"
	"longhaul/internal/test"
)

// A line is the network to a Teams: it counts the requests by path, and can be cut.
type line struct {
	cut  bool
	seen map[string]int
}

func (l *line) Do(ctx context.Context, r *http.Request) (*http.Response, error) {
	l.seen[r.URL.Path]++
	if l.cut {
		return nil, errors.New("cut")
	}
	return http.DefaultClient.Do(r.WithContext(ctx))
}

// Keys are read again after an hour, and for an unknown one, but not for each request with one. While
// they cannot be read, those from before hold; before, no request can be judged.
func TestBot_Verify_keys(t *testing.T) {
	at := teamstest.New(t)
	by := &line{cut: true, seen: map[string]int{}}
	bot := &chatapp.Bot{ID: teamstest.App, Directory: teamstest.Directory, Login: at.URL + "/login", Keys: at.URL + "/metadata"}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	verify := func(key string) error {
		var in chatapp.Activity
		raw, _ := json.Marshal(at.Invoke("U1", "task/fetch", nil, now))
		test.OK(t, json.Unmarshal(raw, &in))
		return bot.Verify(t.Context(), by, http.Header{"Authorization": {"Bearer " + at.Token(now, map[string]any{"kid": key})}}, in, now)
	}
	for range 3 {
		if err := verify(teamstest.Endorsed); !errors.Is(err, chatapp.ErrNoKeys) {
			t.Fatalf("without keys: %v", err)
		}
	}
	test.Is(t, "readings at once", 1, by.seen["/metadata"])
	by.cut, now = false, now.Add(11*time.Second)
	for range 3 {
		test.OK(t, verify(teamstest.Endorsed))
		if err := verify(teamstest.Unknown); err == nil || errors.Is(err, chatapp.ErrNoKeys) {
			t.Fatalf("an unknown key: %v", err)
		}
	}
	test.Is(t, "readings of the keys", 1, by.seen["/keys"])
	by.cut, now = true, now.Add(2*time.Hour)
	if err := verify(teamstest.Endorsed); err != nil || by.seen["/metadata"] != 3 {
		t.Errorf("keys from before: %v, after %d readings", err, by.seen["/metadata"])
	}
}

// A bot that the directory refuses is a failure of the platform, which does not show its secret.
func TestApp_Call_refused(t *testing.T) {
	at := teamstest.New(t)
	app := chatapp.App{Kind: chatapp.Teams, URL: at.URL, Secret: "the wrong secret", Bot: &chatapp.Bot{ID: teamstest.App, Directory: teamstest.Directory, Login: at.URL + "/login"}}
	err := app.Call(t.Context(), &line{seen: map[string]int{}}, "POST /v3/conversations/x/activities", nil, nil)
	f, ok := chatapp.FailureOf(err)
	if !ok || f.Status != http.StatusUnauthorized || f.Code != "invalid_client" || strings.Contains(err.Error(), app.Secret) {
		t.Errorf("%v", err)
	}
	if len(at.All()) > 0 {
		t.Errorf("%v", at.All())
	}
}
