package journal

import (
	"context"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// ExplainSearch returns the database's plan for the query of a page of a search that
// looks down to a position.
func (j *Journal) ExplainSearch(ctx context.Context, tenant string, f opt.ObjectiveSearch, reached opt.Cursor) (string, error) {
	s := newObjectiveSearch(tenant, f)
	page := s.downTo(reached)
	page.addFilters()
	where, a := pageAfter(page.where, page.a, [2]string{"o.created_at", "o.id"}, f.After, f.Limit)
	return j.explain(ctx, selectObjectives(s.from, where), a)
}

// DropConsole makes the tables what they were before migration 10.
func (j *Journal) DropConsole(ctx context.Context) error {
	return j.Script(ctx, `DROP INDEX objectives_by_context; DROP INDEX objectives_by_planner; DROP INDEX tasks_ended_roots;
		ALTER TABLE objectives DROP COLUMN planner; DELETE FROM migrations WHERE version = 10`)
}

// PlannerColumn returns the planners of all objectives, oldest first.
func (j *Journal) PlannerColumn(ctx context.Context) (planners []string, err error) {
	err = j.Read(ctx, func(c *db.Conn) error {
		return c.Each("SELECT planner FROM objectives ORDER BY created_at", nil, func(row db.Scanner) error {
			var planner string
			err := row.Scan(&planner)
			planners = append(planners, planner)
			return err
		})
	})
	return planners, err
}
