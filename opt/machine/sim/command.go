package sim

import (
	"slices"

	"longhaul/opt"
)

// sendCommand has a client send a random command that fits the state in the
// journal.
func (cs clients) sendCommand(c *choice) {
	r := cs.anyRow(c)
	o := &r.objective
	cmd := opt.Command{ID: cs.newCommandID(), Digest: "d", Principal: "alice", ObjectiveID: o.ID}
	cs.fill(c, &cmd, o)
	if c.chance(6) {
		cmd.Seen = o.Revision
	}
	switch c.pick(8) {
	case 6:
		cmd.Deadline = cs.w.apiTime(5000)
	case 7:
		cmd.Deadline = cs.w.apiTime(50)
	}
	cs.sendThis(cmd)
}

// fill draws what a command asks for.
func (cs clients) fill(c *choice, cmd *opt.Command, o *opt.Objective) {
	name := "named by " + cmd.ID
	p := anyPlan(c, o)
	k := c.pick(24)
	if p == nil {
		k %= 12
	}
	cmd.Kind = opt.UpdateObjective
	switch {
	case k < 2:
		cmd.Status = string(opt.ObjectiveBlocked)
	case k < 5:
		cmd.Status = string(opt.ObjectiveWorking)
		if o.Status.Ended() {
			cmd.Status = string(opt.ObjectiveSubmitted)
		}
	case k < 7:
		cmd.Kind = opt.Replan
	case k == 7:
		cmd.Status = string([]opt.ObjectiveStatus{opt.ObjectivePlanning, opt.ObjectiveSubmitted}[c.pick(2)])
	case k == 8:
		cmd.Status = string([]opt.ObjectiveStatus{opt.ObjectiveCanceled, opt.ObjectiveCompleted, opt.ObjectiveFailed}[c.pick(3)])
	case k == 9:
		cmd.Change = &opt.Change{Name: &name}
	case k < 12:
		cmd.Kind, cmd.Start = opt.CreatePlan, c.chance(2)
		spec := drawPlans(cs.w, c, 1)[0]
		spec.Name = name
		cmd.Plan = &spec
	default:
		cmd.PlanID = p.ID
		cs.fillForPlan(c, cmd, o, p)
	}
}

func (cs clients) fillForPlan(c *choice, cmd *opt.Command, o *opt.Objective, p *opt.Plan) {
	name := "named by " + cmd.ID
	k := c.pick(15)
	if len(p.Tasks) == 0 {
		k = min(k, 6)
	}
	switch {
	case k < 4:
		to := []opt.PlanStatus{opt.PlanBlocked, opt.PlanWorking, opt.PlanSkipped, opt.PlanPending, opt.PlanCompleted, opt.PlanFailed}
		cmd.Kind, cmd.Status = opt.UpdatePlan, string(to[c.pick(6)])
	case k == 4:
		cmd.Kind, cmd.Change = opt.UpdatePlan, &opt.Change{Name: &name}
	case k == 5:
		cmd.Kind, cmd.Change = opt.UpdatePlan, &opt.Change{Dependencies: []string{o.Plans[c.pick(len(o.Plans))].ID}[c.pick(2):]}
	case k == 6:
		cmd.Kind, cmd.Tasks = opt.AddTasks, []opt.TaskSpec{{Name: name}, {Name: name, Dependencies: [][]string{nil, {}, {"task-0"}}[c.pick(3)]}}
	case k < 12:
		fillForTask(c, cmd, k, p)
	default:
		cmd.Kind, cmd.Order = opt.OrderTasks, drawOrder(c, p)
	}
}

func fillForTask(c *choice, cmd *opt.Command, k int, p *opt.Plan) {
	cmd.TaskID = p.Tasks[c.pick(len(p.Tasks))].ID
	switch {
	case k < 9:
		cmd.Kind, cmd.Link, cmd.Follow = opt.LinkTask, "task-elsewhere", c.chance(2)
	case k < 11:
		to := []opt.TaskState{opt.TaskWorking, opt.TaskCompleted, opt.TaskFailed, opt.TaskInputRequired}
		cmd.Kind, cmd.Status, cmd.Text = opt.MoveTask, string(to[c.pick(4)]), "by hand"
	default:
		cmd.Kind = opt.CancelTask
	}
}

// drawOrder draws another order of tasks: two neighbours change places, or one waits for any others.
func drawOrder(c *choice, p *opt.Plan) (out []opt.TaskOrder) {
	of := func(t *opt.Task, before ...*opt.Task) {
		o := opt.TaskOrder{ID: t.ID, Dependencies: []string{}}
		for _, b := range before {
			o.Dependencies = append(o.Dependencies, b.ID)
		}
		out = append(out, o)
	}
	n := len(p.Tasks)
	i, swaps := c.pick(n), c.chance(2)
	if i+1 == n || !swaps {
		k := c.pick(n + 1)
		of(p.Tasks[i], p.Tasks[k:min(k+c.pick(3), n)]...)
		return out
	}
	first, second := p.Tasks[i], p.Tasks[i+1]
	of(second, p.Before(first)...)
	of(first, second)
	if i+2 < n && slices.Contains(p.Before(p.Tasks[i+2]), second) {
		of(p.Tasks[i+2], first)
	}
	return out
}

func (cs clients) anyRow(c *choice) *row {
	j := cs.w.journal
	return j.rows[j.order[c.pick(len(j.order))]]
}

func anyPlan(c *choice, o *opt.Objective) *opt.Plan {
	if len(o.Plans) == 0 {
		return nil
	}
	return o.Plans[c.pick(len(o.Plans))]
}
