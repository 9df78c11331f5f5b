package opt

import "slices"

// Reordered returns the ids of the plans that p would depend on after a change of
// its dependencies, or an error if they are invalid or p has begun.
func (o *Objective) Reordered(p *Plan, dependencies []string) ([]string, error) {
	if p.Started || p.Status != PlanPending && (p.Status != PlanBlocked || p.Reason != BlockedByDependencies) {
		return nil, &MoveError{string(p.Status), "other dependencies"}
	}
	var known []string
	for _, q := range o.Plans {
		known = append(known, q.ID)
	}
	ids, err := references{"plan", nil, known, known}.resolve("dependencies", p.ID, dependencies)
	if err != nil {
		return nil, err
	}
	after := func(q *Plan) (string, []string) {
		if q == p {
			return q.ID, ids
		}
		return q.ID, q.Dependencies
	}
	if cycle(o.Plans, after) {
		return nil, &SpecError{"dependencies", "the plans form a cycle"}
	}
	return append([]string{}, ids...), nil
}

// DependsOn reports whether p depends on exactly the plans with these ids.
func (p *Plan) DependsOn(ids []string) bool {
	return len(p.Dependencies) == len(ids) && !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(p.Dependencies, id) })
}
