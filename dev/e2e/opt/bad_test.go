package opt_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/opt"
)

// Invalid calls are refused with their code and the name of the wrong field, and
// change nothing. Other tests check things of other tenants: a site without keys
// has one tenant.
func badInput(t *testing.T, s *service) {
	s.each(t, "params", (*client).badParams)
	s.each(t, "types", (*client).wrongTypes)
	s.each(t, "unknown", (*client).unknown)
	s.each(t, "methods", (*client).noMethods)
	s.each(t, "metadata of a message", (*client).badMetadata)
}

// A badCall is a call that is refused. In its params OBJ, PLAN, TASK and LAST are the
// objective, its first plan, a task of that, and the only task of the second plan,
// on which nothing of the first may depend.
type badCall struct {
	method string
	params params
	at     string // the param that is wrong, or the reason
}

func deps(ids ...string) []any {
	return []any{map[string]any{"name": "a", "dependencies": ids}}
}

// two are tasks that depend on each other.
func two(first, second string) []any {
	return append(deps(second), deps(first)...)
}

var long = strings.Repeat("n", 257)

var badCalls = map[string]badCall{
	"name, none":                 {"objectives/create", params{}, "name"},
	"name, empty":                {"objectives/create", params{"name": ""}, "name"},
	"name, too long":             {"objectives/create", params{"name": long}, "name"},
	"description, too long":      {"objectives/create", params{"name": "x", "description": strings.Repeat("d", 16<<10+1)}, "description"},
	"metadata, too much":         {"objectives/create", params{"name": "x", "metadata": map[string]any{"x": strings.Repeat("m", 64<<10)}}, "metadata"},
	"new name, empty":            {"objectives/update", params{"id": "OBJ", "name": ""}, "name"},
	"new name, too long":         {"objectives/update", params{"id": "OBJ", "name": long}, "name"},
	"status, unknown":            {"objectives/update", params{"id": "OBJ", "status": "done"}, "status"},
	"status, that of a plan":     {"objectives/update", params{"id": "OBJ", "status": "skipped"}, "status"},
	"status, in capitals":        {"objectives/update", params{"id": "OBJ", "status": "WORKING"}, "status"},
	"status of a list, unknown":  {"objectives/list", params{"status": "done"}, "status"},
	"page, none":                 {"objectives/list", params{"pageSize": 0}, "pageSize"},
	"page, too large":            {"objectives/list", params{"pageSize": 101}, "pageSize"},
	"page, no token":             {"objectives/list", params{"pageToken": "..."}, "pageToken"},
	"revision, 0":                {"objectives/update", params{"id": "OBJ", "name": "y", "longhaul/v1/revision": 0}, "longhaul/v1/revision"},
	"revision, stale":            {"objectives/update", params{"id": "OBJ", "name": "y", "longhaul/v1/revision": 99}, "STALE_REVISION"},
	"plan, no name":              {"plans/create", params{"objectiveId": "OBJ"}, "name"},
	"plan, name too long":        {"plans/create", params{"objectiveId": "OBJ", "name": long}, "name"},
	"plan, no objective":         {"plans/create", params{"name": "x"}, "objectiveId"},
	"plan, after no plan":        {"plans/create", params{"objectiveId": "OBJ", "name": "x", "dependencies": []any{"plan-x"}}, "dependencies[0]"},
	"plan, after itself":         {"plans/create", params{"objectiveId": "OBJ", "name": "x", "dependencies": []any{"NEXT"}}, "dependencies[0]"},
	"plan, after a task":         {"plans/create", params{"objectiveId": "OBJ", "name": "x", "dependencies": []any{"TASK"}}, "dependencies[0]"},
	"plan, cycle":                {"plans/create", params{"objectiveId": "OBJ", "name": "x", "tasks": two("task-0", "task-1")}, "tasks"},
	"plan, task after itself":    {"plans/create", params{"objectiveId": "OBJ", "name": "x", "tasks": deps("task-0")}, "tasks[0].dependencies[0]"},
	"plan, task after nothing":   {"plans/create", params{"objectiveId": "OBJ", "name": "x", "tasks": deps("task-1")}, "tasks[0].dependencies[0]"},
	"plan, task after another's": {"plans/create", params{"objectiveId": "OBJ", "name": "x", "tasks": deps("TASK")}, "tasks[0].dependencies[0]"},
	"plan, task without name":    {"plans/create", params{"objectiveId": "OBJ", "name": "x", "tasks": []any{map[string]any{"description": "say x"}}}, "tasks[0].name"},
	"plan, status unknown":       {"plans/update", params{"id": "PLAN", "status": "canceled"}, "status"},
	"plan, status that is ours":  {"plans/update", params{"id": "PLAN", "status": "blocked"}, "INVALID_STATE_TRANSITION"},
	"plan, new name too long":    {"plans/update", params{"id": "PLAN", "name": long}, "name"},
	"tasks, none":                {"plans/addTasks", params{"id": "PLAN"}, "tasks"},
	"tasks, an empty list":       {"plans/addTasks", params{"id": "PLAN", "tasks": []any{}}, "tasks"},
	"tasks, no plan":             {"plans/addTasks", params{"tasks": deps()}, "id"},
	"tasks, name too long":       {"plans/addTasks", params{"id": "PLAN", "tasks": []any{map[string]any{"name": "a"}, map[string]any{"name": long}}}, "tasks[1].name"},
	"tasks, cycle":               {"plans/addTasks", params{"id": "PLAN", "tasks": two("task-2", "task-3")}, "tasks"},
	"tasks, on itself":           {"plans/addTasks", params{"id": "PLAN", "tasks": deps("task-2")}, "tasks[0].dependencies[0]"},
	"tasks, on itself, by id":    {"plans/addTasks", params{"id": "PLAN", "tasks": deps("THIRD")}, "tasks[0].dependencies[0]"},
	"tasks, on nothing":          {"plans/addTasks", params{"id": "PLAN", "tasks": deps("TASK", "task-9")}, "tasks[0].dependencies[1]"},
	"tasks, on no id":            {"plans/addTasks", params{"id": "PLAN", "tasks": deps("x")}, "tasks[0].dependencies[0]"},
	"tasks, on another plan's":   {"plans/addTasks", params{"id": "PLAN", "tasks": deps("LAST")}, "tasks[0].dependencies[0]"},
	"link, to nothing":           {"tasks/link", params{"id": "TASK"}, "a2aTaskId"},
	"link, empty":                {"tasks/link", params{"id": "TASK", "a2aTaskId": ""}, "a2aTaskId"},
	"link, to itself":            {"tasks/link", params{"id": "TASK", "a2aTaskId": "TASK"}, "a2aTaskId"},
	"link, too long":             {"tasks/link", params{"id": "TASK", "a2aTaskId": long}, "a2aTaskId"},
	"task, no status":            {"tasks/updateStatus", params{"id": "TASK"}, "status"},
	"task, status unknown":       {"tasks/updateStatus", params{"id": "TASK", "status": "done"}, "status"},
	"task, status unspecified":   {"tasks/updateStatus", params{"id": "TASK", "status": "TASK_STATE_UNSPECIFIED"}, "status"},
	"task, half in capitals":     {"tasks/updateStatus", params{"id": "TASK", "status": "TASK_STATE_working"}, "status"},
	"task, message too long":     {"tasks/updateStatus", params{"id": "TASK", "status": "working", "message": strings.Repeat("m", 16<<10+1)}, "message"},
	"replan, reason too long":    {"objectives/replan", params{"id": "OBJ", "reason": strings.Repeat("r", 16<<10+1)}, "reason"},
	"replan, no id":              {"objectives/replan", params{}, "id"},
}

