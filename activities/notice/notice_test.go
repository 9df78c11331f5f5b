package notice_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/notice"
	"longhaul/activities/notice/noticetest"
	"longhaul/internal/egress"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

var at = a2a.At(time.Date(2026, 3, 1, 9, 30, 4, 0, time.UTC))

// attempt returns the second attempt at the notice of a gate that has opened.
func attempt(channel string) activities.NoticeAttempt {
	return activities.NoticeAttempt{Channel: channel, ID: "task-x-1-0/notice:" + channel + "/12", N: 2, Notice: outbox.Notice{
		Kind: outbox.Opened, Tenant: "acme", Interrupt: shown.Interrupt{
			Since: at, TaskID: "task-x-1-0", TaskName: "Approve", ObjectiveID: "obj-x", Objective: "Write", ContextID: "ctx", Principal: "ann",
			Gate: opt.Gate{
				Kind: opt.Approval, ID: "task-x-1-0:1", TaskID: "task-x-1-0", Title: "Approve the outline?", Actions: []opt.Action{opt.Accept, opt.Reject},
				Object: []a2a.Part{a2a.TextPart("One <b>.\nTwo.")}, ObjectDigest: "sha256:0f", RequestedAt: at,
				Ladder: []opt.Step{{Kind: opt.Expire, After: 3600}},
			},
		},
	}}
}

// load reads channels from text.
func load(t *testing.T, text string, env ...string) ([]notice.Channel, error) {
	t.Helper()
	path := test.File(t, "notices.yaml", text)
	list, err := notice.Load(path, func(name string) (string, bool) {
		for _, v := range env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}, nil)
	if err != nil {
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""))
	}
	return list, err
}

// open returns the channels of a text.
func open(t *testing.T, cfg notice.Config, text string, env ...string) *notice.Channels {
	t.Helper()
	list := test.Value(load(t, text, env...))(t)
	cfg.Channels = list
	return notice.New(cfg)
}

// A receiver keeps the last request.
type receiver struct {
	*httptest.Server
	status int
	header http.Header
	body   string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.header, r.body = req.Header, string(body)
	if r.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "7")
	}
	w.WriteHeader(cmp.Or(r.status, http.StatusOK))
}

func sender(t *testing.T) *egress.Client {
	t.Helper()
	to := test.Value(egress.New(egress.Config{AllowPrivate: true}))(t)
	t.Cleanup(to.Close)
	return to
}

// A signer signs with the names of the signed fields.
type signer struct{}

func (signer) Sign(_ context.Context, deliveryID, taskID string, body []byte) (string, error) {
	return fmt.Sprint(deliveryID, " ", taskID, " ", len(body)), nil
}

// A linker shows the link in the URL.
type linker struct{}

func (linker) URL(l outbox.AnswerLink) (string, error) {
	return fmt.Sprintf("https://agent.example.com/answer/%s,%s,%v,%s,%s,%s", l.Tenant, l.Principal, l.Groups, l.GateID, l.ObjectDigest, l.Expires), nil
}

const hook = `channels: [{name: hook, kind: webhook, url: "${HOOK}", headers: {Authorization: "Bearer ${TOKEN}"}, tenants: [acme], principal: ann, groups: [leads]}]`

