package drive_test

import (
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// A host of a run that is about to begin.
type host struct {
	drive.Host
	recorded int
}

func (h *host) Began() a2a.Time { return a2a.AtMillis(1) }

func (h *host) RecordNow(drive.Recording) drive.Recorded {
	h.recorded++
	return drive.Recorded{}
}

// The first events of a plan are recorded at once, except those of one that its rewound objective
// begins: they do not follow on what the journal has of a former run, so an epoch begins before them.
func TestDriver_Open(t *testing.T) {
	for epoch, want := range []int{1, 1, 0} {
		p := opt.Plan{ID: "plan-abcdefghijklmnopqrstuvwxyz-1", Status: opt.PlanPending, Tasks: []*opt.Task{{ID: "task-0", State: opt.TaskPending}}}
		first := machine.Directed{Directive: machine.Directive{N: 1, Stop: opt.PlanCanceled}}
		m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: p, Epoch: epoch, Rewind: epoch > 1, First: &first}}
		h := &host{}
		drive.New(h, m, drive.Source{Name: m.State.Source(), Under: m.State.Under, Rides: m.State.Rides}).Open()
		test.Is(t, fmt.Sprintf("in epoch %d its first events are recorded times", epoch), want, h.recorded)
	}
}

// A patient plan that has just begun a task sends its report when the events are recorded: a task that
// ends before makes the report needless.
func TestDriver_Step_patient(t *testing.T) {
	for name, tt := range map[string]struct {
		patient, begins, with bool // whether the report goes with the events
	}{"a task begins": {true, true, false}, "nothing begins": {true, false, true}, "earlier rules": {false, true, true}} {
		t.Run(name, func(t *testing.T) {
			h := &stepping{}
			d := drive.New(h, &reporting{begins: tt.begins}, drive.Source{Name: "plan", Reports: true, Patient: tt.patient})
			d.Put(machine.Opened{})
			d.Step()
			if got := h.recording.Report != nil; got != tt.with || h.sent > 0 {
				t.Fatalf("the report goes with the events: %t, and %d times before, want %t", got, h.sent, tt.with)
			}
			h.recorded(drive.Recorded{Sent: drive.Taken})
			d.Step()
			if got := h.sent > 0; got == tt.with {
				t.Errorf("the report is sent after the events: %t, want %t", got, !tt.with)
			}
		})
	}
}

// A stepping is a host that records when the test says so.
type stepping struct {
	host
	recording drive.Recording
	recorded  func(drive.Recorded)
	sent      int
}

func (h *stepping) Now() a2a.Time                            { return a2a.AtMillis(1) }
func (h *stepping) Reset() bool                              { return false }
func (h *stepping) Arrived() bool                            { return false }
func (h *stepping) Canceled() bool                           { return false }
func (h *stepping) Show(bool)                                {}
func (h *stepping) Size() drive.Size                         { return drive.Size{} }
func (h *stepping) Send(machine.Signal, func(drive.Receipt)) { h.sent++ }
func (h *stepping) Record(r drive.Recording, done func(drive.Recorded)) {
	h.recording, h.recorded = r, done
}
func (h *stepping) Run(machine.Activity, []opt.Batch, drive.Tries, func(drive.End)) func() {
	return func() {}
}

// A reporting is a machine that wants to report its first event, and perhaps to run a task.
type reporting struct{ begins, delivered bool }

func (m *reporting) Handle(_ a2a.Time, in machine.Input) (events []opt.Event) {
	switch in.(type) {
	case machine.Opened:
		events = []opt.Event{{N: 1, Kind: opt.PlanMoved}}
	case machine.Delivered:
		m.delivered = true
	}
	return events
}

func (m *reporting) Wants() (w machine.Wants) {
	if !m.delivered {
		w.Signals = []machine.Signal{{To: "objective", N: 1, After: 1}}
	}
	if m.begins {
		w.Activities = []machine.Activity{{Key: "run", Kind: machine.RunTask}}
	}
	return w
}

// A context with a long roll that could not leave at once, since no worker ran for more than a second, leaves
// with its next step: what it has not sent is sent by the next run.
func TestDriver_Step_leavesAgain(t *testing.T) {
	h := &leaving{now: 1_000_000}
	m := machine.NewContext("", "c", machine.Rules)
	d := drive.New(h, m, drive.Source{})
	d.Put(machine.TurnRequest{ObjectiveID: "obj-asks", Attempt: 1, N: 1, Want: machine.WantRest, Answering: true})
	d.Step()
	listed := machine.Listed{Key: h.key}
	for i := range 250 {
		listed.Begun = append(listed.Begun, opt.RootID(fmt.Sprintf("obj-%026d", i), 1))
	}
	h.arrived = append(h.arrived, func() { h.ended(drive.End{Input: listed, Returned: true}) })
	d.Step()
	h.size = drive.Size{Events: 3000, Long: true}
	d.Put(machine.TurnRequest{ObjectiveID: "obj-x", Attempt: 1, N: 1, Want: machine.WantLeave})
	test.Is(t, "it waits for its messages", drive.Wait, d.Step())
	sent := len(h.sent)
	for len(h.sent)+len(h.timers) > 0 {
		for _, done := range h.sent {
			h.arrived = append(h.arrived, func() { done(drive.Gone) })
		}
		h.arrived, h.sent, h.timers = append(h.arrived, h.timers...), nil, nil
		h.now, h.size.Events = h.now+1500, h.size.Events+300
		if d.Step() == drive.Continue {
			test.Is(t, "messages to members", sent <= 101, true)
			return
		}
	}
	t.Error("it has not left, and nothing is under way")
}

// A leaving is a host whose messages, timers and activities end when the test says so.
type leaving struct {
	stepping
	now     int64
	size    drive.Size
	arrived []func()
	sent    []func(drive.Receipt)
	timers  []func()
	key     string // of the latest activity
	ended   func(drive.End)
}

func (h *leaving) Now() a2a.Time    { return a2a.AtMillis(h.now) }
func (h *leaving) Size() drive.Size { return h.size }
func (h *leaving) Arrived() bool    { return len(h.arrived) > 0 }

func (h *leaving) Deliver() {
	first := h.arrived[0]
	h.arrived = h.arrived[1:]
	first()
}

func (h *leaving) Send(_ machine.Signal, sent func(drive.Receipt)) { h.sent = append(h.sent, sent) }

func (h *leaving) Sleep(_ machine.Timer, elapsed func()) func() {
	h.timers = append(h.timers, elapsed)
	return func() {}
}

func (h *leaving) Run(a machine.Activity, _ []opt.Batch, _ drive.Tries, ended func(drive.End)) func() {
	h.key, h.ended = a.Key, ended
	return func() {}
}
