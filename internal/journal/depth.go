package journal

import (
	"context"
	"fmt"

	"longhaul/internal/journal/db"
)

// A Depth says how much work there is, in all tenants.
type Depth struct {
	Queued     int64            // objectives that wait for their turn in a context
	Stuck      int64            // objectives whose events are not taken
	Working    int64            // objectives that have begun, have not ended and do not wait for their turn
	Tasks      map[string]int64 // tasks of plans that have begun and not ended, by state
	Deliveries int64            // that are due
}

// Depth counts the work that there is. Each count reads only rows of open work.
func (p *probe) Depth(ctx context.Context) (d Depth, err error) {
	d.Tasks = map[string]int64{}
	err = p.db.Read(ctx, func(c *db.Conn) error {
		for query, to := range map[string]*int64{
			"SELECT COUNT(*) FROM objectives WHERE queued_at <> 0":                            &d.Queued,
			"SELECT COUNT(*) FROM objectives WHERE begun = 1 AND ended = 0 AND queued_at = 0": &d.Working,
			"SELECT COUNT(*) FROM objectives WHERE stuck <> ''":                               &d.Stuck,
			"SELECT COUNT(*) FROM deliveries WHERE status = 'due'":                            &d.Deliveries,
		} {
			if _, err := c.Get(query, nil, to); err != nil {
				return fmt.Errorf("count: %w", err)
			}
		}
		return c.Each("SELECT state, COUNT(*) FROM tasks WHERE active = 1 GROUP BY state", nil, func(row db.Scanner) error {
			var state string
			var n int64
			err := row.Scan(&state, &n)
			d.Tasks[state] = n
			return err
		})
	})
	return d, err
}
