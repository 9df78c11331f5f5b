// Package notice_test has the service send notices about gates, by a webhook and by mail,
// and answers them by links, while its processes are killed.
package notice_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/activities/notice/noticetest"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 60 * time.Second

// answerKey signs the answer links of a site.
const answerKey = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="

// A receiver is a webhook that keeps the requests it has accepted.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	down     bool
	accepted []string // kinds of notices
	refused  int
	links    []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var body struct{ Notice, AnswerURL string }
		err := json.NewDecoder(req.Body).Decode(&body)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.down:
			r.refused++
			w.WriteHeader(http.StatusServiceUnavailable)
		case err != nil || req.Header.Get("X-Longhaul-Delivery") == "":
			w.WriteHeader(http.StatusBadRequest)
		default:
			r.accepted, r.links = append(r.accepted, body.Notice), append(r.links, body.AnswerURL)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) set(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// got returns the kinds of notices that were accepted, and how many were refused.
func (r *receiver) got() (kinds []string, refused int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.accepted), r.refused
}

// subjects returns the subjects of the messages that a server has accepted.
func subjects(s *noticetest.MailServer) (list []string) {
	for _, m := range s.Accepted() {
		list = append(list, m.Subject())
	}
	return list
}

// newSite returns a site with a playbook of one gate, a channel for everyone's notices
// and one for ann, of the group leads, in the mail.
func newSite(t *testing.T, hook *receiver, mail *noticetest.MailServer, gate string) *harness.Site {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string { return harness.WriteFile(t, dir, name, text) }
	book := write("book.yaml", "name: asks\ndefault: true\nskills: [{id: asks, name: N, description: D, tags: [t]}]\nplans:\n- name: P\n  tasks:\n"+gate)
	channels := write("notices.yaml", fmt.Sprintf(`channels:
- {name: hook, kind: webhook, url: "%s"}
- {name: mail, kind: smtp, server: "%s", tls: none, from: longhaul@example.com, to: [ann@example.com], tenants: [default], principal: ann, groups: [leads]}
`, hook.URL, mail.Addr))
	site := harness.NewSite(t, harness.Dev)
	site.Hide(answerKey)
	site.Env = []string{
		"LONGHAUL_PLAYBOOKS=" + book, "LONGHAUL_NOTICES=" + channels, "LONGHAUL_ALLOW_PRIVATE_EGRESS=true", "LONGHAUL_ANSWER_KEYS=" + answerKey,
		"LONGHAUL_PUBLIC_URL=" + site.URL(),
	}
	return site
}

func begin(t *testing.T, c *harness.Client) *harness.Task {
	t.Helper()
	return c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "x"})
}

func equals(got, want []string) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}

var answerURL = regexp.MustCompile(`http://\S+/answer/\S+`)

