package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"longhaul/internal/test"
)

func deep(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }

// Every kind of bad request has its own error and changes nothing.
func TestBadEnvelopes(t *testing.T) {
	s := newService(t)
	for name, tc := range map[string]struct{ body, id, code string }{
		"empty":             {``, ``, "-32700"},
		"not JSON":          {`{`, ``, "-32700"},
		"two values":        {`{"jsonrpc":"2.0","id":1,"method":"GetTask"}{}`, ``, "-32700"},
		"bad UTF-8":         {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"id\":\"\xff\"}}", ``, "-32700"},
		"deep":              {`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"x":` + deep(200) + `}}`, ``, "-32700"},
		"very deep":         {deep(1 << 20), ``, "-32700"},
		"unclosed":          {strings.Repeat("[", 1<<20), ``, "-32700"},
		"number":            {`1`, ``, "-32600"},
		"null":              {`null`, ``, "-32600"},
		"batch":             {`[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]`, ``, "-32600"},
		"no id":             {`{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}`, ``, "-32600"},
		"no id, bad params": {`{"jsonrpc":"2.0","method":"GetTask"}`, ``, "-32602"},
		"id object":         {`{"jsonrpc":"2.0","id":{},"method":"GetTask"}`, ``, "-32600"},
		"id true":           {`{"jsonrpc":"2.0","id":true,"method":"GetTask"}`, ``, "-32600"},
		"id of 5000 bytes":  {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 5000) + `","method":"GetTask"}`, ``, "-32600"},
		"no jsonrpc":        {`{"id":"a","method":"GetTask"}`, `a`, "-32600"},
		"jsonrpc 2":         {`{"jsonrpc":2.0,"id":"a","method":"GetTask"}`, `a`, "-32600"},
		"no method":         {`{"jsonrpc":"2.0","id":7}`, `7`, "-32600"},
		"empty method":      {`{"jsonrpc":"2.0","id":7,"method":""}`, `7`, "-32600"},
		"method a number":   {`{"jsonrpc":"2.0","id":7,"method":7}`, `7`, "-32600"},
		"unknown method":    {`{"jsonrpc":"2.0","id":7,"method":"Reboot"}`, `7`, "-32601"},
		"method in caps":    {`{"jsonrpc":"2.0","id":7,"method":"GETTASK"}`, `7`, "-32601"},
		"keys in caps":      {`{"JSONRPC":"2.0","ID":7,"METHOD":"GetTask"}`, ``, "-32600"},
		"params a list":     {`{"jsonrpc":"2.0","id":7,"method":"GetTask","params":[]}`, `7`, "-32602"},
		"params a string":   {`{"jsonrpc":"2.0","id":7,"method":"GetTask","params":"x"}`, `7`, "-32602"},
		"last key counts":   {`{"jsonrpc":"1.0","id":1,"id":2,"jsonrpc":"2.0","method":"x","method":"GetTask","params":{"id":"a"}}`, `2`, "-32001"},
		"huge number as id": {`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"x"}`, `123456789012345678901234567890`, "-32601"},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.post(t, tc.body, "A2A-Version", "1.0")
			n := parse(t, w.Body.Bytes())
			wantCode(t, n, tc.code)
			if n.at("id").String() != tc.id || w.Code != http.StatusOK {
				t.Errorf("id is %v with status %d, want %q with 200", n.at("id"), w.Code, tc.id)
			}
			if !n.has("id") || n.has("result") {
				t.Errorf("not a response: %v", n)
			}
			s.untouched(t)
		})
	}
}

