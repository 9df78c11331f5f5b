package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// manages are the scopes of a caller who may be absent for others.
const manages = " absences:manage approvals:respond runs:read"

// away adds an absence until in an hour, and returns its answer.
func (s *fixture) away(t *testing.T, who, principal, deputy string, groups ...string) (status int, got node) {
	t.Helper()
	body := fmt.Sprintf(`{"principal":%q,"deputy":%q,"until":%q`, principal, deputy, a2a.At(s.world.Now().Add(time.Hour)))
	if groups != nil {
		body += `,"groups":["` + strings.Join(groups, `","`) + `"]`
	}
	return s.page(t, http.MethodPost, "/v1/absences", body+"}", as(who)...)
}

// decides answers the gate of an order and returns the status of that.
func (s *fixture) decides(t *testing.T, who, id, body string) int {
	t.Helper()
	status, _ := s.page(t, http.MethodPost, "/v1/interrupts/"+payGate(id)+"/answer", body, as(who)...)
	return status
}

// mine reports whether the gate of an order waits for a caller, and in whose place.
func (s *fixture) mine(t *testing.T, who, id string) (waits bool, deputyFor string) {
	t.Helper()
	_, list := s.page(t, http.MethodGet, "/v1/interrupts?mine=true", "", as(who)...)
	for n := range 9 {
		if i := list.at("interrupts", fmt.Sprint(n)); i.at("interruptId").String() == payGate(id) {
			return true, i.at("deputyFor").String()
		}
	}
	return false, ""
}

const accepts = `{"action":"accept"}`

// The deputy gets the questions of who is absent and decides in its place, as the chain says, until the
// absence ends: then it may not any more.
func TestAbsence(t *testing.T) {
	s := newPaying(t, &opt.Responders{Principals: []string{"bob"}})
	s.pay(t, "m", 12)
	if waits, _ := s.mine(t, "acme/carol", "m"); waits || s.decides(t, "acme/carol", "m", accepts) != http.StatusForbidden {
		t.Fatal("carol may decide before")
	}
	status, made := s.away(t, "acme/bob", "", "carol")
	id := made.at("id").String()
	if status != http.StatusOK || made.at("principal").String() != "bob" || made.at("active").String() != "true" {
		t.Fatalf("made: %d %v", status, made)
	}
	if waits, who := s.mine(t, "acme/carol", "m"); !waits || who != "bob" {
		t.Errorf("it waits for carol: %t, as deputy for %q", waits, who)
	}
	if waits, who := s.mine(t, "acme/bob", "m"); !waits || who != "" {
		t.Errorf("it waits for bob, too: %t, %q", waits, who)
	}
	if got := s.decides(t, "acme/carol", "m", `{"action":"accept","objectDigest":"sha256:other"}`); got == http.StatusOK {
		t.Error("a deputy decides about another object")
	}
	test.Is(t, "carol decides", http.StatusOK, s.decides(t, "acme/carol", "m", accepts))
	_, decisions := s.page(t, http.MethodGet, "/v1/objectives/obj-"+u("m")+"/decisions", "")
	last := decisions.at("decisions", "2") // after two that were refused
	if last.at("decidedBy").String() != "carol" || last.at("for", "principal").String() != "bob" || last.at("for", "absenceId").String() != id || last.at("closed").String() != "true" {
		t.Errorf("decisions: %v", decisions)
	}

	s.pay(t, "later", 12)
	for who, want := range map[string]int{"acme/dave approvals:respond": 403, "other/bob": 404} {
		if status, got := s.page(t, http.MethodPost, "/v1/absences/"+id+"/end", "{}", as(who)...); status != want {
			t.Errorf("ended by %s: %d %v", who, status, got)
		}
	}
	s.page(t, http.MethodPost, "/v1/absences/"+id+"/end", "{}", as("acme/carol")...)
	if waits, _ := s.mine(t, "acme/carol", "later"); waits || s.decides(t, "acme/carol", "later", accepts) != http.StatusForbidden {
		t.Error("carol may decide after the end")
	}
	if _, list := s.page(t, http.MethodGet, "/v1/absences", "", as("acme/dave")...); list.at("absences", "0", "endedBy").String() != "carol" || list.at("absences", "0", "active").String() != "false" {
		t.Errorf("listed: %v", list)
	}
}

