package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// paying returns a site whose work makes an order, such as that of "pay 12", and asks whether it may be
// paid. So many have to accept.
func paying(t *testing.T, accepts int) *site {
	t.Helper()
	gate := &opt.Gate{
		Kind: opt.Approval, Title: "Pay?", Actions: []opt.Action{opt.Accept, opt.Reject}, Form: &opt.GateForm{Object: []string{"task-0"}},
		Responders: &opt.Responders{Principals: []string{"bob", "carol"}, Accepts: accepts},
	}
	return beginWorld(t, servicetest.Config{
		Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Pay", Tasks: []opt.TaskSpec{
				{Name: "Order"}, {Name: "Approve", Ask: gate, Uses: []string{"task-0"}, Standing: "pay/Pay/Approve"},
			}}}}, true
		},
		Script: func(w opt.Work) servicetest.Play {
			var amount int
			_, _ = fmt.Sscanf(w.RequestText(), "pay %d", &amount)
			object := a2a.DataPart(map[string]any{"amount": amount, "for": "<tea>"})
			return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "order", Parts: []a2a.Part{object}}}}}
		},
	})
}

var beforehand = regexp.MustCompile(`href="(/console/standing/new\?gate=[^"]*)"`)

// Three equal answers lead from the inbox to a form with the condition that they have in common. What it
// makes decides, and the gate that it has decided leads to it, until it is revoked.
func TestStanding(t *testing.T) {
	s := paying(t, 1)
	bob := s.signedIn(t, "acme/bob")
	for _, amount := range []int{12, 40, 7} {
		s.send(t, "acme/ann", fmt.Sprintf("pay %d", amount))
		p := bob.get("/console/inbox")
		if p = bob.post(gateOf(t, p), with(fields(p), "action", "accept")); p.status != http.StatusOK {
			t.Fatalf("the answer: %d %s", p.status, p.text)
		}
	}
	inbox := bob.get("/console/inbox")
	inbox.wants(t, "Accepted by you, the last 3 times: pay/Pay/Approve")
	form := bob.get(html.UnescapeString(beforehand.FindStringSubmatch(inbox.html)[1]))
	form.holds(t, `object.amount &lt;= 40 &amp;&amp; object.for == &#34;\u003ctea\u003e&#34;`, `<option value="accept" selected>`)
	filled := with(fields(form), "holds", "object.amount <=", "for", "8h", "most", "2", "action", "accept", "feedback", "Small orders")
	wrong := bob.post("/console/standing", filled)
	test.Is(t, "a condition that is none", http.StatusBadRequest, wrong.status)
	wrong.holds(t, "The condition ", ">\nobject.amount &lt;=</textarea>", "Small orders")
	filled = with(filled, "key", fields(wrong).Get("key"), "holds", "object.amount < 50")
	made := bob.post("/console/standing", filled)
	made.wants(t, "active : Accepted at pay/Pay/Approve", "object.amount < 50", "0 of 2 times", "bob , of 1", "Nothing yet.")
	test.Is(t, "sent twice, it makes", made.path, bob.post("/console/standing", filled).path)
	s.send(t, "acme/ann", "pay 30")
	made = bob.get(made.path)
	made.wants(t, "1 of 2 times", "1. The question")
	decided := bob.get(regexp.MustCompile(`1\. <a href="([^"]*)"`).FindStringSubmatch(made.html)[1])
	decided.holds(t, `<a href="`+made.path+`">The standing decision</a>`)

	for key, want := range map[string]int{"other/bob": 404, "acme/carol runs:read": 403} {
		other := s.signedIn(t, key)
		other.post(made.path+"/revoke", nil).shows(t, want)
	}
	if p := s.signedIn(t, "other/bob").get(made.path); p.status != http.StatusNotFound || strings.Contains(p.html, "amount") {
		t.Errorf("another tenant: %d %s", p.status, p.text)
	}
	reader := s.signedIn(t, "acme/carol runs:read")
	if p := reader.get(made.path); strings.Contains(p.html, "Revoke<") || !strings.Contains(p.text, "Small orders") {
		t.Errorf("a reader sees %s", p.text)
	}
	s.signedIn(t, "acme/carol").post(made.path+"/revoke", nil).wants(t, "revoked :", "by carol")
	bob.get("/console/standing").wants(t, "pay/Pay/Approve Accepted object.amount < 50 revoked 1 of 2")
}

