package message

import (
	"context"
	"sync"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/rehearse"
	"longhaul/opt/shown"
)

// A RunFinder finds objectives.
type RunFinder interface {
	SearchObjectives(ctx context.Context, tenant string, f shown.ObjectiveSearch) (shown.ObjectivesFound, error)
}

// Rehearsals has the operation that rehearses a message. It is safe for concurrent use.
type Rehearsals struct {
	messages *Messages
	runs     RunFinder
	limits   opt.Limits
	quotas   read.Quotas

	turn    chan struct{} // one at a time: each takes a while of the processor
	tenants sync.Map      // that have or wait for the turn: each once, so that none keeps others from it
}

// NewRehearsals returns rehearsals of messages to m, under the limits of the server.
func NewRehearsals(m *Messages, runs RunFinder, limits opt.Limits, quotas read.Quotas) *Rehearsals {
	return &Rehearsals{messages: m, runs: runs, limits: limits, quotas: quotas, turn: make(chan struct{}, 1)}
}

// Limits of the work of a rehearsal.
const (
	mostPastRuns  = 20
	mostPastTasks = 200    // that are read, of all runs
	mostSteps     = 10_000 // some seconds, with 500 tasks
)

// RehearseObjective returns how the work of a message is likely to go, and begins nothing; nil where
// that is not known: the agent answers at once or refuses, or a worker makes the plans. It has the
// times and costs of past runs, if the caller may read them, and the names of people, if it may answer, too.
func (s *Rehearsals) RehearseObjective(ctx context.Context, c *call.Call, p SendParams) (*rehearse.Report, error) {
	if err := c.RequireScopes(call.CreateRuns); err != nil {
		return nil, err
	}
	specs, d, err := s.messages.askAgent(ctx, p, p.Message.ContextID, opt.NewObjectiveID([16]byte{}))
	if err != nil || len(specs) == 0 || d.Answer != nil || d.Refusal != "" {
		return nil, err
	}
	end, err := s.begin(ctx, c.Tenant)
	if err != nil {
		return nil, err
	}
	defer end()
	planned := func(opt.Objective, *a2a.Message) rehearse.Planned {
		return rehearse.Planned{Plans: specs, Planner: d.Planner, Reason: d.Reason}
	}
	a := rehearse.Assumptions{
		Requester: c.Principal, Tenant: c.Tenant, At: s.messages.Now().UTC(), Budget: opt.BudgetOf(p.Message), Limits: s.limits, Quotas: s.quotas.Limits, Steps: mostSteps, Stopped: ctx.Err,
		Unnamed: c.RequireScopes(call.RespondApprovals) != nil,
	}
	if c.RequireScopes(call.ReadRuns) == nil {
		if a.Used, err = s.quotas.ListQuotas(ctx, c, read.QuotaParams{ContextID: p.Message.ContextID}); err != nil {
			return nil, err
		}
	}
	return rehearse.RunFrom(planned, p.Message, a, func(planner string) ([]rehearse.PastRun, error) { return s.past(ctx, c, planner) })
}

// begin waits until no other rehearsal runs, and refuses a second one of a tenant.
func (s *Rehearsals) begin(ctx context.Context, tenant string) (end func(), err error) {
	if _, busy := s.tenants.LoadOrStore(tenant, true); busy {
		return nil, call.TooMany(call.RetryDelay)
	}
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn; s.tenants.Delete(tenant) }, nil
	case <-ctx.Done():
		s.tenants.Delete(tenant)
		return nil, ctx.Err()
	}
}

// past reads the latest runs of a planner that were completed.
func (s *Rehearsals) past(ctx context.Context, c *call.Call, planner string) (runs []rehearse.PastRun, err error) {
	if planner == "" || c.RequireScopes(call.ReadRuns) != nil {
		return nil, nil
	}
	found, err := s.runs.SearchObjectives(ctx, c.Tenant, shown.ObjectiveSearch{
		ObjectiveFilter: shown.ObjectiveFilter{Status: opt.ObjectiveCompleted, Limit: mostPastRuns, Plans: true}, Planner: planner,
	})
	tasks := 0
	for _, o := range found.Objectives {
		run := rehearse.PastRun{Began: o.CreatedAt, Ended: o.UpdatedAt, Tasks: map[string]rehearse.PastTask{}}
		for _, p := range o.Plans {
			if tasks += len(p.Tasks); tasks > mostPastTasks {
				return runs, nil
			}
			for _, t := range p.Tasks {
				if run.Tasks[rehearse.PlaceOf(t.ID)], err = s.pastTask(ctx, c, p, t); err != nil {
					return nil, err
				}
			}
		}
		runs = append(runs, run)
	}
	return runs, err
}

// pastTask reads when a task has ended; never if it is done elsewhere, or was taken over.
func (s *Rehearsals) pastTask(ctx context.Context, c *call.Call, p *opt.Plan, t *opt.Task) (past rehearse.PastTask, err error) {
	if ref, ok := opt.ParseID(t.A2AID()); !ok || ref.PlanID != p.ID || t.Taken != nil {
		return past, nil
	}
	v, err := s.messages.Read.Task(ctx, c, t.A2AID(), shown.TaskWant{})
	if err == nil && v.Task.Status.State.Terminal() {
		past = rehearse.PastTask{Ended: v.Task.Status.At, Used: t.Used.Usage}
	}
	return past, err
}
