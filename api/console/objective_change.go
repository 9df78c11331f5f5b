package console

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"longhaul/api/call"
	"longhaul/api/work"
	"longhaul/opt"
)

// A change is a form that was sent, about an objective or a part of it.
type change struct {
	*visit
	objectiveID string
	button      string // which button
	revision    int64
	at          spot     // the page that is shown again if the change is refused
	next        spot     // the page that is shown if it is made
	said        []string // more fields of the address of that, names and values in turn
	unconfirmed int      // plans that had not confirmed it
	made        int      // steps of a draft that were carried out before it was refused

	fault  *call.Fault // why it was refused
	reused bool        // it was sent before with other contents, as from another tab
}

// errForm is the fault of a form without the fields that all forms have.
var errForm = call.InvalidField("form", "is incomplete: open the page again")

// errAction is the fault of a form whose button no page has.
var errAction = call.InvalidField("do", "names no change")

// changing returns what makes the change that a form on the page of an objective asks for, or on that of the plan
// or task that the path of the form names. A form that is refused shows its page again, to callers who may read it.
func changing(apply func(*change) error) func(*visit) (view, error) {
	return func(v *visit) (view, error) {
		v.call.OfOPT = true
		c := &change{visit: v, objectiveID: v.r.PathValue("id"), button: v.field("do"), at: spotOf(v.r)}
		for _, part := range []string{"plan", "task"} {
			if key := v.r.PathValue(part); key != "" {
				c.at = c.at.with(part, key)
			}
		}
		c.next = c.at.sent()
		var err error
		key := v.field("key")
		if c.revision, err = strconv.ParseInt(v.field("revision"), 10, 64); err != nil || key == "" || len(key) > 100 || c.revision <= 0 {
			return view{}, errForm
		}
		v.call.Key, v.call.KeyField = key+":"+c.button, "key"
		return v.submit(func() (string, error) {
			if err = apply(c); c.unconfirmed > 0 {
				c.said = append(c.said, "unconfirmed", strconv.Itoa(c.unconfirmed))
			}
			return c.next.At(c.next.base, append(c.said, "done", c.button)...), err
		}, func(f *call.Fault) (view, error) {
			if f.Kind != call.InvalidState && f.Kind != call.InvalidParams && f.Kind != call.Unavailable {
				return view{}, f
			}
			c.fault, c.reused = f, errors.Is(err, opt.ErrConflict)
			return objectiveView(v, c.at, c)
		})
	}
}

// perform makes a change of the objective as it was seen.
func (c *change) perform(cmd opt.Command) error {
	cmd.ObjectiveID, cmd.Seen = c.objectiveID, c.revision
	n, err := c.cfg.Service.Work.Perform(c.r.Context(), c.call, cmd)
	c.unconfirmed += n
	return err
}

// changeState makes the change of a button of an objective, or of one of its plans or tasks.
func changeState(c *change) error {
	id, kind := c.objectiveID, "obj-"
	for _, part := range []string{"plan", "task"} {
		if key := c.r.PathValue(part); key != "" {
			id, kind = idOf(id, key), part+"-"
		}
	}
	if _, ok := opt.ParseID(id); !ok || !strings.HasPrefix(id, kind) {
		return opt.ErrUnknown
	}
	all := buttonsOf(id)
	i := slices.IndexFunc(all, func(b button) bool { return b.Do == c.button })
	if i < 0 {
		return errAction
	}
	if err := c.perform(all[i].command(id)); err != nil || id != c.objectiveID || c.button != "retry" {
		return err
	}
	c.call.Key += ":start" // the new attempt waits until it is started
	c.revision = 0
	fault := c.cfg.Service.Guard(c.call, func() error {
		return c.perform(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)})
	})
	if fault != nil { // the attempt stays
		c.said = append(c.said, missedField, missedStart)
	}
	return nil
}

// changeText changes the name and the description of an objective.
func changeText(c *change) error {
	return c.perform(opt.Command{Kind: opt.UpdateObjective, Change: &opt.Change{Name: new(c.trimmed("name")), Description: new(c.trimmed("description"))}})
}

// replan makes the planner replace the open plans.
func replan(c *change) error {
	return c.perform(opt.Command{Kind: opt.Replan, Text: c.field("reason")})
}

// fork starts another objective from an event of this one, and shows it.
func fork(c *change) error {
	p := work.ForkParams{ID: c.objectiveID, Message: c.trimmed("message"), Repeat: c.field("repeat") != ""}
	if text := c.trimmed("at"); text != "" {
		var err error
		if p.At, err = strconv.Atoi(text); err != nil || p.At < 1 {
			return call.InvalidField("at", "is not the number of an event")
		}
	}
	made, err := c.cfg.Service.Forks.ForkObjective(c.r.Context(), c.call, p)
	if err == nil {
		c.next = spot{objectivePath(made.ID), listing{url.Values{}}}
	}
	return err
}

// addPlan adds a plan with tasks, one for each line.
func addPlan(c *change) error {
	after := func(key string) string { return idOf(c.objectiveID, key) }
	spec := opt.PlanSpec{Name: c.trimmed("name"), Description: c.trimmed("description"), Dependencies: append([]string{}, each(c.r.PostForm["after"], after)...)}
	if c.field("optional") != "" {
		spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
	}
	for line := range strings.Lines(c.field("tasks")) {
		if name := strings.TrimSpace(line); name != "" {
			spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: name})
		}
	}
	return c.perform(opt.Command{Kind: opt.CreatePlan, Plan: &spec})
}

// sendDraft makes the changes of a draft, one after another. Those that were made are no longer in
// it if one is refused.
func sendDraft(c *change) error {
	o, err := c.objective(c.objectiveID)
	if err != nil {
		return err
	}
	d, lines := draftOf(forms{visit: c.visit, o: o}, c.at)
	if slices.ContainsFunc(lines, draftLine.refused) && o.Revision == c.revision {
		return errAction
	}
	key, steps := c.call.Key, slices.Clone(c.at.Values["step"])
	for _, a := range d.commands() {
		c.call.Key = key + ":" + strconv.FormatInt(c.revision, 10)
		if err := c.perform(a.Command); err != nil {
			return err
		}
		for _, i := range a.steps {
			if steps[i] != "" {
				steps[i] = ""
				c.made++
			}
		}
		c.revision++
		left := slices.DeleteFunc(slices.Clone(steps), func(text string) bool { return text == "" })
		c.at = c.at.stepping(left).with("draft", numberText(c.revision))
	}
	return nil
}
