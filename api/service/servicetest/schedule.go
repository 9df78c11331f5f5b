package servicetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"longhaul/a2a"
	"longhaul/api/schedule"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// Schedules keeps schedules for tests and has no clock: tests start the runs of
// schedules. The zero value has none. It is safe for concurrent use.
type Schedules struct {
	// Run is called for each request to run a schedule, and returns the new state of
	// the schedule. Nil changes nothing.
	Run func(s timetable.ScheduleState, b timetable.Backfill) timetable.ScheduleState
	// Times are the times of all schedules.
	Times []a2a.Time

	mu   sync.Mutex
	list []timetable.ScheduleState
	log  []string
}

var _ schedule.Scheduler = (*Schedules)(nil)

// Log returns the changes so far.
func (s *Schedules) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *Schedules) find(tenant, id string) (int, error) {
	i := slices.IndexFunc(s.list, func(x timetable.ScheduleState) bool { return x.Tenant == tenant && x.ID == id })
	if i < 0 {
		return i, fmt.Errorf("schedule %s: %w", id, opt.ErrUnknown)
	}
	return i, nil
}

// Schedule implements [schedule.ScheduleReader].
func (s *Schedules) Schedule(_ context.Context, tenant, id string) (timetable.ScheduleState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(tenant, id)
	if err != nil {
		return timetable.ScheduleState{}, err
	}
	out := s.list[i]
	out.Runs = slices.Clone(out.Runs)
	return out, nil
}

// Schedules implements [schedule.ScheduleReader].
func (s *Schedules) Schedules(_ context.Context, tenant string) (out []timetable.ScheduleState, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		if tenant == "" || x.Tenant == tenant {
			x.Runs = slices.Clone(x.Runs)
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b timetable.ScheduleState) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// ScheduleTimes implements [schedule.ScheduleReader].
func (s *Schedules) ScheduleTimes(_ context.Context, _, _ string, from, until a2a.Time) (out []a2a.Time, _ error) {
	for _, at := range s.Times {
		if !at.Time().Before(from.Time()) && !at.Time().After(until.Time()) {
			out = append(out, at)
		}
	}
	return out, nil
}

// RunFailure implements [schedule.ScheduleReader].
func (s *Schedules) RunFailure(context.Context, timetable.Schedule, a2a.Time) (string, error) {
	return "The journal does not know it.", nil
}

// AddSchedule implements [schedule.Scheduler].
func (s *Schedules) AddSchedule(_ context.Context, x timetable.ScheduleState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(x.Tenant, x.ID); err == nil {
		return opt.ErrConflict
	}
	s.list = append(s.list, x)
	s.log = append(s.log, "add "+x.ID)
	return nil
}

// ChangeSchedule implements [schedule.Scheduler].
func (s *Schedules) ChangeSchedule(_ context.Context, tenant, id string, change func(*timetable.ScheduleState) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(tenant, id)
	if err != nil {
		return err
	}
	x := s.list[i]
	if err := change(&x); err != nil {
		return err
	}
	s.list[i] = x
	s.log = append(s.log, "change "+id)
	return nil
}

// RemoveSchedule implements [schedule.Scheduler].
func (s *Schedules) RemoveSchedule(_ context.Context, tenant, id string) (dropped int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(tenant, id)
	if err == nil {
		s.list = slices.Delete(s.list, i, i+1)
		s.log = append(s.log, "remove "+id)
	}
	return 0, err
}

// RunSchedule implements [schedule.Scheduler].
func (s *Schedules) RunSchedule(_ context.Context, tenant, id string, b timetable.Backfill) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(tenant, id)
	if err == nil && s.Run != nil {
		s.list[i] = s.Run(s.list[i], b)
	}
	return err
}