// twoPlans makes an objective, and a replacer for the names of its parts in
// params.
func (c *client) twoPlans() (*harness.Objective, *strings.Replacer) {
	c.Helper()
	o := c.create("x", harness.NewPlan("p", "say one", "say two"), harness.NewPlan("q", "say three"))
	plan := o.Plans[0].ID
	return o, strings.NewReplacer("OBJ", o.ID, "PLAN", plan, "TASK", opt.TaskID(plan, 0), "THIRD", opt.TaskID(plan, 2),
		"LAST", o.Plans[1].Tasks[0].ID, "NEXT", opt.PlanID(o.ID, 3))
}

// fill replaces names by ids everywhere in v.
func fill(v any, ids *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return ids.Replace(v)
	case []string:
		var out []string
		for _, s := range v {
			out = append(out, ids.Replace(s))
		}
		return out
	case []any:
		var out []any
		for _, item := range v {
			out = append(out, fill(item, ids))
		}
		return append([]any{}, out...)
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = fill(value, ids)
		}
		return out
	}
	return v
}

func (c *client) badParams() {
	o, ids := c.twoPlans()
	for _, name := range slices.Sorted(maps.Keys(badCalls)) {
		bad := badCalls[name]
		c.Run(name, func(t *testing.T) {
			c := c.service.client(t)
			c.unchanged(o.ID, func() {
				_, err := c.try(bad.method, params(fill(map[string]any(bad.params), ids).(map[string]any)))
				c.wrong(err, bad.at)
			})
		})
	}
}

