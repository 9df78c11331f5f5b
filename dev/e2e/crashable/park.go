package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"longhaul/activities"
)

// parkFor is how long a task of a parkingExecutor waits between two legs.
const parkFor = 200 * time.Millisecond

// A parkingExecutor does a script that begins with "legs <n>" in so many legs: it parks after each but the last,
// which runs the rest of the script.
type parkingExecutor struct{ activities.Executor }

func (p parkingExecutor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	first, rest, _ := strings.Cut(w.Description, ";")
	var legs int
	if n, _ := fmt.Sscanf(first, "legs %d", &legs); n == 0 {
		return p.Executor.Execute(ctx, w, out)
	}
	if w.Leg+1 < legs {
		return activities.ParkFor(parkFor, w.Leg, "between two legs"), nil
	}
	w.Description = strings.TrimSpace(rest)
	return p.Executor.Execute(ctx, w, out)
}
