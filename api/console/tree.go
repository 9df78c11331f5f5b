package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// The sizes of the drawing of a tree.
const (
	taskWidth, taskHeight = 190, 36
	planMargin            = 10
	planHead              = 28
	taskLetters           = 22 // of a name that fit a block
	titleLetters          = 80 // of a name in a title
)

type tree struct {
	W, H  int
	Lines string // between plans, as the data of a path
	Fresh string // likewise those that a draft adds
	Plans []treePlan
	Draft bool
}

type treePlan struct {
	treeTask
	Lines string // between its tasks
	Fresh string // likewise those that a draft adds
	Edges []treeEdge
	Tasks []treeTask
}

// A treeEdge is the line between two tasks, by their places, on which another one can be put in a draft.
type treeEdge struct {
	Line     string
	From, To int
}

// A treeTask is the drawing of a task, and what that of a plan has, too.
type treeTask struct {
	block
	Key, Path, Title, Name string
	Class                  string // of its state
	Optional               bool
	Mark                   string // "added" or "skipped" in a draft, "" for neither
	Free                   bool   // a draft can change what it waits for
	After                  string // their keys, if so
}

// treeOf returns the drawing of the plans of o, nil if it has none, whose blocks lead where to says by their keys. was is o before the changes
// of a draft, nil without one.
func treeOf(o *opt.Objective, to func(key string) string, was *opt.Objective) *tree {
	if len(o.Plans) == 0 {
		return nil
	}
	inner := make([]*drawing, len(o.Plans))
	blocks := make([]block, len(o.Plans))
	for i, p := range o.Plans {
		inner[i] = draw(slices.Repeat([]block{{W: taskWidth, H: taskHeight}}, len(p.Tasks)), placesBefore(p.Tasks, p.Before), gap{10, 26})
		blocks[i] = block{W: max(inner[i].W, taskWidth) + 2*planMargin, H: planHead + inner[i].H + planMargin}
	}
	outer := draw(blocks, placesBefore(o.Plans, o.Before), gap{12, 34})
	t := &tree{W: outer.W + 2, H: outer.H + 2, Draft: was != nil}
	was = cmp.Or(was, o)
	t.Lines, t.Fresh = outer.paths(1, 1, waited(was.Plans, was.Before))
	for i, p := range o.Plans {
		t.Plans = append(t.Plans, drawPlan(p, outer.Blocks[i].moved(1, 1), inner[i], to, was.Plan(p.ID)))
	}
	return t
}

// drawPlan returns the drawing of a plan in its block. was is the plan before the changes of a draft.
func drawPlan(p *opt.Plan, b block, inner *drawing, to func(key string) string, was *opt.Plan) treePlan {
	out := treePlan{treeTask: drawBlock(b, p.Name, (b.W-40)/8, shown.LookOfPlan(p), p.Optional())}
	out.Key, out.Path = keyOf(p.ID), to(keyOf(p.ID))
	x, y := b.X+(b.W-inner.W)/2, b.Y+planHead
	out.Lines, out.Fresh = inner.paths(x, y, waited(was.Tasks, was.Before))
	for i, t := range p.Tasks {
		drawn := drawBlock(inner.Blocks[i].moved(x, y), t.Name, taskLetters, shown.LookOfTask(t.State), t.Optional())
		drawn.Key, drawn.Path = keyOf(t.ID), to(keyOf(t.ID))
		out.Tasks = append(out.Tasks, drawn)
	}
	for _, way := range inner.ways {
		from, to := ends(way)
		out.Edges = append(out.Edges, treeEdge{inner.path(x, y, way), from, to})
	}
	return out
}

// waited reports, by places in a list of plans or tasks, whether one of them had to wait for another.
func waited[T comparable](all []T, before func(T) []T) func(from, to int) bool {
	return func(from, to int) bool {
		return max(from, to) < len(all) && slices.Contains(before(all[to]), all[from])
	}
}

// drawBlock returns the drawing of a plan or a task in its block, with as many letters of its name as fit.
func drawBlock(b block, name string, letters int, look shown.Look, optional bool) treeTask {
	name = a2a.Visible(name)
	return treeTask{block: b, Title: shorten(name, titleLetters) + ": " + look.Word + shown.When(optional, ", optional"), Name: shorten(name, letters), Class: string(look.Kind), Optional: optional}
}

// placesBefore lists, for each plan or task, the places in the list of those that must be done before it.
func placesBefore[T comparable](all []T, before func(T) []T) [][]int {
	out := make([][]int, len(all))
	for i, one := range all {
		for _, b := range before(one) {
			out[i] = append(out[i], slices.Index(all, b))
		}
	}
	return out
}

// A block is a rectangle of a drawing: where it is, once it has a place, and its size.
type block struct{ X, Y, W, H int }

func (b block) moved(x, y int) block { return block{b.X + x, b.Y + y, b.W, b.H} }

// A gap is the space between the blocks of a layer, and between layers.
type gap struct{ within, between int }

// A drawing has a place for each block, and a line for each pair of a block and one that
// comes after it. Lines go to the right only.
type drawing struct {
	Blocks []block // then the bends of long lines
	W, H   int
	ways   [][]int // of the lines: the blocks and bends on each

	gap   gap
	layer []int   // by block
	rows  [][]int // blocks by layer, from the top down
}

