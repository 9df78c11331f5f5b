package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

const (
	// searchReach is how many objectives a search looks at, unless it says so itself.
	searchReach = 20_000
	// countMost is the largest number that a search counts to.
	countMost = 1000
)

// An objectiveFinder is the part of a Journal that finds objectives and counts them.
type objectiveFinder struct{ db *db.Engine }

// SearchObjectives lists the objectives that f selects, without plans unless f wants
// them, in the order of f. A search that no index answers looks at f.Reach objectives
// after f.After at most, which bounds its cost. Such a page may have fewer than f.Limit
// objectives, and the next one begins after Reached.
func (j objectiveFinder) SearchObjectives(ctx context.Context, tenant string, f shown.ObjectiveSearch) (found shown.ObjectivesFound, err error) {
	s := newObjectiveSearch(j.db.Dialect, tenant, f)
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		if err := s.count(c, &found); err != nil {
			return err
		}
		var err error
		if found.Reached, err = s.reached(c, f.After); err == nil {
			found.Objectives, err = s.page(c, found.Reached)
		}
		if err == nil && f.Tasks > 0 && f.Text != "" {
			found.Tasks, err = tasksNamed(c, tenant, f)
		}
		return err
	})
	return found, err
}

// page reads the objectives of a page that looks down to a position, with plans if they are wanted.
func (s *objectiveSearch) page(c *db.Conn, reached shown.Cursor) (list []*opt.Objective, err error) {
	if s.f.Text == "" {
		list, err = objectives(c, s.from, s.downTo(reached).page(s.by, s.f.After, s.f.Limit))
	} else {
		var ids []string
		ids, err = s.matching(c, reached, s.f.After, s.f.Limit)
		for _, id := range ids {
			one, failed := objectives(c, "objectives o", where("o.id = ?", id)) // of the tenant: matching has looked
			list, err = append(list, one...), errors.Join(err, failed)
		}
	}
	if err == nil && s.f.Plans {
		err = addPlans(c, list...)
	}
	return list, err
}

// An objectiveSearch is a query for objectives.
type objectiveSearch struct {
	f       shown.ObjectiveSearch
	by      order
	from    string
	indexed filter // the conditions that an index answers
	all     filter // with the others
}

// newObjectiveSearch chooses the index: the database cannot know that few objectives have
// the same context, and many the same status.
func newObjectiveSearch(d db.Dialect, tenant string, f shown.ObjectiveSearch) *objectiveSearch {
	s := &objectiveSearch{f: f, indexed: where("o.tenant = ?", tenant), by: order{"o.created_at", "o.id", f.Sort == shown.OldestFirst || f.Sort == shown.UnchangedFirst}}
	index := "objectives_by_time"
	if f.Sort == shown.ChangedFirst || f.Sort == shown.UnchangedFirst {
		index, s.by.at = "objectives_by_change", "o.updated_at"
	}
	times := s.indexed.between("o.created_at", f.Since, f.Until)
	if s.all = times; s.by.at == "o.created_at" {
		s.indexed = times
	}
	for _, by := range []struct{ index, column, value string }{
		{"objectives_by_context", "o.context_id", f.ContextID},
		{"objectives_by_principal", "o.principal", f.Principal},
		{"objectives_by_planner", "o.planner", f.Planner},
		{"objectives_by_status", "o.status", string(f.Status)},
	} {
		if by.value == "" {
			continue
		}
		s.all = s.all.and(by.column+" = ?", by.value)
		if index == "objectives_by_time" {
			index, s.indexed = by.index, s.all
		}
	}
	if f.Failure != "" {
		s.all = s.all.and("EXISTS (SELECT 1 FROM tasks f WHERE f.objective_id = o.id AND length(f.plan_id) > 0 AND f.state IN ('failed', 'rejected') AND f.reason = ?)", f.Failure)
	}
	s.from = "objectives o" + d.IndexedBy(index)
	return s
}