// A deputy never gets more than the rules of the gate give: ann asks for the work.
func TestAbsence_hostile(t *testing.T) {
	rule := &opt.Responders{Principals: []string{"bob", "dora"}, Groups: []string{"leads"}}
	twice := &opt.Responders{Principals: []string{"bob", "carol"}, Accepts: 2}
	for name, tc := range map[string]struct {
		rule *opt.Responders
		away [][3]string // who makes it, who is absent, the deputy
		who  string
		want int
	}{
		"the deputy is the requester":                   {rule, [][3]string{{"acme/bob", "", "ann"}}, "acme/ann", 403},
		"the requester has named the deputy":            {rule, [][3]string{{"acme/ann" + manages, "bob", "carol"}}, "acme/carol", 403},
		"another one has named the deputy":              {rule, [][3]string{{"acme/ops" + manages, "bob", "carol"}}, "acme/carol", 200},
		"a deputy of the requester":                     {rule, [][3]string{{"acme/ann", "", "carol"}}, "acme/carol", 403},
		"a deputy in another tenant":                    {rule, [][3]string{{"acme/bob", "", "carol"}}, "other/carol", 404},
		"an absence in another tenant":                  {rule, [][3]string{{"other/bob", "", "carol"}}, "acme/carol", 403},
		"a deputy of a deputy":                          {rule, [][3]string{{"acme/bob", "", "carol"}, {"acme/carol", "", "eve"}}, "acme/eve", 403},
		"a deputy without the scope":                    {rule, [][3]string{{"acme/bob", "", "carol"}}, "acme/carol runs:read", 403},
		"one of two is the deputy of the other":         {twice, [][3]string{{"acme/bob", "", "carol"}}, "acme/carol", 200},
		"a deputy of one whom the gate leaves out":      {&opt.Responders{Principals: []string{"dora"}}, [][3]string{{"acme/bob", "", "carol"}}, "acme/carol", 403},
		"a deputy of the requester, who may not":        {&opt.Responders{Principals: []string{"ann", "bob"}, NotRequester: true}, [][3]string{{"acme/ann", "", "carol"}}, "acme/carol", 403},
		"a deputy beside a requester who may not":       {&opt.Responders{Principals: []string{"ann", "bob"}, NotRequester: true}, [][3]string{{"acme/bob", "", "carol"}}, "acme/carol", 200},
		"a deputy of one who may not answer":            {rule, [][3]string{{"acme/bob absences:manage", "", "carol"}}, "acme/carol", 403},
		"an absence without a right to it, of somebody": {rule, [][3]string{{"acme/eve approvals:respond", "bob", "carol"}}, "acme/carol", 403},
	} {
		s := newPaying(t, tc.rule)
		s.pay(t, "m", 12)
		for _, a := range tc.away {
			s.away(t, a[0], a[1], a[2])
		}
		test.Is(t, name, tc.want, s.decides(t, tc.who, "m", accepts))
		if waits, _ := s.mine(t, tc.who, "m"); waits {
			t.Errorf("%s: it waits for %s afterwards", name, tc.who)
		}
	}
}

// Two seats give no person two votes, and one seat gives no two persons a vote.
func TestAbsence_votes(t *testing.T) {
	s := newPaying(t, &opt.Responders{Principals: []string{"bob", "carol", "dora"}, Accepts: 2})
	s.pay(t, "m", 12)
	s.away(t, "acme/bob", "", "carol")
	s.away(t, "acme/bob", "", "eve")
	s.away(t, "acme/dora", "", "eve")
	open := func() bool {
		_, page := s.page(t, http.MethodGet, "/v1/interrupts", "")
		return strings.Contains(page.String(), payGate("m"))
	}
	for _, step := range []struct {
		who  string
		want int
		open bool
	}{
		{"acme/eve", 200, true},    // for bob, whose absence ends first
		{"acme/eve", 200, true},    // the same answer again
		{"acme/bob", 400, true},    // his deputy has voted
		{"acme/carol", 200, false}, // for herself
	} {
		if got := s.decides(t, step.who, "m", accepts); got != step.want || open() != step.open {
			t.Errorf("%s: %d, open %t", step.who, got, open())
		}
	}
}

// A group of the absent person is a seat, too: of the person by its own key, of others as it is said.
func TestAbsence_groups(t *testing.T) {
	s := newPaying(t, &opt.Responders{Groups: []string{"leads"}})
	s.pay(t, "m", 12)
	s.away(t, "acme/ops"+manages, "lea", "carol", "leads", "other")
	test.Is(t, "carol decides", http.StatusOK, s.decides(t, "acme/carol", "m", accepts))
	_, decisions := s.page(t, http.MethodGet, "/v1/objectives/obj-"+u("m")+"/decisions", "")
	if d := decisions.at("decisions", "0"); d.at("groups").String() != "[leads]" && d.at("groups", "0").String() != "leads" || d.at("for", "madeBy").String() != "ops" {
		t.Errorf("decisions: %v", decisions)
	}
}

// What cannot be is refused, with the member that is wrong.
func TestAddAbsence_wrong(t *testing.T) {
	s := newPaying(t, nil)
	until := func(d time.Duration) string { return a2a.At(s.world.Now().Add(d)).String() }
	for body, want := range map[string]string{
		`{"deputy":"bob","until":"` + until(time.Hour) + `"}`:                                                   "deputy",
		`{"deputy":"longhaul:timer","until":"` + until(time.Hour) + `"}`:                                        "deputy",
		`{"until":"` + until(time.Hour) + `"}`:                                                                  "deputy",
		`{"principal":"dora","deputy":"bob","until":"` + until(time.Hour) + `"}`:                                "deputy",
		`{"deputy":"carol","until":"` + until(-time.Hour) + `"}`:                                                "until",
		`{"deputy":"carol","until":"` + until(400*24*time.Hour) + `"}`:                                          "until",
		`{"deputy":"carol","from":"` + until(2*time.Hour) + `","until":"` + until(time.Hour) + `"}`:             "until",
		`{"deputy":"carol","from":"` + until(367*24*time.Hour) + `","until":"` + until(368*24*time.Hour) + `"}`: "from",
		`{"deputy":"carol"}`: "until",
		`{"deputy":"carol","groups":["leads"],"until":"` + until(time.Hour) + `"}`: "groups",
	} {
		status, got := s.page(t, http.MethodPost, "/v1/absences", body, as("acme/bob"+manages)...)
		if status != 400 || got.at("details", "fieldViolations", "0", "field").String() != want {
			t.Errorf("%s: %d %v, want %s", body, status, got, want)
		}
	}
	if status, _ := s.away(t, "acme/eve approvals:respond", "bob", "carol"); status != http.StatusForbidden {
		t.Errorf("of another person, without the scope: %d", status)
	}
}
