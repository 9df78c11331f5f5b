package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// newPaying returns a service whose work makes an order, such as that of "pay 12", and asks whether it
// may be paid.
func newPaying(t *testing.T, responders *opt.Responders) *fixture {
	t.Helper()
	return newServiceIn(t, func(w *worldConfig) {
		w.Planner = func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			gate := &opt.Gate{
				Kind: opt.Approval, Title: "Pay?", Actions: []opt.Action{opt.Accept, opt.Reject}, Responders: responders,
				Form: &opt.GateForm{Object: []string{"task-0"}},
			}
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Pay", Tasks: []opt.TaskSpec{
				{Name: "Order"}, {Name: "Approve", Ask: gate, Uses: []string{"task-0"}, Standing: "pay/Pay/Approve"},
			}}}}, true
		}
		w.Script = func(work opt.Work) servicetest.Play {
			var amount int
			_, _ = fmt.Sscanf(work.RequestText(), "pay %d", &amount)
			object := a2a.DataPart(map[string]any{"amount": amount, "for": "tea"})
			return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "order", Parts: []a2a.Part{object}}}}}
		}
	})
}

// as is the header of a principal.
func as(name string) []string { return []string{"Authorization", "Bearer " + name} }

func payGate(messageID string) string { return "task-" + u(messageID) + "-1-1:1" }

// pay sends an order and returns whether people are asked about it.
func (s *fixture) pay(t *testing.T, id string, amount int) (asks bool) {
	t.Helper()
	s.send(t, id, fmt.Sprintf("pay %d", amount))
	_, page := s.page(t, http.MethodGet, "/v1/interrupts", "", as("acme/bob")...)
	return strings.Contains(page.String(), payGate(id))
}

// stand makes a standing decision and returns its id.
func (s *fixture) stand(t *testing.T, who, body string) (status int, n node) {
	t.Helper()
	return s.page(t, http.MethodPost, "/v1/standing", body, as(who)...)
}

// Clients of JSON-RPC alone make standing decisions and absences in both versions, as by the pages.
func TestStanding_rpc(t *testing.T) {
	s := newPaying(t, nil)
	s.pay(t, "m", 12)
	for _, version := range []string{"1.0", "0.3"} {
		call := func(method, params string) node {
			return s.callIn(t, version, method, params, as("acme/bob")...).at("result")
		}
		made := call("standing/make", fmt.Sprintf(order, payGate("m")))
		id := made.at("id").String()
		if got := call("standing/get", `{"id":"`+id+`"}`).at("state").String(); got != "active" || made.at("by", "0", "decidedBy").String() != "bob" {
			t.Errorf("%s: it is %s: %v", version, got, made)
		}
		test.Is(t, fmt.Sprintf("%s: revoked, it", version), "revoked", call("standing/revoke", `{"id":"`+id+`"}`).at("state").String())
		test.Is(t, fmt.Sprintf("%s: the first", version), id, call("standing/list", `{}`).at("standing", "0", "id").String())
		until := a2a.At(s.world.Now().Add(time.Hour)).String()
		away := call("absences/add", `{"deputy":"carol","until":"`+until+`"}`).at("id").String()
		if got := call("absences/end", `{"id":"`+away+`"}`); got.at("endedBy").String() != "bob" {
			t.Errorf("%s: ended, it is %v", version, got)
		}
		test.Is(t, fmt.Sprintf("%s: the first", version), away, call("absences/list", `{}`).at("absences", "0", "id").String())
	}
	again := func(method, params string) node {
		return s.callIn(t, "1.0", method, strings.Replace(params, "{", `{"metadata":{"longhaul/v1/requestId":"key"},`, 1), as("acme/bob")...)
	}
	soon := a2a.At(s.world.Now().Add(time.Hour)).String()
	for method, tc := range map[string]struct{ params, part, others string }{
		"standing/make": {fmt.Sprintf(order, payGate("m")), `"for":"8h","most":2`, `"for":"8h","most":3 "for":"7h","most":2 "for":"8h","most":2,"feedback":"why"`},
		"absences/add":  {`{"deputy":"carol","until":"` + soon + `"}`, `"deputy":"carol"`, `"deputy":"dave" "deputy":"carol","from":"` + s.world.Now().Add(time.Minute).Format(time.RFC3339) + `"`},
	} {
		first := again(method, tc.params).at("result", "id").String()
		s.world.Advance(time.Second)
		if second := again(method, tc.params).at("result", "id").String(); first != second || first == "" {
			t.Errorf("%s: a repeat makes %s after %s", method, second, first)
		}
		for _, other := range strings.Fields(tc.others) {
			got := again(method, strings.Replace(tc.params, tc.part, other, 1)).at("error", "message").String()
			test.Contains(t, fmt.Sprintf("%s with %s", method, other), "requestId: was used before for another change", got)
		}
	}
	test.Is(t, "an unknown one has the code", "-32000", s.call(t, "standing/get", `{"id":"sd-none"}`).at("error", "code").String())
}