func TestChannels_Notify_webhook(t *testing.T) {
	r := newReceiver(t)
	c := open(t, notice.Config{Sender: sender(t), Signer: signer{}, Links: linker{}}, hook, "HOOK="+r.URL, "TOKEN=s3cret")
	test.Is(t, "the attempt", activities.Tried{Status: 200}, c.Notify(t.Context(), attempt("hook")))
	var body any
	test.OK(t, json.Unmarshal([]byte(r.body), &body))
	want := map[string]any{
		"notice": "opened", "deliveryId": "task-x-1-0/notice:hook/12", "timestamp": "2026-03-01T09:30:04.000Z", "tenant": "acme", "objectiveId": "obj-x",
		"objectiveName": "Write", "contextId": "ctx", "taskId": "task-x-1-0", "taskName": "Approve", "requestedBy": "ann",
		"answerUrl": "https://agent.example.com/answer/acme,ann,[leads],task-x-1-0:1,sha256:0f,2026-03-08T09:30:04.000Z",
		"interrupt": map[string]any{
			"kind": "approval", "interruptId": "task-x-1-0:1", "taskId": "task-x-1-0", "title": "Approve the outline?", "artifactType": "text/plain",
			"artifactData": "One <b>.\nTwo.", "actions": []any{"accept", "reject"}, "requestedAt": "2026-03-01T09:30:04.000Z", "objectDigest": "sha256:0f",
		},
	}
	got, _ := body.(map[string]any)
	if gate, ok := got["interrupt"].(map[string]any); ok {
		delete(gate, "ladder") // and its steps, as clients see them
		delete(gate, "nextStep")
		delete(gate, "expiresAt")
	}
	test.Equal(t, "body", want, got)
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer s3cret", "X-Longhaul-Delivery": "task-x-1-0/notice:hook/12", "X-Longhaul-Attempt": "2",
		"X-Longhaul-Signature": fmt.Sprint("task-x-1-0/notice:hook/12 task-x-1-0 ", len(r.body)),
	} {
		test.Is(t, name, want, r.header.Get(name))
	}
}

// The time of an answer link is not that of its gate, which ends by the clock of Temporal alone. There
// is no link where nothing can be answered.
func TestChannels_Notify_link(t *testing.T) {
	r := newReceiver(t)
	text := hook + "\n"
	for name, tc := range map[string]struct {
		channels string
		change   func(n *activities.NoticeAttempt)
		links    notice.Linker
		want     string // that the URL ends with; "" for no URL
	}{
		"week":             {want: ",2026-03-08T09:30:04.000Z"},
		"the gate expires": {change: func(n *activities.NoticeAttempt) { n.Gate.ExpiresAt = a2a.AtMillis(at.Millis() + 60_000) }, want: ",2026-03-08T09:30:04.000Z"},
		"expired":          {change: func(n *activities.NoticeAttempt) { n.Kind = outbox.NoticeKind(opt.Expire) }},
		"a credential":     {change: func(n *activities.NoticeAttempt) { n.Gate.Kind, n.Gate.Actions = opt.Credential, nil }},
		"no principal":     {channels: strings.Replace(text, "principal: ann, ", "", 1)},
		"no key":           {links: nil, change: func(n *activities.NoticeAttempt) { n.ID = "no key" }},
	} {
		t.Run(name, func(t *testing.T) {
			n := attempt("hook")
			if tc.change != nil {
				tc.change(&n)
			}
			cfg := notice.Config{Sender: sender(t), Links: linker{}}
			if n.ID == "no key" {
				cfg.Links = nil
			}
			c := open(t, cfg, cmp.Or(tc.channels, text), "HOOK="+r.URL, "TOKEN=s")
			if got := c.Notify(t.Context(), n); got.Status != 200 {
				t.Fatalf("%+v", got)
			}
			var d notice.Data
			test.OK(t, json.Unmarshal([]byte(r.body), &d))
			if !strings.HasSuffix(d.AnswerURL, tc.want) || tc.want == "" && d.AnswerURL != "" {
				t.Errorf("URL %q, want …%s", d.AnswerURL, tc.want)
			}
		})
	}
}

// The answer of a webhook decides about another attempt, as for push deliveries.
func TestChannels_Notify_outcomes(t *testing.T) {
	r := newReceiver(t)
	c := open(t, notice.Config{Sender: sender(t)}, hook, "HOOK="+r.URL, "TOKEN=s")
	for status, want := range map[int]activities.Tried{
		204: {Status: 204}, 410: {Status: 410}, 503: {Status: 503}, 429: {Status: 429, RetryAfter: 7 * time.Second},
	} {
		r.status = status
		test.Is(t, fmt.Sprint(status), want, c.Notify(t.Context(), attempt("hook")))
	}
	r.Close()
	c = open(t, notice.Config{Sender: sender(t)}, hook, "HOOK="+r.URL, "TOKEN=s")
	test.Is(t, "down", activities.Tried{Class: egress.ClassRefused}, c.Notify(t.Context(), attempt("hook")))
	test.Is(t, "a channel that was removed", activities.Tried{Class: activities.NoChannel}, c.Notify(t.Context(), attempt("other")))
	strict := test.Value(egress.New(egress.Config{}))(t)
	c = open(t, notice.Config{Sender: strict}, hook, "HOOK="+r.URL, "TOKEN=s")
	test.Is(t, "an address that is not public", activities.Tried{Class: egress.ClassDenied, Final: true, Rule: `scheme: scheme "http"`, Private: true}, c.Notify(t.Context(), attempt("hook")))
}

