package harness

import (
	"context"
	"testing"
)

// An Objective is one as the extension shows it.
type Objective struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Status   string          `json:"status"`
	Plans    []ObjectivePlan `json:"plans"`
	Metadata map[string]any  `json:"metadata"`
}

// An ObjectivePlan is a plan of an Objective.
type ObjectivePlan struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Status       string         `json:"status"`
	Tasks        []TaskOfPlan   `json:"tasks"`
	Dependencies []string       `json:"dependencies"`
	Metadata     map[string]any `json:"metadata"`
}

// A TaskOfPlan is a task of an ObjectivePlan.
type TaskOfPlan struct {
	ID           string         `json:"id"`
	PlanID       string         `json:"planId"`
	ObjectiveID  string         `json:"objectiveId"`
	Name         string         `json:"name"`
	Index        int            `json:"taskIndex"`
	Dependencies []string       `json:"dependencies"`
	A2ATaskID    string         `json:"a2aTaskId"`
	Status       string         `json:"status"`
	Metadata     map[string]any `json:"metadata"`
}

// Revision returns the revision of o, which rises with each change by a client.
func (o *Objective) Revision() int {
	n, _ := o.Metadata["longhaul/v1/revision"].(float64)
	return int(n)
}

// Objective returns an objective with its plans and tasks.
func (c *Client) Objective(ctx context.Context, id string) (*Objective, error) {
	var out struct {
		Objective *Objective `json:"objective"`
	}
	err := c.Call(ctx, "objectives/get", map[string]any{"id": id}, &out)
	return out.Objective, err
}

// Objectives returns all objectives with their plans and tasks.
func (c *Client) Objectives(ctx context.Context) ([]Objective, error) {
	var all []Objective
	params := map[string]any{"includePlans": true, "includeTasks": true, "pageSize": 100}
	for {
		var page struct {
			Objectives    []Objective `json:"objectives"`
			NextPageToken string      `json:"nextPageToken"`
		}
		if err := c.Call(ctx, "objectives/list", params, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Objectives...)
		if page.NextPageToken == "" {
			return all, nil
		}
		params["pageToken"] = page.NextPageToken
	}
}

// CreateObjective makes an objective that waits to be started.
func (c *Client) CreateObjective(ctx context.Context, name string) (*Objective, error) {
	var out struct {
		Objective *Objective `json:"objective"`
	}
	err := c.Call(ctx, "objectives/create", map[string]any{"name": name}, &out)
	return out.Objective, err
}

// MustCreateObjective is CreateObjective in a test, which ends if it is refused.
func (c *Client) MustCreateObjective(ctx context.Context, t testing.TB, name string) *Objective {
	t.Helper()
	return must(ctx, t, name, c.CreateObjective, name)
}

// CreatePlan adds a plan to an objective.
func (c *Client) CreatePlan(ctx context.Context, objectiveID string, p *Plan) (*ObjectivePlan, error) {
	var out struct {
		Plan *ObjectivePlan `json:"plan"`
	}
	params := map[string]any{"objectiveId": objectiveID, "name": p.Name, "tasks": p.Tasks, "dependencies": p.Dependencies, "metadata": p.Metadata}
	err := c.Call(ctx, "plans/create", params, &out)
	return out.Plan, err
}