// order is a standing decision at the gate of the first order.
const order = `{"interruptId":"%s","holds":"object.amount < 50","for":"8h","most":2}`

// Equal answers propose a standing decision with its condition; it is made by the person, decides about
// what its rule covers, as often as it may, and its gates show by whom.
func TestStanding(t *testing.T) {
	s := newPaying(t, nil)
	for i, amount := range []int{12, 40, 7} {
		id := fmt.Sprintf("m%d", i)
		if !s.pay(t, id, amount) {
			t.Fatalf("no one is asked about order %d", i)
		}
		if _, list := s.page(t, http.MethodGet, "/v1/standing", "", as("acme/bob")...); strings.Contains(list.String(), "holds") {
			t.Errorf("after %d answers: %v", i, list)
		}
		if status, got := s.page(t, http.MethodPost, "/v1/interrupts/"+payGate(id)+"/answer", `{"action":"accept"}`, as("acme/bob")...); status != http.StatusOK {
			t.Fatalf("the answer: %d %v", status, got)
		}
	}
	_, list := s.page(t, http.MethodGet, "/v1/standing", "", as("acme/bob")...)
	if p := list.at("proposals", "0"); p.at("holds").String() != `object.amount <= 40 && object.for == "tea"` || p.at("interruptId").String() != payGate("m2") {
		t.Errorf("proposed: %v", list)
	}
	if _, other := s.page(t, http.MethodGet, "/v1/standing", "", as("acme/carol")...); strings.Contains(other.String(), "holds") {
		t.Errorf("for another person: %v", other)
	}
	status, made := s.stand(t, "acme/bob", fmt.Sprintf(order, payGate("m2")))
	if status != http.StatusOK || made.at("state").String() != "active" || made.at("by", "0", "decidedBy").String() != "bob" {
		t.Fatalf("made: %d %v", status, made)
	}
	if s.pay(t, "covered", 30) || !s.pay(t, "above", 60) || s.pay(t, "second", 49) || !s.pay(t, "third", 30) {
		t.Error("it does not decide what it covers, twice")
	}
	id := made.at("id").String()
	_, shown := s.page(t, http.MethodGet, "/v1/standing/"+id, "", as("acme/carol")...)
	if shown.at("state").String() != "used-up" || shown.at("uses", "1", "interruptId").String() != payGate("covered") {
		t.Errorf("shown: %v", shown)
	}
	_, decisions := s.page(t, http.MethodGet, "/v1/objectives/obj-"+u("covered")+"/decisions", "")
	d := decisions.at("decisions", "0")
	if d.at("decidedBy").String() != opt.ByStanding || d.at("interruptId").String() != payGate("covered") || d.at("standing", "id").String() != id || d.at("standing", "by", "0", "decidedBy").String() != "bob" {
		t.Errorf("decisions: %v", decisions)
	}
	record, err := s.journal.Gate(t.Context(), "acme", payGate("covered"))
	if closed := record.Closed(); err != nil || record.Open || closed == nil || !strings.Contains(closed.Decision.Outcome(), "by the standing decision "+id+" of bob") || len(record.Gate.Object) == 0 {
		t.Errorf("the gate shows %+v, %v", record, err)
	}
}

