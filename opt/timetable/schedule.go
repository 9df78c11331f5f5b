package timetable

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Schedule starts objectives at times, each by the same message of its principal.
// Its JSON is durable: it is in Temporal's schedules and in histories.
type Schedule struct {
	ID        string `json:"id"` // unique in its tenant
	Tenant    string `json:"tenant"`
	Principal string `json:"principal"`          // its owner; the objectives belong to this principal
	Playbook  string `json:"playbook,omitempty"` // that declares it; "" for one that a client made

	Name      string `json:"name,omitempty"` // of the objectives; "" for one made from the text
	Text      string `json:"text"`           // of the message
	Skill     string `json:"skill,omitempty"`
	ContextID string `json:"contextId,omitempty"` // "" for a new context each time

	Times     Times    `json:"times"`
	Overlap   Overlap  `json:"overlap"`
	CatchUp   int64    `json:"catchUp"` // seconds by which an objective may start late; later ones are left out
	CreatedAt a2a.Time `json:"createdAt"`

	Starts []Start `json:"starts,omitempty"` // beside its times
}

// A Start says that another principal than the owner of a schedule has it start the objectives for a span
// of times, both ends of which count: it has a part in their work.
type Start struct {
	By    string   `json:"by"`
	From  a2a.Time `json:"from"`
	Until a2a.Time `json:"until"`
}

// mostStarts is how many starts of one principal a schedule has. With one more, the oldest two become one.
const mostStarts = 20

// AddStart adds a start, unless it is by the owner.
func (s *Schedule) AddStart(n Start) {
	if n.By == s.Principal {
		return
	}
	s.Starts = append(slices.Clone(s.Starts), n)
	var own []int
	for i, old := range s.Starts {
		if old.By == n.By {
			own = append(own, i)
		}
	}
	if len(own) > mostStarts {
		a, b := s.Starts[own[0]], &s.Starts[own[1]]
		b.From, b.Until = a2a.AtMillis(min(a.From.Millis(), b.From.Millis())), a2a.AtMillis(max(a.Until.Millis(), b.Until.Millis()))
		s.Starts = slices.Delete(s.Starts, own[0], own[0]+1)
	}
}

// Starters lists who has had s start the objective for a time, as Temporal writes it, beside its owner.
func (s *Schedule) Starters(at string) (principals []string) {
	var when a2a.Time
	unknown := when.UnmarshalText([]byte(at)) != nil
	for _, n := range s.Starts {
		within := n.From.Millis() <= when.Millis() && when.Millis() <= n.Until.Millis()
		if (within || unknown) && !slices.Contains(principals, n.By) {
			principals = append(principals, n.By)
		}
	}
	return principals
}

// Times say when a schedule starts objectives.
type Times struct {
	Cron     []string `json:"cron,omitempty"`     // as Temporal reads it, without a time zone
	Every    int64    `json:"every,omitempty"`    // seconds, counted from 1970-01-01T00:00Z; 0 for none
	TimeZone string   `json:"timeZone,omitempty"` // of Cron; "" for UTC
	Jitter   int64    `json:"jitter,omitempty"`   // seconds by which a start is delayed at random, at most
	From     a2a.Time `json:"from,omitzero"`      // no start before it
	Until    a2a.Time `json:"until,omitzero"`     // no start after it
}

// An Overlap says what happens at a time of a schedule while an objective that it has
// started before is open.
type Overlap string

// The kinds of Overlap.
const (
	OverlapSkip   Overlap = "skip"         // the time is left out
	OverlapOne    Overlap = "buffer-one"   // one objective waits for the end of the open one; further times are left out
	OverlapQueue  Overlap = "buffer-all"   // each waits for the end of the one before
	OverlapCancel Overlap = "cancel-other" // the open one is canceled first
	OverlapAllow  Overlap = "allow-all"    // it starts beside the others
)

// Overlaps lists all kinds.
func Overlaps() []Overlap {
	return []Overlap{OverlapSkip, OverlapOne, OverlapQueue, OverlapCancel, OverlapAllow}
}

// Limits of schedules.
const (
	MaxScheduleText = 16 << 10
	MaxCrons        = 20
	MaxCronLength   = 200
	MinCatchUp      = 10      // seconds
	DefaultCatchUp  = 60 * 60 // seconds
	maxScheduleSpan = 366 * 24 * 60 * 60
)

var (
	scheduleIDForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	cronForm       = regexp.MustCompile(`^(@(yearly|monthly|weekly|daily|hourly)|[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4,6})$`)
)

// PlaybookScheduleID returns the id of a schedule that a playbook declares. No client
// can choose such an id.
func PlaybookScheduleID(playbook, name string) string { return "playbook:" + playbook + ":" + name }

