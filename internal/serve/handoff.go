package serve

import (
	"os"

	"go.uber.org/zap"

	"longhaul/activities/agent"
	"longhaul/internal/egress"
)

// agentClient returns a client for other A2A agents, whose answers may be large and
// late.
func (s egressSettings) agentClient() (*egress.Client, error) {
	return s.clientWith(egress.Config{MaxAnswer: agent.MaxAnswer, Timeout: agent.AnswerFor})
}

// handoffExecutor returns the executor that hands tasks over to the agents in a file.
func handoffExecutor(path string, to *egress.Client, log *zap.Logger) (*agent.Executor, error) {
	agents, err := agent.Load(path, agent.Reader{Env: os.LookupEnv, Allowed: func(rawURL string) error { return webhookDenied(to.CheckURL(rawURL)) }})
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{Agents: agents, HTTP: to, Log: log}), nil
}
