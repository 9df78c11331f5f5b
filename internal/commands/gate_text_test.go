package commands

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A gate is shown with its object: all parts of the status message, or else the
// copy in the gate.
func TestGet_object(t *testing.T) {
	const gate = `"openwop":{"interrupt":{"kind":"approval","interruptId":"` + gateID + `","taskId":"` + stepID + `","title":"Ship it?","actions":["accept"],"artifactData":"Tea"}}`
	status := func(gateID string) string {
		return strings.Replace(bareTask(stepID, gate), `"timestamp"`, `"message":{"messageId":"`+gateID+`","role":"ROLE_AGENT","parts":[{"text":"Ship it?"},{"data":{}},`+
			`{"text":"Tea\nfrom China\u001b[2J"},{"data":{"a":[1]}},{"url":"https://example.com/tea.png","filename":"tea.png"},{"raw":"AAEC","mediaType":"image/png"}]},"timestamp"`, 1)
	}
	const want = `
Task %s

Ship it?

%s
The task waits for a decision. To decide:

  longhaul answer --url URL %s accept
`
	f := newFakeAgent(t, sendResult(status(gateID)), sendResult(status("another")), sendResult(bareTask(stepID, gate)))
	whole := "  | Tea\n  | from China\x1b[2J\n  | {\n  |   \"a\": [\n  |     1\n  |   ]\n  | }\n  | (file) tea.png https://example.com/tea.png\n  | (file of 3 bytes) image/png\n"
	f.want(f.run(&getCommand{Task: stepID}), 0, fmt.Sprintf(want, stepID, whole, gateID))
	for range 2 {
		f.want(f.run(&getCommand{Task: stepID}), 0, fmt.Sprintf(want, stepID, "  | Tea\n", gateID))
	}
}

func TestObjectText_long(t *testing.T) {
	long := strings.Repeat("x", objectWidth+1) + strings.Repeat("\nline", objectLines+4)
	lines := strings.Split(objectText([]a2a.Part{a2a.TextPart(long)}), "\n")
	test.Is(t, "the first line", "  | "+strings.Repeat("x", objectWidth)+"…", lines[0])
	test.Is(t, "the last line is", "  … 5 more lines", lines[objectLines])
	test.Is(t, "a gate without an object shows", "", objectText(objectOf(&opt.Gate{Kind: opt.Clarification}, nil)))
}

// A question says what it takes, with its bounds.
func TestFormText(t *testing.T) {
	for schema, want := range map[string]string{
		``: "", `{"type":"boolean"}`: "true or false", `{"enum":["tea",7]}`: "one of tea, 7", `{"type":"array"}`: "JSON", `{"type":"array","items":{"enum":["tea",7]}}`: "a list of tea, 7",
		`{"type":"integer","minimum":100}`:                         "a whole number, at least 100",
		`{"type":"number","exclusiveMinimum":0.5,"maximum":1e300}`: "a number, more than 0.5, at most 1e300",
		`{"type":"string","minLength":2,"maxLength":5}`:            "at least 2, at most 5 characters",
	} {
		test.Is(t, fmt.Sprintf("%s takes", schema), want, formText(shown.NewQuestion(opt.Question{ID: "q", Schema: []byte(schema)})))
	}
}
