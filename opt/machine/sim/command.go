package sim

import (
	"fmt"
	"slices"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// sendCommand has a client send a random command that fits the state in the
// journal.
func (w clients) sendCommand(c *choice) {
	r := w.anyRow(c)
	o := &r.objective
	w.n2++
	cmd := opt.Command{ID: fmt.Sprintf("c%d", w.n2), Digest: "d", Principal: "alice", ObjectiveID: o.ID}
	w.fill(c, &cmd, o)
	if c.chance(6) {
		cmd.Seen = o.Revision
	}
	switch c.pick(8) {
	case 6:
		cmd.Deadline = w.apiTime(5000)
	case 7:
		cmd.Deadline = w.apiTime(50)
	}
	w.sendThis(cmd)
}

// sendThis sends a command as the API does.
func (w clients) sendThis(cmd opt.Command) {
	r := w.journal.rows[cmd.ObjectiveID]
	o := &r.objective
	call := &call{begunAt: w.now, objectiveID: o.ID, to: o.ID, command: &cmd, attempt: o.Attempt}
	cmd.Attempt = 0
	if r.closed && machine.Admit(o, cmd) != nil {
		return // the API refuses it early
	}
	if r.closed {
		call.attempt++
		r.kept, w.facts.asked[o.ID] = w.now, w.now
	}
	if mayBegin(cmd) {
		cmd.Attempt = call.attempt
	}
	if begins(cmd, o) {
		call.ahead = w.journal.reserve(o.ContextID, o.ID, call.attempt, w.apiTime(0))
		cmd.QueuedAt = call.ahead.since
		call.queued = !cmd.QueuedAt.IsZero()
	}
	w.logf("a client sends command %s for %s: %s, queued %v", cmd.ID, w.name(o.ID), describe(cmd), call.queued)
	w.send(call)
}

// begins reports whether a command begins work on an objective that does none.
func begins(c opt.Command, o *opt.Objective) bool {
	return mayBegin(c) && (!o.Started || o.Status.Ended())
}

// mayBegin reports whether a command is one that may begin work.
func mayBegin(c opt.Command) bool {
	switch c.Kind {
	case opt.UpdateObjective:
		return c.Starts()
	case opt.UpdatePlan:
		return opt.PlanStatus(c.Status) == opt.PlanWorking
	}
	return c.Kind == opt.Replan || c.Kind == opt.CreatePlan && c.Start
}

// fill draws what a command asks for.
func (w clients) fill(c *choice, cmd *opt.Command, o *opt.Objective) {
	name := "named by " + cmd.ID
	p := anyPlan(c, o)
	k := c.pick(24)
	if p == nil && k >= 12 {
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
		spec := w.plans(c, 1)[0]
		spec.Name = name
		cmd.Plan = &spec
	default:
		cmd.PlanID = p.ID
		w.fillForPlan(c, cmd, o, p)
	}
}

func (w clients) fillForPlan(c *choice, cmd *opt.Command, o *opt.Objective, p *opt.Plan) {
	name := "named by " + cmd.ID
	k := c.pick(12)
	if len(p.Tasks) == 0 && k >= 7 {
		k = 6
	}
	if k >= 7 {
		cmd.TaskID = p.Tasks[c.pick(len(p.Tasks))].ID
	}
	switch {
	case k < 4:
		to := []opt.PlanStatus{opt.PlanBlocked, opt.PlanWorking, opt.PlanSkipped, opt.PlanPending, opt.PlanCompleted, opt.PlanFailed}
		cmd.Kind, cmd.Status = opt.UpdatePlan, string(to[c.pick(6)])
	case k == 4:
		cmd.Kind, cmd.Change = opt.UpdatePlan, &opt.Change{Name: &name}
	case k == 5:
		cmd.Kind, cmd.Change = opt.UpdatePlan, &opt.Change{Dependencies: []string{o.Plans[c.pick(len(o.Plans))].ID}[c.pick(2):]}
	case k < 8 && cmd.TaskID == "":
		cmd.Kind, cmd.Tasks = opt.AddTasks, []opt.TaskSpec{{Name: name}, {Name: name, Dependencies: [][]string{nil, {}, {"task-0"}}[c.pick(3)]}}
	case k < 9:
		cmd.Kind, cmd.Link, cmd.Follow = opt.LinkTask, "task-elsewhere", c.chance(2)
	case k < 11:
		to := []opt.TaskState{opt.TaskWorking, opt.TaskCompleted, opt.TaskFailed, opt.TaskInputRequired}
		cmd.Kind, cmd.Status, cmd.Text = opt.MoveTask, string(to[c.pick(4)]), "by hand"
	default:
		cmd.Kind = opt.CancelTask
	}
}

// describe describes a command.
func describe(c opt.Command) string {
	out := string(c.Kind)
	for _, s := range []string{c.Status, c.PlanID, c.TaskID} {
		if s != "" {
			out += " " + s
		}
	}
	if c.Change != nil && c.Change.Dependencies != nil {
		out += " dependencies " + fmt.Sprint(c.Change.Dependencies)
	}
	if c.Plan != nil {
		out += " " + plansText([]opt.PlanSpec{*c.Plan})
	}
	if c.Start {
		out += " start"
	}
	if c.Seen > 0 {
		out += fmt.Sprintf(" seen %d", c.Seen)
	}
	if !c.Deadline.IsZero() {
		out += " until " + c.Deadline.String()
	}
	return out
}

// plansText describes plans.
func plansText(plans []opt.PlanSpec) string {
	var out []string
	for _, p := range plans {
		text := fmt.Sprintf("%q", p.Name)
		if p.Dependencies != nil {
			text += fmt.Sprintf(" after %v", p.Dependencies)
		}
		if p.Metadata.Bool(opt.KeyOptional) {
			text += " optional"
		}
		for _, t := range p.Tasks {
			kind := "task"
			if t.Ask != nil {
				kind = "gate"
			}
			text += fmt.Sprintf(" [%s attempts %d after %v optional %v]", kind, t.Attempts, t.Dependencies, t.Metadata.Bool(opt.KeyOptional))
		}
		out = append(out, text)
	}
	return fmt.Sprint(slices.Clip(out))
}
