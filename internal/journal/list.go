package journal

import (
	"fmt"
	"math"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// pageAfter completes the query of the page after c, newest first: it adds the
// condition, the order by the columns of time and id, and the limit.
func pageAfter(where string, a db.Args, order [2]string, c opt.Cursor, limit int) (string, db.Args) {
	at, id := order[0], order[1]
	if c != (opt.Cursor{}) {
		a = append(a, c.At.Millis(), c.ID)
		where += fmt.Sprintf(" AND (%s, %s) < ($%d, $%d)", at, id, len(a)-1, len(a))
	}
	if limit <= 0 {
		limit = math.MaxInt32
	}
	a = append(a, limit)
	return where + fmt.Sprintf(" ORDER BY %s DESC, %s DESC", at, id) + db.LimitParam(len(a)), a
}
