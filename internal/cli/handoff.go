package cli

import (
	"fmt"
	"os"

	"go.uber.org/zap"

	"longhaul/activities/agent"
	"longhaul/internal/egress"
)

// forAgents returns a client for the agents of others, whose answers may be large and
// late.
func (s egressSettings) forAgents() (*egress.Client, error) {
	c, err := egress.New(egress.Config{AllowPrivate: s.AllowPrivateEgress, Deny: s.EgressDeny, MaxAnswer: agent.MaxAnswer, Timeout: agent.AnswerFor})
	if err != nil {
		return nil, fmt.Errorf("--egress-%w", err)
	}
	return c, nil
}

// handoffs returns the executor that hands tasks over to the agents in a file.
func handoffs(path string, to *egress.Client, log *zap.Logger) (*agent.Executor, error) {
	agents, err := agent.Load(path, agent.Reader{Env: os.LookupEnv, Allowed: func(rawURL string) error { return webhookAllowed(to.CheckURL(rawURL)) }})
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{Agents: agents, HTTP: to, Log: log}), nil
}
