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
	"longhaul/internal/egress"
)

// serviceLimits returns the limits of the client for web services that do tasks. The
// timeouts of the endpoints are shorter.
func serviceLimits() egress.Config {
	return egress.Config{MaxAnswer: webhook.MaxAnswer, Timeout: webhook.LongestTimeout}
}

// executors returns the executors of the process by kind.
func executors(s *service, cfg workerSettings) (map[string]activities.Executor, error) {
	all := map[string]activities.Executor{elsewhere.Kind: elsewhere.Executor{}, refuse.Kind: refuse.Executor{}}
	if cfg.Commands != "" {
		commands, err := shell.Load(cfg.Commands)
		if err != nil {
			return nil, err
		}
		all[shell.Kind] = shell.Executor{Commands: commands, Log: s.log.Named("shell")}
	}
	if cfg.Agents != "" {
		to, err := handoffExecutor(cfg.Agents, s.agents, s.log.Named("agent"))
		if err != nil {
			return nil, err
		}
		all[agent.Kind] = to
	}
	if cfg.Endpoints != "" {
		endpoints, err := webhook.Load(cfg.Endpoints, os.LookupEnv, func(rawURL string) error { return webhookDenied(s.services.CheckURL(rawURL)) })
		if err != nil {
			return nil, err
		}
		all[webhook.Kind] = webhook.Executor{Endpoints: endpoints, Sender: s.services}
	}
	if s.models != nil {
		all[llm.Kind] = llm.Executor{Models: s.models, Log: s.log.Named("llm")}
	}
	maps.Copy(all, s.build.Executors)
	return all, s.models.CheckExecutors(slices.Sorted(maps.Keys(all))...)
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
