package chat_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/chatapp/teamstest"
	"longhaul/internal/test"
)

// A teams is the double of Microsoft Teams. It keeps what the judge gets.
type teams struct {
	*teamstest.Teams
	t       *testing.T
	answers []any
	tokens  []any
}

func (s *teams) name() string    { return "teams" }
func (s *teams) channel() string { return s.Channel() }

// await waits for a request with a method and a text.
func (s *teams) await(method, text string) (found teamstest.Call) {
	s.t.Helper()
	harness.Eventually(s.t, within, method+" with "+text, func() (err error) {
		ok := false
		if found, ok = s.Latest(method, text); !ok {
			err = fmt.Errorf("there are %d requests", len(s.All()))
		}
		return err
	})
	return found
}

func (s *teams) card(text string) map[string]string {
	s.t.Helper()
	var m struct {
		Attachments []struct {
			Content struct {
				Actions []struct {
					Title string
					Data  struct{ Longhaul string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(s.await(http.MethodPost, text).Body), &m); err != nil || len(m.Attachments) != 1 {
		s.t.Fatalf("%v: %+v", err, m)
	}
	out := map[string]string{}
	for _, a := range m.Attachments[0].Content.Actions {
		out[a.Title] = a.Data.Longhaul
	}
	return out
}

func (s *teams) changed(text string)  { s.await(http.MethodPut, text) }
func (s *teams) reminded(text string) { s.await(http.MethodPost, text) }

func (s *teams) press(account, value string) request {
	name := "adaptiveCard/action"
	if strings.Contains(value, `"answer"`) {
		name = "task/fetch"
	}
	return s.activity(account, name, obj{"longhaul": value}, nil)
}

func (s *teams) submit(account, value, number, tone string) request {
	return s.activity(account, "task/submit", obj{"longhaul": value, "answer-0": number, "answer-1": tone}, nil)
}

// activity returns a request with an activity, whose token has other claims than usual.
func (s *teams) activity(account, name string, data, claims obj) request {
	now := time.Now()
	activity := s.Invoke(account, name, data, now)
	raw := test.Value(json.Marshal(activity))(s.t)
	token := s.Token(now, claims)
	s.tokens = append(s.tokens, obj{"activity": activity, "token": token, "valid": claims == nil})
	return request{map[string]string{"Content-Type": "application/json", "Authorization": "Bearer " + token}, string(raw)}
}

func (s *teams) forged(r request) request {
	return request{map[string]string{"Authorization": "Bearer " + s.Token(time.Now(), obj{"kid": teamstest.Forged})}, r.body}
}

func (s *teams) shown(answer, text string) {
	s.t.Helper()
	if !strings.Contains(answer, text) {
		s.t.Errorf("the person sees %s, not %s", answer, text)
	}
	name := "adaptiveCard/action"
	if strings.Contains(answer, `"task"`) {
		name = "task/fetch"
	}
	s.answers = append(s.answers, obj{"name": name, "body": answer})
}

func (s *teams) mistaken(answer string) bool {
	s.shown(answer, "The answer cannot be used")
	return strings.Contains(answer, `"continue"`)
}

func (s *teams) done(answer string) bool {
	s.shown(answer, "Your answer was recorded")
	return true
}

func TestTeams(t *testing.T) {
	t.Parallel()
	s := &teams{Teams: teamstest.New(t), t: t}
	follow(t, s, teamstest.Secret)
	var posted []string
	for _, c := range s.All() {
		posted = append(posted, c.Body)
	}
	s.forgeries()
	judge(t, "teams.mjs", obj{"app": teamstest.App, "metadata": s.URL + "/metadata", "tokens": s.tokens, "posted": posted, "answers": s.answers})
}

// forgeries adds tokens that Microsoft's library must refuse, as the service does.
func (s *teams) forgeries() {
	past, ahead := time.Now().Add(-time.Hour).Unix(), time.Now().Add(time.Hour).Unix()
	for _, claims := range []obj{
		{"aud": "another"}, {"iss": "https://issuer.example.com"}, {"iss": "https://sts.windows.net/" + teamstest.Directory + "/"}, {"exp": past}, {"nbf": ahead},
		{"serviceurl": "https://service.example.com"}, {"serviceurl": nil}, {"kid": teamstest.Unendorsed}, {"kid": teamstest.Unknown}, {"kid": teamstest.Forged},
	} {
		s.activity("UANN", "task/fetch", obj{}, claims)
	}
}
