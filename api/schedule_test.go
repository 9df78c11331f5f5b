package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

const nightlyJSON = `{"id":"nightly","text":"write","cron":["0 2 * * *"],"timeZone":"Europe/Berlin","jitter":"90s"}`

// schedule calls a page of schedules, and checks the status of the answer.
func (s *fixture) schedule(t *testing.T, status int, verb, path, body string, headers ...string) node {
	t.Helper()
	got, n := s.page(t, verb, "/v1/schedules"+path, body, append(headers, "Content-Type", "application/json")...)
	if got != status {
		t.Errorf("%s %s %s: status %d, want %d: %v", verb, path, body, got, status, n)
	}
	return n
}

// nightly returns the only schedule of a fixture.
func (s *fixture) nightly(t *testing.T) timetable.ScheduleState {
	t.Helper()
	state := test.Value(s.times.Schedule(t.Context(), "acme", "nightly"))(t)
	return state
}

// A tenant with all the schedules that it may have gets no other, and an answer to a
// repeat.
func TestSchedules_limit(t *testing.T) {
	s := newService(t)
	for n := range 199 {
		x := timetable.Schedule{ID: fmt.Sprint("n", n), Tenant: "acme", Principal: "ann"}
		test.OK(t, s.times.AddSchedule(t.Context(), timetable.ScheduleState{Schedule: x}))
	}
	created := s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	test.Is(t, "a repeat", created.String(), s.schedule(t, 200, http.MethodPost, "", nightlyJSON).String())
	for body, want := range map[string]string{
		strings.Replace(nightlyJSON, "nightly", "daily", 1): "schedule_limit_exceeded",
		strings.Replace(nightlyJSON, "write", "read", 1):    "schedule_exists",
	} {
		if n := s.schedule(t, 400, http.MethodPost, "", body); n.at("error").String() != want {
			t.Errorf("%s: %v, want %s", body, n, want)
		}
	}
}

func TestSchedules_refused(t *testing.T) {
	s := newService(t)
	for body, field := range map[string]string{
		`{"every":"1h"}`:                                               "text",
		`{"text":"write"}`:                                             "cron",
		`{"text":"write","cron":["0 2 * *"]}`:                          "cron[0]",
		`{"text":"write","cron":"@daily"}`:                             "cron",
		`{"text":"write","every":"1.5s"}`:                              "every",
		`{"text":"write","every":"soon"}`:                              "every",
		`{"text":"write","every":"1h","catchUp":"1s"}`:                 "catchUp",
		`{"text":"write","every":"1h","overlap":"kill"}`:               "overlap",
		`{"text":"write","cron":["@daily"],"timeZone":"Mars/Olympus"}`: "timeZone",
		`{"text":"write","cron":["@daily"],"timeZone":"Local"}`:        "timeZone",
		`{"text":"write","every":"1h","from":"soon"}`:                  "from",
		`{"text":"write","every":"1h","from":"2026-03-02T00:00:00Z","until":"2026-03-01T00:00:00Z"}`: "until",
		`{"text":"write","every":"1h","id":"playbook:tea:daily"}`:                                    "id",
		`{"text":"write","every":"1h","id":"playbook::ghost"}`:                                       "id",
		`{"text":"hello","every":"1h"}`:                                                              "text", // the agent answers it
		`{"text":"nobody takes this","every":"1h"}`:                                                  "text",
	} {
		n := s.schedule(t, 400, http.MethodPost, "", body)
		if got := n.at("details", "fieldViolations", "0", "field").String(); got != field {
			t.Errorf("%s: a mistake in %q, want %q: %v", body, got, field, n)
		}
		if len(s.times.Log()) > 0 {
			t.Errorf("%s: %q", body, s.times.Log())
		}
	}
}