// A template that cannot show a notice, other than the examples, is no reason to
// try again.
func TestChannels_Notify_template(t *testing.T) {
	r := newReceiver(t)
	c := open(t, notice.Config{Sender: sender(t)}, `channels: [{name: hook, kind: webhook, url: "${HOOK}", template: '{"a": "{{.Task}}"}'}]`, "HOOK="+r.URL)
	n := attempt("hook")
	if got := c.Notify(t.Context(), n); got != (activities.Tried{Status: 200}) || r.body != `{"a": "Approve"}` {
		t.Errorf("%+v, %s", got, r.body)
	}
	n.TaskName = `Say "no"`
	test.Is(t, "the attempt", activities.Tried{Class: "template", Final: true}, c.Notify(t.Context(), n))
}

func mailTo(s *noticetest.MailServer, more string) string {
	return fmt.Sprintf(`channels: [{name: mail, kind: smtp, server: "%s", from: "\"Longhaul @ home\" <longhaul@example.com>", to: [ann@example.com, "Bob <bob@example.com>"], %s}]`, s.Addr, more)
}

func TestChannels_Notify_mail(t *testing.T) {
	s := noticetest.NewMailServer(t)
	c := open(t, notice.Config{Links: linker{}}, mailTo(s, "tls: none, principal: ann, tenants: [acme]"))
	for _, kind := range outbox.CallingKinds() {
		n := attempt("mail")
		n.Kind = kind
		test.Is(t, string(kind), activities.Tried{}, c.Notify(t.Context(), n))
	}
	again := attempt("mail") // after a refinement
	again.Gate.ID = opt.GateID(again.TaskID, 2)
	again.Gate.Exchanges, again.Gate.Omitted = []opt.Exchange{{Question: "Why?"}}, 2
	again.Gate.Original = &opt.Original{Action: opt.Reject, DecidedBy: "dora", At: at}
	test.Is(t, "the attempt", activities.Tried{}, c.Notify(t.Context(), again))
	want := []string{"", "Reminder: ", "Escalated: ", "Reassigned: ", "Expired: "}
	for i := range want {
		want[i] += "Approve the outline?"
	}
	want = append(want, "Approve the outline? (2nd time)")
	var subjects []string
	for _, m := range s.Accepted() {
		subjects = append(subjects, m.Subject())
	}
	test.Equal(t, "subjects", want, subjects)
	if len(subjects) != len(want) {
		t.FailNow()
	}
	m := s.Accepted()[0]
	for name, want := range map[string]string{
		"From": `"Longhaul @ home" <longhaul@example.com>`, "To": `<ann@example.com>, "Bob" <bob@example.com>`, "Auto-Submitted": "auto-generated",
		"X-Longhaul-Delivery": "task-x-1-0/notice:mail/12", "X-Longhaul-Attempt": "2", "Date": "Sun, 01 Mar 2026 09:30:04 +0000",
	} {
		test.Is(t, name, want, m.Header.Get(name))
	}
	test.Is(t, "host", "127.0.0.1", c.Host("mail")+c.Host("other"))
	if id := m.Header.Get("Message-ID"); !regexp.MustCompile(`^<[0-9a-f]{32}@example\.com>$`).MatchString(id) || id != s.Accepted()[1].Header.Get("Message-ID") {
		t.Errorf("the id of the message is %q", id)
	}
	wantBody := `Approve the outline?

Objective: Write
Task: Approve

To be decided on:

One <b>.
Two.

Without an answer: expire (reject) at 2026-03-01 10:30 UTC.

Answer here, once. The link answers in your name: do not pass it on.
https://agent.example.com/answer/acme,ann,[],task-x-1-0:1,sha256:0f,2026-03-08T09:30:04.000Z
`
	test.Equal(t, "body", wantBody, m.Text)
	messages := "\nIn the original: Rejected by dora: 2026-03-01 09:30 UTC.\n\nMessages to this work that are not shown here: 3.\n"
	test.Contains(t, "the text", messages, s.Accepted()[len(want)-1].Text)
	var recipients []string
	for _, line := range s.Lines()[:6] {
		if to, ok := strings.CutPrefix(line, "RCPT TO:"); ok {
			recipients = append(recipients, to)
		}
	}
	test.Equal(t, "recipients", []string{"<ann@example.com>", "<bob@example.com>"}, recipients)
}