// wrong checks that an error names one param, or has a reason.
func (c *client) wrong(err error, at string) {
	c.Helper()
	var rpc *harness.RPCError
	if !errors.As(err, &rpc) {
		c.Fatalf("got %v, want an error about %s", err, at)
	}
	if harness.Reason(err) == at && rpc.Code == -32001 {
		return
	}
	if rpc.Code != -32602 || !slices.Equal(harness.Fields(err), []string{at}) || !strings.Contains(rpc.Message, at) {
		c.Errorf("got %v, want -32602 about %s", err, at)
	}
}

// kinds are the params of all methods by their kinds.
var kinds = map[string]map[string]string{
	"objectives/create":  {"name": "text!", "description": "text", "metadata": "object"},
	"objectives/get":     {"id": "text!", "includePlans": "flag", "includeTasks": "flag"},
	"objectives/list":    {"status": "text", "pageSize": "number", "pageToken": "text", "includePlans": "flag", "includeTasks": "flag"},
	"objectives/update":  {"id": "text!", "name": "text", "description": "text", "status": "text", "metadata": "object", "longhaul/v1/revision": "number"},
	"objectives/replan":  {"id": "text!", "reason": "text"},
	"plans/create":       {"objectiveId": "text!", "name": "text!", "description": "text", "tasks": "list", "dependencies": "list", "metadata": "object"},
	"plans/get":          {"id": "text!", "includeTasks": "flag"},
	"plans/update":       {"id": "text!", "name": "text", "description": "text", "status": "text", "metadata": "object"},
	"plans/addTasks":     {"id": "text!", "tasks": "list"},
	"tasks/link":         {"id": "text!", "a2aTaskId": "text!"},
	"tasks/updateStatus": {"id": "text!", "status": "text!", "message": "text"},
}

// others are values of other types, by kind.
var others = map[string][]any{
	"text":   {5, true, map[string]any{}, []any{}, []any{"x"}},
	"flag":   {0, 1, "true", map[string]any{}, []any{}},
	"number": {"five", "5.5", 1.5, true, map[string]any{}, []any{}},
	"list":   {"x", 5, true, map[string]any{}},
	"object": {"x", 5, true, []any{}},
}

