package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/work"
	"longhaul/opt"
)

// objectiveForms are the forms that change an objective as a whole. A nil form is not
// offered.
type objectiveForms struct {
	Change  changeForm // of its state
	Replan  *changeForm
	AddPlan *changeForm
	Text    *changeForm
	Choices []planChoice // for AddPlan
}

// planForms are the forms that change a plan.
type planForms struct {
	Change  changeForm // of its state
	AddTask *changeForm
	Order   *changeForm
	Choices []planChoice // for Order
}

// taskForms are the forms that change a task.
type taskForms struct{ Change changeForm }

// A planChoice is a plan that another one may wait for.
type planChoice struct {
	Key, Name string
	Chosen    bool
}

// ofObjective returns the forms about the objective itself.
func (f forms) ofObjective() objectiveForms {
	out := objectiveForms{Change: f.form("change", "", objectiveButtons(f.o)...)}
	if f.allows(opt.Command{Kind: opt.Replan}) {
		out.Replan = new(f.form("replan", "/replan"))
	}
	if f.allows(opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "another"}}) {
		out.AddPlan = new(f.form("add-plan", "/plans"))
		out.Choices = f.choices(nil, *out.AddPlan)
	}
	if f.allows(opt.Command{Kind: opt.UpdateObjective, Change: &opt.Change{Name: new("another")}}) {
		out.Text = new(f.form("text", "/text"))
	}
	return out
}

// ofPlan returns the forms about a plan.
func (f forms) ofPlan(p *opt.Plan) planForms {
	id, path := "p"+planKey(p)+"-", "/plans/"+planKey(p)
	out := planForms{Change: f.form(id+"change", path, planButtons(p)...)}
	if f.allows(opt.Command{Kind: opt.AddTasks, PlanID: p.ID, Tasks: []opt.TaskSpec{{Name: "another"}}}) {
		out.AddTask = new(f.form(id+"add-task", path+"/tasks"))
	}
	_, err := f.o.Reordered(p, p.Dependencies)
	if err == nil && len(f.o.Plans) > 1 && f.allows(opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Change: &opt.Change{Name: new("another")}}) {
		out.Order = new(f.form(id+"order", path+"/order"))
		out.Choices = f.choices(p, *out.Order)
	}
	return out
}

// ofTask returns the forms about a task.
func (f forms) ofTask(p *opt.Plan, t *opt.Task) taskForms {
	return taskForms{f.form("change", "/tasks/"+taskKey(t), taskButtons(p, t)...)}
}

// choices lists the plans that p, nil for a new one, may depend on. Those that it follows
// now are chosen; a new one would follow the last.
func (f forms) choices(p *opt.Plan, form changeForm) (out []planChoice) {
	before := f.o.Plans[max(0, len(f.o.Plans)-1):]
	if p != nil {
		before = f.o.Before(p)
	}
	for _, q := range f.o.Plans {
		if q == p {
			continue
		}
		c := planChoice{Key: planKey(q), Name: shorten(a2a.Visible(q.Name), titleLetters)}
		c.Chosen = form.Chosen("after", c.Key) || !form.Open && slices.Contains(before, q)
		out = append(out, c)
	}
	return out
}

// objectiveButtons lists the changes of state that pages know, whether they are possible
// or not.
func objectiveButtons(o *opt.Objective) []button {
	to := func(status opt.ObjectiveStatus) opt.Command {
		return opt.Command{Kind: opt.UpdateObjective, Status: string(status)}
	}
	var out []button
	switch {
	case o.Status.Ended():
		return []button{
			{Do: "retry", Label: "Retry", Hint: "A new attempt begins. Plans that were completed stay completed.", cmd: to(opt.ObjectiveSubmitted)},
			{Do: "retry-planned", Label: "Retry with new plans", Hint: "A new attempt begins with new plans.", Danger: true, cmd: to(opt.ObjectivePlanning)},
		}
	case o.Started || o.Paused:
		out = append(out, button{Do: "resume", Label: "Resume", cmd: to(opt.ObjectiveWorking)})
	default:
		out = append(out, button{Do: "start", Label: "Start", cmd: to(opt.ObjectiveWorking)})
	}
	if !o.Paused {
		out = append(out, button{Do: "pause", Label: "Pause", Hint: "Running tasks finish, and nothing new begins.", cmd: to(opt.ObjectiveBlocked)})
	}
	if len(o.Plans) == 0 {
		out = append(out, button{Do: "plan", Label: "Make plans", cmd: to(opt.ObjectivePlanning)})
	}
	return append(out,
		button{Do: "complete", Label: "Declare completed", Hint: "Its open tasks are stopped, and open questions are closed.", Danger: true, cmd: to(opt.ObjectiveCompleted)},
		button{Do: "fail", Label: "Declare failed", Hint: "Its open tasks are stopped. It can be retried.", Danger: true, cmd: to(opt.ObjectiveFailed)},
		button{Do: "cancel", Label: "Cancel", Hint: "Its open tasks are stopped. It can be retried.", Danger: true, cmd: to(opt.ObjectiveCanceled)})
}

