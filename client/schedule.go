package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Schedule starts objectives at times. The members that a client sets are those of a
// [ScheduleChange].
type Schedule struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Text      string        `json:"text"`
	Skill     string        `json:"skill"`
	ContextID string        `json:"contextId"`
	Cron      []string      `json:"cron"`
	Every     string        `json:"every"`
	TimeZone  string        `json:"timeZone"`
	Jitter    string        `json:"jitter"`
	From      a2a.Time      `json:"from"`
	Until     a2a.Time      `json:"until"`
	Overlap   opt.Overlap   `json:"overlap"`
	CatchUp   string        `json:"catchUp"`
	Paused    bool          `json:"paused"`
	Note      string        `json:"note"`
	Principal string        `json:"principal"` // whose objectives it starts
	Playbook  string        `json:"playbook"`  // that declares it
	CreatedAt a2a.Time      `json:"createdAt"`
	Next      []a2a.Time    `json:"next"`    // without jitter; none while it is paused
	Runs      []ScheduleRun `json:"runs"`    // the latest, the newest first; in a list only one
	Skipped   int           `json:"skipped"` // times that were left out because of Overlap
	Missed    int           `json:"missed"`  // times that were left out because of CatchUp

	Raw json.RawMessage `json:"-"` // the schedule as it came
}

// A ScheduleRun is an objective that a schedule has started, or tried to.
type ScheduleRun struct {
	At          a2a.Time            `json:"at"`
	ObjectiveID string              `json:"objectiveId"`
	Status      opt.ObjectiveStatus `json:"status"`  // "" if there is no such objective, or not yet
	Failure     string              `json:"failure"` // why it was not started
}

// A ScheduleChange has the members of a schedule to set. Members that are nil or empty
// stay as they are. Durations are texts such as 90s, 2h and 7d.
type ScheduleChange struct {
	Name      *string     `json:"name,omitempty"`
	Text      string      `json:"text,omitempty"`
	Skill     *string     `json:"skill,omitempty"`
	ContextID *string     `json:"contextId,omitempty"`
	Cron      []string    `json:"cron,omitzero"` // empty but not nil: none
	Every     string      `json:"every,omitempty"`
	TimeZone  *string     `json:"timeZone,omitempty"`
	Jitter    string      `json:"jitter,omitempty"`
	From      *a2a.Time   `json:"from,omitempty"`
	Until     *a2a.Time   `json:"until,omitempty"`
	Overlap   opt.Overlap `json:"overlap,omitempty"`
	CatchUp   string      `json:"catchUp,omitempty"`
	Paused    *bool       `json:"paused,omitempty"`
	Note      *string     `json:"note,omitempty"`
}

// A Triggered is the result of a trigger.
type Triggered struct {
	Run     *ScheduleRun `json:"run"`     // nil if nothing was started
	Skipped bool         `json:"skipped"` // an objective of the schedule is open, and Overlap is to skip
	Pending bool         `json:"pending"` // nothing has been started yet
}

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
	body := struct {
		ID string `json:"id"`
		ScheduleChange
	}{id, s}
	return c.changed(ctx, http.MethodPost, schedulePath, body)
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
	return out, c.submit(ctx, http.MethodPost, schedulePage(id, "trigger"), struct {
		Overlap opt.Overlap `json:"overlap,omitempty"`
	}{overlap}, out)
}

// BackfillSchedule starts the objectives of a schedule for the times in a span that has
// passed, both ends of which count. Without an overlap they run one after another. It
// returns the objectives; those with a status had been started before.
func (c schedules) BackfillSchedule(ctx context.Context, id string, from, until a2a.Time, overlap opt.Overlap) ([]ScheduleRun, error) {
	body := struct {
		From    a2a.Time    `json:"from"`
		Until   a2a.Time    `json:"until"`
		Overlap opt.Overlap `json:"overlap,omitempty"`
	}{from, until, overlap}
	var out struct {
		Runs []ScheduleRun `json:"runs"`
	}
	err := c.submit(ctx, http.MethodPost, schedulePage(id, "backfill"), body, &out)
	return out.Runs, err
}

// submit sends a change to a page beside A2A, once. With nil the request has no body.
func (c schedules) submit(ctx context.Context, method, path string, body, result any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return fmt.Errorf("write the content of %s: %w", path, err)
		}
	}
	res, answer, err := c.exchange(ctx, method, path, content)
	if err != nil {
		return err
	}
	return readPage(res, answer, result)
}