// Schedules belong to a tenant. Only their principal changes what they start, and a
// caller may make only a schedule whose objectives it may start.
func TestSchedules_callers(t *testing.T) {
	const rival, bob = "Bearer rival/ann", "Bearer acme/bob"
	s := newService(t)
	s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	s.schedule(t, 200, http.MethodPost, "", strings.Replace(nightlyJSON, "nightly", "daily", 1), "Authorization", rival)
	s.schedule(t, 200, http.MethodPost, "", `{"id":"pushy","text":"write","every":"1h","overlap":"cancel-other"}`)
	for _, call := range []struct{ verb, path, body string }{
		{http.MethodGet, "/nightly", ""}, {http.MethodPatch, "/nightly", `{"paused":true}`}, {http.MethodDelete, "/nightly", ""},
		{http.MethodPost, "/nightly/trigger", `{}`}, {http.MethodPost, "/nightly/backfill", `{"from":"2026-03-01T00:00:00Z","until":"2026-03-01T01:00:00Z"}`},
	} {
		s.schedule(t, 404, call.verb, call.path, call.body, "Authorization", rival)
	}
	if n := s.schedule(t, 200, http.MethodGet, "", "", "Authorization", rival); n.at("schedules", "0", "id").String() != "daily" || n.at("schedules", "1").v != nil {
		t.Errorf("the rival sees %v", n)
	}
	for body, status := range map[string]int{`{"paused":true}`: 200, `{"text":"read"}`: 403, `{"every":"5s"}`: 403, `{"overlap":"allow-all"}`: 403} {
		s.schedule(t, status, http.MethodPatch, "/nightly", body, "Authorization", bob)
	}

	const create, cancel, manage = call.CreateRuns, call.CancelRuns, call.ManageSchedules
	for _, tc := range []struct {
		status           int
		verb, path, body string
		has              []call.Scope
	}{
		{403, http.MethodPost, "", `{"text":"write","every":"1h"}`, []call.Scope{manage}},
		{200, http.MethodPost, "", `{"text":"write","every":"1h"}`, []call.Scope{manage, create}},
		{403, http.MethodPost, "", `{"text":"write","every":"1h","overlap":"cancel-other"}`, []call.Scope{manage, create}},
		{200, http.MethodPost, "", `{"text":"write","every":"1h","overlap":"cancel-other"}`, []call.Scope{manage, create, cancel}},
		{403, http.MethodPatch, "/nightly", `{"text":"read"}`, []call.Scope{manage}},
		{200, http.MethodPatch, "/nightly", `{"paused":true}`, []call.Scope{manage}},
		{403, http.MethodPatch, "/nightly", `{"paused":false}`, []call.Scope{manage}},
		{403, http.MethodPost, "/nightly/trigger", `{}`, []call.Scope{manage}},
		{403, http.MethodPost, "/nightly/trigger", `{"overlap":"cancel-other"}`, []call.Scope{manage, create}},
		{200, http.MethodPost, "/nightly/trigger", `{}`, []call.Scope{manage, create}},
		{403, http.MethodPost, "/pushy/trigger", `{}`, []call.Scope{manage, create}},
		{200, http.MethodPost, "/pushy/trigger", `{"overlap":"skip"}`, []call.Scope{manage, create}},
		{200, http.MethodPost, "/pushy/trigger", `{}`, []call.Scope{manage, create, cancel}},
		{403, http.MethodPost, "/nightly/backfill", `{"from":"2026-03-01T00:00:00Z","until":"2026-03-01T09:30:00Z"}`, []call.Scope{manage}},
	} {
		s.schedule(t, tc.status, tc.verb, tc.path, tc.body, "Authorization", limitedTo(tc.has...))
	}
}

// A caller who may pause a schedule and not read it does not get its message by a change.
func TestSchedules_changeReadsNothing(t *testing.T) {
	s := newService(t)
	s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	for body, has := range map[string][]call.Scope{`{}`: {call.ManageSchedules}, `{"paused":true}`: without(call.ReadRuns)} {
		n := s.schedule(t, 200, http.MethodPatch, "/nightly", body, "Authorization", limitedTo(has...))
		if n.at("id").String() != "nightly" || n.at("text").String() != "" {
			t.Errorf("%s: %v", body, n)
		}
	}
}

// started returns a state with a run whose objective is at a time.
func started(state timetable.ScheduleState, at string) timetable.ScheduleState {
	run := timetable.ScheduleRun{ObjectiveID: state.ObjectiveID(at)}
	if run.At.UnmarshalText([]byte(at)) != nil {
		panic(at)
	}
	state.Runs = append([]timetable.ScheduleRun{run}, state.Runs...)
	return state
}