// planButtons lists the changes of the state of a plan that pages know.
func planButtons(p *opt.Plan) []button {
	to := func(status opt.PlanStatus) opt.Command {
		return opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: string(status)}
	}
	switch {
	case p.Status == opt.PlanFailed:
		return []button{
			{Do: "retry", Label: "Retry now", Hint: "Completed tasks stay completed.", cmd: to(opt.PlanWorking)},
			{Do: "retry-later", Label: "Retry at its turn", cmd: to(opt.PlanPending)},
		}
	case p.Status.Ended():
		return nil
	}
	start := button{Do: "start", Label: "Start now", cmd: to(opt.PlanWorking)}
	if p.Started || p.Paused {
		start.Do, start.Label = "resume", "Resume"
	}
	return []button{
		start,
		{Do: "pause", Label: "Pause", Hint: "Its running tasks finish, and none begins.", cmd: to(opt.PlanBlocked)},
		{Do: "skip", Label: "Skip", Hint: "The objective continues without this plan. It cannot be taken back.", Danger: true, cmd: to(opt.PlanSkipped)},
		{Do: "complete", Label: "Declare completed", Hint: "Its open tasks are stopped, and plans that wait for it begin.", Danger: true, cmd: to(opt.PlanCompleted)},
		{Do: "fail", Label: "Declare failed", Hint: "Its open tasks are stopped. The plan can be retried while the objective is open.", Danger: true, cmd: to(opt.PlanFailed)},
	}
}

// taskButtons lists the changes of the state of a task that pages know.
func taskButtons(p *opt.Plan, t *opt.Task) []button {
	stop := button{Do: "cancel", Label: "Cancel this task", Hint: "The plan fails without it.", Danger: true}
	if t.Optional() {
		stop = button{Do: "skip", Label: "Skip this task", Hint: "It is optional: the plan continues without it.", Danger: true}
	}
	stop.cmd = opt.Command{Kind: opt.CancelTask, PlanID: p.ID, TaskID: t.ID}
	return []button{
		{Do: "complete", Label: "Declare completed", Hint: "A running attempt is stopped and its result is dropped. The plan continues.", Danger: true,
			cmd: opt.Command{Kind: opt.MoveTask, PlanID: p.ID, TaskID: t.ID, Status: string(opt.TaskCompleted)}},
		{Do: "fail", Label: "Declare failed", Hint: "A running attempt is stopped and its result is dropped.", Danger: true,
			cmd: opt.Command{Kind: opt.MoveTask, PlanID: p.ID, TaskID: t.ID, Status: string(opt.TaskFailed)}},
		stop,
	}
}

func objectivePath(id string) string { return Path + "/objectives/" + url.PathEscape(id) }

// taskPath returns the address of the page of a task of an objective. Links have it in
// full: a page that answers to a form is at another address.
func taskPath(objective, key string) string {
	return objectivePath(objective) + "?task=" + url.QueryEscape(key)
}

// applyObjectiveChange makes a change whose form is on the page of an objective.
func applyObjectiveChange(v *visit, formID string, apply func(change) (int, error)) (view, error) {
	id := v.r.PathValue("id")
	return applyChange(v, formID, objectivePath(id), func(r *refusedForm) (view, error) { return objectiveView(v, id, r) }, apply)
}

