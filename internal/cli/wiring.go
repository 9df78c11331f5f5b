package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"go.temporal.io/sdk/log"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/api"
	apiservice "longhaul/api/service"
)

// repeats are the values of --idempotency.
var repeats = map[string]apiservice.Idempotency{"message-id": apiservice.ByMessageID, "header": apiservice.ByHeader, "off": apiservice.NoRepeats}

// playbooks is the agent that decides with the current playbooks.
type playbooks struct{ shelf *planner.Shelf }

// Decide implements [apiservice.Agent]. If no playbook matches a message and it
// is trivial, it is answered at once. Other messages without a playbook, and
// those whose playbook cannot be filled in, go to the planner of the worker.
func (p playbooks) Decide(_ context.Context, m a2a.Message) (apiservice.Decision, error) {
	name, plans, reason, err := p.shelf.Books().Match(m)
	answer, trivial := planner.Rules{}.Answer(m)
	switch {
	case trivial && err == nil && name == "":
		said := a2a.Message{MessageID: "answer-" + m.Digest(), Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(answer)}}
		return apiservice.Decision{Answer: &said, Planner: "rules"}, nil
	case errors.Is(err, activities.ErrNoPlan) || err == nil && name == "":
		return apiservice.Decision{Reason: reason}, nil
	case err != nil:
		return apiservice.Decision{}, err
	}
	return apiservice.Decision{Plans: plans, Planner: "playbook " + name, Reason: reason}, nil
}

// Skills implements [Agent].
func (p playbooks) Skills() []apiservice.Skill {
	var skills []apiservice.Skill
	for _, s := range p.shelf.Books().Skills() {
		skills = append(skills, apiservice.Skill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Examples: s.Examples})
	}
	return skills
}

// card returns the content of the agent card.
func (b Build) card(cfg apiSettings, at api.Address, agent Agent) apiservice.CardInfo {
	info := apiservice.CardInfo{
		Name:        cfg.AgentName,
		Description: cmp.Or(b.Description, "Plans objectives, carries them out and asks people for decisions. The work survives crashes, deploys and disconnects."),
		Version:     cmp.Or(b.Version, Version),
		Interfaces:  at.Interfaces(),
		InputModes:  []string{"*/*"},
		OutputModes: []string{"text/plain", "application/json"},
		Skills:      agent.Skills(),
		NoStreaming: cfg.NoStreaming, PrivateSkills: cfg.PrivateSkills,
	}
	for _, uri := range cfg.Required {
		if uri == a2a.ExtensionOPT {
			info.OPTRequired = true
			continue
		}
		info.Extensions = append(info.Extensions, apiservice.Extension{URI: uri, Required: true})
	}
	return info
}

// sdkLog gives Temporal's SDK our log, one level lower: its info messages are
// details for us.
func sdkLog(to *zap.Logger) log.Logger { return sdkLogger{to.Named("temporal").Sugar()} }

type sdkLogger struct{ to *zap.SugaredLogger }

func (l sdkLogger) Debug(string, ...any)            {}
func (l sdkLogger) Info(msg string, fields ...any)  { l.to.Debugw(msg, fields...) }
func (l sdkLogger) Warn(msg string, fields ...any)  { l.to.Warnw(msg, fields...) }
func (l sdkLogger) Error(msg string, fields ...any) { l.to.Errorw(msg, fields...) }
func (l sdkLogger) With(fields ...any) log.Logger   { return sdkLogger{l.to.With(fields...)} }

// welcome prints the URLs and a first example. authenticated says that callers need
// a credential.
func welcome(out io.Writer, url, uiURL string, authenticated bool) {
	fmt.Fprintf(out, `
Longhaul is up.

  A2A          %[1]s
  Agent card   %[1]s/.well-known/agent-card.json
`, url)
	if uiURL != "" {
		fmt.Fprintf(out, "  Temporal UI  %s\n", uiURL)
	}
	credential := ""
	if authenticated {
		credential = ` -H "Authorization: Bearer $LONGHAUL_TOKEN"`
	}
	fmt.Fprintf(out, `
Try it:

  curl -s %s%s -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '{
    "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
      "message": {"messageId": "hello-1", "role": "ROLE_USER", "parts": [{"text": "Research durable agents and write an article"}]},
      "configuration": {"returnImmediately": true}}}'

`, url, credential)
}
