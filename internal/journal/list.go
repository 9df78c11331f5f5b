package journal

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt/shown"
)

// A filter is the end of a query, with its parameters. It is never changed: each method returns
// another one.
type filter struct {
	tail string // conditions, order and limit
	a    db.Args
}

// where returns a filter with a condition; see [filter.and].
func where(condition string, values ...any) filter { return filter{}.add(" WHERE ", condition, values) }

// and adds a condition, which has a question mark for each of its values.
func (f filter) and(condition string, values ...any) filter { return f.add(" AND ", condition, values) }

// between adds that a time is not before one and before another, if they are given.
func (f filter) between(column string, since, until a2a.Time) filter {
	if !since.IsZero() {
		f = f.and(column+" >= ?", since.Millis())
	}
	if !until.IsZero() {
		f = f.and(column+" < ?", until.Millis())
	}
	return f
}

func (f filter) add(before, condition string, values []any) filter {
	out := filter{f.tail + before, slices.Clone(f.a)}
	for i, part := range strings.Split(condition, "?") {
		if i > 0 {
			out.a = append(out.a, values[i-1])
			out.tail += fmt.Sprintf("$%d", len(out.a))
		}
		out.tail += part
	}
	return out
}

// limit adds the limit, none for 0.
func (f filter) limit(most int) filter {
	if most <= 0 {
		most = math.MaxInt32
	}
	out := filter{f.tail, append(slices.Clone(f.a), most)}
	out.tail += db.LimitParam(len(out.a))
	return out
}

// An order is that of a list, newest first, by the columns of a time and an id.
type order struct {
	at, id string
	oldest bool // first
}

var taskOrder = order{at: "t.status_at", id: "t.id"}

// page completes f to the query of the page after c.
func (f filter) page(by order, c shown.Cursor, most int) filter {
	after, way := "<", "DESC"
	if by.oldest {
		after, way = ">", "ASC"
	}
	if c != (shown.Cursor{}) {
		f = f.and(fmt.Sprintf("(%s, %s) %s (?, ?)", by.at, by.id, after), c.At.Millis(), c.ID)
	}
	f.tail += fmt.Sprintf(" ORDER BY %s %s, %s %s", by.at, way, by.id, way)
	return f.limit(most)
}

// downTo adds that rows are not behind c in an order.
func (f filter) downTo(by order, c shown.Cursor) filter {
	if by.oldest {
		return f.and(fmt.Sprintf("(%s, %s) <= (?, ?)", by.at, by.id), c.At.Millis(), c.ID)
	}
	return f.and(fmt.Sprintf("(%s, %s) >= (?, ?)", by.at, by.id), c.At.Millis(), c.ID)
}
