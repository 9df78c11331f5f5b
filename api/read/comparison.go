package read

import (
	"context"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// CompareParams are the params of CompareObjectives.
type CompareParams struct {
	ID   string `param:"id,needed"`
	With string `param:"with,needed"`
}

// mostCompared is how much text of a task is shown, in bytes.
const mostCompared = 64 << 10

// Comparisons show two objectives side by side.
type Comparisons struct{ Read Reader }

// CompareObjectives returns what two objectives have done at tasks of the same names.
func (s Comparisons) CompareObjectives(ctx context.Context, c *call.Call, p CompareParams) (wire.Comparison, error) {
	a, err := s.side(ctx, c, p.ID)
	if err != nil {
		return wire.Comparison{}, err
	}
	b, err := s.side(ctx, c, p.With)
	out := wire.Comparison{A: a.objective, B: b.objective, Tasks: []wire.ComparedTask{}}
	for _, place := range append(a.places, b.places...) {
		if a.work[place] != nil || b.work[place] != nil {
			out.Tasks = append(out.Tasks, wire.ComparedTask{Place: place, A: a.work[place], B: b.work[place]})
		}
		delete(a.work, place) // it is listed
		delete(b.work, place)
	}
	return out, err
}

// A side is one of the two objectives.
type side struct {
	objective wire.ComparedObjective
	places    []string // of its tasks, in their order
	work      map[string]*wire.ComparedWork
}

func (s Comparisons) side(ctx context.Context, c *call.Call, id string) (side, error) {
	o, err := s.Read.Objective(ctx, c, id)
	if err != nil {
		return side{}, err
	}
	took := o.UpdatedAt.Time().Sub(o.CreatedAt.Time())
	out := side{wire.ComparedObjective{ID: o.ID, Name: o.Name, State: shown.LookOf(o).Word, Seconds: took.Seconds(), Usage: wire.UsageOf(o.Used)}, nil, map[string]*wire.ComparedWork{}}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			place := p.Name + " / " + t.Name
			for n := 2; out.work[place] != nil; n++ {
				place = fmt.Sprintf("%s / %s (%d)", p.Name, t.Name, n)
			}
			out.places = append(out.places, place)
			if out.work[place], err = s.work(ctx, c, o, t); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// work returns what an objective has done at a task. One that has not begun, or is done elsewhere, has
// its state alone.
func (s Comparisons) work(ctx context.Context, c *call.Call, o *opt.Objective, t *opt.Task) (*wire.ComparedWork, error) {
	w := &wire.ComparedWork{TaskID: t.A2AID(), State: shown.LookOfTask(t.State).Word, Usage: wire.UsageOf(t.Used)}
	if t.Taken != nil {
		w.State = "taken over"
	}
	if ref, ok := opt.ParseID(w.TaskID); !ok || ref.ObjectiveID != o.ID || t.State == opt.TaskPending {
		return w, nil
	}
	v, err := s.Read.Task(ctx, c, w.TaskID, shown.TaskWant{Artifacts: true})
	if err != nil {
		return nil, err
	}
	task, err := s.Read.Show(ctx, c, v)
	if v.Decided != nil {
		w.Decided = v.Decided.Who()
	}
	if t.Taken == nil && task.Status.State.Terminal() {
		w.Seconds = max(0, task.Status.At.Time().Sub(o.CreatedAt.Time()).Seconds())
	}
	w.Text = textOf(task.Artifacts)
	return w, err
}

// textOf returns the beginning of the text of artifacts.
func textOf(list []a2a.Artifact) string {
	var texts []string
	for _, made := range list {
		texts = append(texts, made.Text())
	}
	text := strings.TrimSpace(strings.Join(texts, "\n"))
	if len(text) > mostCompared {
		text = strings.ToValidUTF8(text[:mostCompared], "") + "…"
	}
	return text
}
