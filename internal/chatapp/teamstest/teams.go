// Package teamstest has a double of Microsoft Teams for tests: the connector of the Bot Framework, the
// service that grants tokens to bots, and the keys that sign activities.
package teamstest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The bot that a Teams knows, and its conversation. The account Uann is a member of the directory with
// the address ann@example.com, and so on.
const (
	App       = "5e5d8d6e-0000-4000-8000-000000000001"
	Secret    = "0123456789abcdef"
	Directory = "5e5d8d6e-0000-4000-8000-00000000000d"
	Room      = "19:team@thread.tacv2"

	granted = "granted to the bot"
)

// The keys that sign activities.
const (
	Endorsed   = "endorsed" // for Teams
	Unendorsed = "other"    // for another channel
	Unknown    = "unknown"  // it is not published
	Forged     = "forged"   // another, with the id of the endorsed one
)

// A Call is a request to the connector that changes something.
type Call struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body"`
}

// A Teams is a double of Teams. It is safe for concurrent use.
type Teams struct {
	*httptest.Server
	Members map[string]string // members of accounts, as JSON, in place of the usual ones; "" for none

	key   *rsa.PrivateKey
	mu    sync.Mutex
	calls []Call
	sent  int
}

// New returns a Teams, which ends with the test.
func New(t testing.TB) *Teams {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &Teams{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login/"+Directory+"/oauth2/v2.0/token", grant)
	mux.HandleFunc("GET /metadata", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]any{"jwks_uri": s.URL + "/keys"}) })
	mux.HandleFunc("GET /keys", s.keys)
	mux.HandleFunc("GET /v3/conversations/"+Room+"/members/{id}", s.authorized(s.member))
	mux.HandleFunc("/v3/conversations/", s.authorized(s.record))
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Channel returns the members of a channel in a file for notices, after its name and tenant.
func (s *Teams) Channel() string {
	return fmt.Sprintf("kind: teams, url: %q, app: %s, directory: %s, secret: %q, channel: %q, login: %q, keys: %q", s.URL, App, Directory, Secret, Room, s.URL+"/login", s.URL+"/metadata")
}

func grant(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("client_id") != App || r.PostFormValue("client_secret") != Secret ||
		r.PostFormValue("scope") != "https://api.botframework.com/.default" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		answer(w, map[string]any{"error": "invalid_client"})
		return
	}
	answer(w, map[string]any{"token_type": "Bearer", "expires_in": 3599, "access_token": granted})
}

func (s *Teams) keys(w http.ResponseWriter, _ *http.Request) {
	var list []any
	for id, channel := range map[string]string{Endorsed: "msteams", Unendorsed: "webchat"} {
		raw, _ := json.Marshal(jose.JSONWebKey{Key: s.key.Public(), KeyID: id, Use: "sig"})
		key := map[string]any{}
		_ = json.Unmarshal(raw, &key)
		key["endorsements"] = []string{channel}
		list = append(list, key)
	}
	answer(w, map[string]any{"keys": list})
}

func (s *Teams) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+granted {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

func (s *Teams) member(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	text, known := s.Members[id]
	if !known {
		text = fmt.Sprintf(`{"aadObjectId":%q,"tenantId":%q,"userRole":"user","email":"%s@example.com"}`, id, Directory, strings.TrimPrefix(id, "U"))
	}
	if text == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = io.WriteString(w, text)
}

func (s *Teams) record(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{r.Method, r.URL.Path, string(body)})
	answer(w, map[string]any{"id": fmt.Sprint(len(s.calls))})
}

// All returns the requests so far.
func (s *Teams) All() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call{}, s.calls...)
}

// Latest returns the latest request with a method that has a text; ok is false if there is none.
func (s *Teams) Latest(method, text string) (found Call, ok bool) {
	for _, c := range s.All() {
		if c.Method == method && strings.Contains(c.Body, text) {
			found, ok = c, true
		}
	}
	return found, ok
}

// Invoke returns what Teams sends at a time about a press on a button of a card, or in a dialog: each
// time another activity. The name is that of the activity.
func (s *Teams) Invoke(account, name string, data map[string]any, at time.Time) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	value := map[string]any{"data": data, "context": map[string]any{"theme": "default"}}
	if name == "adaptiveCard/action" {
		value = map[string]any{"action": map[string]any{"type": "Action.Execute", "verb": "longhaul", "data": data}, "trigger": "manual"}
	}
	return map[string]any{
		"type": "invoke", "id": fmt.Sprintf("f:%d", s.sent), "name": name, "channelId": "msteams", "serviceUrl": s.URL, "timestamp": at.UTC().Format(time.RFC3339Nano),
		"from": map[string]any{"id": "29:" + account, "aadObjectId": account, "name": "ann"}, "recipient": map[string]any{"id": "28:" + App, "name": "Longhaul"},
		"conversation": map[string]any{"id": Room, "conversationType": "channel", "tenantId": Directory}, "value": value,
	}
}

// Token returns the token of an activity that is sent at a time, with other claims in place of the usual
// ones; nil removes one. The claim kid names the key.
func (s *Teams) Token(at time.Time, more map[string]any) string {
	all := map[string]any{"iss": "https://api.botframework.com", "aud": App, "serviceurl": s.URL, "nbf": at.Unix(), "exp": at.Add(time.Hour).Unix(), "kid": Endorsed}
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	id, _ := all["kid"].(string)
	delete(all, "kid")
	key := s.key
	if id == Forged {
		id = Endorsed
		key, _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: id}}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		panic(err)
	}
	text, err := jwt.Signed(signer).Claims(all).Serialize()
	if err != nil {
		panic(err)
	}
	return text
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}
