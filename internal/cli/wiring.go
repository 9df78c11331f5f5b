package cli

import (
	"context"
	"fmt"
	"io"

	"go.temporal.io/sdk/log"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities/planner"
	"longhaul/api"
)

// An agent decides with the playbooks.
type agent struct{ books *planner.Playbooks }

// Decide implements [api.Agent]. A message that no playbook matches is left to
// the planner of the worker.
func (a agent) Decide(_ context.Context, m a2a.Message) (api.Decision, error) {
	name, plans, reason, err := a.books.Match(m)
	if err != nil {
		return api.Decision{}, err
	}
	return api.Decision{Plans: plans, Planner: name, Reason: reason}, nil
}

// sdkLog gives Temporal's SDK our log, one level down: what it tells at info is
// detail to us.
func sdkLog(to *zap.Logger) log.Logger { return sdkLogger{to.Named("temporal").Sugar()} }

type sdkLogger struct{ to *zap.SugaredLogger }

func (l sdkLogger) Debug(string, ...any)            {}
func (l sdkLogger) Info(msg string, fields ...any)  { l.to.Debugw(msg, fields...) }
func (l sdkLogger) Warn(msg string, fields ...any)  { l.to.Warnw(msg, fields...) }
func (l sdkLogger) Error(msg string, fields ...any) { l.to.Errorw(msg, fields...) }
func (l sdkLogger) With(fields ...any) log.Logger   { return sdkLogger{l.to.With(fields...)} }

// welcome tells a newcomer where everything is and what to try first.
func welcome(out io.Writer, url, uiURL string) {
	fmt.Fprintf(out, `
Longhaul is up.

  A2A          %[1]s
  Agent card   %[1]s/.well-known/agent-card.json
`, url)
	if uiURL != "" {
		fmt.Fprintf(out, "  Temporal UI  %s\n", uiURL)
	}
	fmt.Fprintf(out, `
Try it:

  curl -s %s -H 'Content-Type: application/json' -d '{
    "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {
      "message": {"messageId": "hello-1", "role": "user", "parts": [{"kind": "text", "text": "Research durable agents and write an article"}]},
      "configuration": {"blocking": false}}}'

`, url)
}