// matching returns the ids of the objectives after a position, down to another one, that
// have the text; at most as many as most says, all for 0. Texts may be encrypted in the
// database, and it changes the case of ASCII letters alone: they are compared here.
func (s *objectiveSearch) matching(c *db.Conn, reached, from shown.Cursor, most int) (ids []string, err error) {
	page := s.downTo(reached).page(s.by, from, 0)
	text := strings.ToLower(s.f.Text)
	err = c.Each("SELECT o.id, o.name, o.description FROM "+s.from+page.tail, page.a, func(row db.Scanner) error {
		var id string
		var name, description db.Content
		if err := row.Scan(&id, &name, &description); err != nil {
			return err
		}
		if !strings.Contains(id, text) && !strings.Contains(strings.ToLower(string(name)), text) && !strings.Contains(strings.ToLower(string(description)), text) {
			return nil
		}
		if ids = append(ids, id); len(ids) == most {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return ids, err
}

// taskReach is how many tasks a search looks at.
const taskReach = 10_000

// tasksNamed finds tasks of plans by their names, the latest change first.
func tasksNamed(c *db.Conn, tenant string, f shown.ObjectiveSearch) (out []shown.TaskFound, err error) {
	text := strings.ToLower(f.Text)
	page := where("t.tenant = ?", tenant).page(taskOrder, shown.Cursor{}, taskReach)
	err = c.Each("SELECT t.id, t.objective_id, t.name, t.state FROM tasks t"+c.Dialect.IndexedBy("tasks_by_time")+page.tail, page.a, func(row db.Scanner) error {
		var t shown.TaskFound
		if err := row.Scan(&t.ID, &t.ObjectiveID, (*db.Content)(&t.Name), &t.State); err != nil {
			return err
		}
		if !strings.Contains(strings.ToLower(t.Name), text) {
			return nil
		}
		if out = append(out, t); len(out) == f.Tasks {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// errEnough ends the reading of rows.
var errEnough = errors.New("enough rows")

// downTo selects what s finds down to a position, all for the zero one.
func (s *objectiveSearch) downTo(reached shown.Cursor) filter {
	if reached == (shown.Cursor{}) {
		return s.all
	}
	return s.all.downTo(s.by, reached)
}

// reached returns the position down to which a page after another position may look, the
// zero one if it may look at all.
func (s *objectiveSearch) reached(c *db.Conn, from shown.Cursor) (at shown.Cursor, err error) {
	if s.all.tail == s.indexed.tail && s.f.Text == "" {
		return at, nil
	}
	reach := cmp.Or(s.f.Reach, searchReach)
	page := s.indexed.page(s.by, from, 2)
	rows, err := db.All(c, fmt.Sprintf("SELECT %s, o.id FROM %s%s OFFSET %d", s.by.at, s.from, page.tail, reach-1), page.a, func(row db.Scanner) (at shown.Cursor, err error) {
		var ms int64
		err = row.Scan(&ms, &at.ID)
		at.At = a2a.AtMillis(ms)
		return at, err
	})
	if len(rows) == 2 { // there is another one behind the last that it looks at
		at = rows[0]
	}
	return at, err
}

// count counts what s finds, down to where the first page looks, and to countMost.
func (s *objectiveSearch) count(c *db.Conn, found *shown.ObjectivesFound) error {
	reached, err := s.reached(c, shown.Cursor{})
	if err != nil {
		return err
	}
	if s.f.Text != "" {
		ids, err := s.matching(c, reached, shown.Cursor{}, countMost+1)
		if err != nil {
			return err
		}
		found.Total = len(ids)
	} else {
		all := s.downTo(reached).limit(countMost + 1)
		if _, err := c.Get("SELECT COUNT(*) FROM (SELECT 1 FROM "+s.from+all.tail+") AS found", all.a, &found.Total); err != nil {
			return err
		}
	}
	found.AtLeast = found.Total > countMost || reached != (shown.Cursor{})
	found.Total = min(found.Total, countMost)
	return nil
}

// Standings returns how far those of the given objectives are that a tenant has.
func (j objectiveFinder) Standings(ctx context.Context, tenant string, ids []string) (map[string]shown.Standing, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (map[string]shown.Standing, error) {
		out, steps := make(map[string]shown.Standing, len(ids)), db.Steps{C: c}
		for _, id := range ids {
			var s shown.Standing
			if steps.Get(`SELECT (SELECT COUNT(*) FROM tasks WHERE objective_id = $1 AND active = 1 AND gate <> '')
				FROM objectives WHERE id = $1 AND tenant = $2`, db.Args{id, tenant}, &s.Waiting) {
				s.Progress = progressOf(&steps, id)
				out[id] = s
			}
		}
		return out, steps.Err
	})
}
