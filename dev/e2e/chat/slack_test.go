package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A slack is the double of Slack.
type slack struct {
	*harness.Slack
	t *testing.T
}

func (s slack) name() string { return "slack" }

func (s slack) channel() string {
	return fmt.Sprintf("kind: slack, url: %q, channel: C0123456789, token: %s, secret: %s", s.URL, harness.SlackToken, harness.SlackSecret)
}

func (s slack) card(text string) map[string]string {
	s.t.Helper()
	card := s.Await(s.t, within, "chat.postMessage", text)
	var m struct {
		Blocks []struct {
			Elements []struct {
				Text  json.RawMessage
				Value string
			}
		}
	}
	test.OK(s.t, json.Unmarshal([]byte(card.Body), &m))
	out := map[string]string{}
	for _, b := range m.Blocks {
		for _, e := range b.Elements {
			var label struct{ Text string }
			if json.Unmarshal(e.Text, &label) == nil && e.Value != "" {
				out[label.Text] = e.Value
			}
		}
	}
	return out
}

func (s slack) changed(text string)  { s.Await(s.t, within, "chat.update", text) }
func (s slack) reminded(text string) { s.Await(s.t, within, "chat.postMessage", text) }

func (s slack) press(account, value string) request { return s.signed(s.Click(account, value)) }

func (s slack) signed(payload any) request {
	header, body := s.Signed(payload)
	return request{header, body}
}

func (s slack) submit(account, value, number, tone string) request {
	return s.signed(obj{"type": "view_submission", "user": obj{"id": account}, "view": obj{"private_metadata": value, "state": obj{"values": obj{
		"answer-0": obj{"value": obj{"type": "number_input", "value": number}}, "answer-1": obj{"value": obj{"type": "static_select", "selected_option": obj{"value": tone}}},
	}}}})
}

func (s slack) forged(r request) request { return request{r.header, r.body + "&x=1"} }

func (s slack) shown(_, text string) {
	s.t.Helper()
	harness.Eventually(s.t, within, "the person sees "+text, func() error {
		_, told := s.Latest("chat.postEphemeral", text)
		if _, opened := s.Latest("views.open", text); !told && !opened {
			return fmt.Errorf("there are %d requests", len(s.All()))
		}
		return nil
	})
}

func (s slack) mistaken(answer string) bool { return strings.Contains(answer, `"errors":{"answer-0"`) }
func (s slack) done(answer string) bool     { return answer == "" }

func TestSlack(t *testing.T) {
	t.Parallel()
	s := slack{harness.NewSlack(t), t}
	follow(t, s, harness.SlackSecret, harness.SlackToken)
	one := s.press("UANN", "x")
	judge(t, "slack.mjs", obj{"secret": harness.SlackSecret, "signed": obj{"headers": one.header, "body": one.body}, "calls": s.All()})
}
