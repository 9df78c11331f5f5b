package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/standing"
)

// described returns the OpenAPI description of s, which has to be valid.
func (s *fixture) described(t *testing.T) *openapi3.T {
	t.Helper()
	w := s.get(t, "/v1/openapi.json")
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, max-age=300" {
		t.Fatalf("status %d, %v", w.Code, w.Header())
	}
	doc := test.Value(openapi3.NewLoader().LoadFromData(w.Body.Bytes()))(t)
	if err := doc.Validate(t.Context()); err != nil || !doc.IsOpenAPI31OrLater() {
		t.Fatalf("version %s: %v", doc.OpenAPI, err)
	}
	return doc
}

// The description has exactly the paths that are served.
func TestOpenAPI_everyRoute(t *testing.T) {
	s := newService(t)
	var got []string
	for path, item := range s.described(t).Paths.Map() {
		for verb, operation := range item.Operations() {
			got = append(got, verb+" "+path)
			if operation.Summary == "" || operation.Responses.Default() == nil {
				t.Errorf("%s %s is not described", verb, path)
			}
		}
	}
	want := s.Paths()
	slices.Sort(got)
	slices.Sort(want)
	test.Equal(t, "paths", want, got)
}

// Security is as on the card.
func TestOpenAPI_security(t *testing.T) {
	doc := newService(t).described(t)
	if got := doc.Components.SecuritySchemes["key"].Value; got.Type != "apiKey" || got.In != "header" || got.Name != "X-API-Key" {
		t.Errorf("scheme is %+v", got)
	}
	if len(doc.Security) != 2 || doc.Security[0]["bearer"] == nil {
		t.Errorf("requirements are %v", doc.Security)
	}
	if public := doc.Paths.Value("/.well-known/openwop").Get.Security; public == nil || len(*public) != 0 {
		t.Errorf("a public document requires %v", public)
	}
	doc = newService(t, func(c *config) { c.Card.Schemes, c.Card.Requirements = nil, nil }).described(t)
	if doc.Security == nil || len(doc.Security) != 0 || len(doc.Components.SecuritySchemes) != 0 {
		t.Errorf("without schemes on the card, requirements are %v of %v", doc.Security, doc.Components.SecuritySchemes)
	}
}

var variable = regexp.MustCompile(`\{\w+\}`)

// Requests and answers of every path are as described: of calls that succeed, and of
// those that fail.
func TestOpenAPI_answers(t *testing.T) {
	s := newService(t, pushOn, func(c *config) { c.Limits.GateTimeout = 3600 })
	doc := s.described(t)
	s.send(t, "m", "approve it")
	bodies := map[string]string{
		"POST /a2a/rest/message:send": `{"message":` + messageJSON("m-2", "write", "") + `,"configuration":{"historyLength":3}}`,
		"POST /a2a":                   `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`,

		"POST /v1/interrupts/{id}/answer": `{"action":"accept"}`,

		"POST /v1/standing": `{"interruptId":"` + gateOf("m") + `","holds":"object.amount < 50","for":"8h","most":2}`,

		"POST /v1/schedules":               `{"id":"nightly","text":"write","cron":["0 2 * * *"],"timeZone":"Europe/Berlin","jitter":"1m"}`,
		"PATCH /v1/schedules/{id}":         `{"paused":true,"note":"holidays"}`,
		"POST /v1/schedules/{id}/trigger":  `{"overlap":"allow-all"}`,
		"POST /v1/schedules/{id}/backfill": `{"from":"2026-03-01T00:00:00Z","until":"2026-03-01T09:30:00Z"}`,
	}
	bodies["POST /v1/absences"] = `{"deputy":"bob","until":"` + a2a.At(s.world.Now().Add(time.Hour)).String() + `"}`
	away := opt.Absence{ID: "abs-1", Principal: "ann", Deputy: "bob", MadeBy: "ann", From: a2a.At(s.world.Now()), Until: a2a.At(s.world.Now().Add(time.Hour))}
	test.OK(t, test.Err(s.journal.Absences.AddAbsence(t.Context(), "acme", away)))
	stands := standing.Decision{
		ID: "sd-1", Action: opt.Accept, MadeAt: gateOf("m"), Most: 1, Need: 2, CreatedAt: a2a.At(s.world.Now()), ExpiresAt: a2a.At(s.world.Now().Add(time.Hour)), By: []opt.Vote{{Action: opt.Accept, DecidedBy: "bob"}},
	}
	test.OK(t, test.Err(s.journal.Standing.AddStanding(t.Context(), "acme", stands)))
	queries := map[string]string{"/a2a/rest/tasks": "?pageSize=1&includeArtifacts=true&historyLength=2", "/v1/objectives/{id}/compare": "?with=obj-" + u("m")}
	for path, item := range doc.Paths.Map() {
		for verb, operation := range item.Operations() {
			if _, streams := operation.Responses.Status(200).Value.Content["text/event-stream"]; streams && path != "/a2a" {
				continue // endless, or tested as a stream
			}
			known := "obj-" + u("m")
			if strings.Contains(path, "/interrupts/") {
				known = gateOf("m")
			}
			if strings.Contains(path, "/standing/") {
				known = "sd-1"
			}
			if strings.Contains(path, "/absences/") {
				known = "abs-1"
			}
			if strings.Contains(path, "/schedules/") {
				known = "nightly"
				s.page(t, http.MethodPost, "/v1/schedules", bodies["POST /v1/schedules"], "Content-Type", "application/json") // another request may have deleted it
			}
			for _, id := range []string{known, "unknown"} {
				where := variable.ReplaceAllString(path, id) + queries[path]
				route := &routers.Route{Spec: doc, Path: path, PathItem: item, Method: verb, Operation: operation}
				status := s.conforms(t, route, where, bodies[verb+" "+path], id)
				if want := strings.Contains(path, "{") && id == "unknown"; want != (status == 404) && !strings.Contains(path, "push") {
					t.Errorf("%s %s: status %d", verb, where, status)
				}
			}
		}
	}
}

// conforms sends a request, checks it and the answer, and returns the status.
func (s *fixture) conforms(t *testing.T, route *routers.Route, where, body, id string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), route.Method, where, strings.NewReader(body))
	r.Header.Set("A2A-Version", "1.0")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, Route: route, PathParams: map[string]string{}, QueryParams: r.URL.Query(),
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	for _, p := range variable.FindAllString(route.Path, -1) {
		in.PathParams[strings.Trim(p, "{}")] = id
	}
	if body != "" || route.Operation.RequestBody == nil || !route.Operation.RequestBody.Value.Required {
		if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
			t.Errorf("%s %s: %v", route.Method, where, err)
		}
	}
	r.Body = io.NopCloser(strings.NewReader(body))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: w.Code, Header: w.Header(), Body: io.NopCloser(bytes.NewReader(w.Body.Bytes())),
	})
	if err != nil {
		t.Errorf("%s %s: %d: %v\n%s", route.Method, where, w.Code, err, w.Body)
	}
	return w.Code
}

// Every operation of a route is described.
func TestOpenAPI_summaries(t *testing.T) {
	for _, name := range api.Undescribed() {
		t.Errorf("%s has no summary", name)
	}
}
