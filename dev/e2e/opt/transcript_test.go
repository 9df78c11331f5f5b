package opt_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// transcripts send the examples in the two texts of the extension, its README and
// its DESIGN: unchanged, then with the parts that an example leaves out, then
// with existing ids. The answers are in testdata.
func transcripts(t *testing.T, s *service) {
	s.each(t, "readme", func(c *client) { c.transcript("readme", c.readme) })
	s.each(t, "design", func(c *client) { c.transcript("design", c.design) })
}

// A transcript is a conversation about the examples of one text. Ids and times are
// replaced by names that stay the same.
type transcript struct {
	*client
	dir  string
	text strings.Builder
	seen map[string]string // names of objectives by the common part of their ids
	n    int
}

func (c *client) transcript(dir string, talk func(*transcript)) {
	c.Helper()
	tr := &transcript{client: c, dir: dir, seen: map[string]string{}}
	talk(tr)
	path := filepath.Join("testdata", dir+".txt")
	if *update {
		test.OK(c, os.WriteFile(path, []byte(tr.text.String()), 0o644))
		return
	}
	want := harness.ReadFile(c, path)
	test.Equal(c, "another transcript", string(want), tr.text.String())
}

// An edit changes a request.
type edit func(tr *transcript, body string) string

// complete adds the envelope that an example leaves out.
func complete(tr *transcript, body string) string {
	tr.n++
	return strings.Replace(body, "{", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d,`, 100+tr.n), 1)
}

// with replaces one text by another.
func with(old, new string) edit {
	return func(tr *transcript, body string) string {
		if !strings.Contains(body, old) {
			tr.Fatalf("there is no %q in %s", old, body)
		}
		return strings.ReplaceAll(body, old, new)
	}
}

// ask sends an example and returns the answer.
func (tr *transcript) ask(what, example string, edits ...edit) (reply answered) {
	tr.Helper()
	return tr.askWith("A2A-Extensions", what, example, edits...)
}

// askWith is ask with the extension named in this header, "" for none.
func (tr *transcript) askWith(header, what, example string, edits ...edit) (reply answered) {
	tr.Helper()
	raw := harness.ReadFile(tr, filepath.Join("testdata", tr.dir, example+".json"))
	body := string(raw)
	for _, e := range edits {
		body = e(tr, body)
	}
	req := test.Value(http.NewRequestWithContext(tr.ctx, http.MethodPost, tr.site.URL()+"/a2a", strings.NewReader(body)))(tr)
	req.Header.Set("Content-Type", "application/json")
	if header != "" {
		req.Header.Set(header, harness.Extension)
	}
	res, answer := harness.Do(tr, req)
	var indented bytes.Buffer
	if err := json.Indent(&indented, used.ReplaceAll(answer, nil), "", "  "); err != nil {
		tr.Fatalf("%v: %s", err, answer)
	}
	fmt.Fprintf(&tr.text, "-- %s, %s --\n%s-- reply --\nHTTP %d\n", example, what, tr.masked(body), res.StatusCode)
	for _, name := range []string{"A2A-Version", "A2A-Extensions", "X-A2A-Extensions"} {
		if v := res.Header.Get(name); v != "" {
			fmt.Fprintf(&tr.text, "%s: %s\n", name, v)
		}
	}
	fmt.Fprintf(&tr.text, "\n%s\n", tr.masked(indented.String()))
	var out struct{ Result answered }
	_ = json.Unmarshal(answer, &out) // it may be an error
	return out.Result
}

var (
	ids   = regexp.MustCompile(`\b(obj|plan|task|msg|ctx)-([a-z2-7]{26})`)
	used  = regexp.MustCompile(`,"longhaul/v1/usage":\{[^{}]*\}|"longhaul/v1/usage":\{[^{}]*\},?`) // seconds, or nothing if it is fast
	times = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
)

// masked replaces ids and times by names.
func (tr *transcript) masked(text string) string {
	text = ids.ReplaceAllStringFunc(text, func(id string) string {
		m := ids.FindStringSubmatch(id)
		name := tr.seen[m[2]]
		if name == "" {
			name = string(rune('A' + len(tr.seen)))
			tr.seen[m[2]] = name
		}
		return m[1] + "-" + name
	})
	return times.ReplaceAllString(text, "<time>")
}

func (c *client) readme(tr *transcript) {
	const asItIs, completed, there = "as it is", "completed", "of what is there"
	o := tr.ask(asItIs, "objectives-create").Objective
	for _, example := range []string{
		"objectives-create-short", "objectives-get", "objectives-list", "objectives-update",
		"plans-create", "plans-create-short", "plans-get", "plans-update", "activation-in-metadata",
	} {
		tr.ask(asItIs, example)
	}
	for _, example := range []string{"objectives-get", "objectives-list", "objectives-update", "plans-create", "plans-create-short", "plans-get", "plans-update"} {
		tr.ask(completed, example, complete)
	}
	here := with("obj-abc123", o.ID)
	tr.ask(there, "objectives-get", complete, here)
	p := tr.ask(there, "plans-create", complete, here).Plan
	plan := with("plan-xyz789", p.ID)
	tr.ask(there, "plans-get", complete, plan)
	tr.ask("before it was started", "plans-update", complete, plan)
	tr.ask("before it was started", "objectives-update", complete, here)
	tr.ask(there, "objectives-get", complete, here)
	c.move(o.ID, "working")
	c.becomes(o.ID, "completed completed[completed completed]")
	tr.ask("which it is", "plans-update", complete, plan)
	tr.ask("which it is", "objectives-update", complete, here)
	tr.ask("when it is over", "objectives-get", complete, here)
	tr.ask("when it is over", "plans-create", complete, here)

	short := tr.ask(completed, "objectives-create-short", complete).Objective
	c.move(short.ID, "working")
	tr.ask("of what works", "plans-create-short", complete, with("obj-123", short.ID))
	c.becomes(short.ID, "completed completed[completed completed]")
	short = tr.ask("once more", "objectives-create-short", complete).Objective
	c.move(short.ID, "working")
	tr.ask("while it works", "objectives-update", complete, with("obj-abc123", short.ID))

	tr.askWith("", completed, "activation-in-metadata", complete, with(`"message":`, `"method": "message/send", "params": {"message":`),
		with(`"metadata":`, `"messageId": "readme-1", "role": "user", "parts": [{"kind": "text", "text": "say Hello"}], "metadata":`), with("  }\n}\n", "  }}\n}\n"))
}

func (c *client) design(tr *transcript) {
	sent := tr.askWith("", "as it is", "message-send")
	if sent.Task != nil {
		c.Errorf("0.3 has the task as the result itself: %+v", sent.Task)
	}
	var id string
	for unique, name := range tr.seen {
		if name == "A" {
			id = "obj-" + unique
		}
	}
	tr.ask("as it is", "objectives-get")
	tr.ask("of what is there", "objectives-get", with("obj-abc", id))
	c.say(harness.Reply("yes", id, strings.Replace(id, "obj-", "task-", 1)+"-1-2:1", "accept"))
	tr.ask("when it is over", "objectives-get", with("obj-abc", id))

	tr.ask("as it is", "message-send-option-a")
	tr.askWith("", "a simple one", "message-send-option-a", complete, with("{...}", `{"messageId": "design-1", "role": "user", "parts": [{"type": "text", "text": "What is 2 + 2?"}]}`))
	tr.ask("as it is", "objectives-create-option-b")
	o := tr.ask("completed", "objectives-create-option-b", complete).Objective
	tr.ask("as it is", "message-send-option-b")
	rest := func(id string) edit {
		return with("...", `"messageId": "`+id+`", "role": "user", "parts": [{"type": "text", "text": "say Hello"}]`)
	}
	tr.askWith("", "completed", "message-send-option-b", complete, rest("design-2"))
	tr.ask("of what is there", "message-send-option-b", complete, rest("design-3"), with("obj-abc", o.ID))
	tr.ask("as it is", "message-send-option-c")
	asked := []edit{complete, with(`"message": {`, `"message": {"messageId": "design-4", "role": "user",`)}
	tr.ask("completed", "message-send-option-c", asked...)
	asked = append(asked, with("design-4", "design-5"), with("Research AI safety...", "say Something"))
	tr.askWith("X-A2A-Extensions", "another, by the header of 0.3", "message-send-option-c", asked...)
}
