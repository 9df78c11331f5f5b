package read

import (
	"context"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/shown"
)

// overviewHours is how far an overview looks back, the present hour included.
const overviewHours = 24

// overviewModels is how many models an overview has.
const overviewModels = 10

// overviewAge is for how long an overview is kept: many pages show the one of a tenant,
// and each asks for it every few seconds.
const overviewAge = time.Second

// OverviewOf is what the work of a tenant looks like.
type OverviewOf struct {
	shown.Overview
	At    a2a.Time     // when it was so
	Since a2a.Time     // the hour with which Ended and Costs begin
	Costs []shown.Cost // of models, the highest

	Quotas []access.Use // of what all work uses, the one nearest to its limit first

	Workforce shown.Workforce
	Asked     bool // about Workforce
	Answers   bool // Temporal has said it just now
}

// An OverviewReader counts the work of a tenant now; Ended and Failed begin with since.
type OverviewReader interface {
	Overview(ctx context.Context, tenant string, since, now a2a.Time) (shown.Overview, error)
	CostReader
}

// Overviews makes overviews, and keeps each for a moment.
type Overviews struct {
	journal OverviewReader
	quotas  Quotas
	workers workforce
	now     func() time.Time

	mu   sync.Mutex
	kept map[string]OverviewOf // by tenant
}

func NewOverviews(j OverviewReader, quotas Quotas, ask AskWorkforce, now func() time.Time) *Overviews {
	return &Overviews{journal: j, quotas: quotas, workers: workforce{ask: ask, now: now}, now: now, kept: map[string]OverviewOf{}}
}

// GetOverview returns what the work of the caller's tenant looks like, now or a second ago.
func (s *Overviews) GetOverview(ctx context.Context, c *call.Call) (OverviewOf, error) {
	now := s.now()
	if v, ok := s.fresh(c.Tenant, now); ok {
		return v, nil
	}
	since := a2a.At(now.Truncate(time.Hour).Add(-(overviewHours - 1) * time.Hour))
	v, err := s.journal.Overview(ctx, c.Tenant, since, a2a.At(now))
	if err != nil {
		return OverviewOf{}, err
	}
	costs, err := s.journal.Costs(ctx, c.Tenant, shown.CostSearch{By: shown.ByModel, Since: since, Limit: overviewModels})
	if err != nil {
		return OverviewOf{}, err
	}
	out := OverviewOf{Overview: v, At: a2a.At(now), Since: since, Costs: costs}
	if out.Quotas, err = s.quotas.ListQuotas(ctx, c, QuotaParams{}); err != nil {
		return OverviewOf{}, err
	}
	out.Asked = s.workers.ask != nil
	out.Workforce, out.Answers = s.Workforce(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[c.Tenant] = out
	return out, nil
}

// Workforce returns how busy the workers are; ok is false if that is not known now.
func (s *Overviews) Workforce(ctx context.Context) (w shown.Workforce, ok bool) {
	if s.workers.ask == nil {
		return w, false
	}
	return s.workers.get(ctx, workforceFirst)
}

// addWaits says of the tasks of some plans of an objective whether they wait for workers. It reads the events of
// the objective only if a task may wait.
func (s *Overviews) addWaits(ctx context.Context, c *call.Call, events *Events, objectiveID string, plans ...*opt.Plan) error {
	var running []*opt.Task
	var latest a2a.Time
	for _, p := range plans {
		for _, t := range p.Running() {
			if t.Link == "" && !t.ByHand && t.Reason != opt.HeldByQuota {
				running, latest = append(running, t), a2a.AtMillis(max(latest.Millis(), p.UpdatedAt.Millis()))
			}
		}
	}
	if len(running) == 0 || s.workers.ask == nil {
		return nil
	}
	workers, known := s.workers.get(ctx, workforceFirst)
	now := a2a.At(s.now())
	since, some := workers.Since(now)
	if !known || !some || latest.Millis() < since.Millis() {
		return nil
	}
	course, err := events.GetCourse(ctx, c, objectiveID)
	for _, t := range running {
		t.Waits = workers.WaitOf(course.Tasks[t.ID], now)
	}
	return err
}

// fresh returns the overview of a tenant that is not too old, and drops all that are.
func (s *Overviews) fresh(tenant string, now time.Time) (v OverviewOf, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, kept := range s.kept {
		if age := now.Sub(kept.At.Time()); age < 0 || age >= overviewAge {
			delete(s.kept, name)
		}
	}
	v, ok = s.kept[tenant]
	return v, ok
}
