package notice_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/notice"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// A chatServer is Slack, Mattermost and Teams: it keeps the requests, and says where cards are.
type chatServer struct {
	*httptest.Server
	got    []string // method, path and body
	answer string   // "" for a card that was posted
	status int      // of the answer; 0 for 200
	grants int      // tokens
}

func newChatServer(t *testing.T) *chatServer {
	t.Helper()
	s := &chatServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/token") {
			w.Header().Set("Content-Type", "application/json")
			s.grants++
			_, _ = io.WriteString(w, `{"token_type":"Bearer","expires_in":3600,"access_token":"x"}`)
			return
		}
		s.got = append(s.got, r.Method+" "+r.URL.Path+" "+string(body))
		if s.answer == "" {
			s.answer = `{"ok":true,"channel":"C9","ts":"17.1","id":"p1"}`
		}
		w.WriteHeader(cmp.Or(s.status, http.StatusOK))
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// channels returns a channel of a kind.
func (s *chatServer) channels(t *testing.T, kind string) *notice.Channels {
	t.Helper()
	more := "token: x, channel: C1"
	if kind == "teams" {
		more = fmt.Sprintf("app: a, directory: d, login: %q, channel: 'C1@thread.tacv2'", s.URL)
	}
	return open(t, notice.Config{Sender: sender(t), PublicURL: "https://agent.example.com", GatesPath: "/console/inbox/"}, fmt.Sprintf(
		"channels:\n- {name: team, kind: %s, url: %q, secret: 0123456789abcdef, tenants: [acme], domains: [example.com], %s}", kind, s.URL, more))
}

// A card is posted once and changed by the notices after it. Those that call for people add a
// line; the last one says who decided, and has no buttons.
func TestChannels_Notify_cards(t *testing.T) {
	for kind, tt := range map[string]struct{ at, post, update, remark, button string }{
		"slack":      {"C9/17.1", "POST /api/chat.postMessage ", "POST /api/chat.update ", `"thread_ts":"17.1"`, `longhaul-accept`},
		"mattermost": {"p1", "POST /api/v4/posts ", "PUT /api/v4/posts/p1/patch ", `"root_id":"p1"`, `"name":"Accept"`},
		"teams": {
			"p1", "POST /v3/conversations/C1@thread.tacv2/activities ", "PUT /v3/conversations/C1@thread.tacv2/activities/p1 ",
			"POST /v3/conversations/C1@thread.tacv2;messageid=p1/activities ", `"title":"Accept","type":"Action.Execute"`,
		},
	} {
		t.Run(kind, func(t *testing.T) {
			s := newChatServer(t)
			c := s.channels(t, kind)
			n := attempt("team")
			n.Gate.Original = &opt.Original{Action: opt.Reject, DecidedBy: "dora", At: at}
			out := c.Notify(t.Context(), n)
			if len(s.got) == 1 && !strings.Contains(s.got[0], "In the original: Rejected by dora") {
				t.Errorf("no decision of the original in %q", s.got)
			}
			if out.Card != tt.at || out.Class != "" || len(s.got) != 1 || !strings.HasPrefix(s.got[0], tt.post) || !strings.Contains(s.got[0], tt.button) {
				t.Fatalf("the first notice: %+v, %q", out, s.got)
			}
			n.Card, n.Kind = out.Card, outbox.NoticeKind(opt.Remind)
			if c.Notify(t.Context(), n); len(s.got) != 3 || !strings.HasPrefix(s.got[1], tt.update) || !strings.Contains(s.got[2], tt.remark) || !strings.Contains(s.got[2], "Reminder: ") {
				t.Fatalf("the reminder: %q", s.got[1:])
			}
			n.Kind, n.Decided = outbox.Decided, &opt.Decided{GateID: n.Gate.ID, Action: opt.Reject, DecidedBy: "ann", At: at, Feedback: "Too long"}
			c.Notify(t.Context(), n)
			if last := s.got[len(s.got)-1]; len(s.got) != 4 || !strings.HasPrefix(last, tt.update) || !strings.Contains(last, "Rejected by ann") || strings.Contains(last, tt.button) {
				t.Errorf("the end: %q", s.got[3:])
			}
			n.Card = ""
			if out := c.Notify(t.Context(), n); len(s.got) != 4 || out.Class != "" {
				t.Errorf("the end of a gate without a card: %+v, %q", out, s.got[4:])
			}
			if kind == "teams" && s.grants != 1 {
				t.Errorf("%d tokens were granted", s.grants)
			}
		})
	}
}