// page requests an answer link; form is for a POST.
func page(t *testing.T, link string, form url.Values) (status int, text string) {
	t.Helper()
	verb := http.MethodGet
	if form != nil {
		verb = http.MethodPost
	}
	browser := harness.Client{URL: link, HTTP: http.DefaultClient, Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
	status, page := browser.MustPage(t, verb, "", form.Encode())
	return status, string(page)
}

// Both receivers are down when the gate opens and is reminded of, and everything is
// killed meanwhile. Both get both notices in order once they are up. The link in the
// mail answers the gate after another kill, and once.
func TestNotice_answerLink(t *testing.T) {
	t.Parallel()
	hook, mail := newReceiver(t), noticetest.NewMailServer(t)
	hook.set(true)
	mail.Behave(noticetest.Behaviour{Answers: map[string]string{"": "421 busy"}})
	site := newSite(t, hook, mail, `
  - name: Ask
    human:
      approve: Go on?
      responders: {principals: [ann]}
      wait: [{after: 1s, do: remind}]
  - {name: Say, description: say done}
`)
	p := site.Start(harness.AllInOne)
	c := site.Client()
	root := begin(t, c)
	c.AwaitState(t, within, root.ID, "INPUT_REQUIRED")
	harness.Eventually(t, within, "both were tried", func() error {
		if _, refused := hook.got(); refused == 0 || !slices.ContainsFunc(deliveries(t, site, root.ID), func(d delivery) bool {
			return d.ConfigID == "notice:mail" && d.Tries > 0 && d.Attempts[0].Error == "smtp 421"
		}) {
			return fmt.Errorf("%d requests", refused)
		}
		return nil
	})
	p.Kill()
	hook.set(false)
	mail.Behave(noticetest.Behaviour{})
	p = site.Start(harness.AllInOne)
	harness.Eventually(t, within, "the notices come to the webhook", func() error {
		got, _ := hook.got()
		return equals(got, []string{"opened", "remind"})
	})
	harness.Eventually(t, within, "the notices come in the mail", func() error { return equals(subjects(mail), []string{"Go on?", "Reminder: Go on?"}) })
	test.Is(t, "a channel without a principal got the link", "", hook.links[0])
	first, second := answerURL.FindString(mail.Accepted()[0].Text), answerURL.FindString(mail.Accepted()[1].Text)
	if status, text := page(t, first, nil); status != http.StatusOK || !strings.Contains(text, "Go on?") {
		t.Errorf("the page: %d\n%s", status, text)
	}
	c.AwaitState(t, within, root.ID, "INPUT_REQUIRED")
	noted(t, site, root.ID, 4)

	p.Kill()
	site.Start(harness.AllInOne)
	if status, text := page(t, first, url.Values{"action": {"accept"}}); status/100 != 2 {
		t.Fatalf("the answer: %d\n%s", status, text)
	}
	c.AwaitState(t, within, root.ID, "COMPLETED")
	for what, link := range map[string]string{"the same link": first, "that of the reminder": second} {
		if status, text := page(t, link, url.Values{"action": {"reject"}}); status != http.StatusConflict {
			t.Errorf("%s, again: %d\n%s", what, status, text)
		}
	}
	if status, _ := page(t, first[:len(first)-4]+"AAAA", nil); status != http.StatusNotFound {
		t.Errorf("an altered link: %d", status)
	}
	got, _ := hook.got()
	test.Error(t, "at the end, the webhook", nil, equals(got, []string{"opened", "remind"}))
	mails := []string{"Go on?", "Reminder: Go on?"}
	test.Error(t, "at the end, the mail", nil, equals(subjects(mail), mails))
}

// Each step of a gate causes one notice, in order, to those who may answer then.
func TestNotice_ladder(t *testing.T) {
	t.Parallel()
	hook, mail := newReceiver(t), noticetest.NewMailServer(t)
	site := newSite(t, hook, mail, `
  - name: Ask
    human:
      approve: Go on?
      responders: {principals: [bob]}
      wait:
      - {after: 1s, do: remind}
      - {after: 2s, do: escalate, to: {groups: [leads]}}
      - {after: 3s, do: reassign, to: {groups: [leads]}}
      - {after: 4s, do: expire}
`)
	site.Start(harness.Temporal)
	site.Start(harness.API)
	site.Start(harness.Worker)
	c := site.Client()
	root := begin(t, c)
	c.AwaitState(t, within, root.ID, "FAILED")
	harness.Eventually(t, within, "all notices come to the webhook", func() error {
		got, _ := hook.got()
		return equals(got, []string{"opened", "remind", "escalate", "reassign", "expire"})
	})
	harness.Eventually(t, within, "those for leads come in the mail", func() error {
		return equals(subjects(mail), []string{"Escalated: Go on?", "Reassigned: Go on?", "Expired: Go on?"})
	})
	link := answerURL.FindString(mail.Accepted()[1].Text)
	if status, text := page(t, link, url.Values{"action": {"accept"}}); status != http.StatusGone && status != http.StatusConflict {
		t.Errorf("an answer after the end: %d\n%s", status, text)
	}
	if answerURL.MatchString(mail.Accepted()[2].Text) {
		t.Error("the notice about the end has an answer link")
	}
	noted(t, site, root.ID, 8)
	for _, d := range deliveries(t, site, root.ID) {
		if d.Tries != 1 || d.Notice == "" {
			t.Errorf("delivery %+v", d)
		}
	}
}

// noted waits until the journal has noted that all n deliveries were made: it does so
// after the receivers have them, and would have them made again after a kill before.
func noted(t *testing.T, site *harness.Site, rootID string, n int) {
	t.Helper()
	harness.Eventually(t, within, "the journal has noted every delivery", func() error {
		list := deliveries(t, site, rootID)
		if i := slices.IndexFunc(list, func(d delivery) bool { return d.Status != "delivered" }); i >= 0 || len(list) != n {
			return fmt.Errorf("%+v", list)
		}
		return nil
	})
}

// A delivery is one of those that the API lists.
type delivery struct {
	ConfigID, Notice, Status string
	Tries                    int
	Attempts                 []struct{ Error string }
}

// deliveries returns the deliveries of the only plan task below a root task.
func deliveries(t *testing.T, site *harness.Site, rootID string) []delivery {
	t.Helper()
	id := "task-" + strings.TrimPrefix(rootID, "obj-") + "-1-0"
	_, page := harness.Get(t, site.URL()+"/v1/tasks/"+id+"/deliveries")
	var out struct{ Deliveries []delivery }
	test.OK(t, json.Unmarshal(page, &out))
	return out.Deliveries
}
