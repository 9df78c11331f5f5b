package api_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"longhaul/api"
	"longhaul/api/operation"
	"longhaul/opt"
)

// A target is something of a tenant, by its ids.
type target struct{ name, task, objective, plan string }

// ofAnother makes work in every stage, as one tenant, and returns its ids.
func (s *fixture) ofAnother(t *testing.T) []target {
	t.Helper()
	s.have(t)
	targets := []target{{"idle", taskID, objectiveID, planID}}
	for stage, text := range map[string]string{"waiting": "approve", "running": "slow", "ended": "write", "failed": "fail"} {
		id := s.send(t, stage, text).at("id").String()
		plan := opt.PlanID(id, 1)
		targets = append(targets, target{stage, opt.TaskID(plan, 0), id, plan}, target{stage + ", root", id, id, plan})
	}
	for _, to := range targets {
		s.must(t, "CreateTaskPushNotificationConfig", `{"taskId":"`+to.task+`","id":"c","url":"https://example.com/p"}`)
	}
	return targets
}

// withAndWithout returns a server with work of a tenant, and one without it. From
// now on both draw the same ids.
func withAndWithout(t *testing.T) (full, empty *fixture, targets []target) {
	quiet := func(c *config) { c.Log = zap.NewNop() }
	full, empty = newService(t, quiet, pushOn), newService(t, quiet, pushOn)
	targets = full.ofAnother(t)
	for _, s := range []*fixture{full, empty} {
		s.config.Rand.(*counter).n = 100
	}
	return full, empty, targets
}

// requests has parameters for every operation; TASK, OBJECTIVE and PLAN are
// replaced by ids.
var requests = map[string][]string{
	"SendMessage": {
		`{"message":` + messageJSON("r-STAGE", "accept", `,"taskId":"TASK"`) + `}`,
		`{"message":{"messageId":"r-STAGE","taskId":"TASK","role":"ROLE_USER","parts":[{"data":{"action":"accept"}}]}}`,
		`{"message":` + messageJSON("r1-STAGE", "write", `,"contextId":"OBJECTIVE"`) + `}`,
		`{"message":` + messageJSON("r2-STAGE", "write", `,"contextId":"OBJECTIVE","taskId":"TASK"`) + `}`,
		`{"message":` + messageJSON("r3-STAGE", "write", `,"contextId":"OBJECTIVE","metadata":{"opt/v1/taskId":"TASK"}`) + `}`,
		`{"message":` + messageJSON("r4-STAGE", "write", `,"referenceTaskIds":["TASK"]`) + `}`,
		`{"message":` + messageJSON("r5-STAGE", "write", `,"metadata":{"opt/v1/objective":{"id":"OBJECTIVE"}}`) + `}`,
		`{"tenant":"acme","message":` + messageJSON("r6-STAGE", "accept", `,"taskId":"TASK"`) + `}`,
	},
	"SendStreamingMessage":             {`{"message":` + messageJSON("r-STAGE", "accept", `,"taskId":"TASK"`) + `}`},
	"GetTask":                          {`{"id":"TASK"}`, `{"id":"TASK","historyLength":3,"metadata":{"opt/v1/historyScope":"objective"}}`},
	"ListTasks":                        {`{"pageSize":100}`, `{"contextId":"OBJECTIVE"}`, `{"tenant":"acme"}`, `{"status":"TASK_STATE_WORKING","pageSize":100}`},
	"CancelTask":                       {`{"id":"TASK"}`},
	"SubscribeToTask":                  {`{"id":"TASK"}`},
	"CreateTaskPushNotificationConfig": {`{"taskId":"TASK","id":"c","url":"https://example.com/p"}`, `{"taskId":"TASK","pushNotificationConfig":{"url":"https://example.com/p"}}`},
	"GetTaskPushNotificationConfig":    {`{"taskId":"TASK","id":"c"}`, `{"id":"TASK","pushNotificationConfigId":"c"}`},
	"ListTaskPushNotificationConfigs":  {`{"taskId":"TASK"}`, `{"id":"TASK"}`},
	"DeleteTaskPushNotificationConfig": {`{"taskId":"TASK","id":"c"}`, `{"id":"TASK","pushNotificationConfigId":"c"}`},
	"GetExtendedAgentCard":             {`{}`},

	"objectives/create":  {`{"name":"Mine"}`},
	"objectives/fork":    {`{"id":"OBJECTIVE"}`, `{"id":"OBJECTIVE","at":1,"repeat":true}`},
	"objectives/get":     {`{"id":"OBJECTIVE"}`},
	"objectives/list":    {`{"pageSize":100}`, `{"status":"submitted","pageSize":100}`, `{"text":"e","pageSize":100}`, `{"createdAfter":"2020-01-01T00:00:00Z","pageSize":100}`},
	"objectives/update":  {`{"id":"OBJECTIVE","status":"canceled"}`, `{"id":"OBJECTIVE","name":"Mine"}`, `{"id":"OBJECTIVE","status":"submitted"}`},
	"objectives/replan":  {`{"objectiveId":"OBJECTIVE","id":"OBJECTIVE"}`},
	"plans/create":       {`{"objectiveId":"OBJECTIVE","name":"Mine"}`},
	"plans/get":          {`{"id":"PLAN"}`},
	"plans/update":       {`{"id":"PLAN","status":"skipped"}`, `{"id":"PLAN","name":"Mine"}`},
	"plans/addTasks":     {`{"planId":"PLAN","id":"PLAN","tasks":[{"name":"Mine"}]}`},
	"tasks/link":         {`{"planTaskId":"TASK","id":"TASK","taskId":"TASK","a2aTaskId":"TASK"}`},
	"tasks/updateStatus": {`{"planTaskId":"TASK","id":"TASK","taskId":"TASK","status":"canceled"}`},

	"ListStanding":    {`{}`},
	"MakeStanding":    {`{"interruptId":"TASK:1","holds":"true"}`},
	"GetStanding":     {`{"id":"TASK"}`},
	"ApproveStanding": {`{"id":"TASK"}`},
	"RevokeStanding":  {`{"id":"TASK"}`},
	"ListAbsences":    {`{}`},
	"AddAbsence":      {`{"deputy":"bob"}`},
	"EndAbsence":      {`{"id":"TASK"}`},
}

