package commands

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"longhaul/internal/test"
)

const (
	wireNightly = `{"id":"nightly","text":"Write the\nreport","cron":["0 2 * * mon-fri"],"timeZone":"Europe/Berlin","jitter":"1m30s","overlap":"skip","catchUp":"1h0m0s",` +
		`"paused":false,"principal":"ann","createdAt":"2926-03-01T09:30:00.000Z","next":["2926-03-02T01:00:00.000Z"],"skipped":4,"missed":0,` +
		`"runs":[{"at":"2026-03-01T01:00:00.000Z","objectiveId":"obj-b","failure":"Nobody\nhome."},{"at":"2026-02-28T01:00:00.000Z","objectiveId":"obj-a","status":"completed"}]}`
	wirePaused = `{"id":"tick","text":"x","name":"Ticks","every":"7200h0m0s","overlap":"allow-all","catchUp":"10s","paused":true,"note":"holidays","principal":"ann","playbook":"tea",` +
		`"createdAt":"2026-03-01T09:30:00.000Z","next":[],"skipped":0,"missed":0,"runs":[]}`
)

// Each command makes its requests, and prints the answers.
func TestSchedule(t *testing.T) {
	const nextLine = "Schedule nightly starts its next objective at 2926-03-02 02:00:00 CET.\n"
	for name, tc := range map[string]struct {
		args     string
		answers  []string // "STATUS BODY"; 200 without a status
		requests []string
		out      string // with white space in any amount
	}{
		"create": {
			"create nightly Write the report --cron=0_2_*_*_mon-fri --time-zone Europe/Berlin --jitter 90s --from 2026-03-01T00:00:00+01:00 --paused --note n --playbook reports",
			[]string{wireNightly},
			[]string{`POST /v1/schedules {"id":"nightly","text":"Write the report","skill":"reports","cron":["0 2 * * mon-fri"],"timeZone":"Europe/Berlin","jitter":"90s","from":"2026-02-28T23:00:00.000Z","paused":true,"note":"n"}`},
			nextLine,
		},
		"create without times":    {"create nightly Write", nil, nil, "longhaul: say when: --cron '0 2 * * *' or --every 2h\nSee longhaul schedule create --help.\n"},
		"change without a change": {"change nightly", nil, nil, "longhaul: say what to change: flags such as --every 2h, or a new text\nSee longhaul schedule change --help.\n"},
		"create with a wrong time": {"create nightly Write --every 1h --until soon", nil, nil,
			"longhaul: --until \"soon\" is not a time such as 2026-12-01T02:00:00Z or 2026-12-01T02:00:00+01:00\nSee longhaul schedule create --help.\n"},
		"create refused": {"create nightly Write --every 1h", []string{`400 {"error":"invalid_params","message":"Invalid parameters: every: is odd"}`},
			[]string{`POST /v1/schedules {"id":"nightly","text":"Write","every":"1h"}`}, "longhaul: Invalid parameters: every: is odd (INVALID_PARAMS)\n"},
		"create one that exists": {"create nightly Write --every 1h", []string{`400 {"error":"schedule_exists","message":"There is another schedule with the id nightly"}`},
			[]string{`POST /v1/schedules {"id":"nightly","text":"Write","every":"1h"}`},
			"longhaul: There is another schedule with the id nightly (SCHEDULE_EXISTS)\nChoose another id, or change that schedule: longhaul schedule change --url URL\n"},
		"unknown": {"show nightly", []string{`404 {"error":"schedule_not_found","message":"Schedule not found"}`, `{"schedules":[]}`}, []string{"GET /v1/schedules/nightly ", "GET /v1/schedules "},
			"longhaul: Schedule not found (SCHEDULE_NOT_FOUND)\nTo list the schedules: longhaul schedule list --url URL\n"},
		"list": {"list", []string{`{"schedules":[` + wireNightly + `,` + wirePaused + `]}`}, []string{"GET /v1/schedules "}, `
			ID       WHEN                           NEXT       LATEST                     STARTS
			nightly  0 2 * * mon-fri Europe/Berlin  in N days  not started, N days ago  Write the report
			tick     every 300 days                 paused     -                          Ticks
		`},
		"list as JSON": {"list --json", []string{`{"schedules":[` + wirePaused + `]}`}, []string{"GET /v1/schedules "}, wirePaused + "\n"},
		"an empty list": {"list", []string{`{"schedules":[]}`}, []string{"GET /v1/schedules "},
			"No schedules. To make one: longhaul schedule create --url URL ID TEXT --cron '0 2 * * *'\n"},
		"an agent without schedules": {"list", []string{"404 <html>"}, []string{"GET /v1/schedules "},
			"longhaul: the agent has no list of schedules: only a Longhaul server has it, at /v1/schedules below --url: URL/v1/schedules answered 404 Not Found with text/html; charset=utf-8, which is not A2A\n"},
		"show": {"show nightly", []string{wireNightly}, []string{"GET /v1/schedules/nightly "}, `
			schedule   nightly
			text       Write the report
			when       0 2 * * mon-fri Europe/Berlin
			jitter     1m30s
			overlap    skip
			catch-up   1 hour
			principal  ann
			skipped    4

			Next
			  2926-03-02 02:00:00 CET

			TIME                     OBJECTIVE  STATUS
			2026-03-01 02:00:00 CET  obj-b      not started: Nobody home.
			2026-02-28 02:00:00 CET  obj-a      completed
		`},
		"show a paused one": {"show tick", []string{wirePaused}, []string{"GET /v1/schedules/tick "}, `
			schedule   tick
			text       x
			name       Ticks
			when       every 300 days
			overlap    allow-all
			catch-up   10s
			principal  ann
			declared   tea
			note       holidays

			Paused. To resume it: longhaul schedule resume --url URL tick
		`},
		"change to an interval": {"change nightly --every 2h", []string{wireNightly},
			[]string{`PATCH /v1/schedules/nightly {"cron":[],"every":"2h","timeZone":""}`}, nextLine},
		"change to cron": {"change nightly New text --cron @daily", []string{wireNightly},
			[]string{`PATCH /v1/schedules/nightly {"text":"New text","cron":["@daily"],"every":"0s"}`}, nextLine},
		"change the policy": {"change nightly --overlap buffer-one", []string{wireNightly}, []string{`PATCH /v1/schedules/nightly {"overlap":"buffer-one"}`}, nextLine},
		"pause": {"pause tick --note holidays", []string{wirePaused}, []string{`PATCH /v1/schedules/tick {"paused":true,"note":"holidays"}`},
			"Schedule tick is paused. To resume it: longhaul schedule resume --url URL tick\n"},
		"resume": {"resume nightly", []string{wireNightly}, []string{`PATCH /v1/schedules/nightly {"paused":false}`}, nextLine},
		"trigger": {"trigger nightly", []string{`{"run":{"at":"2026-03-01T01:00:00.000Z","objectiveId":"obj-c","status":"working"},"skipped":false,"pending":false}`},
			[]string{`POST /v1/schedules/nightly/trigger {}`}, "Started obj-c\nTo watch it: longhaul watch --url URL obj-c\n"},
		"run-now, skipped": {"run-now nightly --overlap skip", []string{`{"skipped":true,"pending":false}`}, []string{`POST /v1/schedules/nightly/trigger {"overlap":"skip"}`},
			"longhaul: nothing was started: an objective of schedule nightly is open. To start one beside it: longhaul schedule trigger --url URL nightly --overlap allow-all\n"},
		"trigger, failed": {"trigger nightly", []string{`{"run":{"at":"2026-03-01T01:00:00.000Z","objectiveId":"obj-c","failure":"Refused."},"skipped":false,"pending":false}`},
			[]string{`POST /v1/schedules/nightly/trigger {}`}, "longhaul: nothing was started: Refused.\n"},
		"trigger, waits": {"trigger nightly", []string{`{"skipped":false,"pending":true}`}, []string{`POST /v1/schedules/nightly/trigger {}`},
			"Accepted. It starts when the open objective of the schedule has ended, if its overlap policy lets it wait: longhaul schedule show --url URL nightly\n"},
		"backfill": {"backfill nightly --from 2026-03-01T00:00:00Z --until 2026-03-03T00:00:00Z",
			[]string{wireNightly, `{"runs":[{"at":"2026-03-01T01:00:00.000Z","objectiveId":"obj-b","status":"failed"},{"at":"2026-03-02T01:00:00.000Z","objectiveId":"obj-d"}]}`},
			[]string{"GET /v1/schedules/nightly ", `POST /v1/schedules/nightly/backfill {"from":"2026-03-01T00:00:00.000Z","until":"2026-03-03T00:00:00.000Z"}`}, `
			Left out, since they were started before: 1
			To be started: 1

			TIME                     OBJECTIVE
			2026-03-02 02:00:00 CET  obj-d
		`},
		"delete with starts that wait": {"delete nightly", []string{`{"dropped":8}`}, []string{"DELETE /v1/schedules/nightly "},
			"Schedule nightly is deleted. Objectives that it has started continue.\nNot started, since they waited in it, as those of a backfill do: at least 8 objectives\n"},
		"delete": {"delete nightly", []string{"{}"}, []string{"DELETE /v1/schedules/nightly "}, "Schedule nightly is deleted. Objectives that it has started continue.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests []string
			answers := tc.answers
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || len(answers) == 0 {
					t.Errorf("%s %s %s: %v", r.Method, r.URL, body, err)
					return
				}
				requests = append(requests, r.Method+" "+r.URL.RequestURI()+" "+string(body))
				status, answer := http.StatusOK, answers[0]
				if n, _ := fmt.Sscanf(answer, "%d ", &status); n == 1 {
					_, answer, _ = strings.Cut(answer, " ")
				}
				answers = answers[1:]
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer)
			}))
			defer agent.Close()
			args := strings.Fields("schedule " + tc.args + " --url " + agent.URL)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "_", " ") // the fields of a cron expression are one argument
			}
			var out bytes.Buffer
			run(t.Context(), args, &out, &out)
			got := regexp.MustCompile(`\d+ days ago|in \d+ days`).ReplaceAllStringFunc(strings.ReplaceAll(out.String(), agent.URL, "URL"), func(text string) string {
				return regexp.MustCompile(`\d+`).ReplaceAllString(text, "N")
			})
			test.Equal(t, fmt.Sprintf("printed\n%s", got), strings.Fields(tc.out), strings.Fields(got))
			test.Equal(t, "requests", tc.requests, requests)
		})
	}
}
