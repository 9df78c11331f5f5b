package api

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"longhaul/api/service"
	"longhaul/api/wire"
)

// schemas are the schemas that the description of the API refers to.
//
//go:embed openapi_schemas.json
var schemas json.RawMessage

// A summary describes an operation of a route for people and tools.
type summary struct {
	text   string
	takes  string   // the schema of its body; "" for none
	gives  string   // the schema of its result, or of one event of its stream
	query  []string // its parameters in the query
	stream bool
}

// summaries has a line for each operation of a route.
var summaries = map[string]summary{
	"SendMessage":          {text: "Send a message to new work or to a task", takes: "SendMessageRequest", gives: "SendMessageResponse"},
	"SendStreamingMessage": {text: "Send a message and stream what follows", takes: "SendMessageRequest", gives: "StreamResponse", stream: true},
	"ListTasks": {text: "List the caller's tasks, latest change first", gives: "ListTasksResponse",
		query: []string{"contextId", "status", "pageSize", "pageToken", "historyLength", "statusTimestampAfter", "includeArtifacts"}},
	"GetTask":         {text: "Get a task", gives: "Task", query: []string{"historyLength"}},
	"CancelTask":      {text: "Cancel a task", takes: "TaskRequest", gives: "Task"},
	"SubscribeToTask": {text: "Stream what happens to a task", takes: "TaskRequest", gives: "StreamResponse", stream: true},

	"CreateTaskPushNotificationConfig": {text: "Have the states of a task pushed to a URL", takes: "TaskPushNotificationConfig", gives: "TaskPushNotificationConfig"},
	"GetTaskPushNotificationConfig":    {text: "Get a push config, without its secrets", gives: "TaskPushNotificationConfig"},
	"ListTaskPushNotificationConfigs": {text: "List the push configs of a task", gives: "ListTaskPushNotificationConfigsResponse",
		query: []string{"pageSize", "pageToken"}},
	"DeleteTaskPushNotificationConfig": {text: "Remove a push config", gives: "Empty"},
	"GetExtendedAgentCard":             {text: "Get the agent card for authenticated callers", gives: "AgentCard"},

	"GetTaskRecord": {text: "Get the durable record of a task, without content", gives: "TaskRecord"},
	"GetRun":        {text: "Get an objective as a run", gives: "Run"},

	"ListDeliveries": {text: "List the deliveries of a task's states to its push configs, with the latest attempts", gives: "Deliveries"},
	"Redeliver":      {text: "Have a state delivered again", gives: "Delivery"},

	"ListInterrupts": {text: "List the tasks that wait for people, the longest wait first", gives: "InterruptPage",
		query: []string{"kind", "objectiveId", "contextId", "mine", "pageSize", "pageToken"}},
	"AnswerInterrupt": {text: "Answer a task that waits for a person", takes: "Answer", gives: "Answered"},
	"ListDecisions": {text: "List the decisions at the gates of an objective, as hash chains", gives: "DecisionPage",
		query: []string{"pageSize", "pageToken"}},

	"ListSchedules":    {text: "List schedules, each with its next times and its latest run", gives: "Schedules"},
	"CreateSchedule":   {text: "Have objectives started at times", takes: "NewSchedule", gives: "Schedule"},
	"GetSchedule":      {text: "Get a schedule with its next times and its latest runs", gives: "Schedule"},
	"UpdateSchedule":   {text: "Change, pause or resume a schedule", takes: "ScheduleChange", gives: "Schedule"},
	"DeleteSchedule":   {text: "Delete a schedule; objectives that it has started continue", gives: "Empty"},
	"TriggerSchedule":  {text: "Start an objective of a schedule now", takes: "TriggerRequest", gives: "Triggered"},
	"BackfillSchedule": {text: "Start the objectives of a schedule for times that have passed", takes: "BackfillRequest", gives: "Backfilled"},
}

// queryTypes are the types of query parameters that are not strings.
var queryTypes = map[string]string{"pageSize": "integer", "historyLength": "integer", "includeArtifacts": "boolean", "mine": "boolean"}

// A describer makes the OpenAPI description of the surface from the tables of routes.
type describer struct {
	rest  bool         // plain HTTP is served
	pages routeTable   // that are served below pagePath
	open  []publicPage // the public documents
}

