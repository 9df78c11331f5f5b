package serve

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/activities/agent"
	"longhaul/activities/planner"
	"longhaul/api/card"
	"longhaul/internal/process"
)

// frontAgent is the name of the agent that --front gives by its URL.
const frontAgent = "front"

// A front is the agent in front of which this server stands.
type front struct {
	name   string // among the agents
	agents *agent.Executor
	log    *zap.Logger

	skills  atomic.Pointer[[]card.Skill] // nil before its card was read
	changed func()                       // called after skills has changed
}

// loadAgents reads the agents that the settings name, and the one of --front. An API alone needs
// no others.
func (p *planning) loadAgents() (err error) {
	var all agent.Agents
	at, r := p.settings.Front, agent.Reader{Env: p.env, Allowed: func(rawURL string) error { return ownURL(p.reach.agents, rawURL) }}
	if p.settings.Agents != "" && (p.worker != nil || at != "") {
		if all, err = agent.Load(p.settings.Agents, r); err != nil {
			return err
		}
	}
	name := at
	if at != "" && all.List[at] == nil {
		if name, err = frontAgent, addFront(&all, at, r); err != nil {
			return err
		}
	}
	if len(all.List) > 0 {
		p.agents = agent.New(agent.Config{Agents: all, HTTP: p.reach.agents, Log: p.host.log.Named("agent")})
	}
	if at != "" {
		p.front = &front{name: name, agents: p.agents, log: p.host.log.Named("front"), changed: p.tellFollowers}
	}
	return nil
}

// addFront adds the agent of --front to those of the file.
func addFront(all *agent.Agents, at string, r agent.Reader) error {
	switch {
	case !strings.Contains(at, "://"):
		return process.Usagef("--front %q is neither the URL of an agent, such as http://127.0.0.1:9999, nor the name of one in the file of --agents", at)
	case all.List[frontAgent] != nil:
		return process.Usagef("--front %s: the file of --agents has an agent %s: name that with --front, or rename it", at, frontAgent)
	}
	if err := all.Add(frontAgent, &agent.Agent{URL: at}, r); err != nil {
		return process.Usagef("--front: %v", err)
	}
	return nil
}

// inFront returns books that hand over to the agent of --front what none of them takes.
func (s workSettings) inFront(books *planner.Playbooks, planners map[string]activities.Planner) (*planner.Playbooks, error) {
	if name := s.plannerName(planners); name != noPlanner || s.Fallback == echoKind {
		return nil, process.Usagef("--front takes every message: set neither --fallback echo nor a planner (--planner playbooks turns off that of the file of --models)")
	}
	name := s.Front
	if strings.Contains(name, "://") {
		name = frontAgent
	}
	return books.WithFront(name, s.sameIDs), nil
}

// Skills returns the skills of the agent, each with its media types. Before its card was read
// there is one in their place.
func (f *front) Skills() []card.Skill {
	if f == nil {
		return nil
	}
	if known := f.skills.Load(); known != nil {
		return *known
	}
	return []card.Skill{{ID: frontAgent, Name: "Agent", Description: "Takes every message. The card of the agent has not been read yet.", Tags: []string{"agent"}}}
}

// cardEvery is how often the card of the agent is read at the least.
const cardEvery = time.Minute

// run keeps the skills up to date until ctx ends.
func (f *front) run(ctx context.Context) {
	for soon := time.Second; ; soon = min(2*soon, cardEvery) {
		err := f.read(ctx)
		if err != nil && soon == time.Second {
			f.log.Info("The card of the agent cannot be read yet", zap.String("agent", f.name), zap.Error(err))
		}
		wait := cardEvery
		if f.skills.Load() == nil {
			wait = soon
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// read reads the card once.
func (f *front) read(ctx context.Context) error {
	c, err := f.agents.Card(ctx, f.name)
	if err != nil {
		return err
	}
	skills := slices.Clone(c.Skills)
	for i, s := range skills {
		skills[i].InputModes, skills[i].OutputModes = orModes(s.InputModes, c.InputModes), orModes(s.OutputModes, c.OutputModes)
	}
	if len(skills) == 0 {
		skills = []card.Skill{{ID: frontAgent, Name: cmp.Or(c.Name, frontAgent), Description: cmp.Or(c.Description, "Takes every message."), Tags: []string{"agent"}}}
	}
	known := f.skills.Swap(&skills)
	if known == nil {
		f.log.Info("This server stands in front of an agent", zap.String("agent", cmp.Or(c.Name, f.name)), zap.Int("skills", len(skills)))
	}
	if known == nil || !reflect.DeepEqual(*known, skills) {
		f.changed()
	}
	return nil
}

// orModes returns modes, or usual if there are none.
func orModes(modes, usual []string) []string {
	if len(modes) == 0 {
		return usual
	}
	return modes
}