// draw places blocks, in layers from left to right, each to the right of all blocks that come before it. before lists
// these, by block; the order of blocks that do not depend on each other follows the list.
func draw(blocks []block, before [][]int, g gap) *drawing {
	d := &drawing{gap: g, Blocks: slices.Clone(blocks), layer: depths(before)}
	for to, list := range before {
		for _, from := range list {
			if d.layer[from] < d.layer[to] {
				d.ways = append(d.ways, d.join(from, to))
			}
		}
	}
	d.sort()
	d.place()
	return d
}

// ends returns from which block to which a way leads.
func ends(way []int) (from, to int) { return way[0], way[len(way)-1] }

// paths returns the lines that were kept, moved by x and y, as the data of an SVG path, and the others.
func (d *drawing) paths(x, y int, kept func(from, to int) bool) (yes, no string) {
	old := func(way []int) bool { return kept(ends(way)) }
	fresh := func(way []int) bool { return !old(way) }
	return d.path(x, y, filter(d.ways, old)...), d.path(x, y, filter(d.ways, fresh)...)
}

// depths returns the layer of each block: one after the last of those before it.
func depths(before [][]int) []int {
	out := make([]int, len(before))
	for range before { // the longest way has no more blocks
		for i, list := range before {
			for _, b := range list {
				out[i] = max(out[i], out[b]+1)
			}
		}
	}
	return out
}

// join returns the way from one block to another: one bend in each layer between.
func (d *drawing) join(from, to int) []int {
	way := []int{from}
	for layer := d.layer[from] + 1; layer < d.layer[to]; layer++ {
		way = append(way, len(d.Blocks))
		d.Blocks, d.layer = append(d.Blocks, block{H: 2}), append(d.layer, layer)
	}
	return append(way, to)
}

// sweeps is how often the order in the layers is improved, to the right and back.
const sweeps = 4

// sort orders the blocks of each layer by the middle of those that they are joined to, so that few lines cross.
func (d *drawing) sort() {
	d.rows = make([][]int, slices.Max(append(slices.Clone(d.layer), -1))+1)
	at := make([]float64, len(d.Blocks))
	for i, layer := range d.layer {
		at[i] = float64(len(d.rows[layer]))
		d.rows[layer] = append(d.rows[layer], i)
	}
	left, right := map[int][]int{}, map[int][]int{} // by block: those in the layer before and after that it is joined to
	for _, way := range d.ways {
		for i, b := range way[1:] {
			left[b], right[way[i]] = append(left[b], way[i]), append(right[way[i]], b)
		}
	}
	pass := func(row []int, joined map[int][]int) {
		middle := map[int]float64{}
		for _, i := range row {
			middle[i] = at[i]
			for n, j := range joined[i] {
				middle[i] += (at[j] - middle[i]) / float64(n+1)
			}
		}
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
		for n, i := range row {
			at[i] = float64(n) - float64(len(row)-1)/2 // rows are centred
		}
	}
	for range sweeps {
		for _, row := range d.rows {
			pass(row, left)
		}
		for _, row := range slices.Backward(d.rows) {
			pass(row, right)
		}
	}
}

// place gives each block its place, and the whole its size. Layers are centred.
func (d *drawing) place() {
	height := func(row []int) int {
		sum := d.gap.within * (len(row) - 1)
		for _, i := range row {
			sum += d.Blocks[i].H
		}
		return sum
	}
	for _, row := range d.rows {
		d.H = max(d.H, height(row))
	}
	for n, row := range d.rows {
		if n > 0 {
			d.W += d.gap.between
		}
		y, wide := (d.H-height(row))/2, 0
		for _, i := range row {
			b := &d.Blocks[i]
			b.X, b.Y = d.W, y
			y += b.H + d.gap.within
			wide = max(wide, b.W)
		}
		for _, i := range row {
			d.Blocks[i].W = cmp.Or(d.Blocks[i].W, wide) // lines pass bends straight on
		}
		d.W += wide
	}
}

// path returns lines, moved by x and y, as the data of an SVG path, with an arrowhead at each end. Between two layers a
// line runs in the gap alone.
func (d *drawing) path(x, y int, ways ...[]int) string {
	var b strings.Builder
	ends := map[block]bool{}
	for _, way := range ways {
		at := d.Blocks[way[0]]
		right, middle := at.X+at.W, at.Y+at.H/2
		fmt.Fprintf(&b, "M%d %d", right+x, middle+y)
		for _, i := range way[1:] {
			at = d.Blocks[i]
			if flat := at.X - d.gap.between - right; flat > 0 {
				fmt.Fprintf(&b, "h%d", flat)
				right += flat
			}
			on, across := at.X-right, at.Y+at.H/2-middle
			if across == 0 {
				fmt.Fprintf(&b, "h%d", on)
			} else {
				fmt.Fprintf(&b, "c%d 0 %d %d %d %d", on/2, on/2, across, on, across)
			}
			if right, middle = at.X+at.W, middle+across; i != way[len(way)-1] {
				fmt.Fprintf(&b, "h%d", at.W)
			}
		}
		if !ends[at] {
			ends[at] = true
			b.WriteString("m-5-3l5 3-5 3")
		}
	}
	return b.String()
}
