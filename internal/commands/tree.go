package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A timing has the known times of a task.
type timing struct {
	began   time.Time // zero if it was not seen working
	ended   time.Time // zero while it has not ended
	attempt int
}

// duration returns how long the task has worked and waited; ok is false if that is not
// known.
func (t timing) duration(now time.Time) (d time.Duration, ok bool) {
	if t.began.IsZero() {
		return 0, false
	}
	if !t.ended.IsZero() {
		now = t.ended
	}
	return max(0, now.Sub(t.began)), true
}

// A tree draws an objective with its plans and their tasks as lines.
type tree struct {
	columns, rows int
	now           time.Time
	times         map[string]timing // by id of plan task
	done          *int              // percent of the objective; nil counts tasks
	said          string            // about its progress; "" for nothing
	paint         func(kind shown.Kind, text string) string
}

// A branch is a line of a tree before it is cut to the width.
type branch struct {
	lead, name string
	look       shown.Look
	detail     string
}

func (b branch) right() string {
	return strings.TrimRight(process.PadRight(b.look.Word, 14)+"  "+b.detail, " ")
}

// lines returns the tree of o, at most rows-1 lines of columns-1 columns.
func (t tree) lines(o *client.Objective) []string {
	title := process.OneLine(o.Name, t.columns-1)
	look := lookOf(o)
	state := t.paint(look.Kind, oneLineKept(strings.TrimSpace(o.ID+"  "+look.Word+"  "+client.UsageIn(o.Metadata)), t.columns-1))
	room := t.rows - 5 // title, state, bar, the count of omitted lines, and the line of the cursor
	branches, left := t.branches(o, func(client.Plan, client.PlanTask) bool { return true }), 0
	if len(branches) > room {
		all := len(branches)
		branches = t.branches(o, func(p client.Plan, task client.PlanTask) bool {
			return !p.Status.Ended() && (task.Status != opt.TaskPending && !task.Status.Ended())
		})
		branches = branches[:max(0, min(len(branches), room))]
		left = all - len(branches)
	}
	out := append([]string{title, state}, t.align(branches)...)
	if left > 0 {
		out = append(out, process.OneLine(fmt.Sprintf("… %d more; the command objective shows all", left), t.columns-1))
	}
	return append(out, t.bar(o))
}

// branches returns the lines of the plans, and of those of their tasks that show
// accepts.
func (t tree) branches(o *client.Objective, show func(client.Plan, client.PlanTask) bool) []branch {
	var out []branch
	for i, p := range o.Plans {
		lead, below := leads(i == len(o.Plans)-1)
		look, reason := shownStatus(p)
		out = append(out, branch{lead, p.Name, look, strings.TrimPrefix(reason, " ")})
		tasks := slices.DeleteFunc(slices.Clone(p.Tasks), func(task client.PlanTask) bool { return !show(p, task) })
		for j, task := range tasks {
			lead, _ := leads(j == len(tasks)-1)
			out = append(out, branch{below + lead, task.Name, shown.LookOfTask(task.Status), t.detail(task)})
		}
	}
	return out
}

// leads returns the beginning of a line, and that of the lines below it.
func leads(last bool) (line, below string) {
	if last {
		return "└─ ", "   "
	}
	return "├─ ", "│  "
}

// detail returns how long a task took, and its attempt if it is not the first.
func (t tree) detail(task client.PlanTask) string {
	var words []string
	times := t.times[task.ID]
	if d, ok := times.duration(t.now); ok {
		words = append(words, durationText(d))
	}
	if times.attempt > 1 {
		words = append(words, fmt.Sprintf("attempt %d", times.attempt))
	}
	if task.Metadata.Has(opt.KeyTakenOver) {
		words = append(words, "taken over")
	}
	if why, ok := waitReason(task); ok {
		words = append(words, why)
	}
	if why := failureReason(task); why != "" {
		words = append(words, strings.TrimPrefix(why, " "))
	}
	return strings.Join(words, "  ")
}

// align returns branches as lines, with their statuses below each other.
func (t tree) align(branches []branch) []string {
	names, rights := 0, 0
	for _, b := range branches {
		names = max(names, process.ColumnsOf(b.lead)+2+process.ColumnsOf(b.name))
		rights = max(rights, process.ColumnsOf(b.right()))
	}
	names = min(names, max(16, t.columns-1-2-rights))
	var out []string
	for _, b := range branches {
		name := process.OneLine(b.name, names-runewidth.StringWidth(b.lead)-2)
		name = process.PadRight(name, names-runewidth.StringWidth(b.lead)-2)
		right := oneLineKept(b.right(), t.columns-1-names-2)
		out = append(out, b.lead+t.paint(b.look.Kind, b.look.Kind.Sign())+" "+name+"  "+t.paint(b.look.Kind, right))
	}
	return out
}

// oneLineKept cuts text to width columns and keeps its spaces.
func oneLineKept(text string, width int) string {
	return strings.TrimRight(runewidth.Truncate(a2a.Visible(text), max(0, width), "…"), " ")
}

// bar returns a bar that shows how much of o is done.
func (t tree) bar(o *client.Objective) string {
	done, all := countDone(o)
	if all == 0 {
		return "no plans yet"
	}
	percent := 100 * done / all
	if t.done != nil {
		percent = *t.done
	}
	text := fmt.Sprintf("%d of %d tasks, %d%%", done, all, percent)
	width := min(30, t.columns-len(text)-4)
	if width < 5 {
		return process.OneLine(text, t.columns-1)
	}
	full := (width*percent + 50) / 100
	return process.OneLine("["+strings.Repeat("█", full)+strings.Repeat("░", width-full)+"] "+text+" "+t.said, t.columns-1)
}

// countDone returns how many tasks of o are completed, and how many there are.
// Skipped plans do not count.
func countDone(o *client.Objective) (done, all int) {
	for _, p := range o.Plans {
		if p.Status == opt.PlanSkipped {
			continue
		}
		all += len(p.Tasks)
		for _, task := range p.Tasks {
			if task.Status == opt.TaskCompleted {
				done++
			}
		}
	}
	return done, all
}