// The answer to a trigger has the run that it started, or says that it was skipped or is
// pending.
func TestTriggerSchedule(t *testing.T) {
	s := newService(t)
	s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	const at = "2026-03-01T09:30:00Z"
	if n := s.schedule(t, 200, http.MethodPost, "/nightly/trigger", ""); n.String() != `{"pending":true,"skipped":false}` {
		t.Errorf("nothing has happened: %v", n)
	}
	s.times.Run = func(state timetable.ScheduleState, _ timetable.Backfill) timetable.ScheduleState {
		state.Skipped++
		return state
	}
	if n := s.schedule(t, 200, http.MethodPost, "/nightly/trigger", ""); n.String() != `{"pending":false,"skipped":true}` {
		t.Errorf("skipped: %v", n)
	}
	var asked timetable.Overlap
	s.times.Run = func(state timetable.ScheduleState, b timetable.Backfill) timetable.ScheduleState {
		asked = b.Overlap
		return started(state, at)
	}
	id := test.Value(s.service.Runs.BeginScheduled(t.Context(), timetable.ScheduledRun{Schedule: s.nightly(t).Schedule, At: at}))(t)
	n := s.schedule(t, 200, http.MethodPost, "/nightly/trigger", `{"overlap":"allow-all"}`)
	if n.String() != fmt.Sprintf(`{"pending":false,"run":{"at":"2026-03-01T09:30:00.000Z","objectiveId":%q,"status":"completed"},"skipped":false}`, id) || asked != timetable.OverlapAllow {
		t.Errorf("started with %q: %v", asked, n)
	}
	s.times.Run = func(state timetable.ScheduleState, _ timetable.Backfill) timetable.ScheduleState {
		return started(state, "2026-03-01T09:31:00Z")
	}
	if n := s.schedule(t, 200, http.MethodPost, "/nightly/trigger", ""); n.at("run", "failure").String() != "The journal does not know it." {
		t.Errorf("failed: %v", n)
	}
	runs := s.schedule(t, 200, http.MethodGet, "/nightly", "").at("runs")
	if runs.at("0", "failure").String() == "" || runs.at("1", "status").String() != "completed" {
		t.Errorf("runs: %v", runs)
	}
}

// A backfill lists the objectives that it starts, and those that were started before.
func TestBackfillSchedule(t *testing.T) {
	s := newService(t)
	s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	s.times.Times = nil
	for n := range 600 {
		s.times.Times = append(s.times.Times, a2a.At(start.Add(time.Duration(n-600)*time.Minute)))
	}
	var asked []timetable.Backfill
	s.times.Run = func(state timetable.ScheduleState, b timetable.Backfill) timetable.ScheduleState {
		asked = append(asked, b)
		return state
	}
	x := s.nightly(t).Schedule
	done := test.Value(s.service.Runs.BeginScheduled(t.Context(), timetable.ScheduledRun{Schedule: x, At: "2026-03-01T09:28:00Z"}))(t)
	n := s.schedule(t, 200, http.MethodPost, "/nightly/backfill", `{"from":"2026-03-01T09:28:00Z","until":"2026-03-01T09:29:00Z"}`)
	want := fmt.Sprintf(`{"runs":[{"at":"2026-03-01T09:28:00.000Z","objectiveId":%q,"status":"completed"},{"at":"2026-03-01T09:29:00.000Z","objectiveId":%q}]}`, done, x.ObjectiveID("2026-03-01T09:29:00Z"))
	if n.String() != want || len(asked) != 1 || asked[0].Overlap != timetable.OverlapQueue {
		t.Errorf("asked for %+v: %v\nwant %s", asked, n, want)
	}
	for body, field := range map[string]string{
		`{"from":"2026-03-01T09:28:00Z"}`:                                 "until",
		`{"from":"2026-03-01T09:28:00Z","until":"2026-03-01T09:40:00Z"}`:  "until", // in the future
		`{"from":"2026-03-01T09:28:00Z","until":"2026-03-01T09:27:00Z"}`:  "until",
		`{"from":"2026-02-01T00:00:00Z","until":"2026-02-02T00:00:00Z"}`:  "from", // nothing there
		`{"from":"2026-02-01T00:00:00Z","until":"2026-03-01T09:29:00Z"}`:  "from", // too much
		`{"from":"2026-03-01T09:28:00Z","until":"2026-03-01T09:29:00Zx"}`: "until",
	} {
		n := s.schedule(t, 400, http.MethodPost, "/nightly/backfill", body)
		if got := n.at("details", "fieldViolations", "0", "field").String(); got != field {
			t.Errorf("%s: a mistake in %q, want %q: %v", body, got, field, n)
		}
	}
	test.Is(t, "asked for", 1, len(asked))
}

