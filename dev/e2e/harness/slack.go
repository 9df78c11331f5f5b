package harness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// SlackSecret signs the requests of a [Slack], and SlackToken is that of its bot.
const (
	SlackSecret = "0123456789abcdef0123456789abcdef"
	SlackToken  = "xoxb-bot"
)

// A SlackCall is a request to Slack.
type SlackCall struct {
	Path string `json:"path"`
	Body string `json:"body"`
}

// A Slack is a double of Slack's Web API. It keeps the requests that change something. The account
// Uann has the address ann@example.com, and so on.
type Slack struct {
	*httptest.Server
	mu    sync.Mutex
	calls []SlackCall
}

// NewSlack returns a Slack, which ends with the test.
func NewSlack(t testing.TB) *Slack {
	s := &Slack{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("Authorization") != "Bearer "+SlackToken:
			_, _ = io.WriteString(w, `{"ok":false,"error":"invalid_auth"}`)
		case r.URL.Path == "/api/users.info":
			id := r.URL.Query().Get("user")
			fmt.Fprintf(w, `{"ok":true,"user":{"id":%q,"is_email_confirmed":true,"profile":{"email":"%s@example.com"}}}`, id, strings.ToLower(strings.TrimPrefix(id, "U")))
		default:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.calls = append(s.calls, SlackCall{r.URL.Path, string(body)})
			fmt.Fprintf(w, `{"ok":true,"channel":"C0123456789","ts":"1772357404.%06d"}`, len(s.calls))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// All returns the requests so far.
func (s *Slack) All() []SlackCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]SlackCall{}, s.calls...)
}

// Latest returns the latest request to a method that has all of some texts; ok is false if there is none.
func (s *Slack) Latest(method string, texts ...string) (found SlackCall, ok bool) {
	for _, c := range s.All() {
		has := c.Path == "/api/"+method
		for _, text := range texts {
			has = has && strings.Contains(c.Body, text)
		}
		if has {
			found, ok = c, true
		}
	}
	return found, ok
}

// Await waits for a request to a method that has a text, and returns the latest.
func (s *Slack) Await(t testing.TB, within time.Duration, method, text string) (found SlackCall) {
	t.Helper()
	Eventually(t, within, method+" with "+text, func() (err error) {
		ok := false
		if found, ok = s.Latest(method, text); !ok {
			err = fmt.Errorf("there are %d requests", len(s.All()))
		}
		return err
	})
	return found
}

// Signed returns the header and the body of a request as Slack sends it.
func (s *Slack) Signed(payload any) (header map[string]string, body string) {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	body = url.Values{"payload": {string(raw)}}.Encode()
	at := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(SlackSecret))
	fmt.Fprintf(mac, "v0:%s:%s", at, body)
	return map[string]string{
		"X-Slack-Request-Timestamp": at, "X-Slack-Signature": "v0=" + hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/x-www-form-urlencoded",
	}, body
}

// Click returns what Slack sends about a press on a button with a value, each time another request.
func (s *Slack) Click(account, value string) any {
	return map[string]any{
		"type": "block_actions", "trigger_id": "1.2.3", "user": map[string]any{"id": account}, "channel": map[string]any{"id": "C0123456789"},
		"actions": []any{map[string]any{"value": value}}, "n": time.Now().UnixNano(),
	}
}