// Params with content that is wrong are refused. The goldens have those of another type,
// and those that are missing, empty, too long or no word that an enum has.
func TestBadParams(t *testing.T) {
	long := strings.Repeat("x", 300)
	parts := strings.TrimSuffix(strings.Repeat(`{"text":"x"},`, 101), ",")
	s := newService(t)
	for _, tc := range []struct{ method, params, field string }{
		{"SendMessage", `{"message":{"messageId":"a\u0000","role":"ROLE_USER","parts":[{"text":""}]}}`, "message.messageId"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_UNSPECIFIED","parts":[{"text":""}]}}`, "message.role"},
		{"SendMessage", `{"message":{"messageId":"a","role":"user","parts":[{"text":""}]}}`, "message.role"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":""}]}}`, "message.role"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_USER","parts":[]}}`, "message.parts"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_USER","parts":{"text":"x"}}}`, "message.parts"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_USER","parts":[` + parts + `]}}`, "message.parts"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_USER","parts":[{"text":"x","url":"u"}]}}`, "message.parts[0]"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_USER","parts":[{"raw":"!!"}]}}`, "message.parts[0].raw"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_USER","parts":[{"url":""}]}}`, "message.parts[0].url"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"contextId":"a\u0001b"`) + `}`, "message.contextId"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", "") + `,"configuration":{"historyLength":-1}}`, "configuration.historyLength"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", "") + `,"configuration":{"historyLength":1.5}}`, "configuration.historyLength"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", "") + `,"configuration":{"historyLength":3000000000}}`, "configuration.historyLength"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/plan":"mine"}`) + `}`, "message.metadata.opt/v1/plan"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/plan":{"name":""}}`) + `}`, "message.metadata.opt/v1/plan.name"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/plan":{"name":"P","tasks":[{"name":"A","dependencies":["task-1"]},{"name":"B","dependencies":["task-0"]}]}}`) + `}`, "message.metadata.opt/v1/plan.tasks"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/objective":{"name":"O","plans":[{"name":"P"},{"name":"Q","tasks":[{}]}]}}`) + `}`, "message.metadata.opt/v1/objective.plans[1].tasks[0].name"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/objective":{"name":"O","plans":[{"name":"P","dependencies":["plan-1"]},{"name":"Q","dependencies":["plan-0"]}]}}`) + `}`, "message.metadata.opt/v1/objective.plans"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/suggestedName":"`+long+`"}`) + `}`, "message.metadata.opt/v1/suggestedName"},
		{"GetTask", `{"id":"x","historyLength":-1}`, "historyLength"},
		{"ListTasks", `{"pageSize":0}`, "pageSize"},
		{"ListTasks", `{"pageSize":101}`, "pageSize"},
		{"ListTasks", `{"page_size":-1}`, "pageSize"},
		{"ListTasks", `{"status":"working"}`, "status"},
		{"ListTasks", `{"historyLength":-5}`, "historyLength"},
		{"ListTasks", `{"contextId":"a\nb"}`, "contextId"},
		{"objectives/create", `{"name":" \t"}`, "name"},
		{"objectives/create", `{"name":"a\u0000"}`, "name"},
		{"objectives/create", `{"name":"x","description":"a\u0000"}`, "description"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/suggestedName":"  "}`) + `}`, "message.metadata.opt/v1/suggestedName"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/objective":{"name":"a\u0000"}}`) + `}`, "message.metadata.opt/v1/objective.name"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/plan":{"name":" "}}`) + `}`, "message.metadata.opt/v1/plan.name"},
		{"objectives/create", `{"name":"a\nb"}`, "name"},
		{"objectives/create", `{"name":"a\u001b[31mb"}`, "name"},
		{"objectives/create", `{"name":"a\u200bb"}`, "name"},
		{"objectives/create", `{"name":"a\u2028b"}`, "name"},
		{"objectives/create", `{"name":"\u202eb"}`, "name"},
		{"objectives/create", `{"name":"\u200b"}`, "name"},
		{"objectives/update", `{"id":"x","name":"a\tb"}`, "name"},
		{"plans/create", `{"objectiveId":"x","name":"a\nb"}`, "name"},
		{"plans/create", `{"objectiveId":"x","name":"a","tasks":[{"name":"b"},{"name":"c\u2060"}]}`, "tasks[1].name"},
		{"plans/update", `{"id":"x","name":"a\u0085b"}`, "name"},
		{"plans/addTasks", `{"id":"x","tasks":[{"name":"a\nb"}]}`, "tasks[0].name"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/suggestedName":"a\nb"}`) + `}`, "message.metadata.opt/v1/suggestedName"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/plan":{"name":"a","tasks":[{"name":"b\u001b"}]}}`) + `}`, "message.metadata.opt/v1/plan.tasks[0].name"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/objective":{"name":"a","plans":[{"name":"b\u001b"}]}}`) + `}`, "message.metadata.opt/v1/objective.plans[0].name"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"contextId":" \u3000"`) + `}`, "message.contextId"},
		{"ListTasks", `{"contextId":" "}`, "contextId"},
		{"SendMessage", `{"message":` + messageJSON("a", "", "") + `}`, "message.parts"},
		{"SendMessage", `{"message":` + messageJSON("a", " \n\u200b", "") + `}`, "message.parts"},
		{"SendMessage", `{"message":{"messageId":"a","role":"ROLE_USER","parts":[{"text":" "},{"text":""}]}}`, "message.parts"},
		{"SendMessage", `{"message":` + messageJSON("a", "", `,"contextId":"`+objectiveID+`"`) + `}`, "message.parts"},
		{"objectives/list", `{"contextId":" "}`, "contextId"},
		{"plans/create", `{"objectiveId":"x","name":"y","tasks":[{"name":"a","id":"1"},{"name":"b"},{"name":"c","id":"1"}]}`, "tasks[2].id"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/plan":{"name":"P","tasks":[{"id":"t","name":"A"},{"id":"t","name":"B"}]}}`) + `}`, "message.metadata.opt/v1/plan.tasks[1].id"},
		{"SendMessage", `{"message":` + messageJSON("a", "x", `,"metadata":{"opt/v1/objective":{"name":"O","plans":[{"id":"p","name":"P"},{"id":"p","name":"Q"}]}}`) + `}`, "message.metadata.opt/v1/objective.plans[1].id"},
	} {
		name := fmt.Sprintf("%s %.60s", tc.method, tc.params)
		t.Run(name, func(t *testing.T) {
			n := s.call(t, tc.method, tc.params)
			message := wantCode(t, n, "-32602")
			test.Is(t, "field", tc.field, field(n))
			test.Contains(t, "the message", tc.field, message)
			s.untouched(t)
		})
	}
}

