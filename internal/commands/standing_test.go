package commands

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const wireStanding = `{"id":"sd-1","gates":"pay/Pay/Approve","action":"accept","holds":"object.amount < 50","interruptId":"GATE","most":10,"need":2,"used":1,` +
	`"createdAt":"2026-03-01T09:30:00.000Z","expiresAt":"2926-03-01T17:30:00.000Z","state":"proposed","by":[{"action":"accept","decidedBy":"bob"}],` +
	`"uses":[{"n":1,"interruptId":"task-a:1","at":"2026-03-01T10:30:00.000Z"}]}`

func answerWith(body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprint(w, body) }
}

// Each command makes its request, and shows the decision with its people and uses.
func TestStanding(t *testing.T) {
	for request, run := range map[string]func(*fakeAgent) *commandRun{
		"POST /v1/standing": func(f *fakeAgent) *commandRun {
			return f.run(&standingMakeCommand{Gate: "GATE", If: "object.amount < 50", For: "8h", Uses: 10})
		},
		"GET /v1/standing/sd-1":          func(f *fakeAgent) *commandRun { return f.run(&standingShowCommand{oneStanding{ID: "sd-1"}}) },
		"POST /v1/standing/sd-1/approve": func(f *fakeAgent) *commandRun { return f.run(&standingApproveCommand{oneStanding{ID: "sd-1"}}) },
		"POST /v1/standing/sd-1/revoke":  func(f *fakeAgent) *commandRun { return f.run(&standingRevokeCommand{oneStanding{ID: "sd-1"}}) },
	} {
		f := newFakeAgent(t, answerWith(wireStanding))
		r := run(f)
		out := strings.Join(strings.Fields(r.stdout.String()), " ")
		if r.err != nil || len(f.calls) != 1 || f.calls[0] != request || !strings.Contains(out, "by bob used 1 of 10 times") || !strings.Contains(out, "1 task-a:1 2026") || !strings.Contains(out, "when 2 people are behind it") {
			t.Errorf("%s: %v %v\n%s", request, f.calls, r.err, out)
		}
	}
}

// The inbox shows what equal answers propose as a command, with all texts quoted for a shell.
func TestInbox_proposes(t *testing.T) {
	gate := strings.Replace(wireInterrupt(gateID, "approval", "Pay?", "2"), `"taskId"`, `"standing":"pay/Pay/Approve","taskId"`, 1)
	f := newFakeAgent(t, answerWith(`{"interrupts":[`+gate+`],"nextPageToken":"","totalSize":1}`),
		answerWith(`{"standing":[],"proposals":[{"gates":"pay/Pay/Approve","action":"accept","alike":3,"interruptId":"GATE","holds":"object.for == \"a'; rm b\""}]}`))
	r := f.run(&inboxCommand{})
	want := `Accepted by you, the last 3 times: pay/Pay/Approve.`
	if out := r.stdout.String(); r.err != nil || !strings.Contains(out, want) || !strings.Contains(out, `--if 'object.for == "a'\''; rm b"' --for 8h --uses 10`) {
		t.Errorf("%v\n%s", r.err, out)
	}
}

const wireAbsence = `{"id":"abs-1","principal":"bob","deputy":"carol","from":"2026-03-01T09:30:00.000Z","until":"2926-03-01T17:30:00.000Z","madeBy":"ops","active":true}`

// Each command makes its request, and shows who may decide for whom.
func TestAbsence(t *testing.T) {
	for request, run := range map[string]func(*fakeAgent) *commandRun{
		"POST /v1/absences": func(f *fakeAgent) *commandRun {
			return f.run(&absenceAddCommand{Deputy: "carol", Until: "2026-12-31"})
		},
		"POST /v1/absences/abs-1/end": func(f *fakeAgent) *commandRun { return f.run(&absenceEndCommand{ID: "abs-1"}) },
	} {
		f := newFakeAgent(t, answerWith(wireAbsence))
		r := run(f)
		if out := r.stdout.String(); r.err != nil || len(f.calls) != 1 || f.calls[0] != request || !strings.Contains(out, "carol may decide for bob from 2026-03-01") || !strings.Contains(out, "(now)") {
			t.Errorf("%s: %v %v\n%s", request, f.calls, r.err, out)
		}
	}
	f := newFakeAgent(t, answerWith(`{"absences":[`+wireAbsence+`]}`))
	if r := f.run(&absenceListCommand{}); r.err != nil || !strings.Contains(r.stdout.String(), "abs-1") || !strings.Contains(r.stdout.String(), "ops") {
		t.Errorf("list: %v\n%s", r.err, r.stdout.String())
	}
}

// A day ends an absence at its end, and begins one at its beginning.
func TestDayOrTime(t *testing.T) {
	from, errFrom := dayOrTime("--from", "2026-12-31", 0)
	until, errUntil := dayOrTime("--until", "2026-12-31", 1)
	at, errAt := dayOrTime("--until", "2026-12-31T10:00:00Z", 1)
	if errFrom != nil || errUntil != nil || errAt != nil || until.Millis()-from.Millis() < 23*3_600_000 || at.String() != "2026-12-31T10:00:00.000Z" {
		t.Errorf("%v %v %v: %v %v %v", from, until, at, errFrom, errUntil, errAt)
	}
	if _, err := dayOrTime("--until", "tomorrow", 1); err == nil {
		t.Error("any text is a time")
	}
}
