package journal

import (
	"cmp"
	"errors"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A viewRow is a view that is being read.
type viewRow struct {
	shown.TaskView
	statusID string // of the status message
	present  bool   // it is the root task of the current attempt
	at       moment // of its objective
}

// scanView reads the columns of a task, its objective and its plan.
func scanView(row db.Scanner) (viewRow, error) {
	var v viewRow
	var at int64
	var status, gate, decided, dependencies, metadata, stuck, epochs db.Content
	var ofObjective struct {
		attempt                           int
		paused                            bool
		queued                            int64
		name, message, digest, stop, plan string
	}
	err := row.Scan(&v.Task.ID, &v.ObjectiveID, &v.PlanID, &v.Index, &v.Task.ContextID, &v.State, &at, &v.statusID, &v.Attempt,
		(*db.Content)(&v.Name), &v.MessageID, &v.Digest, &status, &gate, &decided, &dependencies, &metadata,
		&v.Seq, &ofObjective.attempt, &ofObjective.paused, &ofObjective.queued, &v.Principal, (*db.Content)(&ofObjective.name), &ofObjective.message, &ofObjective.digest, &ofObjective.stop, &stuck, &epochs, &ofObjective.plan, &v.at.purges)
	if err != nil {
		return v, err
	}
	v.at.seq, v.at.stuck = v.Seq, stuck
	if v.Rewound, err = record.WasRewound(epochs); err != nil {
		return v, err
	}
	v.Task.Status = a2a.TaskStatus{State: v.State.A2A(), At: a2a.AtMillis(at)}
	var g *opt.Gate
	err = errors.Join(db.Decode(status, &v.Task.Status.Message), db.Decode(gate, &g), db.Decode(decided, &v.Decided), db.Decode(dependencies, &v.Dependencies), db.Decode(metadata, &v.Task.Metadata), db.Decode(stuck, &v.Stuck))
	if v.IsRoot = v.PlanID == ""; v.IsRoot {
		v.present = v.Index == ofObjective.attempt
		v.Index, v.Name = 0, ofObjective.name
		switch {
		case !v.present:
			v.RetriedBy = opt.RootID(v.ObjectiveID, ofObjective.attempt)
		case !v.State.Ended():
			v.Paused, v.QueuedAt = ofObjective.paused, a2a.AtMillis(ofObjective.queued)
		}
	} else {
		v.MessageID, v.Digest = ofObjective.message, ofObjective.digest
		if g != nil {
			v.Gates = []*opt.Gate{g}
		}
	}
	if !v.State.Ended() {
		v.Stopping = cmp.Or(ofObjective.plan, ofObjective.stop)
	}
	return v, err
}

// complete adds to v the parts from other rows.
func (v *viewRow) complete(c *db.Conn, want shown.TaskWant) error {
	s := db.Steps{C: c}
	if v.present && !v.State.Ended() {
		v.locate(&s)
		v.addQueuePosition(&s)
		if v.State != opt.TaskSubmitted {
			v.Progress = progressOf(&s, v.ObjectiveID)
		}
	}
	var err error
	if want.History != 0 {
		v.Task.History, err = v.history(c, want)
		s.Fail(err)
	}
	if want.Artifacts {
		v.Task.Artifacts, err = artifacts(c, v.ObjectiveID, v.Task.ID)
		s.Fail(err)
	}
	return s.Err
}

// progressOf returns the progress of the plans of an objective.
func progressOf(s *db.Steps, objectiveID string) *shown.Progress {
	var plans []*opt.Plan
	s.Each(`SELECT p.id, p.name, p.status, t.name, t.idx, t.state, t.said FROM plans p JOIN tasks t ON t.objective_id = p.objective_id AND t.plan_id = p.id
		WHERE p.objective_id = $1 ORDER BY p.position, t.idx, length(t.id), t.id`, db.Args{objectiveID},
		func(row db.Scanner) error {
			var p opt.Plan
			var t opt.Task
			var status db.Content
			if err := row.Scan(&p.ID, (*db.Content)(&p.Name), &p.Status, (*db.Content)(&t.Name), &t.Index, &t.State, &status); err != nil {
				return err
			}
			if t.State == opt.TaskWorking && len(status) > 0 {
				var m a2a.Message
				if err := db.Decode(status, &m); err != nil {
					return err
				}
				t.Said, t.Percent = m.Text(), opt.PercentIn(&m)
			}
			if len(plans) == 0 || plans[len(plans)-1].ID != p.ID {
				plans = append(plans, &p)
			}
			addLatest(plans[len(plans)-1], &t)
			return nil
		})
	return shown.ProgressOf(plans)
}

// locate finds the active plan and tasks under a root task, and its open gates.
func (v *viewRow) locate(s *db.Steps) {
	s.Each(`SELECT t.plan_id, t.idx, t.gate FROM tasks t JOIN plans p ON p.id = t.plan_id
		WHERE t.objective_id = $1 AND t.active = 1 ORDER BY p.position, t.idx`, db.Args{v.ObjectiveID},
		func(row db.Scanner) error {
			var plan string
			var index int
			var gate db.Content
			var g *opt.Gate
			if err := row.Scan(&plan, &index, &gate); err != nil {
				return err
			}
			if err := db.Decode(gate, &g); err != nil {
				return err
			}
			if v.PlanID == "" {
				v.PlanID, v.Index = plan, index
			}
			if g != nil {
				v.Gates = append(v.Gates, g)
			}
			return nil
		})
	slices.SortFunc(v.Gates, func(a, b *opt.Gate) int {
		return cmp.Or(cmp.Compare(a.RequestedAt.Millis(), b.RequestedAt.Millis()), cmp.Compare(a.ID, b.ID))
	})
}
