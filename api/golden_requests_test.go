package api_test

import (
	"strings"

	"longhaul/opt"
)

// goldenRequest has requests of one operation that succeed, with as many members as they
// may have.
type goldenRequest struct {
	v10, v03 []string // the latter nil for the same
}

var (
	newWork10 = `{"tenant":"acme","message":{"messageId":"new","contextId":"ctx","role":"ROLE_USER","parts":[{"text":"write it","metadata":{"k":1}},{"data":{"k":1}},` +
		`{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"},{"url":"https://example.com/a"}],"extensions":["urn:x"],"referenceTaskIds":["obj-U(done)"],` +
		`"metadata":{"opt/v1/preferObjective":true,"opt/v1/suggestedName":"Name","opt/v1/historyScope":"plan","opt/v1/autoStart":true}},` +
		`"configuration":{"historyLength":2,"returnImmediately":true,"acceptedOutputModes":["text/plain"],"taskPushNotificationConfig":{"taskId":"","url":"https://push.example.com/a","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}},` +
		`"metadata":{"longhaul/v1/after":0}}`
	newWork03 = `{"message":{"kind":"message","messageId":"new","contextId":"ctx","role":"user","parts":[{"kind":"text","text":"write it"},{"kind":"data","data":{"k":1}},` +
		`{"kind":"file","file":{"bytes":"aGk=","name":"a.txt","mimeType":"text/plain"}},{"kind":"file","file":{"uri":"https://example.com/a"}}],"extensions":["urn:x"],"referenceTaskIds":["obj-U(done)"]},` +
		`"configuration":{"historyLength":2,"blocking":false,"acceptedOutputModes":["text/plain"],"pushNotificationConfig":{"url":"https://push.example.com/a","token":"t","authentication":{"schemes":["Bearer"],"credentials":"c"}}}}`
	planned10 = `{"message":{"messageId":"planned","role":"ROLE_USER","parts":[{"text":"quiet"}],"metadata":{"opt/v1/objective":{"name":"O","description":"D","metadata":{"k":1},` +
		`"plans":[{"id":"p","name":"P","description":"D"},{"name":"Q","dependencies":["p"],"tasks":[{"id":"t","name":"T","description":"D"},{"name":"V","dependencies":["t"]}]}]}}},"configuration":{"returnImmediately":true}}`
	refined10 = `{"message":{"messageId":"refined","taskId":"obj-U(gate)","role":"ROLE_USER","parts":[{"data":{"action":"refine","interruptId":"GATE","objectDigest":"x","refineFeedback":{"scope":"items","sectionPath":["a"],"text":"T","itemIds":["i"],"tags":["t"]}}}]}}`
	answered  = `{"message":{"messageId":"answered","taskId":"obj-U(gate)","role":"ROLE_USER","parts":[{"data":{"answers":[{"id":"q","answer":"a"}]}}]}}`
	accepted  = `{"message":{"messageId":"accepted","taskId":"obj-U(gate)","role":"ROLE_USER","parts":[{"data":{"action":"accept","feedback":"fine"}}]}}`
	streamed  = `{"message":{"messageId":"streamed","role":"ROLE_USER","parts":[{"text":"write"}]},"configuration":{"historyLength":1},"metadata":{"longhaul/v1/after":0}}`
	task      = `{"id":"obj-U(gate)","historyLength":1,"tenant":"acme","metadata":{"longhaul/v1/after":1,"opt/v1/historyScope":"task"}}`
	config10  = `{"tenant":"acme","taskId":"obj-U(slow)","id":"own","url":"https://push.example.com/own","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}`
	config03  = `{"taskId":"obj-U(slow)","pushNotificationConfig":{"id":"own","url":"https://push.example.com/own","token":"t","authentication":{"schemes":["Bearer"],"credentials":"c"}}}`
	hookOf10  = `{"tenant":"acme","taskId":"obj-U(slow)","id":"hook"}`
	hookOf03  = `{"id":"obj-U(slow)","pushNotificationConfigId":"hook"}`
)

// in03 returns requests of 1.0 in the words of 0.3.
func in03(requests ...string) (all []string) {
	for _, r := range requests {
		all = append(all, strings.NewReplacer(`"ROLE_USER"`, `"user"`, `{"text"`, `{"kind":"text","text"`, `{"data"`, `{"kind":"data","data"`, `"returnImmediately":true`, `"blocking":false`).Replace(r))
	}
	return all
}

func one(request string) []string { return []string{request} }

