package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"longhaul/opt"
)

// A LinkReader reads links between tasks.
type LinkReader interface {
	// Links lists the ids of the A2A tasks that open tasks of an objective follow.
	// If there is no such objective, the error wraps opt.ErrUnknown.
	Links(ctx context.Context, tenant, objectiveID string) ([]string, error)
}

// ReasonLinkCycle is the code of a task that fails because its link is part of a
// cycle.
const ReasonLinkCycle = "link-cycle"

// maxVisited is how many objectives one search for a cycle visits.
const maxVisited = 1000

// cycles finds cycles of links between tasks.
type cycles struct {
	links LinkReader // nil finds none
	tasks TaskReader
}

// failure returns the failure of the task of l if l is part of a cycle of links and is the link
// that ends the cycle. Without it, the objectives of the cycle would wait for each other for
// ever. Each of their tasks searches separately, so all choose the same link: the one to the
// task with the smallest id. A task in a longer cycle searches again after [FollowFor]; a
// shorter cycle that shares a link with it has ended by then.
func (c cycles) failure(ctx context.Context, l Link) (out Followed, found bool, err error) {
	if c.links == nil {
		return out, false, nil
	}
	cycle, err := c.findPath(ctx, l)
	if err != nil || len(cycle) == 0 || slices.Min(cycle) != l.TaskID {
		return out, false, err
	}
	text := fmt.Sprintf("Links between tasks form a cycle, so none of these tasks can end: %s.", strings.Join(cycle, ", "))
	return Followed{State: opt.TaskFailed, Code: ReasonLinkCycle, Message: text}, true, nil
}

// A pathLink is a link on the path from one objective to the next.
type pathLink struct {
	taskID string // that is followed
	before *pathLink
}

// findPath returns the linked tasks on the shortest path from the task of l back to
// its objective, nil if there is none.
func (c cycles) findPath(ctx context.Context, l Link) ([]string, error) {
	own, ok := opt.ParseID(l.For)
	if !ok {
		return nil, nil
	}
	seen := map[string]bool{}
	for queue := []*pathLink{{taskID: l.TaskID}}; len(queue) > 0 && len(seen) < maxVisited; queue = queue[1:] {
		at := queue[0]
		ref, ok := opt.ParseID(at.taskID)
		switch {
		case !ok || seen[ref.ObjectiveID]:
			continue
		case ref.ObjectiveID == own.ObjectiveID:
			return at.path(), nil
		}
		seen[ref.ObjectiveID] = true
		links, err := c.openLinks(ctx, l.Tenant, ref.ObjectiveID)
		if err != nil {
			return nil, err
		}
		for _, id := range links {
			queue = append(queue, &pathLink{id, at})
		}
	}
	return nil, nil
}

// path lists the linked tasks on the path to s, in order.
func (s *pathLink) path() []string {
	var out []string
	for ; s != nil; s = s.before {
		out = append(out, s.taskID)
	}
	slices.Reverse(out)
	return out
}

// openLinks lists the tasks that an objective waits for. Links to tasks that have
// ended are left out: the tasks that follow those are about to end.
func (c cycles) openLinks(ctx context.Context, tenant, objectiveID string) ([]string, error) {
	links, err := c.links.Links(ctx, tenant, objectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read links of %s: %w", objectiveID, err)
	}
	var open []string
	for _, id := range links {
		state, _, err := c.tasks.Peek(ctx, tenant, id)
		switch {
		case errors.Is(err, opt.ErrUnknown):
		case err != nil:
			return nil, fmt.Errorf("read links of %s: %w", objectiveID, err)
		case !state.Ended():
			open = append(open, id)
		}
	}
	return open, nil
}
