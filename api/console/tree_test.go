package console_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

var update = flag.Bool("update", false, "write the golden files again")

// shapes are objectives whose drawings are kept in testdata.
var shapes = map[string][]opt.PlanSpec{
	"small": {{Name: "First", Tasks: tasksNamed("A", "B")}, {Name: "Second with a name that is too long for its block", Tasks: tasksNamed("漢字の長い名前を持つ仕事です")}},
	"fan": {
		{Name: "Gather", Tasks: []opt.TaskSpec{
			{Name: "Begin"}, {Name: "Left", Dependencies: []string{"task-0"}}, {Name: "Middle", Dependencies: []string{"task-0"}},
			{Name: "Right", Dependencies: []string{"task-0"}}, {Name: "Far right", Dependencies: []string{"task-3"}},
			{Name: "End", Dependencies: []string{"task-0", "task-1", "task-2", "task-4"}},
		}},
		{Name: "Check", Dependencies: []string{}, Tasks: tasksNamed("Look")},
		{Name: "Publish", Dependencies: []string{"plan-0", "plan-1"}},
		{Name: "Archive", Dependencies: []string{"plan-0", "plan-2"}, Tasks: tasksNamed("Store")},
	},
	"fifty": {{Name: "Large", Tasks: fifty()}},
}

// fifty returns 50 tasks, each of which waits for up to three before it.
func fifty() (out []opt.TaskSpec) {
	for i := range 50 {
		t := opt.TaskSpec{Name: fmt.Sprint("Task ", i), Dependencies: []string{}}
		for _, b := range []int{i / 2, i - 7, i - 13} {
			if b >= 0 && b < i && i > 2 {
				t.Dependencies = append(t.Dependencies, opt.TaskPlace(b))
			}
		}
		out = append(out, t)
	}
	return out
}

var (
	drawingForm = regexp.MustCompile(`(?s)<svg class="tree".*</svg>`)
	nodeForm    = regexp.MustCompile(`<a href="\?task=[^"]*" id="n([\d-]+)"[^>]*><title>[^<]*</title><use href="#n-[a-z]+" x="(\d+)" y="(\d+)"/>`)
	groupForm   = regexp.MustCompile(`<a href="\?plan=[^"]*" id="n(\d+)" class="plan[^>]*><title>[^<]*</title><rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"`)
	pathForm    = regexp.MustCompile(`<path d="(M[^"]*)"/>`)
	sizeForm    = regexp.MustCompile(`<svg class="tree" width="(\d+)" height="(\d+)"`)
)

// A rectangle is a block of a drawing.
type rectangle struct {
	id         string
	x, y, w, h int
}

func rectangles(form *regexp.Regexp, svg string, w, h int) (out []rectangle) {
	for _, m := range form.FindAllStringSubmatch(svg, -1) {
		n := numbers(m[2:])
		if len(n) == 2 {
			n = append(n, w, h)
		}
		out = append(out, rectangle{m[1], n[0], n[1], n[2], n[3]})
	}
	return out
}

func numbers(texts []string) (out []int) {
	for _, text := range texts {
		n, _ := strconv.Atoi(text) // the form has digits only
		out = append(out, n)
	}
	return out
}

func (r rectangle) overlaps(o rectangle) bool {
	return r.x < o.x+o.w && o.x < r.x+r.w && r.y < o.y+o.h && o.y < r.y+r.h
}

func (r rectangle) holds(o rectangle) bool {
	return r.x <= o.x && r.y <= o.y && r.x+r.w >= o.x+o.w && r.y+r.h >= o.y+o.h
}

func TestTree(t *testing.T) {
	for name, plans := range shapes {
		t.Run(name, func(t *testing.T) {
			s, id := planned(t, plans...)
			svg := drawingForm.FindString(s.signedIn(t, "acme/ann").get("/console/objectives/" + id + "?view=graph").html)
			golden := filepath.Join("testdata", "tree-"+name+".svg")
			if *update {
				test.OK(t, os.WriteFile(golden, []byte(svg+"\n"), 0o644))
			}
			want := test.Value(os.ReadFile(golden))(t)
			test.Equal(t, "the drawing differs: look at it, and run the test with -args -update", strings.TrimSpace(string(want)), svg)
			tasks, groups := rectangles(nodeForm, svg, 190, 36), rectangles(groupForm, svg, 0, 0)
			separate(t, tasks)
			separate(t, groups)
			size := numbers(sizeForm.FindStringSubmatch(svg)[1:])
			for i, p := range plans {
				if !(rectangle{w: size[0], h: size[1]}).holds(groups[i]) {
					t.Errorf("plan %d is outside of the drawing", i)
				}
				for range p.Tasks {
					if !groups[i].holds(tasks[0]) {
						t.Errorf("task %s is outside of plan %d", tasks[0].id, i)
					}
					tasks = tasks[1:]
				}
			}
			test.Is(t, "tasks are in no plan", 0, len(tasks))
			edges(t, svg, rectangles(nodeForm, svg, 190, 36), plans)
		})
	}
}

// separate checks that no two blocks overlap.
func separate(t *testing.T, list []rectangle) {
	t.Helper()
	for i, a := range list {
		for _, b := range list[:i] {
			if a.overlaps(b) {
				t.Errorf("%s overlaps %s: %v, %v", a.id, b.id, a, b)
			}
		}
	}
}

var stepForm = regexp.MustCompile(`M(\d+) (\d+)|h(-?\d+)|c\d+ 0 \d+ -?\d+ (-?\d+) (-?\d+)|m-5-3l5 3-5 3`)

// edges checks that there is a line for each dependency, from the right of a block to the
// left of a later one, that lines go to the right, and that they cross no other block.
func edges(t *testing.T, svg string, tasks []rectangle, plans []opt.PlanSpec) {
	t.Helper()
	joined, want := map[string]bool{}, map[string]bool{}
	for _, m := range pathForm.FindAllStringSubmatch(svg, -1) {
		x, y, from := 0, 0, ""
		end := func() {
			if to := blockAt(tasks, x, y, 0); from != "" && to != "" {
				joined[from+">"+to] = true
			}
		}
		for _, step := range stepForm.FindAllStringSubmatch(m[1], -1) {
			n := numbers(step[1:])
			on := 0
			switch {
			case step[1] != "":
				end()
				x, y = n[0], n[1]
				from = blockAt(tasks, x, y, 190)
				continue
			case step[0][0] == 'h':
				on = n[2]
			case step[0][0] == 'c':
				on, y = n[3], y+n[4]
			default:
				continue
			}
			if on <= 0 {
				t.Errorf("a line goes back: %s in %s", step[0], m[1])
			}
			for _, r := range tasks {
				if step[0][0] == 'h' && y > r.y && y < r.y+r.h && x < r.x+r.w && x+on > r.x {
					t.Errorf("a line crosses %s", r.id)
				}
			}
			x += on
		}
		end()
	}
	for p, plan := range plans {
		for i, task := range plan.Tasks {
			if task.Dependencies == nil && i > 0 {
				want[fmt.Sprintf("%d-%d>%d-%d", p+1, i-1, p+1, i)] = true
			}
			for _, b := range task.Dependencies {
				want[fmt.Sprintf("%d-%s>%d-%d", p+1, strings.TrimPrefix(b, "task-"), p+1, i)] = true
			}
		}
	}
	test.Equal(t, "lines between tasks", want, joined)
}

// blockAt returns the block whose left side, or a line that is further by some, has a point.
func blockAt(list []rectangle, x, y, further int) string {
	for _, r := range list {
		if x == r.x+further && y > r.y && y < r.y+r.h {
			return r.id
		}
	}
	return ""
}
