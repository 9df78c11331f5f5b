package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"longhaul/api/card"
	"longhaul/internal/process"
	"strings"
)

// A greeting is the text that an all-in-one process prints when it is ready.
type greeting struct {
	name, command process.Name
	url, uiURL    string // of A2A, and of Temporal's Web UI; "" for none
	authenticated bool   // callers need a credential
	newKey        string // command that prints a new API key; "" if there are only other credentials
	console       bool   // its pages are served
	example       string // a message for a skill; "" for none
}

// example returns a message for the first skill that has one, "" if none has.
func example(skills []card.Skill) string {
	for _, s := range skills {
		if len(s.Examples) > 0 {
			return s.Examples[0]
		}
	}
	return ""
}

// print prints the URLs and a first example.
func (g greeting) print(out io.Writer) {
	fmt.Fprintf(out, `
%[1]s is up.

  A2A          %[2]s
  Agent card   %[2]s/.well-known/agent-card.json
`, strings.ToUpper(g.name.String()[:1])+g.name.String()[1:], g.url)
	if g.console {
		fmt.Fprintf(out, "  Console      %s/console/\n", g.url)
	}
	if g.uiURL != "" {
		fmt.Fprintf(out, "  Temporal UI  %s\n", g.uiURL)
	}
	if g.example == "" {
		return
	}
	credential, note := "", ""
	if g.authenticated {
		credential = ` -H "Authorization: Bearer $LONGHAUL_TOKEN"`
		note = "  export LONGHAUL_TOKEN=TOKEN    # an access token of the OpenID Connect provider\n"
	}
	if g.newKey != "" {
		note = "  export LONGHAUL_TOKEN=$(" + g.newKey + ")    # a new API key; commands send what this variable has\n"
	}
	text, err := json.Marshal(g.example)
	if err != nil {
		return // it has no text form
	}
	fmt.Fprintf(out, `
Try it, from another terminal:

%s  %s %s

or with any client:

  curl -s %s%s -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '{
    "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
      "message": {"messageId": "hello-1", "role": "ROLE_USER", "parts": [{"text": %s}]},
      "configuration": {"returnImmediately": true}}}'

`, note, g.command.At(g.url, "send"), process.ShellQuoted(g.example), g.url, credential, strings.ReplaceAll(string(text), "'", `\u0027`))
}
