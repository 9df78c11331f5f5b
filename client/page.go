package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/opt"
	"longhaul/opt/timetable"
	"longhaul/opt/wire"
)

// What the pages below /v1 are about. Only a Longhaul server has these pages: from another
// agent, the error is an [*Error] with status 404 or 405. An Interrupt is an open gate with the
// work that waits at it. A Schedule starts objectives at times, a ScheduleChange has the
// members of it that clients set, and a ScheduleRun is an objective that it has started. A Standing is a
// decision about gates beforehand, an Absence a time in which a deputy may decide.
type (
	Interrupt      = wire.Interrupt
	Schedule       = wire.Schedule
	ScheduleChange = wire.ScheduleChange
	ScheduleRun    = timetable.ScheduleRun
	Triggered      = wire.Triggered
	Standing       = wire.Standing
	NewStanding    = wire.NewStanding
	Compared       = wire.ComparedObjective
	ComparedWork   = wire.ComparedWork
	Absence        = wire.Absence
	NewAbsence     = wire.NewAbsence
)

// CardPath is where the card of an agent is, below its URL.
const CardPath = "/.well-known/agent-card.json"

// A Card is the card of an agent.
type Card = codec.Card

func pathOf(parts ...string) string {
	path := "/v1"
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// A Page is a page of a list.
type Page[T any] struct {
	Items []T               `json:"-"`
	Raw   []json.RawMessage `json:"-"` // the items as they came, as [opt.Chains] checks decisions

	NextPageToken string            `json:"nextPageToken"`      // "" on the last page; a page of a search may have one and no items
	TotalSize     int               `json:"totalSize"`          // on all pages
	AtLeast       bool              `json:"totalSizeIsMinimum"` // there may be more than TotalSize
	Head          *opt.DecisionHead `json:"head"`               // of all decisions, also those on other pages; nil for other lists
}

// A list reads a page whose items are in a member of the result.
type list[T any] struct {
	Page[T]
	member string
	read   func(json.RawMessage) (T, error)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *list[T]) UnmarshalJSON(b []byte) error {
	var members map[string]json.RawMessage
	l.Page = Page[T]{}
	if err := errors.Join(json.Unmarshal(b, &members), json.Unmarshal(b, &l.Page)); err != nil {
		return err
	}
	if items := members[l.member]; items != nil {
		if err := json.Unmarshal(items, &l.Raw); err != nil {
			return err
		}
	}
	for _, raw := range l.Raw {
		item, err := l.read(raw)
		if err != nil {
			return err
		}
		l.Items = append(l.Items, item)
	}
	return nil
}

// listOf reads a page of items that are plain JSON.
func listOf[T any](ctx context.Context, c *caller, r request, member string) (*Page[T], error) {
	l := list[T]{member: member, read: func(raw json.RawMessage) (v T, err error) {
		err = json.Unmarshal(raw, &v)
		return v, err
	}}
	return result(&l.Page, c.repeat(ctx, r, &l))
}

// Read returns a page below the URL of the agent, such as /v1/openapi.json, as it came.
func (c *Client) Read(ctx context.Context, path string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.caller.repeat(ctx, get(path, nil), &raw)
	return raw, err
}

// Card returns the agent's card.
func (c *Client) Card(ctx context.Context) (*Card, error) {
	raw, err := c.Read(ctx, CardPath)
	if err != nil {
		return nil, err
	}
	card, err := codec.ReadCard(raw)
	if err != nil {
		return nil, fmt.Errorf("read the card of the agent: %w", err)
	}
	return &card, nil
}

// Endpoint returns the URL of the first interface on a card that this package supports; ok
// is false if there is none.
func Endpoint(c *Card) (url string, ok bool) {
	for _, i := range c.Interfaces {
		if i.Binding == codec.BindingRPC && i.Version == version {
			return i.URL, true
		}
	}
	return "", false
}

// locate returns the URL of the interface on the card at the URL of the agent, unless it is at
// another host, which must not get the credentials.
func (c *caller) locate(ctx context.Context) (at string, ok bool) {
	var raw json.RawMessage
	if c.once(ctx, get(CardPath, nil), &raw) != nil {
		return "", false
	}
	card, err := codec.ReadCard(raw)
	if err != nil {
		return "", false
	}
	at, ok = Endpoint(&card)
	there, err := url.Parse(at)
	here, _ := url.Parse(c.cfg.URL) // to which a request was sent
	return strings.TrimRight(at, "/"), ok && err == nil && there.Scheme == here.Scheme && there.Host == here.Host
}

// InterruptOptions select open gates. Zero members select everything.
type InterruptOptions struct {
	Kind        opt.GateKind
	ObjectiveID string
	ContextID   string
	Mine        bool   // only those that wait for the caller
	PageSize    int    // zero: the agent's default
	PageToken   string // of a Page
}

// Interrupts returns a page of the open gates, the longest wait first.
func (c *Client) Interrupts(ctx context.Context, o InterruptOptions) (*Page[Interrupt], error) {
	return listOf[Interrupt](ctx, c.caller, get(pathOf("interrupts"), map[string]any{
		"kind": o.Kind, "objectiveId": o.ObjectiveID, "contextId": o.ContextID, "mine": o.Mine, "pageSize": o.PageSize, "pageToken": o.PageToken,
	}), "interrupts")
}

// CostOptions select costs. Zero members select everything, by context.
type CostOptions struct {
	By           string // context, model or tenant
	Since, Until a2a.Time
	PageSize     int // zero: the agent's default
}

// A Cost is what a context, model or tenant has cost.
type Cost = wire.Cost

// Costs returns the highest costs, on one page.
func (c *Client) Costs(ctx context.Context, o CostOptions) (*Page[Cost], error) {
	query := map[string]any{"by": o.By, "since": o.Since, "until": o.Until, "pageSize": o.PageSize}
	return listOf[Cost](ctx, c.caller, get(pathOf("costs"), query), "costs")
}

// A Quota is how much of one is used.
type Quota = wire.Quota

// Quotas returns what work has used of the quotas of the tenant, and of a context unless that is "", on one page.
func Quotas(ctx context.Context, c *Client, contextID string) (*Page[Quota], error) {
	return listOf[Quota](ctx, c.caller, get(pathOf("quotas"), map[string]any{"contextId": contextID}), "quotas")
}

// DecisionOptions select a page of decisions.
type DecisionOptions struct {
	PageSize  int    // zero: the agent's default
	PageToken string // of a Page
}

// Decisions returns a page of the decisions at the gates of an objective, in the order in
// which they were recorded, and the head of them all.
func (c *Client) Decisions(ctx context.Context, objectiveID string, o DecisionOptions) (*Page[opt.Decision], error) {
	query := map[string]any{"pageSize": o.PageSize, "pageToken": o.PageToken}
	return listOf[opt.Decision](ctx, c.caller, get(pathOf("objectives", objectiveID, "decisions"), query), "decisions")
}

// hasDecision reports whether an answer to a gate has a verdict.
func (c *Client) hasDecision(ctx context.Context, gateID, messageID string) (bool, error) {
	taskID, _ := opt.TaskOfGate(gateID)
	ref, ok := opt.ParseID(taskID)
	if !ok {
		return true, nil // another agent's, which has no such list
	}
	for o := (DecisionOptions{}); ; {
		page, err := c.Decisions(ctx, ref.ObjectiveID, o)
		if err != nil {
			return false, err
		}
		for _, d := range page.Items {
			if d.MessageID == messageID {
				return true, nil
			}
		}
		if o.PageToken = page.NextPageToken; o.PageToken == "" {
			return false, nil
		}
	}
}

// Compare returns two objectives side by side.
func (c *Client) Compare(ctx context.Context, a, b string) (*wire.Comparison, error) {
	var r wire.Comparison
	return result(&r, c.caller.repeat(ctx, get(pathOf("objectives", a, "compare"), map[string]any{"with": b}), &r))
}

// StandingDecisions are those of a server.
type StandingDecisions struct{ caller *caller }

// Standing returns the standing decisions of the server.
func (c *Client) Standing() StandingDecisions { return StandingDecisions{c.caller} }

// List returns the latest, and those that answers of the caller propose.
func (d StandingDecisions) List(ctx context.Context) (*wire.StandingList, error) {
	var list wire.StandingList
	return result(&list, d.caller.repeat(ctx, get(pathOf("standing"), nil), &list))
}

// Get returns one with its uses.
func (d StandingDecisions) Get(ctx context.Context, id string) (*Standing, error) {
	var s Standing
	return result(&s, d.caller.repeat(ctx, get(pathOf("standing", id), nil), &s))
}

// Make makes one.
func (d StandingDecisions) Make(ctx context.Context, s NewStanding) (*Standing, error) {
	var made Standing
	return result(&made, d.caller.once(ctx, request{method: http.MethodPost, path: pathOf("standing"), content: s}, &made))
}

// Change puts the caller behind one, or revokes it at once: "approve" or "revoke". A repeat changes
// nothing.
func (d StandingDecisions) Change(ctx context.Context, id, how string) (*Standing, error) {
	var s Standing
	return result(&s, d.caller.repeat(ctx, request{method: http.MethodPost, path: pathOf("standing", id, how), content: struct{}{}}, &s))
}

// Absences are those of a server.
type Absences struct{ caller *caller }

// Absences returns the absences of the server.
func (c *Client) Absences() Absences { return Absences{c.caller} }

// List returns those that end last.
func (a Absences) List(ctx context.Context) (*wire.AbsenceList, error) {
	var list wire.AbsenceList
	return result(&list, a.caller.repeat(ctx, get(pathOf("absences"), nil), &list))
}

// Add adds one.
func (a Absences) Add(ctx context.Context, n NewAbsence) (*Absence, error) {
	var made Absence
	return result(&made, a.caller.once(ctx, request{method: http.MethodPost, path: pathOf("absences"), content: n}, &made))
}

// End ends one at once. A repeat changes nothing.
func (a Absences) End(ctx context.Context, id string) (*Absence, error) {
	var ended Absence
	return result(&ended, a.caller.repeat(ctx, request{method: http.MethodPost, path: pathOf("absences", id, "end"), content: struct{}{}}, &ended))
}

// Schedules returns the schedules, in the order of their ids, on one page.
func (c *Client) Schedules(ctx context.Context) (*Page[Schedule], error) {
	return listOf[Schedule](ctx, c.caller, get(pathOf("schedules"), nil), "schedules")
}

// Schedule returns a schedule with its latest runs.
func (c *Client) Schedule(ctx context.Context, id string) (*Schedule, error) {
	var s Schedule
	return result(&s, c.caller.repeat(ctx, get(pathOf("schedules", id), nil), &s))
}

// CreateSchedule makes a schedule. A repeat with the same id and content returns the
// existing one.
func (c *Client) CreateSchedule(ctx context.Context, id string, s ScheduleChange) (*Schedule, error) {
	var made Schedule
	r := request{method: http.MethodPost, path: pathOf("schedules"), content: wire.NewSchedule{ID: id, ScheduleChange: s}}
	return result(&made, c.caller.repeat(ctx, r, &made))
}

// UpdateSchedule changes a schedule.
func (c *Client) UpdateSchedule(ctx context.Context, id string, s ScheduleChange) (*Schedule, error) {
	var changed Schedule
	r := request{method: http.MethodPatch, path: pathOf("schedules", id), content: s}
	return result(&changed, c.caller.repeat(ctx, r, &changed))
}

// DeleteSchedule deletes a schedule, and returns how many objectives waited for their start,
// as those of a backfill do: they are not started. Those that it has started are not affected.
func (c *Client) DeleteSchedule(ctx context.Context, id string) (dropped int, err error) {
	var out wire.Deleted
	err = c.caller.once(ctx, request{method: http.MethodDelete, path: pathOf("schedules", id)}, &out)
	return out.Dropped, err
}

// TriggerSchedule starts an objective of a schedule now. overlap replaces that of the
// schedule, "" keeps it.
func (c *Client) TriggerSchedule(ctx context.Context, id string, overlap timetable.Overlap) (*Triggered, error) {
	var out Triggered
	r := request{method: http.MethodPost, path: pathOf("schedules", id, "trigger"), content: wire.TriggerRequest{Overlap: overlap}}
	return result(&out, c.caller.once(ctx, r, &out))
}

// BackfillSchedule starts the objectives of a schedule for the times in a span that has
// passed, both ends of which count. Without an overlap they run one after another. It
// returns the objectives; those with a status had been started before.
func (c *Client) BackfillSchedule(ctx context.Context, id string, from, until a2a.Time, overlap timetable.Overlap) ([]ScheduleRun, error) {
	var out wire.Backfilled
	r := request{method: http.MethodPost, path: pathOf("schedules", id, "backfill"), content: wire.BackfillRequest{From: from, Until: until, Overlap: overlap}}
	err := c.caller.once(ctx, r, &out)
	return out.Runs, err
}