// A schedule starts an objective as a message of its principal does: once for a time,
// with any rules for repeats.
func TestBeginScheduled(t *testing.T) {
	for _, mode := range []call.Idempotency{call.ByMessageID, call.ByHeader, call.NoRepeats} {
		s := newService(t, func(c *config) { c.Idempotency = mode })
		x := timetable.Schedule{ID: "nightly", Tenant: "acme", Principal: "bob", Name: "The report", Text: "write", Skill: "reports", ContextID: "ctx", CreatedAt: a2a.At(start)}
		run := timetable.ScheduledRun{Schedule: x, At: "2026-03-01T02:00:00Z"}
		for range 3 {
			id, err := s.service.Runs.BeginScheduled(t.Context(), run)
			if err != nil || id != x.ObjectiveID(run.At) {
				t.Fatalf("%q: %s, %v", mode, id, err)
			}
		}
		opened := 0
		for _, c := range s.world.Calls() {
			if c.Opening == nil {
				continue
			}
			opened++
			o, m := c.Opening.Objective, c.Opening.Message
			schedule, _ := o.Metadata.String(opt.KeySchedule)
			at, _ := o.Metadata.String(opt.KeyScheduledFor)
			skill, _ := m.Metadata.String(opt.KeySkill)
			got := []string{o.Tenant, o.Principal, o.Name, o.ContextID, m.Text(), skill, schedule, at}
			test.Equal(t, fmt.Sprintf("%q: opening", mode), []string{"acme", "bob", "The report", "ctx", "write", "reports", "nightly", run.At}, got)
		}
		test.Is(t, fmt.Sprintf("%q: objectives were started", mode), 1, opened)
		run.Schedule.Text = "read"
		if _, err := s.service.Runs.BeginScheduled(t.Context(), run); !isFinal(err) {
			t.Errorf("%q: another message for the same time: %v", mode, err)
		}
	}
}

// Who has the schedule of another one start an objective has a part in its work, and in no other.
func TestBeginScheduled_starters(t *testing.T) {
	s := newService(t)
	s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	s.schedule(t, 200, http.MethodPost, "/nightly/trigger", "", "Authorization", "Bearer acme/bob")
	s.schedule(t, 200, http.MethodPost, "/nightly/trigger", "")
	s.schedule(t, 200, http.MethodPost, "/nightly/backfill", `{"from":"2026-03-01T00:00:00Z","until":"2026-03-01T09:30:00Z"}`, "Authorization", "Bearer acme/carol")
	s.schedule(t, 200, http.MethodPatch, "/nightly", `{"text":"write more"}`)
	for at, want := range map[string][]string{
		"2026-03-01T09:30:00Z": {"bob", "carol"}, "2026-03-01T09:31:00Z": {"bob"}, "2026-03-01T02:00:00Z": {"carol"}, "2026-03-02T02:00:00Z": nil,
	} {
		test.OK(t, test.Err(s.service.Runs.BeginScheduled(t.Context(), timetable.ScheduledRun{Schedule: s.nightly(t).Schedule, At: at})))
		calls := s.world.Calls()
		test.Equal(t, at, want, calls[len(calls)-1].Opening.Objective.Shapers)
	}
}

// That holds for one that waits in the context of the schedule for a message, too.
func TestBeginScheduled_startersOfIdle(t *testing.T) {
	s := newService(t)
	id := s.must(t, "objectives/create", `{"name":"Idle"}`).at("objective", "id").String()
	s.schedule(t, 200, http.MethodPost, "", strings.Replace(nightlyJSON, "{", `{"contextId":"`+id+`",`, 1))
	s.schedule(t, 200, http.MethodPost, "/nightly/trigger", "", "Authorization", "Bearer acme/bob")
	begun := test.Value(s.service.Runs.BeginScheduled(t.Context(), timetable.ScheduledRun{Schedule: s.nightly(t).Schedule, At: "2026-03-01T09:30:00Z"}))(t)
	test.Is(t, "the objective that was begun", id, begun)
	test.Equal(t, "shapers", []string{"bob"}, s.world.Letters()[0].Shapers)
}

