package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// compareCommand is "longhaul compare".
type compareCommand struct {
	remoteSettings
	A string `arg:"" help:"Id of an objective."`
	B string `arg:"" help:"Id of another one, such as a fork of it."`
}

func (c *compareCommand) Run(p *process.Process, r *remote) error {
	var sides [2]*side
	for i, text := range []string{c.A, c.B} {
		id, err := wholeID(p.Ctx, r, text)
		if err == nil {
			sides[i], err = sideOf(p.Ctx, r.client, id)
		}
		if err != nil {
			return err
		}
	}
	a, b := sides[0], sides[1]
	rows := [][]string{{a.objective.Name, a.summary(), b.summary()}}
	var diffs []string
	for _, place := range append(a.places, missingIn(a, b.places)...) {
		x, y := a.tasks[place], b.tasks[place]
		rows = append(rows, []string{"  " + place, x.cell(), y.cell()})
		if x.text != y.text && x.text != "" && y.text != "" {
			diffs = append(diffs, udiff.Unified(place+" of "+a.objective.ID, place+" of "+b.objective.ID, x.text+"\n", y.text+"\n"))
		}
	}
	process.WriteTable(p.Stdout, []string{"", a.objective.ID, b.objective.ID}, rows)
	for _, diff := range diffs {
		fmt.Fprint(p.Stdout, "\n"+a2a.Visible(diff))
	}
	return nil
}

// A side is one of two objectives.
type side struct {
	objective *client.Objective
	places    []string // plans and names of its tasks, in their order
	tasks     map[string]comparedTask
}

// A comparedTask is a task of a side. The zero value is one that the side does not have.
type comparedTask struct {
	state, after, used, text string
}

// sideOf reads an objective with the work on its tasks.
func sideOf(ctx context.Context, agent *client.Client, id string) (*side, error) {
	o, err := agent.GetObjective(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &side{objective: o, tasks: map[string]comparedTask{}}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			place := p.Name + " / " + t.Name
			for n := 2; s.tasks[place].state != ""; n++ {
				place = fmt.Sprintf("%s / %s (%d)", p.Name, t.Name, n)
			}
			if s.tasks[place], err = compared(ctx, agent, o, t); err != nil {
				return nil, err
			}
			s.places = append(s.places, place)
		}
	}
	return s, nil
}

func compared(ctx context.Context, agent *client.Client, o *client.Objective, t client.PlanTask) (comparedTask, error) {
	c := comparedTask{state: shown.LookOfTask(t.Status).Word, used: client.UsageIn(t.Metadata)}
	if t.Metadata.Has(opt.KeyTakenOver) {
		c.state = "taken over"
	}
	if ref, ok := opt.ParseID(t.A2ATaskID); !ok || ref.PlanID != t.PlanID { // it has not begun, or is done elsewhere
		return c, nil
	}
	task, err := agent.Get(ctx, t.A2ATaskID, 0)
	if err != nil {
		return c, err
	}
	if after := task.Status.At.Time().Sub(o.CreatedAt.Time()); task.Status.State.Terminal() && after > 0 && c.state != "taken over" {
		c.after = "after " + durationText(after)
	}
	var texts []string
	for _, made := range task.Artifacts {
		texts = append(texts, made.Text())
	}
	c.text = strings.TrimSpace(strings.Join(texts, "\n"))
	return c, nil
}

func (c comparedTask) cell() string { return joined(c.state, c.after, c.used) }

// summary returns the state, the time and the costs of all.
func (s *side) summary() string {
	took := s.objective.UpdatedAt.Time().Sub(s.objective.CreatedAt.Time())
	return joined(lookOf(s.objective).Word, durationText(max(0, took)), client.UsageIn(s.objective.Metadata))
}

func joined(words ...string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, ", ")
}

// missingIn lists the places that a side does not have.
func missingIn(s *side, places []string) (out []string) {
	for _, place := range places {
		if s.tasks[place].state == "" {
			out = append(out, place)
		}
	}
	return out
}
