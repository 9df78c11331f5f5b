package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/operation"
	"longhaul/api/service"
	"longhaul/api/wire"
)

// Path is where the door is; metadataPath is the path of its description for OAuth clients (RFC 9728).
const (
	Path         = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource" + Path
)

type object = map[string]any

// A Config has the parts and settings of a Door.
type Config struct {
	Service      *service.Service
	Authenticate func(*http.Request) (call.Caller, error)
	Challenge    string        // WWW-Authenticate of a 401
	URL          string        // of this server, without a slash at the end
	Objectives   string        // path of objectives in the console, before an id; "" without a console
	Gates        string        // likewise of gates
	Issuer       string        // URL of the OpenID Connect provider whose tokens callers may have; "" for none
	Wait         time.Duration // that a call waits for the work
	MaxBody      int64         // bytes of one request
}

// A Door serves MCP. It is safe for concurrent use.
type Door struct {
	cfg        Config
	operations *operation.Table
	handler    http.Handler
	required   []string // extensions that calls must name
}

// New returns a door.
func New(cfg Config) *Door {
	cfg.MaxBody = cmp.Or(cfg.MaxBody, sdk.DefaultMaxRequestBodyBytes)
	d := &Door{cfg: cfg, operations: operation.Of(cfg.Service)}
	for _, x := range cfg.Service.Cards.Unsigned().Capabilities.Extensions {
		if x.Required {
			d.required = append(d.required, x.URI)
		}
	}
	d.handler = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		s, _ := r.Context().Value(serverKey{}).(*sdk.Server)
		return s
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: cfg.MaxBody,
		DisableLocalhostProtection: true, // the server has checked the host and the origin
	})
	return d
}

type serverKey struct{}

// A visit is one request to the door.
type visit struct {
	*Door
	requestID    string
	authenticate func() (call.Caller, error)
}

// Serve serves a request to [Path], or any other for the description for OAuth clients.
func (d *Door) Serve(c *call.Call, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path != Path {
		d.serveMetadata(w)
		return
	}
	c.Binding, c.Method = "mcp", "mcp"
	v := &visit{d, c.RequestID, func() (call.Caller, error) { return d.cfg.Authenticate(r) }}
	var skills []card.Skill
	fault := d.cfg.Service.Serve(c, call.Steps{
		Authenticate: v.authenticate,
		Read:         func() (call.Right, error) { return operation.Right("GetExtendedAgentCard"), nil }, // any scope
		Handle:       func() error { skills = d.cfg.Service.Cards.Skills(c); return nil },
	})
	if fault != nil {
		d.refuse(w, fault)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, d.cfg.MaxBody)
	body, err := io.ReadAll(r.Body)
	if busy, ok := errors.AsType[*call.Fault](err); ok {
		d.refuse(w, busy)
		return
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))                           // with what else is wrong with it
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2*d.cfg.Wait + time.Minute)) // the recorder of a test has none
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, v.server(skills))))
}