// Members that are not known are ignored, in the methods of the extension, too.
func TestParams_unknownMembers(t *testing.T) {
	s := newService(t)
	s.have(t)
	for method, params := range map[string]string{
		"objectives/create": `{"name":"x","contextId":"c","plans":5,"strategy":{}}`,
		"plans/create":      `{"objectiveId":"OBJ","name":"x","descripton":5,"tasks":[{"name":"y","title":1}]}`,
		"objectives/replan": `{"id":"OBJ","plans":[]}`,
	} {
		s.must(t, method, named(params))
	}
}

// Texts that are unusual, and fine.
func TestParams_unusualTexts(t *testing.T) {
	for name, message := range map[string]string{
		"context id of any letters":   messageJSON("m", "x", `,"contextId":"Zoë / 会議 #1"`),
		"empty context id":            messageJSON("m", "x", `,"contextId":""`),
		"nothing but data":            `{"messageId":"m","role":"ROLE_USER","parts":[{"data":{}}]}`,
		"blank text beside data":      `{"messageId":"m","role":"ROLE_USER","parts":[{"text":" "},{"data":{}}]}`,
		"blank text beside a plan":    messageJSON("m", "", `,"metadata":{"opt/v1/plan":{"name":"P","tasks":[{"name":"A"}]}}`),
		"name of any letters":         messageJSON("m", "x", `,"metadata":{"opt/v1/suggestedName":"Zoë's 会議 №1 ☕"}`),
		"description of many lines":   messageJSON("m", "x", `,"metadata":{"opt/v1/plan":{"name":"P","description":"a\n\tb","tasks":[{"name":"A"}]}}`),
		"format characters in a text": messageJSON("m", "x\u200d\ny", ""),
	} {
		s := newService(t)
		if n := s.call(t, "SendMessage", `{"message":`+message+`}`); n.has("error") {
			t.Errorf("%s: %v", name, n)
		}
	}
}

// An error about a name says which character is wrong. A name that the server makes
// of a text leaves such characters out.
func TestNames_formatCharacters(t *testing.T) {
	s := newService(t)
	text := wantCode(t, s.call(t, "objectives/create", `{"name":"a\u200bb"}`), "-32602")
	test.Is(t, "the error says", "Invalid parameters: name: must be one line without control or format characters, and has U+200B", text)
	id := s.send(t, "m", "quiet \u202ework\u200b\nnow").at("id").String()
	test.Is(t, "the name", "quiet work now", s.world.Objective(id).Name)
}

