package llm

import (
	"encoding/json"
	"maps"
	"slices"

	"longhaul/internal/opfile"
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

// CheckExecutors reports an executor that plans may use and that is not one of known. A
// nil m has none.
func (m *Models) CheckExecutors(known ...string) error {
	if m == nil || m.Planner == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.Planner.Executors)) {
		if !slices.Contains(known, name) {
			return opfile.Within("the planner in the file of --models: ", opfile.Unknown("executor", name, known))
		}
	}
	return nil
}
