package notice_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"longhaul/internal/test"
)

func TestLoad_mistakes(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "notices.yaml:1: the file needs channels: a list with at least one"},
		{"no YAML", "channels: [", "notices.yaml:1: not valid YAML: close each bracket, and give each member in it a value (did not find expected node content)"},
		{"another member", "channel: []", `notices.yaml:1: member "channel" is unknown (did you mean channels?); the members are channels`},
		{"no object", "channels:\n- mail", "notices.yaml:2: a channel must be an object"},
		{"a list for a text", "channels:\n- name: [a]\n  kind: smtp", "notices.yaml:2: name: must be a text"},
		{"no kind", "channels:\n- name: a\n  url: https://example.com", "notices.yaml:2: kind: must be webhook, smtp, slack, mattermost or teams"},
		{"a member of the other kind", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  to: [a@example.com]", "notices.yaml:5: to: is no member of a channel of kind webhook"},
		{"an unknown member", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  uri: x", "notices.yaml:5: uri: is no member of a channel (did you mean url?): those are name, kind, when, tenants, principal, groups, url, headers, contentType, template"},
		{"a name", "channels:\n- name: A b\n  kind: webhook\n  url: https://example.com", "notices.yaml:2: name: must be 1 to 63 of a-z, 0-9 and -, as in ops-mail"},
		{"a name twice", "channels:\n- {name: a, kind: webhook, url: https://example.com}\n- {name: a, kind: webhook, url: https://example.com}", "notices.yaml:3: name: another channel has this name"},
		{"a kind of notice", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  when: [closed]", `notices.yaml:5: when: "closed" is no kind of notice: use opened, remind, escalate, reassign, expire, changed, decided`},
		{"a principal of any tenant", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  principal: ann", "notices.yaml:2: tenants: is required beside principal or groups, which belong to a tenant; without other settings the tenant is default"},
		{"a principal of the server", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  tenants: [acme]\n  principal: longhaul:timer", "notices.yaml:6: principal: names that begin with longhaul: are the server's own"},
		{"a URL", "channels:\n- name: a\n  kind: webhook\n  url: example.com", "notices.yaml:4: url: must be the URL of a webhook, such as https://hooks.example.com/x"},
		{"a variable", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  headers: {X-Key: '${NONE}'}", "notices.yaml:5: headers: the environment variable NONE is not set"},
		{"a header", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  headers: {X-Key: '${LINES}'}", `notices.yaml:5: headers: "X-Key" and its value cannot be a header`},
		{"a header of ours", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  headers: {X-Longhaul-Signature: x}", `notices.yaml:5: headers: "X-Longhaul-Signature" cannot be chosen; contentType is a member of the channel`},
		{"a template", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  template: '{{.Headline'", "notices.yaml:5: template: template: template:1: unclosed action"},
		{"a template with an unknown member", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  template: '{{.Nothing}}'", `notices.yaml:5: template: it cannot show a notice of kind opened about a gate of kind approval: template: template:1:2: executing "template" at <.Nothing>: can't evaluate field Nothing in type notice.Data`},
		{"a template without JSON", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  template: '{\"text\": \"{{.Headline}}\"}'", "notices.yaml:5: template: it cannot show a notice of kind opened about a gate of kind approval: template: its output is not JSON: write {{json .Headline}} for a text"},
		{"a subject", "channels:\n- name: a\n  kind: smtp\n  server: localhost:25\n  from: a@example.com\n  to: [b@example.com]\n  subject: '{{.Nothing}}'", `notices.yaml:7: subject: it cannot show a notice of kind opened about a gate of kind approval: template: subject:1:2: executing "subject" at <.Nothing>: can't evaluate field Nothing in type notice.Data`},
		{"no server", "channels:\n- name: a\n  kind: smtp\n  server: localhost\n  from: a@example.com\n  to: [b@example.com]", "notices.yaml:4: server: must be host:port, such as smtp.example.com:587"},
		{"no addresses", "channels:\n- name: a\n  kind: smtp\n  server: localhost:25\n  from: me\n  to: [you]", "notices.yaml:5: from: must be an address, such as Longhaul <longhaul@example.com>\nnotices.yaml:6: to: \"you\" is not an address"},
		{"no recipient", "channels:\n- name: a\n  kind: smtp\n  server: localhost:25\n  from: a@example.com", "notices.yaml:2: to: is required: a list of addresses"},
		{"unencrypted", "channels:\n- name: a\n  kind: smtp\n  server: smtp.example.com:25\n  tls: none\n  from: a@example.com\n  to: [b@example.com]", "notices.yaml:5: tls: none sends everything readable over the network: use starttls or tls, or insecure: true if the network is protected"},
		{"an encryption", "channels:\n- name: a\n  kind: smtp\n  server: smtp.example.com:25\n  tls: yes\n  from: a@example.com\n  to: [b@example.com]", "notices.yaml:5: tls: must be starttls, tls or none"},
		{"a channel without people", "channels:\n- name: a\n  kind: slack\n  channel: C1\n  token: x\n  secret: 0123456789abcdef\n  tenants: [acme]", "notices.yaml:2: people: is required, or domains: without both no one can answer"},
		{"people of no tenant", "channels:\n- name: a\n  kind: slack\n  channel: C1\n  token: x\n  secret: 0123456789abcdef\n  domains: [example.com]", "notices.yaml:2: tenants: must name one: people who press are principals of it; without other settings the tenant is default"},
		{"two people with an address", "channels:\n- name: a\n  kind: slack\n  channel: C1\n  token: x\n  secret: 0123456789abcdef\n  tenants: [acme]\n  people:\n  - {principal: a, email: A@example.com}\n  - {principal: b, email: a@example.com}", "notices.yaml:8: people: two have the email a@example.com"},
		{"an app that is missing", "channels:\n- name: a\n  kind: teams\n  url: https://example.com\n  channel: C1\n  secret: 0123456789abcdef\n  tenants: [acme]\n  people: [{principal: a, account: x}]", "notices.yaml:2: app: is required"},
		{"addresses of no directory", "channels:\n- name: a\n  kind: teams\n  url: https://example.com\n  app: x\n  channel: C1\n  secret: 0123456789abcdef\n  tenants: [acme]\n  domains: [example.com]", "notices.yaml:2: directory: is required beside an email or domains: the addresses of its members alone are confirmed"},
		{"a token for Teams", "channels:\n- name: a\n  kind: teams\n  token: x\n  url: https://example.com\n  app: x\n  channel: C1\n  secret: 0123456789abcdef\n  tenants: [acme]\n  people: [{principal: a, account: x}]", "notices.yaml:4: token: is no member of a channel of kind teams"},
		{"a login that is no URL", "channels:\n- name: a\n  kind: teams\n  url: https://example.com\n  app: x\n  channel: C1\n  secret: 0123456789abcdef\n  tenants: [acme]\n  login: x\n  people: [{principal: a, account: x}]", "notices.yaml:9: login: must be the URL of the server, such as https://chat.example.com"},
		{"a short secret", "channels:\n- name: a\n  kind: mattermost\n  url: https://example.com\n  channel: C1\n  token: x\n  secret: short\n  tenants: [acme]\n  domains: [example.com]", "notices.yaml:7: secret: has 5 characters and needs at least 16"},
		{"no password", "channels:\n- name: a\n  kind: smtp\n  server: smtp.example.com:25\n  user: ann\n  from: a@example.com\n  to: [b@example.com]", "notices.yaml:5: user: user and password belong together: set both or none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(t, tc.text, "LINES=canary\r\nX: y")
			if err == nil {
				t.Fatal("it was accepted")
			}
			test.Equal(t, "error", tc.want, err.Error())
		})
	}
}

// The examples in the documentation are accepted, and so they show notices of all
// kinds as JSON.
func TestLoad_documentation(t *testing.T) {
	text := test.Value(os.ReadFile("../../docs/notices.md"))(t)
	doors := test.Value(os.ReadFile("../../docs/doors.md"))(t)
	text = append(text, doors...)
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	found = slices.DeleteFunc(found, func(m [][]byte) bool { return !bytes.HasPrefix(m[1], []byte("channels:")) })
	if len(found) < 3 {
		t.Fatalf("%d examples", len(found))
	}
	for _, m := range found {
		list, err := load(t, string(m[1]), "SLACK_BOT_TOKEN=x", "SLACK_SIGNING_SECRET=0123456789abcdef", "BOT_APP_ID=x", "BOT_SECRET=0123456789abcdef", "ENTRA_TENANT=x", "TEAMS_WEBHOOK=https://hooks.example.com/b", "SMTP_PASSWORD=x", "TICKETS_TOKEN=x")
		if err != nil || len(list) == 0 || strings.Contains(string(m[1]), "\t") {
			t.Errorf("%v in\n%s", err, m[1])
		}
	}
}