func TestBadParams_03(t *testing.T) {
	s := newService(t)
	for _, tc := range []struct{ part, field string }{
		{`{"kind":"video","text":"x"}`, "message.parts[0]: must be of kind text, file or data"},
		{`{"kind":"text"}`, "message.parts[0].text: is required"},
		{`{"kind":"text","text":null}`, "message.parts[0].text: is required"},
		{`{"kind":5,"text":"x"}`, "message.parts[0].kind: must be a string"},
		{`{"kind":"file"}`, "message.parts[0].file: is required"},
		{`{"kind":"file","file":{}}`, "message.parts[0].file: must have exactly one of bytes and uri"},
		{`{"kind":"file","file":{"bytes":"aGk=","uri":"u"}}`, "message.parts[0].file: must have exactly one of bytes and uri"},
		{`{"kind":"file","file":{"bytes":"*"}}`, "message.parts[0].file.bytes: must be base64"},
		{`{"kind":"data","data":[1]}`, "message.parts[0].data: must be an object"},
		{`{"kind":"data"}`, "message.parts[0].data: must be an object"},
		{`{"text":"x","data":{}}`, "message.parts[0]: must be of kind text, file or data"},
		{`{}`, "message.parts[0]: must be of kind text, file or data"},
	} {
		t.Run(tc.part, func(t *testing.T) {
			n := s.callIn(t, "0.3", "message/send", `{"message":{"messageId":"m","role":"user","parts":[`+tc.part+`]}}`)
			if got := wantCode(t, n, "-32602"); got != "Invalid parameters: "+tc.field {
				t.Errorf("message is %q, want %q", got, tc.field)
			}
			if n.at("error").has("data") {
				t.Error("an error of 0.3 has data")
			}
			s.untouched(t)
		})
	}
	t.Run("wrong kind of message", func(t *testing.T) {
		n := s.callIn(t, "0.3", "message/send", `{"message":{"kind":"task","messageId":"m","role":"user","parts":[{"text":"x"}]}}`)
		wantCode(t, n, "-32602")
	})
}

// Ids that do not reach the database are unknown like all others.
func TestStrangeIDs(t *testing.T) {
	s := newService(t)
	for id, plausible := range map[string]bool{
		"t-nope": true, "obj-../../x": true, "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa'--": true, strings.Repeat("x", 1<<20): false, "a\u0000b": false,
	} {
		before := s.journal.calls.Load()
		for _, method := range []string{"GetTask", "CancelTask", "SubscribeToTask"} {
			n := s.call(t, method, `{"id":"`+strings.ReplaceAll(id, "\u0000", `\u0000`)+`"}`)
			test.Is(t, "message", "Task not found", wantCode(t, n, "-32001"))
			if len(n.String()) > 1000 {
				t.Errorf("a huge id comes back: %d bytes", len(n.String()))
			}
		}
		if !plausible && s.journal.calls.Load() > before {
			t.Errorf("the journal was asked for %.20q", id)
		}
	}
	s.untouched(t)
}

// The limit also applies to a body without a declared size, and over plain HTTP.
func TestBodyLimit(t *testing.T) {
	s := newService(t, func(c *config) { c.MaxBody = 100 })
	body := `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageToken":"` + strings.Repeat("x", 100) + `"}}`
	for _, path := range []string{"/", "/message:send"} {
		for name, reader := range map[string]io.Reader{
			"of known length":   strings.NewReader(body),
			"of unknown length": io.MultiReader(strings.NewReader(body)),
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, reader)
			r.Header.Set("A2A-Version", "1.0")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			test.Is(t, fmt.Sprintf("%s, %s: status", path, name), http.StatusRequestEntityTooLarge, w.Code)
			if path == "/" {
				wantCode(t, parse(t, w.Body.Bytes()), "-32600")
			}
		}
	}
	s.untouched(t)
}

func TestRequestID(t *testing.T) {
	s := newService(t)
	const body = `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`
	test.Is(t, "a sane id became", "abc-1", s.post(t, body, "X-Request-Id", "abc-1").Header().Get("X-Request-Id"))
	for _, id := range []string{"", "a b", strings.Repeat("x", 200), "a\tb"} {
		if got := s.post(t, body, "X-Request-Id", id).Header().Get("X-Request-Id"); got == id || got == "" {
			t.Errorf("id %q became %q", id, got)
		}
	}
}
