package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"longhaul/internal/schema"
)

// A PlannerForm says how messages are planned that no playbook takes.
type PlannerForm struct {
	Model       string                   `yaml:"model"`       // that plans
	TaskModel   string                   `yaml:"taskModel"`   // of the tasks in its plans; "" for Model
	ApprovePlan bool                     `yaml:"approvePlan"` // a person decides about a plan before it begins
	Tools       []string                 `yaml:"tools"`       // that its tasks may use, as server/tool
	Executors   map[string]*ExecutorForm `yaml:"executors"`   // that its plans may use, besides models and people
}

// An ExecutorForm describes an executor to a planner.
type ExecutorForm struct {
	Description string         `yaml:"description"`
	Input       map[string]any `yaml:"input"` // JSON Schema of the input of a task

	raw   json.RawMessage
	input *schema.Schema
}

// prepare checks p, which is nil for no planner.
func (p *PlannerForm) prepare(m *Models, wrong *mistakes) {
	if p == nil {
		return
	}
	if p.TaskModel == "" {
		p.TaskModel = p.Model
	}
	for _, name := range []string{p.Model, p.TaskModel} {
		if m.Models[name] == nil {
			wrong.add("there is no model %q: the file has %s", name, listNames(m.Models))
		}
	}
	for _, name := range p.Tools {
		server, _, whole := strings.Cut(name, "/")
		if !whole || m.Servers[server] == nil {
			wrong.add("tool %q: must be server/tool, of one of the servers %s", name, listNames(m.Servers))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Executors)) {
		p.Executors[name].prepare(wrong.part("executor " + name))
		if slices.Contains(kinds, name) {
			wrong.add("executor %s: plans can have its tasks anyway", name)
		}
	}
}

func (e *ExecutorForm) prepare(wrong *mistakes) {
	if e == nil || e.Description == "" || e.Input == nil {
		wrong.add("needs a description, and input: the JSON Schema of the input of a task")
		return
	}
	var err error
	if e.raw, err = json.Marshal(e.Input); err == nil {
		e.input, err = schema.Parse(e.raw)
	}
	if err != nil {
		wrong.add("input: %v", err)
	}
}

// CheckExecutors reports an executor that plans may use and that is not one of known. A
// nil m has none.
func (m *Models) CheckExecutors(known ...string) error {
	if m == nil || m.Planner == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.Planner.Executors)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the planner of the models names the executor %s; known are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
