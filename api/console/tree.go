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

// A tree is the drawing of the plans and tasks of an objective.
type tree struct {
	W, H  int
	Lines string // between plans, as the data of a path
	Fresh string // likewise those that a draft adds
	Plans []treePlan
	Draft bool
}

// A treePlan is the drawing of a plan.
type treePlan struct {
	treeTask
	Lines string // between its tasks
	Fresh string // likewise those that a draft adds
	Edges []treeEdge
	Tasks []treeTask
}

// A treeEdge is the line between two tasks of a draft, by their places, on which another one can be put.
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
	inner := make([]drawing, len(o.Plans))
	blocks := make([]block, len(o.Plans))
	for i, p := range o.Plans {
		inner[i] = draw(slices.Repeat([]block{{W: taskWidth, H: taskHeight}}, len(p.Tasks)), placesBefore(p.Tasks, p.Before), gap{10, 26})
		blocks[i] = block{W: max(inner[i].W, taskWidth) + 2*planMargin, H: planHead + inner[i].H + planMargin}
	}
	outer := draw(blocks, placesBefore(o.Plans, o.Before), gap{12, 34})
	t := &tree{W: outer.W + 2, H: outer.H + 2, Draft: was != nil}
	t.Lines, t.Fresh = outer.paths(1, 1, func(from, to int) bool {
		return was == nil || slices.Contains(was.Before(was.Plans[to]), was.Plans[from])
	})
	for i, p := range o.Plans {
		var former *opt.Plan
		if was != nil {
			former = was.Plan(p.ID)
		}
		t.Plans = append(t.Plans, drawPlan(p, outer.Blocks[i].moved(1, 1), inner[i], to, former))
	}
	return t
}

// drawPlan returns the drawing of a plan in its block. In a draft, where was is the plan before its changes, it shows
// which lines were not there, and where tasks can be put between others.
func drawPlan(p *opt.Plan, b block, inner drawing, to func(key string) string, was *opt.Plan) treePlan {
	out := treePlan{treeTask: drawBlock(b, p.Name, (b.W-40)/8, shown.LookOfPlan(p), p.Optional())}
	out.Key, out.Path = keyOf(p.ID), to(keyOf(p.ID))
	x, y := b.X+(b.W-inner.W)/2, b.Y+planHead
	out.Lines, out.Fresh = inner.paths(x, y, func(from, to int) bool {
		return was == nil || max(from, to) < len(was.Tasks) && slices.Contains(was.Before(was.Tasks[to]), was.Tasks[from])
	})
	for i, t := range p.Tasks {
		drawn := drawBlock(inner.Blocks[i].moved(x, y), t.Name, taskLetters, shown.LookOfTask(t.State), t.Optional())
		drawn.Key, drawn.Path = keyOf(t.ID), to(keyOf(t.ID))
		out.Tasks = append(out.Tasks, drawn)
	}
	for i, ends := range inner.Ends {
		if was != nil {
			out.Edges = append(out.Edges, treeEdge{pathOf(inner.Lines[i:i+1], x, y), ends[0], ends[1]})
		}
	}
	return out
}

