package serve

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"longhaul/activities"
	"longhaul/activities/agent"
	"longhaul/activities/elsewhere"
	"longhaul/activities/llm"
	"longhaul/activities/planner"
	"longhaul/activities/refuse"
	"longhaul/activities/shell"
	"longhaul/activities/webhook"
)

// loadExecutors returns the executors of a worker by kind.
func (p *planning) loadExecutors(cfg workerSettings) (map[string]activities.Executor, error) {
	all := map[string]activities.Executor{elsewhere.Kind: elsewhere.Executor{}, refuse.Kind: refuse.Executor{}}
	if cfg.Commands != "" {
		commands, err := shell.Load(cfg.Commands)
		if err != nil {
			return nil, err
		}
		all[shell.Kind] = shell.Executor{Commands: commands, Log: p.host.log.Named("shell")}
	}
	if cfg.Agents != "" {
		agents, err := agent.Load(cfg.Agents, agent.Reader{Env: os.LookupEnv, Allowed: func(rawURL string) error { return webhookDenied(p.reach.agents.CheckURL(rawURL)) }})
		if err != nil {
			return nil, err
		}
		all[agent.Kind] = agent.New(agent.Config{Agents: agents, HTTP: p.reach.agents, Log: p.host.log.Named("agent")})
	}
	if cfg.Endpoints != "" {
		endpoints, err := webhook.Load(cfg.Endpoints, os.LookupEnv, func(rawURL string) error { return webhookDenied(p.reach.services.CheckURL(rawURL)) })
		if err != nil {
			return nil, err
		}
		all[webhook.Kind] = webhook.Executor{Endpoints: endpoints, Sender: p.reach.services}
	}
	if p.models != nil {
		all[llm.Kind] = llm.Executor{Models: p.models, Log: p.host.log.Named("llm")}
	}
	maps.Copy(all, p.host.build.Executors)
	return all, p.models.CheckExecutors(slices.Sorted(maps.Keys(all))...)
}

// checkExecutors reports tasks of playbooks whose executor is not one of known, and those
// that name none if fallback, the default executor, is "". The error names the flag that
// turns an executor on.
func checkExecutors(p *planner.Playbooks, fallback string, known []string) error {
	missing := p.CheckExecutors(fallback, known...)
	if missing == nil {
		return nil
	}
	err := missing
	for _, need := range []struct{ kind, how string }{
		{agent.Kind, "needs a file: name it with --agents"}, {echoKind, "is off: turn it on with --echo"},
		{llm.Kind, "needs a file: name it with --models"}, {shell.Kind, "needs a file: name it with --commands"},
		{webhook.Kind, "needs a file: name it with --endpoints"},
	} {
		usual := fallback
		if need.kind == echoKind {
			usual = cmp.Or(fallback, echoKind)
		}
		with := p.CheckExecutors(usual, append(slices.Clone(known), need.kind)...)
		if with == nil || strings.Count(with.Error(), "\n") < strings.Count(missing.Error(), "\n") { // each problem is a line
			err = fmt.Errorf("%w\nthe executor %s %s", err, need.kind, need.how)
		}
	}
	return err
}