// ScheduleName reports whether a schedule, or a playbook that declares some, may have
// a name.
func ScheduleName(name string) bool { return scheduleIDForm.MatchString(name) }

// wrong returns an error about a member of a schedule.
func wrong(field, problem string) error { return &opt.SpecError{Field: field, Problem: problem} }

// Check returns a [*opt.SpecError] about the first member that is wrong. Temporal checks
// the times further.
func (s *Schedule) Check() error {
	id := s.ID
	if s.Playbook != "" {
		id, _ = strings.CutPrefix(id, PlaybookScheduleID(s.Playbook, ""))
	}
	switch {
	case !ScheduleName(id):
		return wrong("id", "must be 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit")
	case strings.TrimSpace(s.Text) == "":
		return wrong("text", "is required: the message that each objective starts with")
	case len(s.Text) > MaxScheduleText:
		return wrong("text", fmt.Sprintf("is longer than %d bytes", MaxScheduleText))
	case len(s.Name) > opt.MaxName:
		return wrong("name", fmt.Sprintf("is longer than %d bytes", opt.MaxName))
	case s.CatchUp < MinCatchUp || s.CatchUp > maxScheduleSpan:
		return wrong("catchUp", "must be from 10s to 366d")
	}
	for _, o := range Overlaps() {
		if s.Overlap == o {
			return s.Times.check()
		}
	}
	return wrong("overlap", "must be one of: skip, buffer-one, buffer-all, cancel-other, allow-all")
}

func (t Times) check() error {
	switch {
	case len(t.Cron) == 0 && t.Every == 0:
		return wrong("cron", "is required, or every: when does it start objectives?")
	case len(t.Cron) > MaxCrons:
		return wrong("cron", fmt.Sprintf("has more than %d expressions", MaxCrons))
	case t.Every < 0 || t.Every > maxScheduleSpan:
		return wrong("every", "must be from 1s to 366d")
	case t.Jitter < 0 || t.Jitter > maxScheduleSpan:
		return wrong("jitter", "must be from 0s to 366d")
	case !t.Until.IsZero() && t.Until.Time().Before(t.From.Time()):
		return wrong("until", "is before from")
	case t.TimeZone != "" && len(t.Cron) == 0:
		return wrong("timeZone", "is for cron: every counts from 1970-01-01T00:00Z")
	}
	for i, c := range t.Cron {
		if len(c) > MaxCronLength || !cronForm.MatchString(c) {
			return wrong(fmt.Sprintf("cron[%d]", i),
				"must have 5 fields (minute, hour, day of the month, month, day of the week), such as \"0 2 * * mon-fri\", or be @hourly, @daily, @weekly, @monthly or @yearly; a year may follow, and seconds come first where a year is")
		}
	}
	return nil
}

// MessageID returns the id of the message that s sends for a time, as Temporal writes
// it. A schedule that was removed and made again is another one.
func (s *Schedule) MessageID(at string) string {
	return "schedule:" + s.ID + ":" + strconv.FormatInt(s.CreatedAt.Millis(), 36) + ":" + at
}

// ObjectiveID returns the id of the objective that s starts for a time, as Temporal
// writes it.
func (s *Schedule) ObjectiveID(at string) string {
	return opt.DerivedObjectiveID(s.Tenant, s.Principal, s.MessageID(at))
}

// A ScheduleState is a schedule with its state in Temporal.
type ScheduleState struct {
	Schedule
	Paused  bool
	Note    string        // a note by its owner: why it is paused, or its purpose
	Next    []a2a.Time    // times at which it will start objectives, without jitter; none while it is paused
	Runs    []ScheduleRun // the latest, the newest first
	Skipped int           // times that were left out because of Overlap
	Missed  int           // times that were left out because of CatchUp
}

// A ScheduleRun is an objective that a schedule has started, or tried to.
type ScheduleRun struct {
	At          a2a.Time            `json:"at"`
	ObjectiveID string              `json:"objectiveId"`
	Status      opt.ObjectiveStatus `json:"status,omitempty"`  // of the objective; absent if there is no such objective, or not yet
	Failure     string              `json:"failure,omitempty"` // why the objective was not started
}

// String returns r on one line, for people.
func (r ScheduleRun) String() string {
	if r.Failure != "" {
		return r.At.String() + ": " + r.Failure
	}
	return r.At.String() + ": " + opt.Objective{ID: r.ObjectiveID, Status: r.Status}.String()
}

// A Backfill has a schedule start objectives for times that have passed. Both ends of
// the span count. The zero value is for now, once.
type Backfill struct {
	From, Until a2a.Time
	Overlap     Overlap // "" for the schedule's
}

// A ScheduledRun is one objective that a schedule starts. Its JSON is in histories.
type ScheduledRun struct {
	Schedule Schedule `json:"schedule"`
	At       string   `json:"at"` // the time, as Temporal writes it
}