// goldenRequests has them by the id of the operation.
var goldenRequests = map[string]goldenRequest{
	"ListStanding":    {one(`{}`), nil},
	"MakeStanding":    {one(`{"interruptId":"task-U(gate)-1-0:1","holds":"object.amount < 50","for":"8h","most":2,"action":"accept","feedback":"F"}`), nil},
	"GetStanding":     {one(`{"id":"sd-1"}`), nil},
	"ApproveStanding": {one(`{"id":"sd-1"}`), nil},
	"RevokeStanding":  {one(`{"id":"sd-1"}`), nil},
	"ListAbsences":    {one(`{}`), nil},
	"AddAbsence":      {one(`{"deputy":"bob","from":"2026-03-01T10:00:00Z","until":"2026-03-02T10:00:00Z","principal":"ann","groups":["buyers"]}`), nil},
	"EndAbsence":      {one(`{"id":"abs-1"}`), nil},

	"SendMessage":          {[]string{newWork10, planned10, refined10, answered, accepted}, append(one(newWork03), in03(planned10, refined10, answered, accepted)...)},
	"SendStreamingMessage": {one(streamed), in03(streamed)},
	"GetTask":              {[]string{task, `{"id":"obj-U(done)","historyLength":1,"tenant":"acme"}`}, nil},
	"ListTasks":            {one(`{"tenant":"acme","contextId":"obj-U(done)","status":"TASK_STATE_COMPLETED","pageSize":1,"pageToken":"","historyLength":1,"statusTimestampAfter":"2026-03-01T09:30:00Z","includeArtifacts":true}`), one(`{"contextId":"obj-U(done)","status":"completed","pageSize":1,"historyLength":1,"includeArtifacts":true}`)},
	"CancelTask":           {one(`{"id":"obj-U(slow)","tenant":"acme","metadata":{"longhaul/v1/requestId":"c"}}`), nil},
	"SubscribeToTask":      {one(strings.Replace(task, "gate", "done", 1)), nil}, // ended, so that the stream ends

	"CreateTaskPushNotificationConfig": {one(config10), one(config03)},
	"GetTaskPushNotificationConfig":    {one(hookOf10), one(hookOf03)},
	"ListTaskPushNotificationConfigs":  {one(`{"tenant":"acme","taskId":"obj-U(slow)","pageSize":1,"pageToken":""}`), one(`{"id":"obj-U(slow)"}`)},
	"DeleteTaskPushNotificationConfig": {one(hookOf10), one(hookOf03)},
	"GetExtendedAgentCard":             {one(`{"tenant":"acme"}`), nil},

	"objectives/create":  {one(`{"name":"Name","description":"D","metadata":{"k":1,"opt/v1/autoStart":false,"longhaul/v1/requestId":"r"}}`), nil},
	"objectives/fork":    {[]string{`{"id":"obj-U(done)","at":9,"name":"Name","repeat":true,"plans":[{"name":"P","description":"D","tasks":[{"name":"T","description":"D"}]}],"metadata":{"longhaul/v1/requestId":"r"}}`, `{"id":"` + objectiveID + `","tasks":[{"id":"` + taskID + `","name":"Other","description":"D"}],"metadata":{"longhaul/v1/requestId":"s"}}`, `{"id":"obj-U(done)","message":"M","metadata":{"longhaul/v1/requestId":"t"}}`}, nil},
	"objectives/get":     {one(`{"id":"` + objectiveID + `","includePlans":true,"includeTasks":true}`), nil},
	"objectives/list":    {[]string{`{"status":"submitted","pageSize":2,"pageToken":"","includePlans":true,"includeTasks":true,"text":"Launch","contextId":"` + objectiveID + `","createdAfter":"2026-01-01T00:00:00Z","createdBefore":"2027-01-01T00:00:00Z"}`, `{"planner":"p"}`}, nil},
	"objectives/update":  {one(`{"id":"` + objectiveID + `","name":"Other","description":"D","status":"canceled","metadata":{"k":1,"longhaul/v1/requestId":"r","longhaul/v1/revision":3}}`), nil},
	"objectives/replan":  {one(`{"id":"obj-U(slow)","reason":"better","metadata":{"longhaul/v1/requestId":"r","longhaul/v1/revision":1}}`), nil},
	"plans/create":       {one(`{"objectiveId":"` + objectiveID + `","name":"P","description":"D","dependencies":["` + planID + `"],"metadata":{"k":1,"longhaul/v1/requestId":"r","opt/v1/optional":true},"tasks":[{"name":"T","description":"D","metadata":{"k":1}},{"name":"V","dependencies":["task-0"]}]}`), nil},
	"plans/get":          {one(`{"id":"` + planID + `","includeTasks":true}`), nil},
	"plans/update":       {[]string{`{"id":"` + planID + `","name":"Other","description":"D","dependencies":[],"metadata":{"k":1,"longhaul/v1/requestId":"r"}}`, `{"id":"` + planID + `","tasks":[{"id":"` + opt.TaskID(planID, 1) + `","dependencies":[]}],"metadata":{"longhaul/v1/requestId":"s"}}`}, nil},
	"plans/addTasks":     {one(`{"id":"` + planID + `","tasks":[{"name":"T","description":"D","dependencies":["task-0"],"metadata":{"k":1}}],"metadata":{"longhaul/v1/requestId":"r"}}`), nil},
	"tasks/link":         {one(`{"id":"` + taskID + `","a2aTaskId":"other","metadata":{"longhaul/v1/requestId":"r","longhaul/v1/revision":3}}`), nil},
	"tasks/updateStatus": {one(`{"id":"` + taskID + `","status":"completed","message":"M","metadata":{"longhaul/v1/requestId":"r","longhaul/v1/revision":3}}`), nil},
}
