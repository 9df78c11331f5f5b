package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/internal/process"
)

// idempotencyModes are the values of --idempotency.
var idempotencyModes = map[string]call.Idempotency{"message-id": call.ByMessageID, "header": call.ByHeader, "off": call.NoRepeats}

// playbooks is the agent that decides with the current playbooks.
type playbooks struct{ set *planner.PlaybookSet }

// Decide implements [message.Agent]. If no playbook matches a message and it
// is trivial, it is answered at once. Other messages without a playbook, and
// those whose playbook cannot be filled in, go to the planner of the worker.
func (p playbooks) Decide(_ context.Context, m a2a.Message) (message.Decision, error) {
	books := p.set.Books()
	name, plans, reason, err := books.Match(m)
	answer, trivial := planner.Rules{}.Answer(m)
	switch {
	case trivial && err == nil && name == "":
		answer := a2a.Message{MessageID: "answer-" + m.Digest(), Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(answer)}}
		return message.Decision{Answer: &answer, Planner: "rules"}, nil
	case errors.Is(err, activities.ErrNoPlan) || err == nil && name == "":
		return message.Decision{Reason: reason, Refusal: books.Refusal(m)}, nil
	case err != nil:
		return message.Decision{}, err
	}
	return message.Decision{Plans: plans, Planner: "playbook " + name, Reason: reason}, nil
}

// Skills implements [Agent].
func (p playbooks) Skills() []card.Skill {
	var skills []card.Skill
	for _, s := range p.set.Books().Skills() {
		skills = append(skills, card.Skill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Examples: s.Examples})
	}
	return skills
}

// inputModes are the media types on the agent card. Parts of any other are accepted, too, for the
// executors know what they can read; but clients look for the types that they have.
var inputModes = []string{"text/plain", "text/markdown", "application/json", "application/pdf", "application/octet-stream", "image/png", "image/jpeg", "*/*"}

// card returns the content of the agent card.
func (b Build) card(cfg apiSettings, at api.Address, agent Agent) card.Info {
	info := card.Info{
		Name:        cfg.AgentName,
		Description: cmp.Or(b.Description, "Plans objectives, carries them out and asks people for decisions. The work survives crashes, deploys and disconnects."),
		Version:     cmp.Or(b.Version, process.Version),
		Interfaces:  at.Interfaces(),
		InputModes:  inputModes,
		OutputModes: []string{"text/plain", "application/json"},
		Skills:      agent.Skills(),
		NoStreaming: cfg.NoStreaming, PrivateSkills: cfg.PrivateSkills, DocumentationURL: cfg.Documentation,
	}
	if cfg.Provider != "" {
		info.Provider = &card.Provider{Organization: cfg.Provider, URL: cfg.ProviderURL}
	}
	for _, uri := range cfg.Required {
		if uri == a2a.ExtensionOPT {
			info.OPTRequired = true
			continue
		}
		info.Extensions = append(info.Extensions, call.Extension{URI: uri, Required: true})
	}
	return info
}

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