// drawBlock returns the drawing of a plan or a task in its block, with as many letters of its name as fit.
func drawBlock(b block, name string, letters int, look shown.Look, optional bool) treeTask {
	name = a2a.Visible(name)
	out := treeTask{block: b, Title: shorten(name, titleLetters) + ": " + look.Word, Name: shorten(name, letters), Class: string(look.Kind), Optional: optional}
	if optional {
		out.Title += ", optional"
	}
	return out
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

// A point is a place in a drawing.
type point struct{ X, Y int }

// A drawing has a place for each block, and a line for each pair of a block and one that
// comes after it. Lines go to the right only.
type drawing struct {
	Blocks []block
	Lines  [][]point
	Ends   [][2]int // of the lines: from which block to which
	W, H   int
}

// paths returns the lines that were kept, moved by x and y, as the data of an SVG path, and the others.
func (d drawing) paths(x, y int, kept func(from, to int) bool) (yes, no string) {
	var lines [2][][]point
	for i, line := range d.Lines {
		fresh := 0
		if !kept(d.Ends[i][0], d.Ends[i][1]) {
			fresh = 1
		}
		lines[fresh] = append(lines[fresh], line)
	}
	return pathOf(lines[0], x, y), pathOf(lines[1], x, y)
}

// A gap is the space between the blocks of a layer, and between layers.
type gap struct{ within, between int }

// layers places blocks, each to the right of all blocks that come before it.
type layers struct {
	gap    gap
	blocks []block // the drawing's, then the bends of long lines
	layer  []int
	left   [][]int // by block: those in the layer before that it is joined to
	right  [][]int
	rows   [][]int // blocks by layer, from the top down
}

// draw places blocks, in layers from left to right. before lists, by block, those that come before it; the order of
// blocks that do not depend on each other follows the list.
func draw(blocks []block, before [][]int, g gap) drawing {
	l := &layers{gap: g, blocks: slices.Clone(blocks), layer: depths(before), left: make([][]int, len(blocks)), right: make([][]int, len(blocks))}
	var ways [][]int // of the lines: the blocks and bends on it
	for to, list := range before {
		for _, from := range list {
			if l.layer[from] < l.layer[to] {
				ways = append(ways, l.join(from, to))
			}
		}
	}
	l.sort()
	w, h := l.place()
	d := drawing{Blocks: l.blocks[:len(blocks)], W: w, H: h}
	for _, way := range ways {
		d.Lines, d.Ends = append(d.Lines, l.line(way)), append(d.Ends, [2]int{way[0], way[len(way)-1]})
	}
	return d
}

// depths returns the layer of each block: one after the last of those before it. Of
// blocks in a cycle, which no valid plan has, one counts as the first.
func depths(before [][]int) []int {
	out, seen := make([]int, len(before)), make([]bool, len(before))
	var visit func(i int) int
	visit = func(i int) int {
		if seen[i] {
			return out[i]
		}
		seen[i] = true
		for _, b := range before[i] {
			out[i] = max(out[i], visit(b)+1)
		}
		return out[i]
	}
	for i := range before {
		visit(i)
	}
	return out
}

// join returns the way from one block to another: one bend in each layer between.
func (l *layers) join(from, to int) []int {
	way := []int{from}
	for layer := l.layer[from] + 1; layer < l.layer[to]; layer++ {
		way = append(way, len(l.blocks))
		l.blocks, l.layer = append(l.blocks, block{H: 2}), append(l.layer, layer)
		l.left, l.right = append(l.left, nil), append(l.right, nil)
	}
	way = append(way, to)
	for i := 1; i < len(way); i++ {
		a, b := way[i-1], way[i]
		l.right[a], l.left[b] = append(l.right[a], b), append(l.left[b], a)
	}
	return way
}

// sweeps is how often the order in the layers is improved, to the right and back.
const sweeps = 4

// sort orders the blocks of each layer by the middle of those that they are joined to,
// so that few lines cross.
func (l *layers) sort() {
	l.rows = make([][]int, slices.Max(append(slices.Clone(l.layer), -1))+1)
	at := make([]float64, len(l.blocks))
	for i, layer := range l.layer {
		at[i] = float64(len(l.rows[layer]))
		l.rows[layer] = append(l.rows[layer], i)
	}
	pass := func(row []int, joined [][]int) {
		middle := map[int]float64{}
		for _, i := range row {
			sum := 0.0
			for _, j := range joined[i] {
				sum += at[j]
			}
			if middle[i] = at[i]; len(joined[i]) > 0 {
				middle[i] = sum / float64(len(joined[i]))
			}
		}
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
		for n, i := range row {
			at[i] = float64(n) - float64(len(row)-1)/2 // rows are centred
		}
	}
	for range sweeps {
		for _, row := range l.rows {
			pass(row, l.left)
		}
		for _, row := range slices.Backward(l.rows) {
			pass(row, l.right)
		}
	}
}

// place gives each block its place, and returns the size of the whole. Layers are
// centred.
func (l *layers) place() (w, h int) {
	height := func(row []int) int {
		sum := l.gap.within * (len(row) - 1)
		for _, i := range row {
			sum += l.blocks[i].H
		}
		return sum
	}
	for _, row := range l.rows {
		h = max(h, height(row))
	}
	for n, row := range l.rows {
		if n > 0 {
			w += l.gap.between
		}
		y, wide := (h-height(row))/2, 0
		for _, i := range row {
			b := &l.blocks[i]
			b.X, b.Y = w, y
			y += b.H + l.gap.within
			wide = max(wide, b.W)
		}
		for _, i := range row {
			if l.blocks[i].W == 0 {
				l.blocks[i].W = wide // lines pass bends straight on
			}
		}
		w += wide
	}
	return w, h
}

// line returns the points of a way. Between two layers a line runs in the gap alone.
func (l *layers) line(way []int) []point {
	var out []point
	for n, i := range way {
		b := l.blocks[i]
		y := b.Y + b.H/2
		if n > 0 {
			out = append(out, point{b.X, y})
		}
		if n == len(way)-1 {
			break
		}
		out = append(out, point{b.X + b.W, y})
		if end := l.blocks[way[n+1]].X - l.gap.between; end > b.X+b.W {
			out = append(out, point{end, y})
		}
	}
	return out
}

// pathOf returns lines, moved by x and y, as the data of an SVG path, with an arrowhead at
// each end.
func pathOf(lines [][]point, x, y int) string {
	var b strings.Builder
	ends := map[point]bool{}
	for _, line := range lines {
		for i, p := range line {
			switch {
			case i == 0:
				fmt.Fprintf(&b, "M%d %d", p.X+x, p.Y+y)
			case line[i-1].Y == p.Y:
				fmt.Fprintf(&b, "h%d", p.X-line[i-1].X)
			default:
				on, across := p.X-line[i-1].X, p.Y-line[i-1].Y
				fmt.Fprintf(&b, "c%d 0 %d %d %d %d", on/2, on/2, across, on, across)
			}
		}
		if end := line[len(line)-1]; !ends[end] {
			ends[end] = true
			b.WriteString("m-5-3l5 3-5 3")
		}
	}
	return b.String()
}