// right returns valid params.
func right(method string) params {
	p := map[string]params{
		"objectives/create":  {"name": "x"},
		"objectives/list":    {},
		"plans/create":       {"objectiveId": "OBJ", "name": "x"},
		"plans/get":          {"id": "PLAN"},
		"plans/update":       {"id": "PLAN"},
		"plans/addTasks":     {"id": "PLAN", "tasks": deps()},
		"tasks/link":         {"id": "TASK", "a2aTaskId": "elsewhere"},
		"tasks/updateStatus": {"id": "TASK", "status": "working"},
	}[method]
	if p == nil {
		p = params{"id": "OBJ"}
	}
	return p
}

// wrongTypes gives every param of every method values of every other type, and
// leaves out required params.
func (c *client) wrongTypes() {
	o, ids := c.twoPlans()
	c.unchanged(o.ID, func() {
		for method, names := range kinds {
			for name, kind := range names {
				kind, must := strings.CutSuffix(kind, "!")
				values := others[kind]
				if must {
					values = append(values, nil)
				}
				for _, value := range values {
					p := params(fill(map[string]any(right(method)), ids).(map[string]any))
					p[name] = value
					_, err := c.try(method, p)
					if harness.Code(err) != -32602 || !slices.Equal(harness.Fields(err), []string{name}) || !strings.Contains(err.Error(), name) {
						c.Errorf("%s with %s %#v: %v", method, name, value, err)
					}
				}
			}
			var rpc *harness.RPCError
			if err := c.c.Call(c.ctx, method, []any{1}, nil); !errors.As(err, &rpc) || rpc.Code != -32602 || !strings.Contains(rpc.Message, "params") {
				c.Errorf("%s with a list of params: %v", method, err)
			}
		}
		for name, value := range map[string]any{
			"tasks[1]": "x", "tasks[1].name": 5, "tasks[1].description": true, "tasks[1].metadata": "x",
			"tasks[1].dependencies": "task-0", "tasks[1].dependencies[1]": 0, "tasks[1].metadata.opt/v1/optional": "yes",
		} {
			task := map[string]any{"name": "x"}
			p := params{"id": o.Plans[0].ID, "tasks": []any{map[string]any{"name": "x"}, task}}
			switch field := strings.TrimPrefix(name, "tasks[1]."); field {
			case "tasks[1]":
				p["tasks"] = []any{map[string]any{"name": "x"}, value}
			case "dependencies[1]":
				task["dependencies"] = []any{"task-0", value}
			case "metadata.opt/v1/optional":
				task["metadata"] = map[string]any{"opt/v1/optional": value}
			default:
				task[field] = value
			}
			_, err := c.try("plans/addTasks", p)
			c.wrong(err, name)
		}
	})
}

// unknown names things that do not exist, in every form.
func (c *client) unknown() {
	o, _ := c.twoPlans()
	plan := o.Plans[0].ID
	none := opt.NewObjectiveID([16]byte{1})
	for reason, ids := range map[string][]string{
		"OBJECTIVE_NOT_FOUND": {none, "obj-123", "x", plan, o.Plans[0].Tasks[0].ID, "obj-" + strings.Repeat("a", 25), o.ID + "~2"},
		"PLAN_NOT_FOUND":      {opt.PlanID(none, 1), opt.PlanID(o.ID, 3), "plan-xyz789", "x", o.ID, o.Plans[0].Tasks[0].ID},
		"PLAN_TASK_NOT_FOUND": {opt.TaskID(plan, 2), opt.TaskID(opt.PlanID(o.ID, 9), 0), "task-0", "x", o.ID, plan, o.Plans[0].Tasks[0].ID + "~2"},
	} {
		for method := range kinds {
			p := right(method)
			name := map[string]string{"OBJ": "OBJECTIVE_NOT_FOUND", "PLAN": "PLAN_NOT_FOUND", "TASK": "PLAN_TASK_NOT_FOUND"}
			key := "id"
			if _, ok := p[key]; !ok {
				key = "objectiveId"
			}
			if who, _ := p[key].(string); name[who] != reason {
				continue
			}
			for _, id := range ids {
				c.unchanged(o.ID, func() {
					p[key] = id
					_, err := c.try(method, p)
					if harness.Code(err) != -32000 || harness.Reason(err) != reason {
						c.Errorf("%s of %q: %v, want -32000 %s", method, id, err, reason)
					}
				})
			}
		}
	}
}

