package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Interrupts lists the open gates of a tenant, the longest wait first unless f asks for
// another order. total counts all that f selects. One that is opened while a client
// pages through the longest waits is on a later page, and none is missed because of it.
func (j taskReader) Interrupts(ctx context.Context, tenant string, f shown.InterruptFilter) (list []shown.Interrupt, total int, err error) {
	if f.For != nil || f.Text != "" || f.Urgent || f.Kind != "" && j.db.Box.Box != nil { // some may be sealed
		return j.filteredInterrupts(ctx, tenant, f)
	}
	selected := interruptCondition(tenant, f)
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		if _, err := c.Get("SELECT COUNT(*)"+fromInterrupts+selected.tail, selected.a, &total); err != nil {
			return err
		}
		page := selected
		if f.After != (shown.Cursor{}) {
			page = page.and("(t.status_at, t.id) > (?, ?)", f.After.At.Millis(), f.After.ID)
		}
		page.tail += " ORDER BY t.status_at, t.id"
		return eachInterrupt(c, page.limit(f.Limit), func(i shown.Interrupt, gate db.Content) error {
			err := db.Decode(gate, &i.Gate)
			list = append(list, i)
			return err
		})
	})
	return list, total, err
}

const fromInterrupts = " FROM tasks t JOIN objectives o ON o.id = t.objective_id"

// eachInterrupt calls f with the interrupts that a filter selects, without their gates, and
// the documents of those.
func eachInterrupt(c *db.Conn, selected filter, f func(i shown.Interrupt, gate db.Content) error) error {
	return c.Each("SELECT t.id, t.name, t.status_at, t.context_id, t.gate, o.id, o.name, o.principal, o.planner, o.shapers"+fromInterrupts+selected.tail, selected.a, func(row db.Scanner) error {
		var i shown.Interrupt
		var at int64
		var gate, shapers db.Content
		err := row.Scan(&i.TaskID, (*db.Content)(&i.TaskName), &at, &i.ContextID, &gate, &i.ObjectiveID, (*db.Content)(&i.Objective), &i.Principal, &i.Planner, &shapers)
		if err = errors.Join(err, db.Decode(shapers, &i.Shapers)); err != nil {
			return err
		}
		i.Since = a2a.AtMillis(at)
		return f(i, gate)
	})
}

// interruptCondition returns the condition for the tasks that f selects by columns. The kind
// of a gate is the first member of its document.
func interruptCondition(tenant string, f shown.InterruptFilter) filter {
	selected := where("t.tenant = ? AND t.gate <> '' AND t.plan_id <> ''", tenant)
	if f.Kind != "" {
		begin := `{"kind":"` + string(f.Kind) + `"`
		selected = selected.and(fmt.Sprintf("(substr(t.gate, 1, %d) = ? OR substr(t.gate, 1, 1) = '%s')", len(begin), db.MarkStart), begin)
	}
	if f.ObjectiveID != "" {
		selected = selected.and("t.objective_id = ?", f.ObjectiveID)
	}
	if f.ContextID != "" {
		selected = selected.and("t.context_id = ?", f.ContextID)
	}
	return selected
}

// A candidate is an interrupt that a filter is applied to, with the parts of its gate
// that filters and orders look at.
type candidate struct {
	shown.Interrupt
	doc db.Content // the whole gate
}

// filteredInterrupts is Interrupts with a filter, or an order, by data inside of gates, for
// which there are no columns. It reads all open gates of the tenant.
func (j taskReader) filteredInterrupts(ctx context.Context, tenant string, f shown.InterruptFilter) (list []shown.Interrupt, total int, err error) {
	words := strings.Fields(strings.ToLower(f.Text))
	var found []candidate
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		return eachInterrupt(c, interruptCondition(tenant, f), func(i shown.Interrupt, gate db.Content) error {
			w := candidate{i, gate}
			if err := w.readGate(); err != nil {
				return err
			}
			if w.fits(f, words) {
				found = append(found, w)
			}
			return nil
		})
	})
	if err != nil {
		return nil, 0, err
	}
	total = len(found)
	slices.SortFunc(found, func(a, b candidate) int { return compareCursors(a.cursor(f.Urgent), b.cursor(f.Urgent)) })
	if f.After != (shown.Cursor{}) {
		n, exact := slices.BinarySearchFunc(found, f.After, func(w candidate, at shown.Cursor) int { return compareCursors(w.cursor(f.Urgent), at) })
		if exact {
			n++
		}
		found = found[n:]
	}
	if f.Limit > 0 {
		found = found[:min(f.Limit, len(found))]
	}
	for _, w := range found {
		w.Gate = opt.Gate{}
		err = errors.Join(err, db.Decode(w.doc, &w.Gate))
		list = append(list, w.Interrupt)
	}
	return list, total, err
}

func (w candidate) fits(f shown.InterruptFilter, words []string) bool {
	return (f.Kind == "" || w.Gate.Kind == f.Kind) && (f.For == nil || w.WaitsFor(*f.For)) && w.containsWords(words)
}

// readGate reads the parts of the gate of w that filters look at.
func (w *candidate) readGate() error {
	var g struct {
		ID          string          `json:"interruptId"`
		Kind        opt.GateKind    `json:"kind"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Questions   []opt.Question  `json:"questions"`
		ExpiresAt   a2a.Time        `json:"expiresAt"`
		Responders  *opt.Responders `json:"responders"`
		Votes       []opt.Vote      `json:"votes"`
	}
	err := db.Decode(w.doc, &g)
	w.Gate = opt.Gate{ID: g.ID, Kind: g.Kind, Title: g.Title, Description: g.Description, Questions: g.Questions, ExpiresAt: g.ExpiresAt, Responders: g.Responders, Votes: g.Votes}
	return err
}

// containsWords reports whether the texts, names and ids of w have all words, in lower case.
func (w *candidate) containsWords(words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{w.Gate.ID, w.Gate.Prompt(), w.TaskName, w.TaskID, w.Objective, w.ObjectiveID, w.ContextID, w.Principal}, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// cursor returns the position of w in its list.
func (w *candidate) cursor(urgent bool) shown.Cursor {
	at := shown.Cursor{At: w.Since, ID: w.TaskID}
	if urgent {
		at.Due = w.Gate.ExpiresAt
	}
	return at
}

// compareCursors compares positions in lists of interrupts: by the time when they are due,
// those without one last, then by the wait.
func compareCursors(a, b shown.Cursor) int {
	due := func(c shown.Cursor) int64 {
		if c.Due.IsZero() {
			return math.MaxInt64
		}
		return c.Due.Millis()
	}
	return cmp.Or(cmp.Compare(due(a), due(b)), cmp.Compare(a.At.Millis(), b.At.Millis()), strings.Compare(a.ID, b.ID))
}
