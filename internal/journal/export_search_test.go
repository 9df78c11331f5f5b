package journal

import (
	"context"

	"longhaul/opt"
)

// ExplainSearch returns the database's plan for the query of a page of a search that
// looks down to a position.
func (j *Journal) ExplainSearch(ctx context.Context, tenant string, f opt.ObjectiveSearch, reached opt.Cursor) (string, error) {
	s := newObjectiveSearch(j.db.Dialect, tenant, f)
	page := s.downTo(reached)
	page.addFilters()
	where, a := pageAfter(page.where, page.a, [2]string{"o.created_at", "o.id"}, f.After, f.Limit)
	return j.explain(ctx, selectObjectives(s.from, where), a)
}
