package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/opfile"
	"longhaul/internal/schema"
)

// Limits of models and servers that set none.
const (
	defaultMaxOutput   = 4096
	defaultTurnTimeout = 5 * time.Minute
	defaultCallTimeout = time.Minute
	defaultToolOutput  = 32 << 10
)

// Load reads a file with models. env returns the value of a variable that the file
// names; nil leaves all out, for a process that asks no model. The error lists
// everything that is wrong, and has no value of a variable.
func Load(path string, env func(name string) (string, bool)) (*Models, error) {
	m := &Models{}
	if err := opfile.Read(path, "models", m); err != nil {
		return nil, err
	}
	wrong := errors.Join(
		opfile.Each("model", m.Models, func(one *Model, name string) error { return one.prepare(name, env) }),
		opfile.Each("server", m.Servers, func(one *Server, name string) error { return one.prepare(name, env) }),
		opfile.Within("budget: task: ", check(m.Budget.Task)), opfile.Within("budget: objective: ", check(m.Budget.Objective)),
	)
	switch {
	case len(m.Models) == 0:
		wrong = errors.Join(errors.New("the file needs models"), wrong)
	case wrong == nil:
		wrong = errors.Join(m.checkCost(), opfile.Within("planner: ", m.Planner.prepare(m)))
	}
	return m, opfile.Within(path+": ", wrong)
}

// checkCost refuses a budget of costs for models without prices.
func (m *Models) checkCost() error {
	if m.Budget.Task.Cost == 0 && m.Budget.Objective.Cost == 0 {
		return nil
	}
	return opfile.Each("model", m.Models, func(one *Model, _ string) error {
		if one.Price == (Price{}) {
			return errors.New("needs a price, since the budget has a cost")
		}
		return nil
	})
}

// prepare checks m, sets its defaults and makes its chat.
func (m *Model) prepare(name string, env opfile.Env) error {
	if m == nil || m.Model == "" {
		return errors.New("needs model: its id at the server")
	}
	wrong := m.check()
	if m.Key != "" {
		var err error
		m.key, err = env.Value(m.Key)
		wrong = errors.Join(wrong, err)
	}
	m.name, m.MaxOutput, m.Timeout = name, cmp.Or(m.MaxOutput, defaultMaxOutput), cmp.Or(m.Timeout, defaultTurnTimeout)
	m.client = newClient(nil)
	m.chat = &openAI{m}
	if m.Provider == "anthropic" {
		m.chat = &claude{m}
	}
	return wrong
}

func (m *Model) check() error {
	switch {
	case m.Provider != "openai" && m.Provider != "anthropic":
		return errors.New("provider must be openai or anthropic: whose API its server speaks")
	case m.URL != "" && !opfile.IsURL(m.URL):
		return errors.New("url must be that of an API, such as https://api.example.com/v1")
	case m.URL == "" && m.Key == "":
		return errors.New("needs key: the name of the variable that has the API key")
	case m.MaxOutput < 0 || m.Timeout < 0 || min(m.Price.Input, m.Price.Cached, m.Price.Output) < 0:
		return errors.New("has a limit or a price below 0")
	}
	return nil
}

var serverForm = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// prepare checks s and sets its defaults.
func (s *Server) prepare(name string, env opfile.Env) error {
	if s == nil || (len(s.Run) == 0) == (s.URL == "") {
		return errors.New("needs run, a program and its arguments, or url")
	}
	filled := env.Headers(s.Headers, "Accept", "Mcp-Session-Id", "Mcp-Protocol-Version")
	wrong := errors.Join(s.check(name), s.readPolicies(), opfile.Within("headers: ", errors.Join(filled.Wrong...)))
	s.Timeout, s.Output = cmp.Or(s.Timeout, defaultCallTimeout), cmp.Or(s.Output, defaultToolOutput)
	for _, name := range s.Env {
		if env == nil {
			break
		}
		if value, ok := env(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	header := http.Header{}
	for name, value := range filled.Headers {
		header.Set(name, value)
	}
	s.client = newClient(header)
	return wrong
}

func (s *Server) check(name string) error {
	switch {
	case !serverForm.MatchString(name):
		return errors.New("a name has 1 to 32 of a-z, 0-9 and -")
	case s.URL != "" && !opfile.IsURL(s.URL):
		return errors.New("url must be that of an MCP server, such as https://tools.example.com/mcp")
	case s.URL != "" && len(s.Env) > 0, s.URL == "" && len(s.Headers) > 0:
		return errors.New("env is for a program, headers are for a url")
	case s.Timeout < 0 || s.Output < 0:
		return errors.New("has a limit below 0")
	}
	return nil
}

func (s *Server) readPolicies() error {
	s.policies = map[string]policy{}
	return opfile.Each("tool", s.Tools, func(n yaml.Node, name string) (err error) {
		s.policies[name], err = readPolicy(n)
		return err
	})
}

// prepare checks p, which is nil for no planner, and sets its defaults.
func (p *PlannerForm) prepare(m *Models) error {
	if p == nil {
		return nil
	}
	p.TaskModel = cmp.Or(p.TaskModel, p.Model)
	var wrong []error
	for _, name := range []string{p.Model, p.TaskModel} {
		if m.Models[name] == nil {
			wrong = append(wrong, opfile.Unknown("model", name, slices.Sorted(maps.Keys(m.Models))))
		}
	}
	for _, name := range p.Tools {
		server, _, whole := strings.Cut(name, "/")
		if !whole || m.Servers[server] == nil {
			wrong = append(wrong, fmt.Errorf("tool %q: must be server/tool, of one of the servers %s", name, listNames(m.Servers)))
		}
	}
	return errors.Join(append(wrong, opfile.Each("executor", p.Executors, (*ExecutorForm).prepare))...)
}

func (e *ExecutorForm) prepare(name string) error {
	switch {
	case slices.Contains(kinds, name):
		return errors.New("plans can have its tasks anyway")
	case e == nil || e.Description == "" || e.Input == nil:
		return errors.New("needs a description, and input: the JSON Schema of the input of a task")
	}
	var err error
	if e.raw, err = json.Marshal(e.Input); err == nil {
		e.input, err = schema.Parse(e.raw)
	}
	return opfile.Within("input: ", err)
}

// listNames lists names for an error.
func listNames[T any](of map[string]T) string {
	if len(of) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}

// only returns the name of the only model, "" if there are several.
func (m Models) only() (name string) {
	if len(m.Models) == 1 {
		for name = range m.Models {
		}
	}
	return name
}