// changeObjective changes the state of an objective.
func changeObjective(v *visit) (view, error) {
	return applyObjectiveChange(v, "change", func(c change) (int, error) {
		statuses := map[string]opt.ObjectiveStatus{
			"start": opt.ObjectiveWorking, "resume": opt.ObjectiveWorking, "pause": opt.ObjectiveBlocked, "plan": opt.ObjectivePlanning,
			"complete": opt.ObjectiveCompleted, "fail": opt.ObjectiveFailed, "cancel": opt.ObjectiveCanceled,
			"retry": opt.ObjectiveSubmitted, "retry-planned": opt.ObjectivePlanning,
		}
		to, ok := statuses[c.button]
		if !ok {
			return 0, errAction
		}
		o, err := c.cfg.Service.Work.UpdateObjective(c.r.Context(), c.call, work.UpdateObjectiveParams{ID: c.objective, Status: to, Seen: c.revision})
		if err != nil || c.button != "retry" {
			return len(o.Unconfirmed), err
		}
		c.call.Key += ":start" // the new attempt waits until it is started
		fault := c.cfg.Service.Guard(c.call, func() error {
			o, err = c.cfg.Service.Work.UpdateObjective(c.r.Context(), c.call, work.UpdateObjectiveParams{ID: c.objective, Status: opt.ObjectiveWorking})
			return err
		})
		if fault != nil { // the attempt stays
			c.query.Set(unstartedField, "1")
			return 0, nil
		}
		return len(o.Unconfirmed), nil
	})
}

// unstartedField is the query field of the page of an objective whose new attempt was to be
// started, and perhaps was not.
const unstartedField = "unstarted"

// unstartedText returns the text that a new attempt has not started, "" if it has started, is
// in the queue or has ended.
func unstartedText(o *opt.Objective) string {
	if o.Started || !o.QueuedAt.IsZero() || o.Status.Ended() {
		return ""
	}
	return "The new attempt waits: it was not started. Start it here."
}

// changeObjectiveText changes the name and the description of an objective.
func changeObjectiveText(v *visit) (view, error) {
	return applyObjectiveChange(v, "text", func(c change) (int, error) {
		name, description := strings.TrimSpace(v.field("name")), strings.TrimSpace(v.field("description"))
		o, err := c.cfg.Service.Work.UpdateObjective(c.r.Context(), c.call, work.UpdateObjectiveParams{
			ID: c.objective, Seen: c.revision, Change: opt.Change{Name: &name, Description: &description},
		})
		return len(o.Unconfirmed), err
	})
}

// replan makes the planner replace the open plans.
func replan(v *visit) (view, error) {
	return applyObjectiveChange(v, "replan", func(c change) (int, error) {
		o, err := c.cfg.Service.Work.Replan(c.r.Context(), c.call, work.ReplanParams{ID: c.objective, Reason: v.field("reason"), Seen: c.revision})
		return len(o.Unconfirmed), err
	})
}

// addPlan adds a plan with tasks, one for each line.
func addPlan(v *visit) (view, error) {
	return applyObjectiveChange(v, "add-plan", func(c change) (int, error) {
		spec := opt.PlanSpec{Name: strings.TrimSpace(v.field("name")), Description: strings.TrimSpace(v.field("description")), Dependencies: plansAfter(c)}
		if v.field("optional") != "" {
			spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
		}
		for line := range strings.Lines(v.field("tasks")) {
			if name := strings.TrimSpace(line); name != "" {
				spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: name})
			}
		}
		_, err := c.cfg.Service.Work.CreatePlan(c.r.Context(), c.call, work.CreatePlanParams{ObjectiveID: c.objective, Plan: spec, Seen: c.revision})
		return 0, err
	})
}

// plansAfter returns the ids of the plans that a form chooses.
func plansAfter(c change) []string {
	ids := []string{}
	for _, key := range c.r.PostForm["after"] {
		ids = append(ids, "plan-"+strings.TrimPrefix(c.objective, "obj-")+"-"+key)
	}
	return ids
}

