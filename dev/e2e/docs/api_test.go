package docs_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// An example is a request of a document, with its answer.
type example struct {
	line     int
	request  string
	response []any
}

// examples returns the requests of a document, each with the block of JSON after it.
func examples(t *testing.T, name string) (list []example) {
	t.Helper()
	text := harness.ReadFile(t, name)
	fence := regexp.MustCompile("(?ms)^```(http|json)\n(.*?)^```$")
	for _, m := range fence.FindAllSubmatchIndex(text, -1) {
		language, content := string(text[m[2]:m[3]]), string(text[m[4]:m[5]])
		line := 1 + bytes.Count(text[:m[0]], []byte("\n"))
		if language == "http" {
			list = append(list, example{line: line, request: content})
			continue
		}
		if len(list) == 0 || list[len(list)-1].response != nil {
			t.Fatalf("%s:%d: a response without a request", name, line)
		}
		last := &list[len(list)-1]
		for values := json.NewDecoder(strings.NewReader(content)); ; {
			var v any
			if err := values.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s:%d: %v", name, line, err)
			}
			last.response = append(last.response, v)
		}
	}
	return list
}

// A reader of a document sends its examples, and keeps the values of the names in it.
type reader struct {
	url   string
	names map[string]string
}

var placeholder = regexp.MustCompile(`\b[A-Z]+(-[A-Z]+)*-ID\b`)

// send sends a request and returns the answer: one value, or one for each event.
func (r reader) send(t *testing.T, text string) []any {
	t.Helper()
	text = placeholder.ReplaceAllStringFunc(text, func(name string) string {
		if r.names[name] == "" {
			t.Fatalf("no response before this has %s:\n%s", name, text)
		}
		return r.names[name]
	})
	head, body, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	lines := strings.Split(head, "\n")
	verb, path, _ := strings.Cut(lines[0], " ")
	req := test.Value(http.NewRequestWithContext(t.Context(), verb, r.url+path, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	test.OK(t, err)
	defer func() { _ = res.Body.Close() }()
	var out []any
	read := func(data []byte) {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatalf("%s\n%v: %s", text, err, data)
		}
		out = append(out, v)
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		data := test.Value(io.ReadAll(res.Body))(t)
		read(data)
		return out
	}
	for events := bufio.NewScanner(res.Body); events.Scan(); {
		if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
			read([]byte(data))
		}
	}
	return out
}

// match reports how got differs from want, which may have less: "" if it does not.
func (r reader) match(at string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v and not an object", at, got)
		}
		for name, value := range want {
			if d := r.match(at+"."+name, value, members[name]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		elements, ok := got.([]any)
		if !ok || len(elements) < len(want) || len(want) == 0 && len(elements) > 0 {
			return fmt.Sprintf("%s is %v, want %v", at, got, want)
		}
		for i := range want {
			if d := r.match(fmt.Sprintf("%s[%d]", at, i), want[i], elements[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		text, ok := got.(string)
		switch {
		case ok && strings.HasSuffix(want, "…") && strings.HasPrefix(text, strings.TrimSuffix(want, "…")):
			return ""
		case ok && text != "" && placeholder.FindString(want) == want && r.names[want] == "":
			r.names[want] = text
			return ""
		case ok && r.names[want] != "":
			want = r.names[want]
		}
		if text != want {
			return fmt.Sprintf("%s is %v, want %s", at, got, want)
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) && !(at[strings.LastIndex(at, ".")+1:] == "event" && got != nil) { // the number varies
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

// The examples of docs/api.md and of the extensions are answered as these say, in their order.
func TestAPI_examples(t *testing.T) {
	list := examples(t, "../../../docs/api.md")
	if len(list) < 40 {
		t.Fatalf("only %d examples were found", len(list))
	}
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	site := harness.NewSite(t, harness.Dev, "--allow-private-egress", "--payload-keys="+key)
	site.Start(harness.AllInOne)
	answers(t, site.URL(), "docs/api.md", list)
	for _, name := range []string{"stream", "budget", "cancel"} {
		name = "docs/extensions/" + name + ".md"
		answers(t, site.URL(), name, examples(t, "../../../"+name))
	}
}

// answers sends the examples of a document, whose names are its own.
func answers(t *testing.T, url, name string, list []example) {
	t.Helper()
	if len(list) == 0 {
		t.Errorf("%s has no example", name)
	}
	r := reader{url, map[string]string{}}
	for _, e := range list {
		got := r.send(t, e.request)
		for _, want := range e.response { // events may come between the documented ones
			var differs string
			for differs = "nothing more was answered"; len(got) > 0; got = got[1:] {
				if differs = r.match("the response", want, got[0]); differs == "" {
					break
				}
			}
			if differs != "" {
				t.Errorf("%s:%d: %s\n%s", name, e.line, differs, e.request)
			}
		}
	}
}

func TestReader_match(t *testing.T) {
	tests := []struct {
		want, got string
		ok        bool
	}{
		{`{"a": 1}`, `{"a": 1, "b": 2}`, true},
		{`{"a": 1}`, `{"a": 2}`, false},
		{`{"a": 1}`, `{}`, false},
		{`[]`, `[1]`, false},
		{`[{"a": "x…"}]`, `[{"a": "xyz"}, 2]`, true},
		{`{"a": "TASK-ID", "b": "TASK-ID"}`, `{"a": "t1", "b": "t1"}`, true},
		{`["TASK-ID", "TASK-ID"]`, `["t1", "t2"]`, false},
		{`null`, `{}`, false},
	}
	for _, tt := range tests {
		var want, got any
		test.OK(t, errors.Join(json.Unmarshal([]byte(tt.want), &want), json.Unmarshal([]byte(tt.got), &got)))
		if d := (reader{names: map[string]string{}}).match("it", want, got); (d == "") != tt.ok {
			t.Errorf("%s of %s: %q", tt.want, tt.got, d)
		}
	}
}
