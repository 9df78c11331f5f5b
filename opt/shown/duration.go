package shown

import (
	"fmt"
	"time"
)

// units are those of durations for people.
var units = []struct {
	ms   int64
	name string
}{{24 * time.Hour.Milliseconds(), "d"}, {time.Hour.Milliseconds(), "h"}, {time.Minute.Milliseconds(), "min"}, {1000, "s"}, {1, "ms"}}

// Duration returns a time in milliseconds for people: in two units, if the first of them
// says little.
func Duration(ms int64) string { return InUnits(ms, 10) }

// InUnits returns a time in milliseconds in one unit, or in two if there are less of the first
// one than so many.
func InUnits(ms, few int64) string {
	for i, u := range units[:len(units)-1] {
		if ms < u.ms {
			continue
		}
		text := fmt.Sprintf("%d %s", ms/u.ms, u.name)
		if rest := ms % u.ms / units[i+1].ms; rest > 0 && ms/u.ms < few && u.name != "s" {
			text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
		}
		return text
	}
	return fmt.Sprintf("%d ms", ms)
}
