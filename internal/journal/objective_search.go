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
// them, the newest first. A search that no index answers looks at f.Reach objectives
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
		return err
	})
	return found, err
}

// page reads the objectives of a page that looks down to a position, with plans if they are wanted.
func (s *objectiveSearch) page(c *db.Conn, reached shown.Cursor) (list []*opt.Objective, err error) {
	if s.f.Text == "" {
		list, err = objectives(c, s.from, s.downTo(reached).page(objectiveOrder, s.f.After, s.f.Limit))
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
	from    string
	indexed filter // the conditions that an index answers
	all     filter // with the others
}

// newObjectiveSearch chooses the index: the database cannot know that few objectives have
// the same context, and many the same status.
func newObjectiveSearch(d db.Dialect, tenant string, f shown.ObjectiveSearch) *objectiveSearch {
	s := &objectiveSearch{f: f, indexed: where("o.tenant = ?", tenant)}
	index := "objectives_by_time"
	if !f.Since.IsZero() {
		s.indexed = s.indexed.and("o.created_at >= ?", f.Since.Millis())
	}
	if !f.Until.IsZero() {
		s.indexed = s.indexed.and("o.created_at < ?", f.Until.Millis())
	}
	s.all = s.indexed
	for _, by := range []struct{ index, column, value string }{
		{"objectives_by_context", "o.context_id", f.ContextID},
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
	s.from = "objectives o" + d.IndexedBy(index)
	return s
}

// matching returns the ids of the objectives after a position, down to another one, that
// have the text; at most as many as most says, all for 0. Texts may be encrypted in the
// database, and it changes the case of ASCII letters alone: they are compared here.
func (s *objectiveSearch) matching(c *db.Conn, reached, from shown.Cursor, most int) (ids []string, err error) {
	page := s.downTo(reached).page(objectiveOrder, from, 0)
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

// errEnough ends the reading of rows.
var errEnough = errors.New("enough rows")

// downTo selects what s finds down to a position, all for the zero one.
func (s *objectiveSearch) downTo(reached shown.Cursor) filter {
	if reached == (shown.Cursor{}) {
		return s.all
	}
	return s.all.and("(o.created_at, o.id) >= (?, ?)", reached.At.Millis(), reached.ID)
}

// reached returns the position down to which a page after another position may look, the
// zero one if it may look at all.
func (s *objectiveSearch) reached(c *db.Conn, from shown.Cursor) (at shown.Cursor, err error) {
	if s.all.tail == s.indexed.tail && s.f.Text == "" {
		return at, nil
	}
	reach := cmp.Or(s.f.Reach, searchReach)
	page := s.indexed.page(objectiveOrder, from, 2)
	rows, err := db.All(c, fmt.Sprintf("SELECT o.created_at, o.id FROM %s%s OFFSET %d", s.from, page.tail, reach-1), page.a, func(row db.Scanner) (at shown.Cursor, err error) {
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