// No text of a gate can add a header, a recipient or another message.
func TestChannels_Notify_injection(t *testing.T) {
	s := noticetest.NewMailServer(t)
	c := open(t, notice.Config{}, mailTo(s, `tls: none, subject: "{{.Interrupt.Title}} {{.Task}}"`))
	for _, evil := range []string{
		"Hi\r\nBcc: eve@example.com", "Hi\nBcc: eve@example.com", "Hi\rBcc: eve@example.com", "Hi\r\n\r\nBcc: eve@example.com\r\n.\r\nRCPT TO:<eve@example.com>",
		"=?utf-8?q?Hi=0D=0ABcc:_eve@example.com?=", "Hi\u2028Bcc: eve@example.com", "Hi\u0085Bcc: eve@example.com", "Hi\x00\x0bBcc: eve@example.com", strings.Repeat("x\r\n ", 2000),
	} {
		n := attempt("mail")
		n.Gate.Title, n.TaskName, n.Gate.Description = evil, evil, evil+"\r\n.\r\nMAIL FROM:<eve@example.com>"
		if got := c.Notify(t.Context(), n); got != (activities.Tried{}) {
			t.Fatalf("%q: %+v", evil, got)
		}
		all := s.Accepted()
		m := all[len(all)-1]
		for name := range m.Header {
			switch name {
			case "From", "To", "Subject", "Date", "Message-Id", "References", "Mime-Version", "Content-Type", "Content-Transfer-Encoding", "User-Agent", "X-Mailer",
				"Auto-Submitted", "X-Longhaul-Delivery", "X-Longhaul-Attempt":
			default:
				t.Errorf("%.40q adds the header %s", evil, name)
			}
		}
	}
	for _, line := range s.Lines() {
		if strings.Contains(line, "eve@") {
			t.Errorf("the server got %q", line)
		}
	}
	test.Is(t, "messages", 9, len(s.Accepted()))
}