// noMethods calls methods that are not in the extension.
func (c *client) noMethods() {
	for _, method := range []string{
		"plans/list", "tasks/create", "objectives/delete", "plans/delete", "tasks/delete", "objectives/cancel", "plans/replan", "Objectives/Get", "objectives/",
	} {
		if _, err := c.try(method, params{"id": "x"}); harness.Code(err) != -32601 {
			c.Errorf("%s: %v", method, err)
		}
	}
}

// badMetadata has invalid values for keys of the extension in a message. Using
// such a key activates the extension, so the header makes no difference; other
// keys are not checked.
func (c *client) badMetadata() {
	send := func(by *harness.Client, key string, value any) error {
		message := map[string]any{"messageId": c.Name() + key, "role": "ROLE_USER", "parts": []any{map[string]any{"text": "say x"}}, "metadata": map[string]any{key: value}}
		return by.Call(c.ctx, "SendMessage", params{"message": message, "configuration": map[string]any{"returnImmediately": true}}, nil)
	}
	for key, values := range map[string][]any{
		"opt/v1/preferObjective": {"yes", 1, []any{}},
		"opt/v1/suggestedName":   {5, true, map[string]any{}, long},
		"opt/v1/historyScope":    {5, "galaxy", true},
		"opt/v1/taskId":          {5, []any{}},
		"opt/v1/autoStart":       {"yes", 1},
		"opt/v1/plan":            {"x", []any{}, 5},
		"opt/v1/objective":       {"x", []any{}, true},
	} {
		for _, value := range values {
			for _, by := range []*harness.Client{c.c, c.plain} {
				c.wrong(send(by, key, value), "message.metadata."+key)
			}
		}
	}
	for at, value := range map[string]any{
		"opt/v1/plan.name":                            map[string]any{"name": ""},
		"opt/v1/plan.tasks[0].dependencies[0]":        map[string]any{"name": "x", "tasks": deps("task-0")},
		"opt/v1/plan.tasks":                           map[string]any{"name": "x", "tasks": two("task-0", "task-1")},
		"opt/v1/objective.plans":                      map[string]any{"name": "x", "plans": []any{map[string]any{"name": "p", "dependencies": []any{"plan-1"}}, map[string]any{"name": "q", "dependencies": []any{"plan-0"}}}},
		"opt/v1/objective.plans[1].name":              map[string]any{"name": "x", "plans": []any{map[string]any{"name": "p"}, map[string]any{"name": ""}}},
		"opt/v1/objective.plans[0].dependencies[0]":   map[string]any{"name": "x", "plans": []any{map[string]any{"name": "p", "dependencies": []any{"plan-0"}}}},
		"opt/v1/objective.plans[0].tasks[0].metadata": map[string]any{"name": "x", "plans": []any{map[string]any{"name": "p", "tasks": []any{map[string]any{"name": "t", "metadata": 5}}}}},
	} {
		key, _, _ := strings.Cut(strings.Replace(at, "opt/v1/", "opt/v1|", 1), ".")
		c.wrong(send(c.c, strings.Replace(key, "|", "/", 1), value), "message.metadata."+at)
	}
	for i, key := range []string{"opt/v2/preferObjective", "opt", "x-opt/v1/plan"} {
		if err := send(cmp.Or(c.c, c.plain), key, i); err != nil {
			c.Errorf("with %s: %v", key, err)
		}
	}
	if _, err := c.try("GetTask", params{"id": c.create("x").ID, "metadata": map[string]any{"opt/v1/historyScope": fmt.Sprint(5)}}); err != nil {
		c.Errorf("a scope that is none, beside a request: %v", err)
	}
}