// A publicPage is a document that needs no credential.
type publicPage struct {
	path, text string
	gives      string // the schema of its content
	serve      echo.HandlerFunc
}

type object = map[string]any

// describe returns the description, with the security schemes of the card.
func (d describer) describe(card service.Card) any {
	paths := object{}
	paths[wire.RPCPath] = object{"post": object{
		"operationId": "JSONRPC", "summary": "Call a method of A2A 0.3 or 1.0, or of the OPT extension, by JSON-RPC",
		"description": "Also served at /. The version is that of the header A2A-Version, 0.3 without it.",
		"parameters":  []any{object{"name": wire.HeaderVersion, "in": "header", "schema": object{"type": "string", "enum": []any{wire.V03, wire.V10}}}},
		"requestBody": body("RPCRequest"),
		"responses":   object{"200": answer("The result or the error, or a stream of them", "RPCResponse", mediaJSON, mediaStream), "default": answer("Refused before the method was called", "RPCResponse", mediaJSON)},
	}}
	if d.rest {
		for _, r := range routes {
			d.add(paths, restPath+"/", r, "Error", object{"name": wire.HeaderVersion, "in": "header", "required": true, "schema": object{"type": "string", "const": wire.V10}})
		}
	}
	for _, r := range d.pages {
		d.add(paths, pagePath+"/", r, "FlatError")
	}
	for _, p := range d.open {
		ok := answer(p.text, p.gives, mediaJSON)
		paths[p.path] = object{"get": object{
			"operationId": "Get" + strings.ReplaceAll(strings.ReplaceAll(p.path, "/", "_"), ".", "_"), "summary": p.text, "security": []any{},
			"responses": object{"200": ok, "default": answer("Refused, or not ready", "", mediaJSON)},
		}}
	}
	schemes, requirements := wire.Security(card)
	return object{
		"openapi": "3.1.0",
		"info": object{"title": card.Name, "version": card.Version,
			"description": "A2A over JSON-RPC and plain HTTP, and pages about tasks. The paths below " + restPath +
				" are also served at the root, and with a tenant before them. Reads also answer HEAD."},
		"paths": paths, "security": requirements,
		"components": object{"schemas": schemas, "securitySchemes": schemes},
	}
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// add adds a route below a path. failed is the schema of its errors.
func (d describer) add(paths object, below string, r route, failed string, params ...any) {
	about := summaries[r.method]
	for _, m := range pathParam.FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range about.query {
		kind := "string"
		if t, ok := queryTypes[name]; ok {
			kind = t
		}
		params = append(params, object{"name": name, "in": "query", "schema": object{"type": kind}})
	}
	media := []string{mediaJSON}
	if below == restPath+"/" {
		media = []string{mediaA2A, mediaJSON}
	}
	ok := answer("Done", about.gives, media...)
	if about.stream {
		ok = answer("The events", about.gives, mediaStream)
	}
	operation := object{
		"operationId": r.method, "summary": about.text, "parameters": slices.Clip(params),
		"responses": object{"200": ok, "default": answer("Refused", failed, media...)},
	}
	path := below + r.path
	if r.method == "SubscribeToTask" && r.verb == http.MethodGet {
		operation["operationId"] = r.method + "ByGet" // ids are unique
	}
	if about.takes != "" && r.verb != http.MethodGet {
		operation["requestBody"] = body(about.takes)
	}
	item, known := paths[path].(object)
	if !known {
		item = object{}
		paths[path] = item
	}
	item[strings.ToLower(r.verb)] = operation
}

// body describes a body of JSON. A body whose schema requires nothing may be missing.
func body(schema string) object {
	content := object{"schema": ref(schema)}
	return object{"required": !slices.Contains([]string{"TaskRequest", "TriggerRequest"}, schema), "content": object{mediaJSON: content, mediaA2A: content}}
}

// answer describes an answer; schema is "" for any content.
func answer(text, schema string, media ...string) object {
	content := object{}
	for _, m := range media {
		content[m] = object{}
		switch {
		case schema == "":
		case m == mediaStream: // OpenAPI 3.1 has no schema for events: that of the data of each
			content[m] = object{"schema": object{"type": "string", "description": "Server-sent events. The data of each is a " + schema + "."}}
		default:
			content[m] = object{"schema": ref(schema)}
		}
	}
	return object{"description": text, "content": content}
}

func ref(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }
