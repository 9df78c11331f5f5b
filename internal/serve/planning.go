package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/agent"
	"longhaul/activities/check"
	"longhaul/activities/echo"
	"longhaul/activities/elsewhere"
	"longhaul/activities/llm"
	"longhaul/activities/planner"
	"longhaul/activities/refuse"
	"longhaul/activities/served"
	"longhaul/activities/shell"
	"longhaul/activities/webhook"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/internal/process"
)

// A planning has what plans and does work: models, executors and playbooks.
type planning struct {
	stopper
	host     *host
	settings workSettings
	reach    *reach
	api      *apiSettings                // nil for a worker alone
	worker   *workerSettings             // nil for an API alone
	env      func(string) (string, bool) // of the variables for models; nil for a process that asks none

	models    *llm.Models                    // nil for none
	agents    *agent.Executor                // nil for none
	executors map[string]activities.Executor // by kind; nil for an API alone
	limits    map[string]int                 // of tasks at a time, by kind of executor
	playbooks *planner.PlaybookSet
	front     *front   // nil for none
	followers []func() // called after new playbooks were read
	telling   sync.Mutex
}

// follow has f called after new playbooks were read.
func (p *planning) follow(f func()) { p.followers = append(p.followers, f) }

// Start reads the files, and refuses playbooks that this process cannot serve or carry out. The
// error has the mistakes in all files.
func (p *planning) Start(context.Context) error {
	if err := errors.Join(p.loadModels(), p.loadAgents(), p.loadWorker()); err != nil {
		_, wrong := p.settings.readPlaybooks(p.host.build)
		return errors.Join(err, wrong)
	}
	p.settings.sameIDs = p.api != nil && idempotencyModes[p.api.Idempotency] != call.ByMessageID
	var err error
	if p.playbooks, err = planner.NewPlaybookSet(func() (*planner.Playbooks, error) {
		return p.settings.loadPlaybooks(p.host.build, p.planners())
	}); err != nil {
		return err
	}
	if p.settings.Echo {
		p.host.log.Warn("--echo: clients can hold slots for an hour and send any question to the people here. Use it for trials alone")
	}
	return p.playbooks.Require(p.check)
}

// loadModels reads the file of --models.
func (p *planning) loadModels() error {
	if p.settings.Models == "" {
		return nil
	}
	models, err := llm.Load(p.settings.Models, p.env)
	if err == nil {
		p.models = models
	}
	return err
}

// loadWorker makes the executors of a worker.
func (p *planning) loadWorker() (err error) {
	if p.worker == nil {
		return nil
	}
	if p.executors, err = p.loadExecutors(*p.worker); err != nil {
		return err
	}
	return p.checkWorker(slices.Sorted(maps.Keys(p.executors)))
}

// checkWorker reads the limits of executors, and refuses settings of the worker that name executors which it does not have.
func (p *planning) checkWorker(known []string) (err error) {
	if name := p.host.build.Default; name != "" && !slices.Contains(known, name) {
		return process.Usagef("--default-executor: this worker has no executor %s; it has %s", name, strings.Join(known, ", "))
	}
	p.limits, err = p.worker.limits(known)
	return err
}

// check returns why the process cannot use books.
func (p *planning) check(books *planner.Playbooks) error {
	var errs []error
	if p.worker != nil {
		errs = append(errs, checkExecutors(books, p.host.build.defaultExecutor(), slices.Sorted(maps.Keys(p.executors))), p.checkInputs(books))
	}
	if p.api != nil && p.api.Agent == playbooksAgent {
		errs = append(errs, books.CheckLimits(p.api.limits()), books.CheckEachExecutor(p.host.build.checkExecutor))
	}
	return errors.Join(errs...)
}

// checkInputs reports tasks whose input names a command, an endpoint, an agent or a model that the
// files do not have.
func (p *planning) checkInputs(books *planner.Playbooks) error {
	var errs []error
	for _, kind := range slices.Sorted(maps.Keys(p.executors)) {
		if n, ok := p.executors[kind].(activities.Namer); ok {
			errs = append(errs, books.CheckInputs(kind, p.host.build.defaultExecutor(), n.Named()))
		}
	}
	return errors.Join(errs...)
}

// Reload reads the playbooks again.
func (p *planning) Reload() {
	if err := p.playbooks.Reload(); err != nil {
		p.host.log.Error("Kept the playbooks from before", zap.Error(err))
		return
	}
	p.tellFollowers()
	p.host.log.Info("Read the playbooks again")
}

// tellFollowers calls those who follow the playbooks and the skills, one after the other.
func (p *planning) tellFollowers() {
	p.telling.Lock()
	defer p.telling.Unlock()
	for _, f := range p.followers {
		f()
	}
}

// planners returns the planners that --planner may name.
func (p *planning) planners() map[string]activities.Planner {
	if p.models == nil || p.models.Planner == nil {
		return p.host.build.Planners
	}
	all := map[string]activities.Planner{llmPlanner: modelPlanner{llm.Planner{
		Models: p.models, Books: func() llm.Books { return p.playbooks.Books() }, Log: p.host.log.Named("planner"),
	}}}
	maps.Copy(all, p.host.build.Planners)
	return all
}

// playbooksAgent is the value of --agent for the one that decides with playbooks.
const playbooksAgent = "playbooks"

// agent returns the agent with a name.
func (p *planning) agent(name string) (Agent, error) {
	if name == playbooksAgent {
		return playbooks{p.playbooks, p.front, p.host.build.servedSkills()}, nil
	}
	if a := p.host.build.Agents[name]; a != nil && p.front == nil {
		return a, nil
	} else if a != nil {
		return nil, process.Usagef("--front and --agent %s both decide about all messages: set one of them", name)
	}
	known := append([]string{playbooksAgent}, slices.Sorted(maps.Keys(p.host.build.Agents))...)
	return nil, process.Usagef("--agent %q: this program has %s", name, strings.Join(known, ", "))
}

// playbooks is the agent that decides with the current playbooks.
type playbooks struct {
	set    *planner.PlaybookSet
	front  *front       // nil for none
	served []card.Skill // of the agent in the program
}

// Decide implements [message.Agent]. If no playbook matches a message and it
// is trivial, it is answered at once. Other messages without a playbook, and
// those whose playbook cannot be filled in, go to the planner of the worker.
func (p playbooks) Decide(_ context.Context, m a2a.Message) (message.Decision, error) {
	books := p.set.Books()
	name, plans, reason, err := books.Match(m)
	answer, trivial := planner.Rules{}.Answer(m)
	if wrong, ok := errors.AsType[*planner.AcceptError](err); ok {
		return message.Decision{}, message.BadCriteria(wrong.Problem)
	}
	switch {
	case trivial && err == nil && name == "":
		answer := a2a.Message{MessageID: "answer-" + m.Digest(), Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(answer)}}
		return message.Decision{Answer: &answer, Planner: "rules"}, nil
	case errors.Is(err, activities.ErrNoPlan) || err == nil && name == "":
		return message.Decision{Reason: reason, Refusal: books.Refusal(m)}, nil
	case err != nil:
		return message.Decision{}, err
	}
	return message.Decision{Plans: plans, Planner: "playbook " + name, Reason: reason, Accepts: true}, nil
}

// Skills implements [Agent].
func (p playbooks) Skills() []card.Skill {
	var skills []card.Skill
	for _, s := range p.set.Books().Skills() {
		skills = append(skills, card.Skill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Examples: s.Examples})
	}
	for _, s := range slices.Concat(p.front.Skills(), p.served) {
		if !slices.ContainsFunc(skills, func(own card.Skill) bool { return own.ID == s.ID }) {
			skills = append(skills, s)
		}
	}
	return skills
}

// executorsOf returns b with the executor echo if it is on, and with the default executor of
// the settings if they name one.
func (s workSettings) executorsOf(b Build) Build {
	if s.Echo {
		b = b.withEcho()
	}
	b.Default = cmp.Or(s.Usual, b.Default)
	return b
}

// loadPlaybooks reads the playbooks that the settings name, else those of the program. The
// bundled one is for echo, and there is none without it.
func (s workSettings) loadPlaybooks(b Build, planners map[string]activities.Planner) (*planner.Playbooks, error) {
	books, err := s.readPlaybooks(b)
	if err != nil {
		return nil, err
	}
	if s.Front != "" {
		return s.inFront(books, planners)
	}
	if name := s.plannerName(planners); name != noPlanner {
		fallback, err := s.fallback(name, planners)
		return books.With(fallback), err
	}
	switch {
	case s.Fallback == echoKind && b.defaultExecutor() == "":
		return nil, process.Usagef("--fallback echo has the default executor do messages, and there is none: turn on echo with --echo, for the API and the workers")
	case s.Fallback == echoKind:
		return books, nil
	case b.serves():
		return books.WithExecutor(served.Kind), nil
	case b.Executors[echoKind] != nil && b.Playbooks == nil:
		return books.With(planner.Fallback{Takes: echo.IsScript, Skills: []planner.Skill{{
			ID: echoKind, Name: "Echo", Description: "Does what a script says, to try this server: work, ask, approve, say, stream, write and fail",
			Tags: []string{"demo"}, Examples: []string{"work 5s; ask Which color?; say done"},
		}}}), nil
	}
	return books.With(planner.Fallback{Takes: planner.Nothing}), nil
}

func (s workSettings) readPlaybooks(b Build) (*planner.Playbooks, error) {
	calendars, err := planner.LoadCalendars(s.Calendars, time.Now())
	switch {
	case err != nil:
		return nil, err
	case len(s.Playbooks) > 0:
		return planner.LoadFiles(calendars, s.Playbooks...)
	case b.Playbooks != nil:
		return planner.LoadAll(calendars, b.Playbooks)
	case b.Executors[echoKind] != nil && s.Front == "" && !b.serves():
		return planner.Bundled()
	}
	return &planner.Playbooks{}, nil
}

// noPlanner is the value of --planner for playbooks alone.
const noPlanner = "playbooks"

// llmPlanner is the value of --planner for the one of --models.
const llmPlanner = "llm"

// A skilled planner adds skills to the agent card.
type skilled interface {
	Skills() []card.Skill
}

// A modelPlanner plans with a model.
type modelPlanner struct{ llm.Planner }

// Skills implements skilled.
func (modelPlanner) Skills() []card.Skill {
	return []card.Skill{{
		ID: llm.Skill, Name: "General", Description: "Plans what a message asks for, and does it with models, tools and people",
		Tags: []string{"general"}, Examples: []string{"Summarize this text and ask me before you publish it"},
	}}
}

// plannerName returns the name of the planner for messages that no playbook takes.
func (s workSettings) plannerName(planners map[string]activities.Planner) string {
	_, model := planners[llmPlanner].(modelPlanner)
	switch {
	case s.Planner != "":
		return s.Planner
	case model:
		return llmPlanner // the file of --models names a planner
	}
	return noPlanner
}

// fallback returns the fallback of the playbooks: the planner that the settings name.
func (s workSettings) fallback(name string, planners map[string]activities.Planner) (planner.Fallback, error) {
	chosen := planners[name]
	switch {
	case chosen == nil:
		known := append([]string{noPlanner}, slices.Sorted(maps.Keys(planners))...)
		return planner.Fallback{}, process.Usagef("--planner %q: this program has %s", name, strings.Join(known, ", "))
	case s.Fallback == echoKind:
		return planner.Fallback{}, process.Usagef("--planner, or a planner in the file of --models, and --fallback echo are both for messages that no playbook takes: set one of them")
	}
	out := planner.Fallback{Takes: planner.Everything, Planner: chosen, Name: name}
	if p, ok := chosen.(skilled); ok {
		for _, k := range p.Skills() {
			out.Skills = append(out.Skills, planner.Skill{ID: k.ID, Name: k.Name, Description: k.Description, Tags: k.Tags, Examples: k.Examples})
		}
	}
	return out, nil
}

// loadExecutors returns the executors of a worker by kind.
func (p *planning) loadExecutors(cfg workerSettings) (map[string]activities.Executor, error) {
	all := map[string]activities.Executor{check.Kind: check.Executor{}, elsewhere.Kind: elsewhere.Executor{}, refuse.Kind: refuse.Executor{}}
	var errs []error
	if cfg.Commands != "" {
		commands, err := shell.Load(cfg.Commands)
		errs = append(errs, err)
		all[shell.Kind] = shell.Executor{Commands: commands, Log: p.host.log.Named("shell")}
	}
	if p.agents != nil {
		all[agent.Kind] = p.agents
	}
	if cfg.Endpoints != "" {
		endpoints, err := webhook.Load(cfg.Endpoints, os.LookupEnv, func(rawURL string) error { return ownURL(p.reach.services, rawURL) })
		errs = append(errs, err)
		all[webhook.Kind] = webhook.Executor{Endpoints: endpoints, Sender: p.reach.services}
	}
	if p.models != nil {
		all[llm.Kind] = llm.Executor{Models: p.models, Log: p.host.log.Named("llm")}
	}
	maps.Copy(all, p.host.build.Executors)
	return all, errors.Join(append(errs, p.models.CheckExecutors(slices.Sorted(maps.Keys(all))...))...)
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
		{agent.Kind, "needs a file: name it with --agents"}, {echoKind, "is off: turn it on with --echo (in dev it always is)"},
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