// A standing decision counts with as many people behind it as its gates ask for; who has a part in the
// work, or lacks a scope, gets no form, and a form of their own is refused.
func TestStanding_people(t *testing.T) {
	s := paying(t, 2)
	s.send(t, "acme/ann", "pay 12")
	bob := s.signedIn(t, "acme/bob")
	path := html.UnescapeString(beforehand.FindStringSubmatch(bob.get("/console/inbox").html)[1])
	filled := with(fields(bob.get(path)), "holds", "true", "for", "7d", "most", "1", "action", "accept")
	for key, want := range map[string]int{"acme/ann": 403, "acme/dave": 403, "other/bob": 404, "acme/bob runs:read": 403} {
		other := s.signedIn(t, key)
		if p := other.get("/console/inbox?show=all"); beforehand.MatchString(p.html) {
			t.Errorf("%s is offered the form", key)
		}
		other.post("/console/standing", filled).shows(t, want)
	}
	for _, key := range []string{"other/bob", "acme/bob runs:read", "acme/bob approvals:respond"} {
		if p := s.browser(t).get(path, "Authorization", "Bearer "+key); p.status < 400 || strings.Contains(p.html, "Pay?") {
			t.Errorf("%s gets the form: %d", key, p.status)
		}
	}
	made := bob.post("/console/standing", filled)
	made.wants(t, "proposed :", "bob , of 2")
	made.holds(t, "!Approve</button>")
	s.signedIn(t, "acme/dave").post(made.path+"/approve", url.Values{}).shows(t, http.StatusForbidden)
	carol := s.signedIn(t, "acme/carol")
	carol.get(made.path).holds(t, "Approve</button>")
	carol.post(made.path+"/approve", nil).wants(t, "active :", "bob , carol , of 2")
}

// gateOf returns the path of the gate that a page shows.
func gateOf(t *testing.T, p page) string {
	t.Helper()
	m := regexp.MustCompile(`data-gate="([^"]*)"`).FindStringSubmatch(p.html)
	if m == nil {
		t.Fatalf("no gate: %s", p.text)
	}
	return "/console/inbox/" + m[1]
}

// with returns a form with other fields, names and values in turn.
func with(form url.Values, fields ...string) url.Values {
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

// A person is absent for days with a deputy, who may end it, too. Others need the scope; tenants are apart.
func TestAbsences(t *testing.T) {
	s := paying(t, 1)
	bob := s.signedIn(t, "acme/bob approvals:respond runs:read")
	form := bob.get("/console/absences")
	form.holds(t, `!name="principal"`)
	filled := with(fields(form), "deputy", "bob", "until", "2026-03-04")
	bob.post("/console/absences", filled).holds(t, "The deputy must be another principal", `value="2026-03-04"`)
	for _, wrong := range []string{"", "2026-02-01", "soon"} {
		bob.post("/console/absences", with(filled, "deputy", "dave", "until", wrong)).shows(t, http.StatusBadRequest, "The last day")
	}
	filled = with(filled, "until", "2026-03-04")
	for range 2 { // sent twice, it makes one
		p := bob.post("/console/absences", filled)
		p.wants(t, "bob dave now 1 Mar 2026, 09:30 UTC 5 Mar 2026, 00:00 UTC bob End")
		test.Is(t, "absences", 1, strings.Count(p.html, "<tr id="))
	}
	other := with(url.Values{}, "principal", "carol", "groups", "buyers, <b>", "deputy", "dave", "from", "2026-03-02", "until", "2026-03-02")
	for key, want := range map[string]int{"acme/bob approvals:respond runs:read": 403, "acme/eve runs:read": 403, "acme/eve absences:manage runs:read": 200} {
		s.signedIn(t, key).post("/console/absences", other).shows(t, want)
	}
	list := s.signedIn(t, "acme/eve runs:read").get("/console/absences")
	list.wants(t, "carol in buyers in <b> dave later 2 Mar 2026, 00:00 UTC 3 Mar 2026, 00:00 UTC eve")
	list.holds(t, `!/end"`, `!name="deputy"`)
	ids := regexp.MustCompile(`<tr id="(abs-[^"]*)"`).FindAllStringSubmatch(list.html, -1)
	path := "/console/absences/" + ids[0][1] + "/end" // that of bob, which ends last
	for key, want := range map[string]int{"other/bob": 404, "acme/eve runs:read": 403, "acme/carol approvals:respond runs:read": 403} {
		s.signedIn(t, key).post(path, nil).shows(t, want)
	}
	s.signedIn(t, "acme/dave approvals:respond runs:read").post(path, nil).wants(t, "bob dave ended by dave")
	s.signedIn(t, "other/bob").get("/console/absences").holds(t, "!dave")
}