// planOf returns the id of the plan that a form changes, and its key.
func planOf(v *visit) (id, key string) {
	key = v.r.PathValue("plan")
	return "plan-" + strings.TrimPrefix(v.r.PathValue("id"), "obj-") + "-" + key, key
}

// changePlan changes the state of a plan.
func changePlan(v *visit) (view, error) {
	id, key := planOf(v)
	return applyObjectiveChange(v, "p"+key+"-change", func(c change) (int, error) {
		statuses := map[string]opt.PlanStatus{
			"start": opt.PlanWorking, "resume": opt.PlanWorking, "pause": opt.PlanBlocked, "skip": opt.PlanSkipped, "complete": opt.PlanCompleted,
			"fail": opt.PlanFailed, "retry": opt.PlanWorking, "retry-later": opt.PlanPending,
		}
		to, ok := statuses[c.button]
		if !ok {
			return 0, errAction
		}
		p, err := c.cfg.Service.Work.UpdatePlan(c.r.Context(), c.call, work.UpdatePlanParams{ID: id, Status: to, Seen: c.revision})
		return len(p.Unconfirmed), err
	})
}

// orderPlan changes which plans a plan waits for.
func orderPlan(v *visit) (view, error) {
	id, key := planOf(v)
	return applyObjectiveChange(v, "p"+key+"-order", func(c change) (int, error) {
		p, err := c.cfg.Service.Work.UpdatePlan(c.r.Context(), c.call, work.UpdatePlanParams{ID: id, Change: opt.Change{Dependencies: plansAfter(c)}, Seen: c.revision})
		return len(p.Unconfirmed), err
	})
}

// addTask adds a task to a plan.
func addTask(v *visit) (view, error) {
	id, key := planOf(v)
	return applyObjectiveChange(v, "p"+key+"-add-task", func(c change) (int, error) {
		spec := opt.TaskSpec{
			Name: strings.TrimSpace(v.field("name")), Description: strings.TrimSpace(v.field("description")), Executor: strings.TrimSpace(v.field("executor")),
		}
		if v.field("optional") != "" {
			spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
		}
		for _, text := range strings.FieldsFunc(v.field("after"), func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.Atoi(text)
			switch {
			case err != nil || n < 0:
				return 0, call.Invalid(call.Violation{Field: "Waits for", Description: "has to be numbers of tasks, such as 1, 2"})
			case n == 0:
				spec.Dependencies = append([]string{}, spec.Dependencies...)
			default:
				spec.Dependencies = append(spec.Dependencies, opt.TaskPlace(n-1))
			}
		}
		p, err := c.cfg.Service.Work.AddTasks(c.r.Context(), c.call, work.AddTasksParams{ID: id, Tasks: []opt.TaskSpec{spec}, Seen: c.revision})
		return len(p.Unconfirmed), err
	})
}

// changeTask changes the state of a task by hand.
func changeTask(v *visit) (view, error) {
	id, key := v.r.PathValue("id"), v.r.PathValue("task")
	back := taskPath(id, key)
	page := func(r *refusedForm) (view, error) { return taskView(v, id, key, r) }
	return applyChange(v, "change", back, page, func(c change) (int, error) {
		taskID := "task-" + strings.TrimPrefix(id, "obj-") + "-" + key
		switch c.button {
		case "complete", "fail":
			to := map[string]opt.TaskState{"complete": opt.TaskCompleted, "fail": opt.TaskFailed}[c.button]
			_, err := c.cfg.Service.TaskWork.UpdateTaskStatus(c.r.Context(), c.call, work.UpdateTaskStatusParams{
				ID: taskID, State: to, Message: strings.TrimSpace(v.field("message")), Seen: c.revision,
			})
			return 0, err
		case "cancel", "skip":
			o, err := c.cfg.Service.Objectives.GetObjective(c.r.Context(), c.call, read.GetObjectiveParams{ID: id, Plans: true, Tasks: true})
			if err != nil {
				return 0, err
			}
			_, t := taskAt(o.Objective, key)
			if t == nil {
				return 0, unknownTask(key)
			}
			_, err = c.cfg.Service.TaskWork.CancelTask(c.r.Context(), c.call, read.TaskParams{ID: t.A2AID(), Seen: c.revision})
			return 0, err
		}
		return 0, errAction
	})
}
