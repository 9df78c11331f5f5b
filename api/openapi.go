package api

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"longhaul/api/card"
	"longhaul/api/operation"
	"longhaul/api/wire"
)

// The schemas that the description of the API refers to: those of A2A, of errors and of the public
// documents, and those that the test of docs/schemas makes from the types of opt/wire.
var (
	//go:embed openapi_schemas.json
	writtenSchemas []byte
	//go:embed openapi_pages.json
	madeSchemas []byte
)

// schemas returns all schemas by their names. It panics if a file is no JSON object.
func schemas() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, file := range [][]byte{writtenSchemas, madeSchemas} {
		if err := json.Unmarshal(file, &all); err != nil {
			panic(err)
		}
	}
	return all
}

// queryTypes are the types of query parameters that are not strings.
var queryTypes = map[string]string{"pageSize": "integer", "historyLength": "integer", "includeArtifacts": "boolean", "mine": "boolean"}

// A describer makes the OpenAPI description of the surface from the tables of routes.
type describer struct {
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
func (d describer) describe(card card.Card) any {
	paths := object{}
	paths[wire.RPCPath] = object{"post": object{
		"operationId": "JSONRPC", "summary": "Call a method of A2A 0.3 or 1.0, or of the OPT extension, by JSON-RPC",
		"description": "Also served at /. The version is that of the header A2A-Version, 0.3 without it.",
		"parameters":  []any{object{"name": wire.HeaderVersion, "in": "header", "schema": object{"type": "string", "enum": []any{wire.V03, wire.V10}}}},
		"requestBody": body("RPCRequest"),
		"responses":   object{"200": answer("The result or the error, or a stream of them", "RPCResponse", mediaJSON, mediaStream), "default": answer("Refused before the method was called", "RPCResponse", mediaJSON)},
	}}
	for _, r := range restRoutes {
		d.add(paths, restPath+"/", r, "Error", object{"name": wire.HeaderVersion, "in": "header", "required": true, "schema": object{"type": "string", "const": wire.V10}})
	}
	for _, r := range d.pages {
		d.add(paths, pagePath+"/", r, "PageError")
	}
	for _, p := range d.open {
		ok := answer(p.text, p.gives, mediaJSON)
		paths[p.path] = object{"get": object{
			"operationId": "Get" + strings.ReplaceAll(strings.ReplaceAll(p.path, "/", "_"), ".", "_"), "summary": p.text, "security": []any{},
			"responses": object{"200": ok, "default": answer("Refused, or not ready", "", mediaJSON)},
		}}
	}
	schemes, requirements := card.Security()
	return object{
		"openapi": "3.1.0",
		"info": object{"title": card.Name, "version": card.Version,
			"description": "A2A over JSON-RPC and plain HTTP, and pages about tasks. The paths below " + restPath +
				" are also served at the root, and with a tenant before them. Reads also answer HEAD."},
		"paths": paths, "security": requirements,
		"components": object{"schemas": schemas(), "securitySchemes": schemes},
	}
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// add adds a route below a path. failed is the schema of its errors.
func (d describer) add(paths object, below string, r route, failed string, params ...any) {
	about := operation.ByID(r.id)
	for _, m := range pathParam.FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range about.Query {
		params = append(params, object{"name": name, "in": "query", "schema": object{"type": cmp.Or(queryTypes[name], "string")}})
	}
	media := []string{mediaJSON}
	if below == restPath+"/" {
		media = []string{mediaA2A, mediaJSON}
	}
	ok := answer("Done", about.Gives, media...)
	if about.Stream {
		ok = answer("The events", about.Gives, mediaStream)
	}
	described := object{
		"operationId": about.ID, "summary": about.Text, "parameters": slices.Clip(params),
		"responses": object{"200": ok, "default": answer("Refused", failed, media...)},
	}
	path := below + r.path
	if about.ID == "SubscribeToTask" && r.verb == http.MethodGet {
		described["operationId"] = about.ID + "ByGet" // ids are unique
	}
	if about.Takes != "" && r.verb != http.MethodGet {
		described["requestBody"] = body(about.Takes)
	}
	item, known := paths[path].(object)
	if !known {
		item = object{}
		paths[path] = item
	}
	item[strings.ToLower(r.verb)] = described
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
		case m == mediaStream: // OpenAPI 3.1 has no schema for events: one for the data of each
			content[m] = object{"schema": object{"type": "string", "description": "Server-sent events. The data of each is a " + schema + "."}}
		default:
			content[m] = object{"schema": ref(schema)}
		}
	}
	return object{"description": text, "content": content}
}

func ref(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }
