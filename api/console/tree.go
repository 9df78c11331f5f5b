package console

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// The sizes of the drawing of a tree. Two tasks side by side fit a phone.
const (
	taskWidth, taskHeight = 150, 36
	planMargin            = 8
	planHead              = 28
	taskLetters           = 17 // of a name that fit a block
	titleLetters          = 80 // of a name in a title
)

// A tree is the drawing of the plans and tasks of an objective.
type tree struct {
	W, H  int
	Lines string // between plans, as the data of a path
	Plans []treePlan
}

// A treePlan is the drawing of a plan.
type treePlan struct {
	block
	Key, Title, Name string
	Class            string // of its state
	Optional         bool
	Lines            string // between its tasks
	Tasks            []treeTask
}

// A treeTask is the drawing of a task.
type treeTask struct {
	X, Y             int
	Key, Title, Name string
	Class            string
	Optional         bool
}

// Left and Base are where the name of the plan begins, Top where its mark does.
func (p treePlan) Left() int { return p.X + 26 }
func (p treePlan) Base() int { return p.Y + 19 }
func (p treePlan) Top() int  { return p.Y - 3 }

// Left and Base are where the name of the task begins.
func (t treeTask) Left() int { return t.X + 28 }
func (t treeTask) Base() int { return t.Y + 22 }

// treeOf returns the drawing of the plans of o, nil if it has none.
func treeOf(o *opt.Objective) *tree {
	if len(o.Plans) == 0 {
		return nil
	}
	inner := make([]drawing, len(o.Plans))
	blocks := make([]block, len(o.Plans))
	for i, p := range o.Plans {
		inner[i] = drawTasks(p)
		blocks[i] = block{W: max(inner[i].W, taskWidth) + 2*planMargin, H: planHead + inner[i].H + planMargin}
	}
	outer := draw(blocks, plansBefore(o), gap{10, 26})
	t := &tree{W: outer.W + 2, H: outer.H + 2, Lines: pathOf(outer.Lines, 1, 1)}
	for i, p := range o.Plans {
		b := outer.Blocks[i]
		b.X, b.Y = b.X+1, b.Y+1
		t.Plans = append(t.Plans, drawPlan(p, b, inner[i]))
	}
	return t
}

// drawPlan returns the drawing of a plan in its block.
func drawPlan(p *opt.Plan, b block, inner drawing) treePlan {
	look := shown.LookOfPlan(p)
	letters := (b.W - 40) / 8
	out := treePlan{
		block: b, Key: planKey(p), Title: titleOf(p.Name, look.Word, p.Optional()), Name: shorten(a2a.Visible(p.Name), letters),
		Class: string(look.Kind), Optional: p.Optional(),
	}
	x, y := b.X+(b.W-inner.W)/2, b.Y+planHead
	out.Lines = pathOf(inner.Lines, x, y)
	for i, t := range p.Tasks {
		at, look := inner.Blocks[i], shown.LookOfTask(t.State)
		out.Tasks = append(out.Tasks, treeTask{
			X: at.X + x, Y: at.Y + y, Key: taskKey(t), Title: titleOf(t.Name, look.Word, t.Optional()),
			Name: shorten(a2a.Visible(t.Name), taskLetters), Class: string(look.Kind), Optional: t.Optional(),
		})
	}
	return out
}

func titleOf(name, state string, optional bool) string {
	out := shorten(a2a.Visible(name), titleLetters) + ": " + state
	if optional {
		out += ", optional"
	}
	return out
}

// drawTasks places the tasks of a plan.
func drawTasks(p *opt.Plan) drawing {
	blocks, before := make([]block, len(p.Tasks)), make([][]int, len(p.Tasks))
	for i, t := range p.Tasks {
		blocks[i] = block{W: taskWidth, H: taskHeight}
		for _, b := range p.Before(t) {
			before[i] = append(before[i], slices.Index(p.Tasks, b))
		}
	}
	return draw(blocks, before, gap{10, 20})
}

// plansBefore lists, for each plan, those that must be done before it.
func plansBefore(o *opt.Objective) [][]int {
	out := make([][]int, len(o.Plans))
	for i, p := range o.Plans {
		for _, b := range o.Before(p) {
			out[i] = append(out[i], slices.Index(o.Plans, b))
		}
	}
	return out
}