// Each answer to a request about work of another tenant has the bytes that it has on
// a server without that work, which has not changed.
func TestTenants_apart(t *testing.T) {
	full, empty, targets := withAndWithout(t)
	before := map[string]int{}
	for _, to := range targets {
		before[to.objective] = full.events(to.objective)
	}
	covered := map[string]bool{}
	for name, names := range full.Names() {
		covered[name] = true
		for _, to := range targets {
			for i, params := range requests[name] {
				params = strings.NewReplacer("TASK", to.task, "OBJECTIVE", to.objective, "PLAN", to.plan, "STAGE", to.name).Replace(params)
				for v, version := range []string{"0.3", "1.0"} {
					body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, names[v], inVersion(version, params))
					what := fmt.Sprintf("%s %s %d, %s: %s", version, name, i, to.name, body)
					compare(t, what, full, empty, http.MethodPost, "/a2a", body, version)
				}
			}
		}
	}
	for id, n := range before {
		if got := full.events(id) - n; got != 0 || len(full.pushed(t, id)) > 1 {
			t.Errorf("%s has %d new events, and the configs %v", id, got, full.pushed(t, id))
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(requests)), slices.Sorted(maps.Keys(covered))); diff != "" {
		t.Errorf("operations with requests here (-) and of the server (+):\n%s", diff)
	}
}

// The same holds over plain HTTP.
func TestTenants_apartInREST(t *testing.T) {
	full, empty, targets := withAndWithout(t)
	for _, to := range targets {
		for name, route := range api.Routes() {
			verb, path, _ := strings.Cut(route, " ")
			for i, params := range requests[name] {
				fill := strings.NewReplacer("{id}", to.task, "{taskId}", to.task, "TASK", to.task, "OBJECTIVE", to.objective, "STAGE", "rest-"+to.name)
				for _, prefix := range []string{"", "/acme"} {
					at := strings.Replace(fill.Replace(path), "/a2a/rest", "/a2a/rest"+prefix, 1)
					what := fmt.Sprintf("%s %s %d, %s", verb, at, i, to.name)
					compare(t, what, full, empty, verb, at, fill.Replace(params), "1.0")
				}
			}
		}
	}
}

// The same holds for the pages.
func TestTenants_apartOnPages(t *testing.T) {
	full, empty, targets := withAndWithout(t)
	for _, route := range full.Paths() {
		verb, path, _ := strings.Cut(route, " ")
		if !strings.HasPrefix(path, "/v1/") {
			continue
		}
		for _, to := range targets {
			at := strings.NewReplacer("{id}", to.task, "{config}", "c", "{n}", "1").Replace(path)
			compare(t, verb+" "+at+", "+to.name, full, empty, verb, at, "{}", "")
		}
	}
}

// inVersion changes parameters of 1.0 to the parameters of a version.
func inVersion(version, params string) string {
	if version == "1.0" {
		return params
	}
	return strings.NewReplacer("ROLE_USER", "user", `{"text":`, `{"kind":"text","text":`, `{"data":`, `{"kind":"data","data":`, "TASK_STATE_WORKING", "working").Replace(params)
}

// servers are parts of answers that differ from server to server: times, and tokens
// that are signed with a key of the journal.
var servers = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|"nextPageToken":"[^"]+"`)

// compare sends one request, as a caller of another tenant, to two servers, and
// checks that the answers are the same.
func compare(t *testing.T, what string, a, b *fixture, verb, path, body, version string) {
	t.Helper()
	answer := func(s *fixture) string {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // of a stream that is not refused
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, verb, path, strings.NewReader(body))
		if verb == http.MethodGet {
			r.Body = http.NoBody
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("A2A-Version", version)
		r.Header.Set("A2A-Extensions", "https://github.com/zeroasterisk/a2a-opt/v1")
		r.Header.Set("Authorization", "Bearer rival/rob")
		r.Header.Set("X-Request-Id", "same")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return servers.ReplaceAllString(fmt.Sprint(w.Code, w.Header(), w.Body), "")
	}
	if diff := cmp.Diff(answer(b), answer(a)); diff != "" {
		t.Errorf("%s\nwithout the other's work (-), with it (+):\n%s", what, diff)
	}
}

// A request of A2A 1.0 may name the tenant of its caller, and no other, in every method.
func TestTenants_named(t *testing.T) {
	s := newService(t, pushOn)
	s.send(t, "m", "slow")
	for name, list := range requests {
		for tenant, refused := range map[string]bool{"acme": false, "globex": true} {
			if streams := name == "SendStreamingMessage" || name == "SubscribeToTask"; streams && !refused {
				continue // it lasts as long as the task
			}
			params := strings.Replace(list[0], "{", `{"tenant":"`+tenant+`",`, 1)
			answer := s.call(t, operation.ByID(name).Name("1.0"), strings.NewReplacer("TASK", "obj-"+u("m"), "STAGE", tenant, ",}", "}").Replace(params))
			if got := strings.Contains(answer.at("error", "message").String(), "tenant"); got != refused {
				t.Errorf("%s by acme for %s: %v", name, tenant, answer)
			}
		}
	}
}