// A card that does not show all that is to be decided on has no Accept.
func TestChannels_Notify_cardHides(t *testing.T) {
	for name, change := range map[string]func(*opt.Gate){
		"a long object":   func(g *opt.Gate) { g.Object = []a2a.Part{a2a.TextPart(strings.Repeat("x", 9001))} },
		"a larger object": func(g *opt.Gate) { g.Object = []a2a.Part{a2a.TextPart(strings.Repeat("x", 20<<10))} },
		"two parts":       func(g *opt.Gate) { g.Object = append(g.Object, a2a.TextPart("Three.")) },
		"more messages":   func(g *opt.Gate) { g.Omitted = 1 },
	} {
		for _, kind := range []string{"slack", "mattermost", "teams"} {
			s := newChatServer(t)
			n := attempt("team")
			change(&n.Gate)
			s.channels(t, kind).Notify(t.Context(), n)
			if len(s.got) != 1 || strings.Contains(s.got[0], `"Accept"`) || !strings.Contains(s.got[0], `"Reject"`) || !strings.Contains(s.got[0], "cannot be accepted here") ||
				!strings.Contains(s.got[0], "https://agent.example.com/console/inbox/task-x-1-0:1") {
				t.Errorf("%s, %s: %.300q", name, kind, s.got)
			}
		}
	}
}

// What Teams refuses is tried again, but for a card that is too large. A card that people have removed
// is left alone.
func TestChannels_Notify_teamsRefuses(t *testing.T) {
	for status, want := range map[int]activities.Tried{
		403: {Class: "refused by the platform"}, 413: {Class: "refused by the platform", Final: true}, 404: {Card: "p1"}, 503: {Status: 503},
	} {
		s := newChatServer(t)
		s.answer, s.status = `{"error":{"code":"NotInRoster","message":"x"}}`, status
		n := attempt("team")
		n.Card, n.Kind = "p1", outbox.Changed
		test.Equal(t, fmt.Sprint(status), want, s.channels(t, "teams").Notify(t.Context(), n))
	}
}

// What Slack refuses is tried again if an operator can put it right. A card that people have
// removed is left alone.
func TestChannels_Notify_slackRefuses(t *testing.T) {
	for code, want := range map[string]struct {
		class string
		final bool
	}{"not_in_channel": {"refused by the platform", false}, "invalid_blocks": {"refused by the platform", true}, "message_not_found": {"", false}} {
		s := newChatServer(t)
		s.answer = fmt.Sprintf(`{"ok":false,"error":%q}`, code)
		n := attempt("team")
		n.Card, n.Kind = "C9/17.1", outbox.Changed
		if out := s.channels(t, "slack").Notify(t.Context(), n); out.Class != want.class || out.Final != want.final {
			t.Errorf("%s: %+v", code, out)
		}
	}
}

// Text of others mentions no one at Slack.
func TestChannels_Notify_slackText(t *testing.T) {
	s := newChatServer(t)
	n := attempt("team")
	n.Gate.Title = "<!channel> & all"
	s.channels(t, "slack").Notify(t.Context(), n)
	var m struct{ Text string }
	_, body, _ := strings.Cut(s.got[0], "postMessage ")
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Text != "&lt;!channel&gt; &amp; all" || strings.Contains(body, "mrkdwn\"") {
		t.Errorf("%v, %s", err, body)
	}
}
