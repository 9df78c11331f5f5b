package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// A Schedule starts objectives at times, a ScheduleChange has the members of it that clients set,
// and a ScheduleRun is an objective that it has started.
type (
	Schedule       = wire.Schedule
	ScheduleChange = wire.ScheduleChange
	ScheduleRun    = opt.ScheduleRun
	Triggered      = wire.Triggered
)

// schedules is the part of a Client for schedules. Only a Longhaul server has them:
// from another agent, the error is an [*Error] with status 404 or 405.
type schedules struct{ *caller }

const schedulePath = "/v1/schedules"

func schedulePage(id, action string) string {
	path := schedulePath + "/" + url.PathEscape(id)
	if action != "" {
		path += "/" + action
	}
	return path
}

// Schedules returns the schedules, in the order of their ids.
func (c schedules) Schedules(ctx context.Context) ([]Schedule, error) {
	var page struct {
		Schedules []json.RawMessage `json:"schedules"`
	}
	if err := c.page(ctx, schedulePath, nil, &page); err != nil {
		return nil, err
	}
	var out []Schedule
	for _, raw := range page.Schedules {
		s, err := readSchedule(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, *s)
	}
	return out, nil
}

func readSchedule(raw json.RawMessage) (*Schedule, error) {
	s := &Schedule{Raw: raw}
	return s, decode(schedulePath, raw, s)
}

// Schedule returns a schedule with its latest runs.
func (c schedules) Schedule(ctx context.Context, id string) (*Schedule, error) {
	var raw json.RawMessage
	if err := c.page(ctx, schedulePage(id, ""), nil, &raw); err != nil {
		return nil, err
	}
	return readSchedule(raw)
}

// CreateSchedule makes a schedule. A repeat with the same id and content returns the
// existing one.
func (c schedules) CreateSchedule(ctx context.Context, id string, s ScheduleChange) (*Schedule, error) {
	return c.changed(ctx, http.MethodPost, schedulePath, wire.NewSchedule{ID: id, ScheduleChange: s})
}

// UpdateSchedule changes a schedule.
func (c schedules) UpdateSchedule(ctx context.Context, id string, s ScheduleChange) (*Schedule, error) {
	return c.changed(ctx, http.MethodPatch, schedulePage(id, ""), s)
}

func (c schedules) changed(ctx context.Context, method, path string, body any) (*Schedule, error) {
	var raw json.RawMessage
	err := c.repeatCall(ctx, func() error { return c.submit(ctx, method, path, body, &raw) })
	if err != nil {
		return nil, err
	}
	return readSchedule(raw)
}

// DeleteSchedule deletes a schedule. Objectives that it has started are not affected.
func (c schedules) DeleteSchedule(ctx context.Context, id string) error {
	return c.submit(ctx, http.MethodDelete, schedulePage(id, ""), nil, &struct{}{})
}

// TriggerSchedule starts an objective of a schedule now. overlap replaces that of the
// schedule, "" keeps it.
func (c schedules) TriggerSchedule(ctx context.Context, id string, overlap opt.Overlap) (*Triggered, error) {
	out := &Triggered{}
	return out, c.submit(ctx, http.MethodPost, schedulePage(id, "trigger"), wire.TriggerRequest{Overlap: overlap}, out)
}

// BackfillSchedule starts the objectives of a schedule for the times in a span that has
// passed, both ends of which count. Without an overlap they run one after another. It
// returns the objectives; those with a status had been started before.
func (c schedules) BackfillSchedule(ctx context.Context, id string, from, until a2a.Time, overlap opt.Overlap) ([]ScheduleRun, error) {
	var out wire.Backfilled
	err := c.submit(ctx, http.MethodPost, schedulePage(id, "backfill"), wire.BackfillRequest{From: from, Until: until, Overlap: overlap}, &out)
	return out.Runs, err
}