// Nothing of a gate can control what shows a mail or a message in a chat.
func TestChannels_Notify_visible(t *testing.T) {
	const evil = "a\u202eb\x1b]0;t\x07"
	s, r := noticetest.NewMailServer(t), newReceiver(t)
	n := attempt("mail")
	n.Gate.Title, n.Gate.Description, n.TaskName, n.Objective, n.Principal = evil, evil, evil, evil, evil
	n.Gate.Questions = []opt.Question{{ID: "a", Question: evil}}
	n.Gate.ArtifactData = a2a.DataPart(evil).Data
	test.Is(t, "mail", activities.Tried{}, open(t, notice.Config{}, mailTo(s, `tls: none`)).Notify(t.Context(), n))
	all := s.Accepted()
	if len(all) != 1 {
		t.Fatalf("%d mails", len(all))
	}
	m := all[0]
	n.Channel = "hook"
	chat := `channels: [{name: hook, kind: webhook, url: "${HOOK}", template: '{"text": {{json .Headline}}, "all": {{json .}}}'}]`
	test.Is(t, "webhook", activities.Tried{Status: 200}, open(t, notice.Config{Sender: sender(t)}, chat, "HOOK="+r.URL).Notify(t.Context(), n))
	for name, text := range map[string]string{"mail": m.Subject() + m.Text, "chat": r.body} {
		if strings.ContainsAny(text, "\u202e\x1b\x07") || strings.Count(text, "‹U+202E›") < 4 {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// The answer of the server decides about another attempt.
func TestChannels_Notify_mailOutcomes(t *testing.T) {
	for name, tc := range map[string]struct {
		verb, answer string
		want         activities.Tried
	}{
		"greeting, later":     {"", "421 busy", activities.Tried{Class: "smtp 421"}},
		"greeting, never":     {"", "554 no", activities.Tried{Class: "smtp 554"}}, // the server is repaired, not the message
		"sender, later":       {"MAIL", "451 later", activities.Tried{Class: "smtp 451"}},
		"sender, never":       {"MAIL", "550 no", activities.Tried{Class: "smtp 550", Final: true}},
		"recipient, later":    {"RCPT", "450 greylisted", activities.Tried{Class: "smtp 450"}},
		"recipient, never":    {"RCPT", "550 5.1.1 no such user", activities.Tried{Class: "smtp 550", Final: true}},
		"data, later":         {"DATA", "452 full", activities.Tried{Class: "smtp 452"}},
		"content, later":      {"end of DATA", "451 later", activities.Tried{Class: "smtp 451"}},
		"content, never":      {"end of DATA", "554 spam", activities.Tried{Class: "smtp 554", Final: true}},
		"goodbye is no error": {"QUIT", "500 what", activities.Tried{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := noticetest.NewMailServer(t)
			s.Behave(noticetest.Behaviour{Answers: map[string]string{tc.verb: tc.answer}})
			c := open(t, notice.Config{}, mailTo(s, "tls: none"))
			test.Is(t, "the attempt", tc.want, c.Notify(t.Context(), attempt("mail")))
		})
	}
}

// A message that was accepted is not sent again, even if the server leaves at once.
func TestChannels_Notify_mailServerLeaves(t *testing.T) {
	s := noticetest.NewMailServer(t)
	s.Behave(noticetest.Behaviour{Leaves: true})
	c := open(t, notice.Config{}, mailTo(s, "tls: none"))
	if got := c.Notify(t.Context(), attempt("mail")); got != (activities.Tried{}) || len(s.Accepted()) != 1 {
		t.Errorf("%+v, %d messages", got, len(s.Accepted()))
	}
}

// A server that is down, or does not answer, gets the message later.
func TestChannels_Notify_mailServerIsDown(t *testing.T) {
	l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	down := &noticetest.MailServer{Addr: l.Addr().String()}
	_ = l.Close()
	test.Is(t, "down", activities.Tried{Class: egress.ClassRefused}, open(t, notice.Config{}, mailTo(down, "tls: none")).Notify(t.Context(), attempt("mail")))
	s := noticetest.NewMailServer(t)
	s.Behave(noticetest.Behaviour{Silent: true})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	test.Is(t, "silent", activities.Tried{Class: egress.ClassTimeout}, open(t, notice.Config{}, mailTo(s, "tls: none")).Notify(ctx, attempt("mail")))
}

// With STARTTLS nothing goes out unencrypted, and the certificate is checked.
func TestChannels_Notify_startTLS(t *testing.T) {
	s := noticetest.NewMailServer(t)
	text := mailTo(s, `user: "${USER}", password: "${PASSWORD}"`)
	env := []string{"USER=ann", "PASSWORD=canary"}
	c := open(t, notice.Config{Roots: s.Roots}, text, env...)
	test.Is(t, "without STARTTLS", activities.Tried{Class: egress.ClassTLS}, c.Notify(t.Context(), attempt("mail")))
	offers := []string{"STARTTLS", "AUTH PLAIN"}
	s.Behave(noticetest.Behaviour{Offers: offers})
	if got := c.Notify(t.Context(), attempt("mail")); got != (activities.Tried{}) || len(s.Accepted()) != 1 {
		t.Errorf("with it: %+v, %d messages", got, len(s.Accepted()))
	}
	test.Is(t, "an authority that is not known", activities.Tried{Class: egress.ClassTLS}, open(t, notice.Config{}, text, env...).Notify(t.Context(), attempt("mail")))
	for _, line := range s.Lines() {
		if strings.HasPrefix(line, "AUTH") != (line == "AUTH PLAIN AGFubgBjYW5hcnk=") {
			t.Errorf("the server got %q", line)
		}
	}
	s.Behave(noticetest.Behaviour{Offers: offers, Answers: map[string]string{"AUTH": "535 wrong"}})
	test.Is(t, "a wrong password", activities.Tried{Class: "smtp 535"}, c.Notify(t.Context(), attempt("mail")))
}
