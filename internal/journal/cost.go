package journal

import (
	"context"
	"fmt"

	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// sums are the columns with the sums of a usage.
const sums = "CAST(SUM(input_tokens) AS BIGINT), CAST(SUM(cached_tokens) AS BIGINT), CAST(SUM(output_tokens) AS BIGINT), CAST(SUM(cost) AS BIGINT), CAST(SUM(questions) AS BIGINT), CAST(SUM(calls) AS BIGINT), CAST(SUM(seconds) AS BIGINT)"

// scanSums reads them behind other columns.
func scanSums(row db.Scanner, u *opt.Usage, before ...any) error {
	return row.Scan(append(before, &u.Input, &u.Cached, &u.Output, &u.Cost, &u.Questions, &u.Calls, &u.Ran)...)
}

// costColumns are the columns by which costs are added up.
var costColumns = map[shown.CostBy]string{shown.ByTenant: "tenant", shown.ByContext: "context_id", shown.ByModel: "model"}

// A costReader is the part of a Journal that adds costs up.
type costReader struct{ db *db.Engine }

// Costs returns the costs of contexts, models or tenants, the highest first: of a tenant, or of all. Models have tokens
// and costs, and no time. Objectives
// that were removed cost nothing more.
func (j costReader) Costs(ctx context.Context, tenant string, s shown.CostSearch) ([]shown.Cost, error) {
	column, ok := costColumns[s.By]
	if !ok {
		return nil, fmt.Errorf("%w: no costs by %q", opt.ErrMalformed, s.By)
	}
	whose, until := "tenant = $1", s.Until.Millis()
	if s.All {
		whose = "CAST($1 AS TEXT) IS NOT NULL"
	}
	if s.By == shown.ByModel {
		whose += " AND (input_tokens <> 0 OR output_tokens <> 0 OR cost <> 0)"
	}
	if s.Until.IsZero() {
		until = 1 << 62
	}
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) ([]shown.Cost, error) {
		return db.All(c, "SELECT "+column+", "+sums+` FROM costs WHERE `+whose+` AND at >= $2 AND at < $3
			GROUP BY 1 ORDER BY SUM(cost) DESC, SUM(input_tokens + output_tokens) DESC, 1`+db.LimitParam(4),
			db.Args{tenant, s.Since.Millis(), until, s.Limit}, func(row db.Scanner) (k shown.Cost, err error) {
				err = scanSums(row, &k.Usage, &k.Of)
				if s.By == shown.ByModel { // its tasks have run without it, too
					k.Usage.Ran = 0
				}
				return k, err
			})
	})
}

// addUsed adds to an objective with plans, and to these and their tasks, what all attempts have used.
func addUsed(c *db.Conn, o *opt.Objective) error {
	return c.Each("SELECT task_id, "+sums+" FROM costs WHERE objective_id = $1 GROUP BY task_id", db.Args{o.ID}, func(row db.Scanner) error {
		var id string
		var u opt.Usage
		err := scanSums(row, &u, &id)
		opt.AddUsed(o, id, u)
		return err
	})
}

// usedBy returns what a task has used in all its attempts, or the objective of a root task.
func usedBy(c *db.Conn, v shown.TaskView) (opt.Used, error) {
	ref, _ := opt.ParseID(v.Task.ID)
	t := &opt.Task{ID: ref.TaskID}
	o := &opt.Objective{ID: v.ObjectiveID, Plans: []*opt.Plan{{ID: ref.PlanID, Tasks: []*opt.Task{t}}}}
	err := addUsed(c, o)
	if err != nil || o.Used.Usage.IsZero() {
		return opt.Used{}, err
	}
	err = addBudgets(c, o, t)
	if v.IsRoot {
		return o.Used, err
	}
	return t.Used, err
}

// addBudgets adds the limits of an objective, and of one task of it.
func addBudgets(c *db.Conn, o *opt.Objective, t *opt.Task) error {
	return c.Each("SELECT id, budgets FROM tasks WHERE objective_id = $1 AND budgets <> '' ORDER BY length(id), id", db.Args{o.ID}, func(row db.Scanner) error {
		var id string
		var doc db.Content
		var limits opt.Budgets
		if err := row.Scan(&id, &doc); err != nil {
			return err
		}
		limited := &opt.Task{}
		if of, _ := opt.ParseID(id); of.TaskID == t.ID {
			limited = t
		}
		err := db.Decode(doc, &limits)
		opt.SetBudgets(o, limited, limits)
		return err
	})
}
