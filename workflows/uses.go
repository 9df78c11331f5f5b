package workflows

import (
	"slices"

	"longhaul/activities"
	"longhaul/opt"
)

// withUsed adds to results, which t builds on anyway, those of the tasks that its
// input names.
func (r *planRun) withUsed(t *opt.Task, results []activities.Result) []activities.Result {
	for _, id := range t.Uses {
		b := r.plan.Task(id)
		there := slices.ContainsFunc(results, func(have activities.Result) bool { return have.TaskID == id })
		if b == nil || there || len(b.Artifacts) == 0 {
			continue
		}
		results = append(results, activities.Result{TaskID: b.ID, Name: b.Name, Artifacts: b.Artifacts})
	}
	return results
}