// refuse answers a request of a caller who may not call at all.
func (d *Door) refuse(w http.ResponseWriter, f *call.Fault) {
	status, _ := wire.Status(f)
	if f.Kind == call.Unauthenticated {
		challenge := d.cfg.Challenge
		if d.cfg.Issuer != "" {
			challenge += `, resource_metadata="` + d.cfg.URL + metadataPath + `"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if f.Retry > 0 {
		f.SetRetryAfter(w.Header())
	}
	wire.Respond(w, status, wire.Flat(f, status))
}

// serveMetadata shows OAuth clients where they get tokens.
func (d *Door) serveMetadata(w http.ResponseWriter) {
	if d.cfg.Issuer == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", "*") // it is for everyone
	wire.Respond(w, http.StatusOK, object{
		"resource": d.cfg.URL + Path, "authorization_servers": []string{d.cfg.Issuer}, "bearer_methods_supported": []string{"header"}, "scopes_supported": call.Scopes(),
	})
}

// run calls an operation as the caller of the request, with params as A2A 1.0 has them.
func (v *visit) run(ctx context.Context, id string, params any) (result any, err error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	o, s := v.operations.ByID(id), v.cfg.Service
	c := s.NewCall(v.requestID)
	c.Binding, c.Method, c.OfOPT = "mcp", o.ID, o.Family == operation.OPT
	c.Rules, c.Named = wire.Rules(wire.V10), v.required
	fault := s.Serve(c, call.Steps{
		Authenticate: v.authenticate,
		Read:         func() (call.Right, error) { return o.Right(), nil },
		Handle: func() (err error) {
			result, err = o.Run(ctx, s, c, wire.NewReader(wire.V10, raw))
			return err
		},
	})
	s.Log(c)
	if fault != nil {
		return nil, fault
	}
	return result, nil
}

// instructions are for the model of a host.
const instructions = "Each skill is a tool that starts durable work: it continues when the call has ended. " +
	"A call waits a short time. If the work takes longer, its result has a taskId: call get with it, with wait, until the state is final. " +
	"If the work waits for a person, show the question and the object of the decision to the person, and send the answer of the person, with the objectDigest that was shown, with answer. " +
	"Never decide for the person."

// server returns the server for one request, with the skills that the caller sees.
func (v *visit) server(skills []card.Skill) *sdk.Server {
	info := v.cfg.Service.Cards.Unsigned()
	caps := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}
	caps.AddExtension(tasksExtension, nil)
	s := sdk.NewServer(&sdk.Implementation{Name: info.Name, Version: info.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: caps,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }, // skills may be shown to some callers alone
	})
	works := map[string]card.Skill{}
	for _, k := range skills {
		name := toolName(k.ID)
		if _, taken := works[name]; !taken {
			works[name] = k
			about := cmp.Or(k.Description, k.Name) + strings.Join(append([]string{""}, k.Examples...), "\nExample: ")
			s.AddTool(&sdk.Tool{Name: name, Title: k.Name, Description: about, InputSchema: workSchema}, v.tool(func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return v.work(ctx, req, k)
			}))
		}
	}
	for _, t := range v.ownTools() {
		s.AddTool(&t.Tool, v.tool(t.call))
	}
	v.addTasks(s, works)
	return s
}

// tool turns errors of a tool into results: the model reads them and can call again.
func (v *visit) tool(call sdk.ToolHandler) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		out, err := call(ctx, req)
		if err != nil {
			out = failed(err)
		}
		return out, nil
	}
}

func failed(err error) (out *sdk.CallToolResult) {
	out = &sdk.CallToolResult{}
	out.SetError(err)
	return out
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// toolName returns the name of the tool of a skill.
func toolName(id string) string {
	switch name := notInNames.ReplaceAllString(id, "_"); name {
	case "get", "cancel", "inbox", "answer":
		return "skill_" + name
	default:
		return name[:min(len(name), 120)]
	}
}

func property(kind, text string) object { return object{"type": kind, "description": text} }

func schemaOf(required []string, properties object) object {
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

var taskProperty = property("string", "The id of the task, as the tool that started it returned it.")

// workSchema is the schema of the tool of a skill.
var workSchema = schemaOf([]string{"message"}, object{
	"message":   property("string", "The work, in words."),
	"data":      property("object", "JSON beside the message, for skills that ask for it."),
	"contextId": property("string", "The contextId of earlier work, to continue its conversation."),
	"key":       property("string", "An id that you choose for this work. A repeat with the same key and content starts nothing: it returns the same task."),
})

// An ownTool is a tool that is no skill.
type ownTool struct {
	sdk.Tool
	call sdk.ToolHandler
}

func (v *visit) ownTools() []ownTool {
	reads, harmless := &sdk.ToolAnnotations{ReadOnlyHint: true}, false
	return []ownTool{
		{sdk.Tool{Name: "get", Title: "Get a task", Annotations: reads, Description: "Get the state of a task, its results, and the questions that it waits with.",
			InputSchema: schemaOf([]string{"taskId"}, object{"taskId": taskProperty, "wait": property("boolean", "Wait a short time for the end or a question.")})}, v.get},
		{sdk.Tool{Name: "cancel", Title: "Cancel a task", Description: "Cancel a task and all that it has started.",
			InputSchema: schemaOf([]string{"taskId"}, object{"taskId": taskProperty})}, v.cancel},
		{sdk.Tool{Name: "inbox", Title: "List open questions", Annotations: reads, Description: "List the questions and approvals that wait for people, the longest wait first.",
			InputSchema: schemaOf([]string{}, object{
				"mine":        property("boolean", "Only those that wait for the caller. Default: true."),
				"objectiveId": property("string", "Only those of one objective."),
				"pageToken":   property("string", "nextPageToken of the page before."),
			})}, v.inbox},
		{sdk.Tool{Name: "answer", Title: "Answer a question", Annotations: &sdk.ToolAnnotations{DestructiveHint: &harmless},
			Description: "Answer a question or decide an approval that a task waits with, as the person has said. Only the first valid answer counts. Without an answer, a host that can asks the person.",
			InputSchema: answerSchema}, v.answer},
	}
}

// answerSchema is that of the body of AnswerInterrupt, with the gate.
var answerSchema = schemaOf([]string{"interruptId"}, object{
	"interruptId":        property("string", "The id of the question or approval."),
	"action":             property("string", "At an approval: one of the actions that it lists."),
	"feedback":           property("string", "Why, or with refine what should be better."),
	"question":           property("string", "With ask: the question, which decides nothing."),
	"editedArtifactData": object{"description": "With edit-accept: JSON in place of the object."},
	"answers":            object{"type": "array", "description": "At questions: one answer to each.", "items": schemaOf([]string{"id", "answer"}, object{"id": property("string", "Of the question."), "answer": object{}})},
	"text":               property("string", "In place of answers: the answer to the only question."),
	"objectDigest":       property("string", "objectDigest of what the person has seen. An approval of anything else is refused."),
	"messageId":          property("string", "An id that you choose. A repeat with the same id is the same answer."),
})

// arguments reads the arguments of a call.
func arguments(req *sdk.CallToolRequest, into any) error {
	if len(req.Params.Arguments) == 0 || string(req.Params.Arguments) == "null" {
		return nil
	}
	if err := json.Unmarshal(req.Params.Arguments, into); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	return nil
}

// A host says what the host of a request can do.
type host struct{ forms, urls, tasks bool }

// hostOf reads the capabilities that a request declares. Those of an older handshake are not kept:
// there is no session.
func hostOf(m sdk.Meta) (h host) {
	raw, err := json.Marshal(m[sdk.MetaKeyClientCapabilities])
	var caps sdk.ClientCapabilities
	if err != nil || json.Unmarshal(raw, &caps) != nil {
		return h
	}
	if e := caps.Elicitation; e != nil {
		h.forms, h.urls = e.Form != nil || e.URL == nil, e.URL != nil
	}
	_, h.tasks = caps.Extensions[tasksExtension]
	return h
}