func isFinal(err error) bool {
	var f *call.Fault
	return errors.As(err, &f) && f.Final()
}

// An error that may not happen again is not final.
func TestBeginScheduled_faults(t *testing.T) {
	run := func(text string) timetable.ScheduledRun {
		return timetable.ScheduledRun{At: "2026-03-01T02:00:00Z", Schedule: timetable.Schedule{ID: "nightly", Tenant: "acme", Principal: "ann", Text: text}}
	}
	s := newService(t)
	if _, err := s.service.Runs.BeginScheduled(t.Context(), run("hello")); !isFinal(err) {
		t.Errorf("a message that the agent answers: %v", err)
	}
	s.world.Down(opt.ErrUnavailable)
	if _, err := s.service.Runs.BeginScheduled(t.Context(), run("write")); err == nil || isFinal(err) {
		t.Errorf("without an engine: %v", err)
	}
	s.world.Down(nil)
	test.Error(t, "afterwards", nil, test.Err(s.service.Runs.BeginScheduled(t.Context(), run("write"))))
}

func TestCancelScheduled(t *testing.T) {
	s := newService(t)
	run := timetable.ScheduledRun{At: "2026-03-01T02:00:00Z", Schedule: timetable.Schedule{ID: "nightly", Tenant: "acme", Principal: "ann", Text: "slow"}}
	test.Error(t, "an objective that was not started", nil, s.service.Runs.CancelScheduled(t.Context(), run))
	id := test.Value(s.service.Runs.BeginScheduled(t.Context(), run))(t)
	for range 2 {
		test.Error(t, "the call", nil, s.service.Runs.CancelScheduled(t.Context(), run))
	}
	test.Is(t, "the task", "TASK_STATE_CANCELED", s.call(t, "GetTask", `{"id":"`+id+`"}`).at("result", "status", "state").String())
}

// Schedules of playbooks are made, changed and removed with them. Those of clients are
// not touched, and a pause survives.
func TestDeclareSchedules(t *testing.T) {
	s := newService(t)
	s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	declared := func(name, text string) timetable.Schedule {
		return timetable.Schedule{
			ID: timetable.PlaybookScheduleID("tea", name), Playbook: "tea", Tenant: "acme", Principal: "longhaul:schedules", Text: text, Skill: "tea",
			Times: timetable.Times{Every: 60}, Overlap: timetable.OverlapSkip, CatchUp: timetable.DefaultCatchUp,
		}
	}
	other := declared("daily", "write")
	other.Principal = "bob"
	for _, step := range []struct {
		list []timetable.Schedule
		log  string // of the changes
	}{
		{[]timetable.Schedule{declared("daily", "write"), declared("weekly", "write")}, "add playbook:tea:daily, add playbook:tea:weekly"},
		{[]timetable.Schedule{declared("daily", "write"), declared("weekly", "write")}, ""},
		{[]timetable.Schedule{declared("daily", "read"), declared("weekly", "write")}, "change playbook:tea:daily"},
		{[]timetable.Schedule{other}, "remove playbook:tea:daily, add playbook:tea:daily, remove playbook:tea:weekly"},
		{nil, "remove playbook:tea:daily"},
	} {
		before := len(s.times.Log())
		test.Error(t, "the call", nil, s.service.Runs.DeclareSchedules(t.Context(), step.list))
		test.Is(t, "changes", step.log, strings.Join(s.times.Log()[before:], ", "))
		if !slices.ContainsFunc(s.times.Log(), func(line string) bool { return line == "remove playbook:tea:weekly" }) {
			s.schedule(t, 200, http.MethodPatch, "/playbook:tea:weekly", `{"paused":true}`)
			s.schedule(t, 400, http.MethodPatch, "/playbook:tea:weekly", `{"text":"x"}`)
			s.schedule(t, 400, http.MethodDelete, "/playbook:tea:weekly", "")
			if n := s.schedule(t, 200, http.MethodGet, "/playbook:tea:weekly", ""); n.at("paused").String() != "true" || n.at("note").String() != "Declared by the playbook tea" {
				t.Errorf("after a reload: %v", n)
			}
		}
	}
	s.nightly(t)
}