// Who profits may not: the requester makes and approves none, and one of others counts with as many
// people behind it as the gate asks for. Tenants are apart.
func TestStanding_people(t *testing.T) {
	s := newPaying(t, &opt.Responders{Principals: []string{"ann", "bob", "carol"}, Accepts: 2})
	s.pay(t, "m", 12)
	body := fmt.Sprintf(order, payGate("m"))
	for who, want := range map[string]int{"acme/ann": 403, "acme/dave": 403, "other/bob": 404, "acme/bob runs:read": 403} {
		if status, got := s.stand(t, who, body); status != want {
			t.Errorf("%s: %d, want %d: %v", who, status, want, got)
		}
	}
	_, made := s.stand(t, "acme/bob", body)
	if made.at("state").String() != "proposed" || made.at("need").String() != "2" || !s.pay(t, "early", 12) {
		t.Errorf("with one person behind it: %v", made)
	}
	path := "/v1/standing/" + made.at("id").String()
	for who, want := range map[string]int{"acme/ann": 403, "other/carol": 404, "acme/bob": 200} {
		if status, got := s.page(t, http.MethodPost, path+"/approve", "{}", as(who)...); status != want || want == 200 && got.at("state").String() != "proposed" {
			t.Errorf("approved by %s: %d %v", who, status, got)
		}
	}
	if _, got := s.page(t, http.MethodPost, path+"/approve", "{}", as("acme/carol")...); got.at("state").String() != "active" || s.pay(t, "now", 12) {
		t.Errorf("with two people behind it: %v", got)
	}
	if status, _ := s.page(t, http.MethodPost, path+"/revoke", "{}", as("other/bob")...); status != 404 {
		t.Errorf("revoked by another tenant: %d", status)
	}
	if _, got := s.page(t, http.MethodPost, path+"/revoke", "{}", as("acme/dave")...); got.at("state").String() != "revoked" || !s.pay(t, "later", 12) {
		t.Errorf("revoked: %v", got)
	}
	if status, got := s.page(t, http.MethodPost, path+"/approve", "{}", as("acme/carol")...); status != 400 && status != 409 && status != 422 {
		t.Errorf("approved after it was revoked: %d %v", status, got)
	}
}

// One who is behind a decision and then has a part in some work does not decide there.
func TestStanding_shaper(t *testing.T) {
	s := newPaying(t, nil)
	s.pay(t, "m", 12)
	s.stand(t, "acme/bob", fmt.Sprintf(order, payGate("m")))
	s.call(t, "SendMessage", `{"message":`+messageJSON("own", "pay 12", "")+`}`, as("acme/bob")...)
	own := "task-" + strings.TrimPrefix(opt.DerivedObjectiveID("acme", "bob", "own"), "obj-") + "-1-1:1"
	if _, page := s.page(t, http.MethodGet, "/v1/interrupts", ""); !strings.Contains(page.String(), own) {
		t.Errorf("no one is asked: %v", page)
	}
}

// What cannot be is refused, with the member that is wrong.
func TestMakeStanding_wrong(t *testing.T) {
	s := newPaying(t, nil)
	s.pay(t, "m", 12)
	for field, change := range map[string][2]string{
		"holds":  {`object.amount < 50`, `object.amount <`},
		"for":    {`8h`, `40d`},
		"most":   {`"most":2`, `"most":0`},
		"action": {`"most":2`, `"most":2,"action":"refine"`},
	} {
		status, got := s.stand(t, "acme/bob", strings.Replace(fmt.Sprintf(order, payGate("m")), change[0], change[1], 1))
		if status != 400 || got.at("details", "fieldViolations", "0", "field").String() != field {
			t.Errorf("%s: %d %v", field, status, got)
		}
	}
	if status, _ := s.page(t, http.MethodGet, "/v1/standing/sd-none", ""); status != 404 {
		t.Errorf("an unknown one: %d", status)
	}
}
